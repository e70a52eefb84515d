//! The clock of a crawl. It only goes forward. Tests can use a clock that they move by hand, so that a crawl with
//! delays ends at once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use frontier::Millis;

/// A source of time.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The machine's monotonic clock. The process sets it by the wall clock when it first asks for the time. If the
    /// wall clock is set later, this changes neither delays nor limits nor the times in outputs.
    System,
    /// A clock that stands still until [`Clock::skip_to`] moves it.
    Virtual(Arc<AtomicU64>),
}

/// The time at which the process first asked for the time, by the monotonic clock and by the wall clock.
static ANCHOR: OnceLock<(Instant, Millis)> = OnceLock::new();

impl Clock {
    /// A virtual clock that starts at `now`.
    pub fn at(now: Millis) -> Self {
        Clock::Virtual(Arc::new(AtomicU64::new(now)))
    }

    /// The time, in milliseconds since 1970.
    pub fn now(&self) -> Millis {
        match self {
            Clock::System => {
                let (start, wall) = ANCHOR.get_or_init(|| (Instant::now(), wall()));
                wall + start.elapsed().as_millis() as Millis
            }
            Clock::Virtual(now) => now.load(Ordering::Relaxed),
        }
    }

    /// Moves a virtual clock forward. Returns false for the system clock, which moves by itself.
    pub fn skip_to(&self, time: Millis) -> bool {
        match self {
            Clock::System => false,
            Clock::Virtual(now) => {
                now.fetch_max(time, Ordering::Relaxed);
                true
            }
        }
    }
}

/// The time of the wall clock; 0 if it is set to a time before 1970.
fn wall() -> Millis {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as Millis)
}

/// The form of a time in outputs: RFC 3339, UTC, with milliseconds.
pub fn rfc3339(time: Millis) -> String {
    let time = time::OffsetDateTime::from_unix_timestamp_nanos(i128::from(time) * 1_000_000)
        .unwrap_or(time::OffsetDateTime::UNIX_EPOCH);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
        time.year(),
        u8::from(time.month()),
        time.day(),
        time.hour(),
        time.minute(),
        time.second(),
        time.millisecond()
    )
}

/// Parses a time: RFC 3339, or a day, which means its midnight (UTC).
pub fn parse(text: &str) -> Option<Millis> {
    use time::format_description::well_known::Rfc3339;
    let text = text.trim();
    let midnight = format!("{text}T00:00:00Z");
    let time =
        time::OffsetDateTime::parse(text, &Rfc3339).or_else(|_| time::OffsetDateTime::parse(&midnight, &Rfc3339));
    u64::try_from(time.ok()?.unix_timestamp_nanos() / 1_000_000).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_comes_back_as_it_was_written() {
        for time in [0, 1_700_000_000_123, 1_700_000_000_000] {
            assert_eq!(parse(&rfc3339(time)), Some(time));
        }
        assert_eq!(parse("2023-11-14"), parse("2023-11-14T00:00:00Z"));
        assert_eq!(parse("2023-11-14T23:13:20+01:00"), Some(1_700_000_000_000));
        assert!(["", "yesterday", "2023-13-01", "1960-01-01"].iter().all(|text| parse(text).is_none()));
    }
}
