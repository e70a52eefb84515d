//! Times and identities of pages, in few bytes.

use crate::Millis;

/// Seconds since the Unix epoch. They reach to the year 2106.
pub type Seconds = u32;

/// Identifies a page: the hash of the key of its URL.
pub type UrlHash = u64;

/// Seconds of a day.
pub const DAY: f32 = 86_400.0;

/// A time in milliseconds as one in seconds.
pub fn seconds(at: Millis) -> Seconds {
    Seconds::try_from(at / 1_000).unwrap_or(Seconds::MAX)
}

/// The days from one moment to another; 0 if the second is not later.
pub fn days(from: Seconds, to: Seconds) -> f32 {
    to.saturating_sub(from) as f32 / DAY
}

/// The moment that is `days` days after another. After infinitely many days comes the last moment.
pub fn after(from: Seconds, days: f32) -> Seconds {
    // A cast of a float that is too large gives the largest integer.
    from.saturating_add((days * DAY).round() as u32)
}

/// A number in 0..1, evenly spread over the pages. It is always the same for one page and moment.
pub fn spread(page: UrlHash, moment: Seconds) -> f32 {
    // The finaliser of splitmix64.
    let mut x = (page ^ u64::from(moment) << 32).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ x >> 31) >> 40) as f32 / (1u64 << 24) as f32
}
