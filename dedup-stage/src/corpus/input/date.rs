//! Dates of documents.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::corpus::NO_DATE;

/// The time in milliseconds since 1970 of a date and time by RFC 3339. If the text is only the beginning of one
/// (`2026`, `2026-11`, `2026-11-20`, `2026-11-20T10:00`), it means the first moment of that year, month, day or minute.
/// [`NO_DATE`] for any other text.
pub fn millis(text: &str) -> i64 {
    let text = text.trim();
    let text = &match text.len() {
        4 => format!("{text}-01-01"),
        7 => format!("{text}-01"),
        16 => format!("{text}:00"),
        _ => text.to_owned(),
    };
    // Databases write a space instead of the T, and leave the zone out.
    let (day, rest) = text.split_at_checked(10).unwrap_or((text, ""));
    let time = rest.strip_prefix(['T', 't', ' ']).unwrap_or_default();
    let zoned = time.ends_with(['Z', 'z']) || time.contains(['+', '-']);
    let spelt = match time {
        "" => format!("{day}T00:00:00Z"),
        time if zoned => format!("{day}T{time}"),
        time => format!("{day}T{time}Z"),
    };
    let whole = OffsetDateTime::parse(&spelt, &Rfc3339);
    whole.map_or(NO_DATE, |moment| (moment.unix_timestamp_nanos() / 1_000_000) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_as_corpora_write_them() {
        let noon = 1_763_640_000_000;
        for text in
            ["2025-11-20T12:00:00Z", "2025-11-20 12:00:00", "2025-11-20T13:00:00+01:00", "2025-11-20T12:00:00.000"]
        {
            assert_eq!(millis(text), noon, "{text}");
        }
        assert_eq!(millis("2025-11-20"), noon - 12 * 3_600_000);
        assert_eq!(millis("2025-11-20T12:00"), noon);
        assert_eq!(millis("2025-11"), millis("2025-11-01T00:00:00Z"));
        assert_eq!(millis("2025"), millis("2025-01-01"));
        for text in ["", "yesterday", "noon", "2025-13", "2025-13-01", "ü2025-11-20", "20251120120000"] {
            assert_eq!(millis(text), NO_DATE, "{text}");
        }
    }
}
