//! How one table sees a fingerprint.

use serde::{Deserialize, Serialize};

use super::code::Code;
use super::permutation::Permutation;

/// The bits of a fingerprint by which a table finds it, and how many of them may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// The bits.
    pub mask: u64,
    /// How many of them are allowed to differ: the table is asked for all keys within so many flips.
    pub flips: u32,
}

impl Key {
    /// Whether a table with this key finds a fingerprint that differs from the query in these bits.
    #[inline(always)]
    pub fn catches(&self, difference: u64) -> bool {
        (difference & self.mask).count_ones() <= self.flips
    }

    /// Number of key bits that number buckets.
    pub fn bits(&self) -> u32 {
        self.mask.count_ones().min(32)
    }
}

/// The view of a [`Key`]: 32 bits that number buckets (as far as they are in the key), and 32 others.
#[derive(Clone, Debug)]
pub struct View {
    permutation: Permutation,
    code: Code,
}

/// A fingerprint as a table sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keyed {
    /// Bijective image of 32 bits, the key first: the bucket's number is in the low bits.
    pub address: u32,
    /// The other 32 bits.
    pub filter: u32,
}

impl View {
    /// The view of a key. Keys of half a fingerprint with one flip are bucketed by nearest codeword.
    pub fn new(key: Key) -> Self {
        let code = match (key.mask.count_ones(), key.flips) {
            (32, flips @ ..=1) => Code::hamming(&[5], flips),
            (_, flips) => Code::plain(key.bits(), flips),
        };
        Self { permutation: Permutation::to_front(key.mask), code }
    }

    /// How the buckets are numbered.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// How the table sees a fingerprint.
    #[inline(always)]
    pub fn keyed(&self, fingerprint: u64) -> Keyed {
        let permuted = self.permutation.apply(fingerprint);
        Keyed { address: self.code.address(permuted as u32), filter: (permuted >> 32) as u32 }
    }

    /// The fingerprint that looks like this.
    #[inline(always)]
    pub fn fingerprint(&self, keyed: Keyed) -> u64 {
        let permuted = u64::from(self.code.key(keyed.address)) | u64::from(keyed.filter) << 32;
        self.permutation.undo(permuted)
    }
}
/// Cuts the bits of a mask into parts of nearly equal size, the larger ones first.
pub fn cut(mask: u64, parts: u32) -> Vec<u64> {
    let bits = mask.count_ones();
    let mut left = mask;
    (0..parts)
        .map(|i| {
            let mut part = 0;
            for _ in 0..(bits + parts - 1 - i) / parts {
                part |= left & left.wrapping_neg();
                left &= left - 1;
            }
            part
        })
        .collect()
}
