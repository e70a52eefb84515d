//! A list of fingerprints, read from end to end: for a small set nothing is faster.

use super::kernel::Kernel;

/// Fingerprints in blocks of 64; the last block is filled up with what its first entry says, and only its entries count.
#[derive(Clone, Debug, Default)]
pub struct Flat {
    blocks: Vec<[u64; 64]>,
    len: usize,
}

impl Flat {
    /// Number of fingerprints.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Bytes set aside.
    pub fn bytes(&self) -> usize {
        self.blocks.capacity() * size_of::<[u64; 64]>()
    }

    /// Adds one at the end.
    pub fn push(&mut self, fingerprint: u64) {
        match self.len % 64 {
            0 => self.blocks.push([fingerprint; 64]),
            i => self.blocks[self.len / 64][i] = fingerprint,
        }
        self.len += 1;
    }

    /// Takes one from the end; the memory is given back with the last.
    pub fn pop(&mut self) -> Option<u64> {
        self.len = self.len.checked_sub(1)?;
        let (block, i) = (self.len / 64, self.len % 64);
        let last = self.blocks[block][i];
        self.blocks[block][i] = self.blocks[block][0];
        self.blocks.truncate(block + usize::from(i > 0));
        if self.len == 0 {
            self.blocks = Vec::new();
        }
        Some(last)
    }

    /// Calls `visit` with every fingerprint.
    pub fn for_each(&self, visit: &mut impl FnMut(u64)) {
        self.blocks.as_flattened()[..self.len].iter().for_each(|fingerprint| visit(*fingerprint));
    }

    /// At most so many of them, from all over the list.
    pub fn sample(&self, most: usize) -> Vec<u64> {
        self.blocks.as_flattened()[..self.len].iter().step_by(self.len.div_ceil(most).max(1)).copied().collect()
    }

    /// Appends every fingerprint within `k` of `query`, with its distance, to `out`.
    #[inline(always)]
    pub fn within(&self, kernel: impl Kernel, query: u64, k: u32, out: &mut Vec<(u64, u32)>) {
        for (block, start) in self.blocks.iter().zip((0..).step_by(64)) {
            let used = u64::MAX >> (64 - (self.len - start).min(64));
            let mut near = kernel.near_fingerprints(block, query, k) & used;
            while near != 0 {
                let fingerprint = block[near.trailing_zeros() as usize];
                out.push((fingerprint, (fingerprint ^ query).count_ones()));
                near &= near - 1;
            }
        }
    }

    /// Whether a fingerprint is there. (What fills up the last block is there anyway.)
    #[inline(always)]
    pub fn contains(&self, kernel: impl Kernel, fingerprint: u64) -> bool {
        self.blocks.iter().any(|block| kernel.near_fingerprints(block, fingerprint, 0) != 0)
    }
}
