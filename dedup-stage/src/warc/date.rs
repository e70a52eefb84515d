//! Dates of records.

use std::time::{SystemTime, UNIX_EPOCH};

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A time in milliseconds since the Unix epoch as `2026-11-20T06:30:00Z`. It has whole seconds, because several readers
/// of WARC know no fractions.
pub fn rfc3339(millis: u64) -> String {
    moment(millis).format(&Rfc3339).unwrap_or_else(|_| "1970-01-01T00:00:00Z".into())
}

/// The wall clock, in milliseconds since the Unix epoch; 0 before that.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// A time in milliseconds since the Unix epoch as `20261120063000`, for CDXJ.
pub(super) fn timestamp14(millis: u64) -> String {
    let t = moment(millis);
    format!("{:04}{:02}{:02}{:02}{:02}{:02}", t.year(), u8::from(t.month()), t.day(), t.hour(), t.minute(), t.second())
}

/// The date of a time in milliseconds. These formats have no dates after the year 9999: such a date becomes the end of
/// that year.
fn moment(millis: u64) -> OffsetDateTime {
    const LAST: i64 = 253_402_300_799;
    let seconds = i64::try_from(millis / 1000).unwrap_or(LAST).min(LAST);
    OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}
