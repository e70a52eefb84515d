//! Simhash of weighted features (Charikar, STOC 2002; Manku, Jain, Das Sarma, WWW 2007, section 2): each feature votes,
//! with its weight, for the value of each bit.

use crate::words::{WordHash, is_number};

/// Sixty-four counters, one for each bit position. They are stored as bit slices: bit `i` of `slices[s]` is bit `s` of
/// counter `i`. Carry-save adders add eight features at a time (Harley-Seal; Muła, Kurz, Lemire, "Faster Population
/// Counts using AVX2 Instructions", 2018). So a feature takes a few logic operations and no loop over the bits.
#[derive(Clone, Debug, Default)]
pub struct Votes {
    slices: [u64; Votes::SLICES],
    /// Features that are not added yet, for each binary digit of their weights.
    waiting: [[u64; 8]; Votes::DIGITS],
    count: [usize; Votes::DIGITS],
    total: u64,
}

impl Votes {
    const SLICES: usize = 32;
    /// Weights have at most this many binary digits.
    pub const DIGITS: usize = 12;

    /// Adds a feature.
    #[inline]
    pub fn add(&mut self, hash: u64, weight: u32) {
        debug_assert!(weight < 1 << Self::DIGITS);
        self.total += u64::from(weight);
        let mut left = weight;
        while left != 0 {
            let digit = left.trailing_zeros() as usize;
            left &= left - 1;
            let count = &mut self.count[digit];
            self.waiting[digit][*count & 7] = hash;
            *count += 1;
            if *count == 8 {
                *count = 0;
                let eight = self.waiting[digit];
                self.add_eight(&eight, digit);
            }
        }
    }

    /// Adds features of weight one.
    pub fn add_all(&mut self, hashes: &[u64]) {
        let mut eights = hashes.chunks_exact(8);
        for eight in &mut eights {
            self.add_eight(eight.try_into().expect("eight"), 0);
        }
        self.total += (hashes.len() - eights.remainder().len()) as u64;
        eights.remainder().iter().for_each(|hash| self.add(*hash, 1));
    }

    /// Adds eight features, each with the weight 2 to the power of `digit`.
    #[inline]
    fn add_eight(&mut self, &[a, b, c, d, e, f, g, h]: &[u64; 8], digit: usize) {
        let (ones1, twos1) = full_add(a, b, c);
        let (ones2, twos2) = full_add(d, e, f);
        let (ones3, twos3) = full_add(ones1, ones2, g);
        let (ones4, twos4) = full_add(ones3, h, self.slices[digit]);
        let (twos5, fours1) = full_add(twos1, twos2, twos3);
        let (twos6, fours2) = full_add(twos5, twos4, self.slices[digit + 1]);
        let (fours3, eights) = full_add(fours1, fours2, self.slices[digit + 2]);
        self.slices[digit] = ones4;
        self.slices[digit + 1] = twos6;
        self.slices[digit + 2] = fours3;
        self.ripple(digit + 3, eights);
    }

    #[inline]
    fn ripple(&mut self, slice: usize, mut carry: u64) {
        for slice in &mut self.slices[slice..] {
            if carry == 0 {
                break;
            }
            (*slice, carry) = (*slice ^ carry, *slice & carry);
        }
    }

    /// The simhash. Bit i is set if the features that have bit i have more than half of the weight of all features.
    pub fn finish(&mut self) -> u64 {
        for digit in 0..Self::DIGITS {
            for i in 0..self.count[digit] {
                self.ripple(digit, self.waiting[digit][i]);
            }
            self.count[digit] = 0;
        }
        let half = self.total / 2;
        let (mut greater, mut equal) = (0u64, u64::MAX);
        for (digit, slice) in self.slices.iter().enumerate().rev() {
            let limit = (half >> digit & 1).wrapping_neg();
            greater |= equal & slice & !limit;
            equal &= !(slice ^ limit);
        }
        greater
    }
}

/// Sum and carry of three bits, in each position.
#[inline]
fn full_add(a: u64, b: u64, c: u64) -> (u64, u64) {
    (a ^ b ^ c, a & b | (a ^ b) & c)
}

/// Counts how often each feature comes.
#[derive(Debug)]
pub struct Counter {
    /// A hash table with open addressing. An empty slot has 0.
    features: Vec<u64>,
    counts: Vec<u32>,
    /// The slots in use, in the order in which their features came.
    used: Vec<u32>,
    distinct: usize,
}

impl Default for Counter {
    fn default() -> Self {
        Self::with_slots(2048)
    }
}

impl Counter {
    fn with_slots(slots: usize) -> Self {
        Self { features: vec![0; slots], counts: vec![0; slots], used: vec![0; slots], distinct: 0 }
    }

    /// Forgets all features. If a page was much larger than others, its memory is given back, too.
    pub fn clear(&mut self) {
        if self.features.len() > 1 << 16 {
            *self = Self::default();
        }
        for slot in &self.used[..self.distinct] {
            self.features[*slot as usize] = 0;
            self.counts[*slot as usize] = 0;
        }
        self.distinct = 0;
    }

