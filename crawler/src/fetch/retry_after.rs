//! `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date.

use std::time::{Duration, UNIX_EPOCH};

use frontier::Millis;

/// The time to wait from `now`, in milliseconds; `None` if the value is neither seconds nor a date. A date in the past
/// is a wait of 0. Large values are returned unchanged, and the caller bounds them.
pub fn retry_after(value: &str, now: Millis) -> Option<Millis> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number with too many digits is still a very long wait.
        return Some(value.parse::<u64>().unwrap_or(u64::MAX).saturating_mul(1_000));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    let now = UNIX_EPOCH + Duration::from_millis(now);
    Some(date.duration_since(now).map_or(0, |wait| wait.as_millis() as Millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_the_three_date_forms() {
        // 1994-11-06 08:49:37 UTC, the moment of RFC 9110's examples.
        let then = 784_111_777_000;
        assert_eq!(retry_after("120", then), Some(120_000));
        assert_eq!(retry_after(" 0 ", then), Some(0));
        for date in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            assert_eq!(retry_after(date, then - 90_500), Some(90_500), "{date}");
            assert_eq!(retry_after(date, then + 1), Some(0), "{date}");
        }
    }

    #[test]
    fn nonsense_is_no_wait_and_too_many_digits_a_long_one() {
        for value in ["", " ", "soon", "-5", "1.5", "12s", "Sun, 99 Nov 1994 08:49:37 GMT"] {
            assert_eq!(retry_after(value, 0), None, "{value}");
        }
        assert_eq!(retry_after("99999999999999999999999", 0), Some(u64::MAX));
    }
}
