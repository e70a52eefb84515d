//! Many bins that grow, in one array.

use crate::hamming::memory::in_huge_pages;

/// Entries in numbered bins. A bin grows by whole blocks, so no entry is copied when a bin grows.
pub struct Bins<E> {
    entries: Vec<E>,
    /// For each bin: the index of its next entry. At a multiple of the length of a block, the bin has no room.
    ends: Vec<usize>,
    /// For each bin: the indexes at which its blocks start.
    blocks: Vec<Vec<usize>>,
}

impl<E: Copy + Default> Bins<E> {
    /// Entries in a block.
    const BLOCK: usize = 1 << 10;
    /// No bin has this number.
    pub const NONE: u64 = u64::MAX;

    /// Makes this number of bins, with room for about `entries` entries in all of them together.
    pub fn new(bins: usize, entries: usize) -> Self {
        // The last bin takes the entries that belong to no bin.
        let bins = bins + 1;
        Self {
            entries: in_huge_pages(entries + bins * Self::BLOCK),
            ends: vec![0; bins],
            blocks: vec![Vec::new(); bins],
        }
    }

    /// Number of entries in all bins but the last one.
    pub fn len(&self) -> usize {
        (0..self.ends.len() - 1).flat_map(|bin| self.of(bin)).map(<[E]>::len).sum()
    }

    /// Adds an entry to a bin, if there is a bin with that number. (The processor cannot predict whether there is one,
    /// so no branch depends on it.)
    #[inline(always)]
    pub fn push(&mut self, bin: u64, entry: E) {
        let bin = bin.min(self.ends.len() as u64 - 1) as usize;
        if self.ends[bin].is_multiple_of(Self::BLOCK) {
            self.add_block(bin);
        }
        self.entries[self.ends[bin]] = entry;
        self.ends[bin] += 1;
    }

    #[cold]
    fn add_block(&mut self, bin: usize) {
        let is_none = bin + 1 == self.ends.len();
        if is_none && let Some(first) = self.blocks[bin].first() {
            self.ends[bin] = *first;
            return;
        }
        self.ends[bin] = self.entries.len();
        self.blocks[bin].push(self.entries.len());
        self.entries.resize(self.entries.len() + Self::BLOCK, E::default());
    }

    /// The entries of a bin.
    pub fn of(&self, bin: usize) -> impl Iterator<Item = &[E]> {
        let (last, full) = match self.blocks[bin].split_last() {
            Some((last, full)) => (&self.entries[*last..self.ends[bin]], full),
            None => (&[][..], &[][..]),
        };
        full.iter().map(|start| &self.entries[*start..][..Self::BLOCK]).chain([last])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_what_was_put_in() {
        let mut bins = Bins::new(3, 0);
        let n = 5 * Bins::<u64>::BLOCK as u64;
        (0..n).for_each(|i| bins.push(if i % 4 < 3 { i % 4 } else { Bins::<u64>::NONE - i }, i));
        for bin in 0..3 {
            assert!(bins.of(bin).flatten().copied().eq((0..n).skip(bin).step_by(4)));
        }
        assert_eq!(bins.len() as u64, n / 4 * 3);
    }
}