    /// Adds to the count of a feature. The processor cannot predict whether a feature is new, so no branch depends on
    /// it.
    #[inline]
    pub fn add(&mut self, feature: u64, times: u32) {
        let feature = feature.max(1);
        let mask = self.features.len() - 1;
        let mut slot = feature as usize & mask;
        // This is one condition, not two: the processor cannot predict whether a word is new, but it can predict that
        // the first slot is the right one.
        while (self.features[slot] != feature) & (self.features[slot] != 0) {
            slot = (slot + 1) & mask;
        }
        let is_new = self.features[slot] == 0;
        self.features[slot] = feature;
        self.counts[slot] = self.counts[slot].saturating_add(times);
        self.used[self.distinct] = slot as u32;
        self.distinct += usize::from(is_new);
        if self.distinct * 2 > mask {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        // The table of a large page grows slowly, because it takes megabytes.
        let times = if self.features.len() < 1 << 16 { 4 } else { 2 };
        let mut larger = Self::with_slots(self.features.len() * times);
        self.iter().for_each(|(feature, count)| larger.add(feature, count));
        *self = larger;
    }

    /// The distinct features in the order in which they came, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.used[..self.distinct].iter().map(|&slot| (self.features[slot as usize], self.counts[slot as usize]))
    }

    /// Number of distinct features.
    pub fn distinct(&self) -> usize {
        self.distinct
    }
}

/// Four times the square root of a count of eighths, rounded down. A feature that comes often says little more than one
/// that comes once, hence the root. The factor keeps small counts apart.
#[inline]
pub fn sqrt_weight(eighths: u32) -> u32 {
    const SMALL: [u8; 64] = {
        let mut table = [0; 64];
        let mut eighths = 0;
        while eighths < 64 {
            table[eighths] = (2 * eighths as u32).isqrt() as u8;
            eighths += 1;
        }
        table
    };
    match SMALL.get(eighths as usize) {
        Some(weight) => u32::from(*weight),
        None => (eighths.min(1 << 22) * 2).isqrt(),
    }
}

/// Simhash of words. The weight of a word is the square root of its count. Numbers have no vote.
#[derive(Debug, Default)]
pub struct WordSimhash {
    counter: Counter,
}

impl WordSimhash {
    /// Counts words. Each counts for this many eighths.
    pub fn add(&mut self, words: &[WordHash], eighths: u32) {
        for &word in words {
            if !is_number(word) {
                self.counter.add(word, eighths);
            }
        }
    }

    /// Number of distinct words.
    pub fn distinct(&self) -> usize {
        self.counter.distinct()
    }

    /// Returns the simhash, and forgets the words.
    pub fn finish(&mut self) -> u64 {
        let mut votes = Votes::default();
        for (word, count) in self.counter.iter() {
            votes.add(word, sqrt_weight(count));
        }
        self.counter.clear();
        votes.finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn votes_count(features in prop::collection::vec((any::<u64>(), 0u32..4096), 0..300)) {
            let mut votes = Votes::default();
            features.iter().for_each(|(hash, weight)| votes.add(*hash, *weight));
            let total: u64 = features.iter().map(|(_, weight)| u64::from(*weight)).sum();
            let naive = (0..64).fold(0u64, |hash, bit| {
                let ones: u64 = features.iter().filter(|(h, _)| h >> bit & 1 == 1).map(|(_, w)| u64::from(*w)).sum();
                hash | u64::from(ones * 2 > total) << bit
            });
            prop_assert_eq!(votes.finish(), naive);
        }

        #[test]
        fn votes_of_one_count(hashes in prop::collection::vec(any::<u64>(), 0..100)) {
            let (mut all, mut each) = (Votes::default(), Votes::default());
            all.add_all(&hashes);
            hashes.iter().for_each(|hash| each.add(*hash, 1));
            prop_assert_eq!(all.finish(), each.finish());
        }

        #[test]
        fn features_are_counted(features in prop::collection::vec(0u64..2000, 0..3000)) {
            let mut counter = Counter::default();
            for _ in 0..2 {
                counter.clear();
                features.iter().for_each(|feature| counter.add(feature.wrapping_mul(0x9E37_79B9_7F4A_7C15), 1));
                let mut naive = std::collections::HashMap::new();
                for feature in &features {
                    *naive.entry(feature.wrapping_mul(0x9E37_79B9_7F4A_7C15).max(1)).or_insert(0u32) += 1;
                }
                prop_assert_eq!(counter.iter().collect::<std::collections::HashMap<_, _>>(), naive);
            }
        }
    }

    #[test]
    fn weights_grow_with_the_root() {
        for eighths in [1, 2, 8, 16, 24, 63, 64, 100, 10_000, 1 << 22, u32::MAX] {
            let root = (f64::from(eighths.min(1 << 22)) * 2.0).sqrt();
            assert_eq!(f64::from(sqrt_weight(eighths)), root.floor());
            assert!(sqrt_weight(eighths) < 1 << Votes::DIGITS);
        }
    }
}
