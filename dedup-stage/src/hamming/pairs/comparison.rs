//! Compares one fingerprint with many.

use super::sides::{Listing, Visitor};
use crate::hamming::kernel::Kernel;
use crate::hamming::key::Key;

/// Compares a fingerprint with others.
#[derive(Clone, Copy)]
pub(super) struct Comparison<'a, K> {
    pub kernel: K,
    /// The keys up to the one by which the fingerprints are sorted now.
    pub keys: &'a [Key],
    pub k: u32,
}

impl<K: Kernel> Comparison<'_, K> {
    /// The visitor gets those pairs that no earlier key has caught.
    #[inline(always)]
    pub fn run(self, value: u64, position: u32, others: Listing<'_>, visitor: &mut impl Visitor) {
        let Some((own, earlier)) = self.keys.split_last() else { return };
        let mut from = 0;
        while from < others.values.len() {
            let values = &others.values[from..others.values.len().min(from + 64)];
            let mut near = self.kernel.near_fingerprints(values, value, self.k);
            while near != 0 {
                let j = near.trailing_zeros() as usize;
                near &= near - 1;
                // A pair may agree in the bits of several keys. The first key that catches it reports it.
                let difference = value ^ values[j];
                if own.catches(difference) && !earlier.iter().any(|key| key.catches(difference)) {
                    visitor.pair(position, others.positions[from + j]);
                }
            }
            from += 64;
        }
    }
}
