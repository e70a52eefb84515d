//! Dates of documents.

use time::OffsetDateTime;
use time::format_description::well_known::{Rfc2822, Rfc3339};

use crate::corpus::NO_DATE;

/// The date of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Date {
    /// It has none.
    Absent,
    /// It has one that cannot be read.
    Unreadable,
    /// Milliseconds since 1970.
    At(i64),
}

impl Date {
    /// The date that a text gives: a date and time by RFC 3339, or only the beginning of one (`2026`, `2026-11`,
    /// `2026-11-20`, `2026-11-20T10:00`), which means the first moment of that year, month, day or minute. The date may
    /// be written without hyphens, and with the time without colons (`20261120`, `20261120100000`). The time may follow
    /// a space, and without a zone, or with `UTC`, it is one of UTC. Dates by RFC 2822 are read, too. An empty text is
    /// no date.
    pub fn of_text(text: &str) -> Self {
        match text.trim() {
            "" => Date::Absent,
            text => millis(text).map_or(Date::Unreadable, Date::At),
        }
    }

    /// The date that a number gives. One of 4, 8 or 14 digits is read as a text is. Others are seconds since 1970, or
    /// milliseconds if they are 10^11 or more.
    pub fn of_number(number: &str) -> Self {
        const MILLISECONDS: f64 = 1e11;
        if matches!(number.len(), 4 | 8 | 14) && number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Self::of_text(number);
        }
        match number.parse::<f64>() {
            Ok(at) if at.abs() >= 1e15 => Date::Unreadable,
            Ok(at) if at.abs() >= MILLISECONDS => Date::At(at as i64),
            Ok(at) => Date::At((1_000.0 * at) as i64),
            Err(_) => Date::Unreadable,
        }
    }

    /// Milliseconds since 1970; [`NO_DATE`] if there is no date that can be read.
    pub fn millis(self) -> i64 {
        match self {
            Date::Absent | Date::Unreadable => NO_DATE,
            Date::At(millis) => millis,
        }
    }
}

/// The time in milliseconds since 1970; see [`Date::of_text`].
fn millis(text: &str) -> Option<i64> {
    let since_1970 = |moment: OffsetDateTime| (moment.unix_timestamp_nanos() / 1_000_000) as i64;
    if text.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return OffsetDateTime::parse(text, &Rfc2822).ok().map(since_1970);
    }
    let is_compact = matches!(text.len(), 8 | 14) && text.bytes().all(|byte| byte.is_ascii_digit());
    let text = &match text.len() {
        8 if is_compact => format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..]),
        14 if is_compact => {
            let part = |at: usize| &text[at..at + 2];
            format!("{}-{}-{}T{}:{}:{}", &text[..4], part(4), part(6), part(8), part(10), part(12))
        }
        4 => format!("{text}-01-01"),
        7 => format!("{text}-01"),
        16 => format!("{text}:00"),
        _ => text.to_owned(),
    };
    // Databases write a space instead of the T, and leave the zone out.
    let (day, rest) = text.split_at_checked(10).unwrap_or((text, ""));
    let time = rest.strip_prefix(['T', 't', ' ']).unwrap_or_default();
    let time = time.strip_suffix("UTC").map_or(time, str::trim_end);
    // RFC 3339 wants a colon in the zone. Many programs leave it out.
    let split = time.len().checked_sub(2).filter(|at| {
        let zone = at.checked_sub(3).and_then(|sign| time.get(sign..)).unwrap_or_default().as_bytes();
        matches!(zone, [b'+' | b'-', digits @ ..] if digits.iter().all(u8::is_ascii_digit))
    });
    let time = &split.map_or_else(|| time.to_owned(), |at| format!("{}:{}", &time[..at], &time[at..]));
    let zoned = time.ends_with(['Z', 'z']) || time.contains(['+', '-']);
    let spelt = match time.as_str() {
        "" => format!("{day}T00:00:00Z"),
        time if zoned => format!("{day}T{time}"),
        time => format!("{day}T{time}Z"),
    };
    OffsetDateTime::parse(&spelt, &Rfc3339).ok().map(since_1970)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_as_corpora_write_them() {
        let noon = 1_763_640_000_000;
        let of = Date::of_text;
        for text in [
            "2025-11-20T12:00:00Z",
            "2025-11-20 12:00:00",
            "2025-11-20 12:00:00 UTC",
            "2025-11-20T13:00:00+01:00",
            "2025-11-20T07:00:00-0500",
            "2025-11-20T12:00:00.000",
            "20251120120000",
            "Thu, 20 Nov 2025 12:00:00 GMT",
        ] {
            assert_eq!(of(text), Date::At(noon), "{text}");
        }
        for text in ["2025-11-20", "20251120"] {
            assert_eq!(of(text), Date::At(noon - 12 * 3_600_000), "{text}");
        }
        assert_eq!(of("2025-11-20T12:00"), Date::At(noon));
        assert_eq!(of("2025-11"), of("2025-11-01T00:00:00Z"));
        assert_eq!(of("2025"), of("2025-01-01"));
        for text in
            ["yesterday", "noon", "2025-13", "2025-13-01", "ü2025-11-20", "20251320", "-0500", "+", "2025-11-20T-1"]
        {
            assert_eq!(of(text), Date::Unreadable, "{text}");
        }
        assert_eq!(of(" "), Date::Absent);
    }

    #[test]
    fn dates_that_are_numbers() {
        let noon = Date::At(1_763_640_000_000);
        assert_eq!([1, 1_000].map(|unit| Date::of_number(&(1_763_640_000_u64 * unit).to_string())), [noon, noon]);
        assert_eq!(Date::of_number("1763640000.0"), noon);
        assert_eq!(Date::of_number("20251120120000"), noon);
        assert_eq!(Date::of_number("2025"), Date::of_text("2025"));
        assert_eq!(Date::of_number("1e300"), Date::Unreadable);
    }
}
