//! What time it is: the system's, or one that tests move by hand so that a crawl with delays ends at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use frontier::Millis;

/// A source of time.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The system's.
    System,
    /// Stands still until [`Clock::skip_to`] moves it.
    Virtual(Arc<AtomicU64>),
}

impl Clock {
    /// A virtual clock that starts at `now`.
    pub fn at(now: Millis) -> Self {
        Clock::Virtual(Arc::new(AtomicU64::new(now)))
    }

    /// The time.
    pub fn now(&self) -> Millis {
        match self {
            Clock::System => {
                SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as Millis)
            }
            Clock::Virtual(now) => now.load(Ordering::Relaxed),
        }
    }

    /// Moves a virtual clock forward; false for the system's, which moves by itself.
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

/// A time as outputs write it: RFC 3339, UTC, with milliseconds.
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
