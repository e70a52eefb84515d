//! Finds the rows of a file at which chosen fingerprints occur. A row is the position of a fingerprint in the file.

use super::memory::{prefer_huge_pages, prefetch, zeros};

/// Chosen fingerprints, and the rows at which they occur.
///
/// # Complexity
///
/// About 40 bytes for each chosen value. A fingerprint that was not chosen takes, in 15 of 16 cases, one read of a
/// bitmap. A fingerprint that was chosen takes one or two probes of a hash table, which are announced while others are
/// looked at.
#[derive(Clone, Debug)]
pub struct Values {
    /// One bit for each hash. The hashes are a few bits longer than the index of a slot.
    filter: Vec<u64>,
    /// A hash table with open addressing. A slot whose row is `FREE` is free.
    slots: Vec<(u64, u64)>,
    shift: u32,
    /// The further rows of repeated values, as (value, row), sorted.
    further: Vec<(u64, u64)>,
}

const FREE: u64 = u64::MAX;
const UNSEEN: u64 = u64::MAX - 1;
const FILTER_BITS: u32 = 3;

fn hash(value: u64) -> u64 {
    let mixed = (value ^ value >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

impl Values {
    /// This many values are looked up together, so that none waits for another.
    pub const BLOCK: usize = 64;

    /// Finds the rows of the chosen values among the fingerprints. A value that is chosen twice counts once.
    pub fn find(chosen: impl Iterator<Item = u64> + Clone, fingerprints: &[u64]) -> Self {
        let bits = (2 * chosen.clone().count()).next_power_of_two().trailing_zeros().max(4);
        let mut slots = Vec::with_capacity(1 << bits);
        prefer_huge_pages(slots.spare_capacity_mut());
        slots.resize(1 << bits, (0, FREE));
        let mut values = Self {
            filter: zeros(1 << (bits + FILTER_BITS).saturating_sub(6)),
            slots,
            shift: 64 - bits,
            further: Vec::new(),
        };
        values.choose(chosen);
        values.see(fingerprints);
        values.further.sort_unstable();
        values
    }

    fn choose(&mut self, mut chosen: impl Iterator<Item = u64>) {
        let mut block = Vec::with_capacity(Self::BLOCK);
        loop {
            block.clear();
            block.extend(chosen.by_ref().take(Self::BLOCK));
            if block.is_empty() {
                break;
            }
            for &value in &block {
                self.announce(value);
                prefetch(&self.filter[self.filter_bit(value).0]);
            }
            for &value in &block {
                let slot = self.slot(value);
                self.slots[slot] = (value, UNSEEN);
                let (word, bit) = self.filter_bit(value);
                self.filter[word] |= bit;
            }
        }
    }

    /// Notes the rows of the chosen fingerprints.
    fn see(&mut self, fingerprints: &[u64]) {
        let mut block = Vec::with_capacity(Self::BLOCK);
        for (row, &fingerprint) in (0..).zip(fingerprints) {
            let (word, bit) = self.filter_bit(fingerprint);
            if self.filter[word] & bit != 0 {
                self.announce(fingerprint);
                block.push((fingerprint, row));
                if block.len() == Self::BLOCK {
                    block.drain(..).for_each(|(fingerprint, row)| self.note(fingerprint, row));
                }
            }
        }
        block.drain(..).for_each(|(fingerprint, row)| self.note(fingerprint, row));
    }

    fn note(&mut self, fingerprint: u64, row: u64) {
        let slot = self.slot(fingerprint);
        match &mut self.slots[slot].1 {
            &mut FREE => {}
            first @ &mut UNSEEN => *first = row,
            _ => self.further.push((fingerprint, row)),
        }
    }

    fn filter_bit(&self, value: u64) -> (usize, u64) {
        let bit = hash(value) >> (self.shift - FILTER_BITS);
        ((bit / 64) as usize, 1 << (bit % 64))
    }

    /// The slot that has the value, or would have it.
    fn slot(&self, value: u64) -> usize {
        let mut slot = (hash(value) >> self.shift) as usize;
        while self.slots[slot].1 != FREE && self.slots[slot].0 != value {
            slot = (slot + 1) % self.slots.len();
        }
        slot
    }

    /// Starts to load what [`Values::first`] will read.
    pub fn announce(&self, value: u64) {
        prefetch(&self.slots[(hash(value) >> self.shift) as usize]);
    }

    /// The first row of a value that was chosen and occurs.
    pub fn first(&self, value: u64) -> u64 {
        self.slots[self.slot(value)].1
    }

    /// Values that occur more than once, with all their rows but the first, sorted.
    pub fn further(&self) -> &[(u64, u64)] {
        &self.further
    }

    /// All rows of a value that was chosen and occurs, ascending.
    pub fn rows(&self, value: u64) -> impl Iterator<Item = u64> + Clone + use<'_> {
        let start = self.further.partition_point(|(v, _)| *v < value);
        let further = self.further[start..].iter().take_while(move |(v, _)| *v == value).map(|(_, row)| *row);
        std::iter::once(self.first(value)).chain(further)
    }
}
