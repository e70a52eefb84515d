//! Keys of tables: which bits of a fingerprint a table uses, and how the table splits a fingerprint.

use serde::{Deserialize, Serialize};

use super::code::Code;
use super::permutation::Permutation;

/// The bits of a fingerprint by which a table finds it, and how many of them may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// The key bits.
    pub mask: u64,
    /// At most this many key bits may differ. A query asks the table for all keys within this many flips.
    pub flips: u32,
}

impl Key {
    /// Whether a table with this key finds a fingerprint that differs from the query in the bits of `difference`.
    #[inline(always)]
    pub fn catches(&self, difference: u64) -> bool {
        (difference & self.mask).count_ones() <= self.flips
    }

    /// Number of key bits that give the bucket.
    pub fn bits(&self) -> u32 {
        self.mask.count_ones().min(32)
    }
}

/// Splits fingerprints for one [`Key`]: 32 bits are the address, which gives the bucket, and begins with the key bits.
/// The other 32 bits are the filter.
#[derive(Clone, Debug)]
pub struct View {
    permutation: Permutation,
    code: Code,
}

/// A fingerprint as a table sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keyed {
    /// A bijective image of 32 bits, the key bits first. The low bits are the number of the bucket.
    pub address: u32,
    /// The other 32 bits.
    pub filter: u32,
}

impl View {
    /// The view of a key. If the key is half a fingerprint with at most one flip, buckets are numbered by the nearest
    /// codeword.
    pub fn new(key: Key) -> Self {
        let code = match (key.mask.count_ones(), key.flips) {
            (32, flips @ ..=1) => Code::hamming(&[5], flips),
            (_, flips) => Code::plain(key.bits(), flips),
        };
        Self { permutation: Permutation::to_front(key.mask), code }
    }

    /// The code that numbers the buckets.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// Splits a fingerprint.
    #[inline(always)]
    pub fn keyed(&self, fingerprint: u64) -> Keyed {
        let permuted = self.permutation.apply(fingerprint);
        Keyed { address: self.code.address(permuted as u32), filter: (permuted >> 32) as u32 }
    }

    /// Puts a split fingerprint together.
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
