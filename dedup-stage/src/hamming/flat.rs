//! A list of fingerprints that is read from end to end. For a small set nothing is faster.

use super::kernel::Kernel;

/// Fingerprints, in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub struct Flat(Vec<u64>);

impl Flat {
    /// Number of fingerprints.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Bytes set aside.
    pub fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<u64>()
    }

    /// Adds a fingerprint at the end.
    pub fn push(&mut self, fingerprint: u64) {
        self.0.push(fingerprint);
    }

    /// Takes a fingerprint from the end. When the last one is taken, the memory is given back.
    pub fn pop(&mut self) -> Option<u64> {
        let last = self.0.pop()?;
        if self.0.is_empty() {
            self.0 = Vec::new();
        }
        Some(last)
    }

    /// Calls `visit` with every fingerprint.
    pub fn for_each(&self, visit: &mut impl FnMut(u64)) {
        self.0.iter().for_each(|fingerprint| visit(*fingerprint));
    }

    /// Appends every fingerprint within `k` of `query`, with its distance, to `out`.
    #[inline(always)]
    pub fn within(&self, kernel: impl Kernel, query: u64, k: u32, out: &mut Vec<(u64, u32)>) {
        // The compiler knows the length of a whole block.
        let (blocks, rest) = self.0.as_chunks::<64>();
        for block in blocks {
            Self::within_block(kernel, block, query, k, out);
        }
        Self::within_block(kernel, rest, query, k, out);
    }

    #[inline(always)]
    fn within_block(kernel: impl Kernel, block: &[u64], query: u64, k: u32, out: &mut Vec<(u64, u32)>) {
        let mut near = kernel.near_fingerprints(block, query, k);
        while near != 0 {
            let fingerprint = block[near.trailing_zeros() as usize];
            out.push((fingerprint, (fingerprint ^ query).count_ones()));
            near &= near - 1;
        }
    }

    /// Whether the list has a fingerprint.
    #[inline(always)]
    pub fn contains(&self, kernel: impl Kernel, fingerprint: u64) -> bool {
        self.0.chunks(64).any(|block| kernel.near_fingerprints(block, fingerprint, 0) != 0)
    }
}
