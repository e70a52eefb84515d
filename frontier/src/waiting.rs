//! Queued URLs that may be queued again with a better priority: in `demote` those that only duplicates link to so far, in a
//! focused crawl all. What is queued stays where it stands; the better entry is handed out first, and the earlier one is
//! passed over when its turn comes.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use xxhash_rust::xxh3::Xxh3Default;

use crate::queue::{BANDS, band};

/// The bands of such URLs, by the hashes of their keys.
#[derive(Debug)]
pub struct Waiting {
    bands: HashMap<u64, u8, BuildHasherDefault<Xxh3Default>>,
    /// The best band that is kept here.
    from: u8,
}

impl Waiting {
    /// For URLs with at most this priority; none at all below 0.
    pub fn new(priority: f32) -> Self {
        let from = if priority < 0.0 { BANDS } else { band(priority) };
        Self { bands: HashMap::default(), from }
    }

    /// Whether there is anything to keep.
    pub fn is_on(&self) -> bool {
        self.from < BANDS
    }

    /// A URL was queued in a band. The better band counts.
    pub fn queued(&mut self, hash: u64, band: u8) {
        if band >= self.from {
            self.bands.entry(hash).and_modify(|known| *known = band.min(*known)).or_insert(band);
        } else {
            self.bands.remove(&hash);
        }
    }

    /// Whether a URL waits in a band worse than this one.
    pub fn is_worse(&self, hash: u64, band: u8) -> bool {
        self.is_on() && self.bands.get(&hash).is_some_and(|known| *known > band)
    }

    /// Whether an entry of a band is still the one to hand out. Each URL has one such entry.
    pub fn is_live(&self, hash: u64, band: u8) -> bool {
        band < self.from || self.bands.get(&hash) == Some(&band)
    }

    /// A URL was handed out.
    pub fn taken(&mut self, hash: u64) {
        if self.is_on() {
            self.bands.remove(&hash);
        }
    }
}
