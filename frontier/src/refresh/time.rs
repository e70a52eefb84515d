//! Times and identities, as small as they can be.

/// Seconds since the Unix epoch; lasts until 2106.
pub type Seconds = u32;

/// Names a page to the caller: the hash of its URL's key.
pub type PageId = u64;

/// Seconds of a day.
pub const DAY: f32 = 86_400.0;

/// From one moment to a later one, in days; 0 where the second is not later.
pub fn days(from: Seconds, to: Seconds) -> f32 {
    to.saturating_sub(from) as f32 / DAY
}

/// So many days after a moment. Infinity is a moment too: the last one.
pub fn after(from: Seconds, days: f32) -> Seconds {
    // Casts of floats stop at the ends of the range.
    from.saturating_add((days * DAY).round() as u32)
}

/// 0..1, evenly spread over pages, and the same whenever it is asked for one page and moment.
pub fn spread(page: PageId, moment: Seconds) -> f32 {
    // The finaliser of splitmix64.
    let mut x = (page ^ u64::from(moment) << 32).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ x >> 31) >> 40) as f32 / (1u64 << 24) as f32
}
