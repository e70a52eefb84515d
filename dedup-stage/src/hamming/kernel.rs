//! The inner loops of an index: they compare all filters of a cache line with one word, or a list of fingerprints with
//! a query.
//!
//! [`Kernel`] says what they do, and [`Scalar`] does it on any machine. The kernels for machines with vectors are in
//! [`super::avx2`] and [`super::avx512`]; [`super::level`] chooses among them. The results are equal (see the tests
//! there).

use super::bucket::Bucket;

/// How far parts of fingerprints may be from the same parts of a query.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The upper 16 bits of a part.
    pub upper: u32,
    /// All of its 32 bits.
    pub whole: u32,
}

/// Compares words or fingerprints with a query.
pub trait Kernel: Copy {
    /// Bit i of the result is set if word i of the bucket, header included, is within `k` of `word`.
    fn near<const W: usize>(self, bucket: &Bucket<W>, word: u32, k: u32) -> u32;

    /// Bit i of the result is set if word i is among the first `n` and the first 16, and is within `k` of `word`. This
    /// is faster if `words` has at least 16 words, whatever the words behind the first `n` are.
    fn near_words(self, words: &[u32], n: usize, word: u32, k: u32) -> u32;

    /// Bit i of the result is set if fingerprint i is within `k` of `query`. There are at most 64 fingerprints.
    fn near_fingerprints(self, fingerprints: &[u64], query: u64, k: u32) -> u64;

    /// Bit i of the result is set if part i is within the limits of `query`.
    fn near_parts(self, parts: &[u32; 32], query: u32, limits: Limits) -> u32;
}

/// Compares one word after the other.
#[derive(Clone, Copy, Debug)]
pub struct Scalar;

impl Kernel for Scalar {
    #[inline(always)]
    fn near<const W: usize>(self, bucket: &Bucket<W>, word: u32, k: u32) -> u32 {
        let used = 1 + bucket.len();
        let near = |(i, w): (usize, &u32)| u32::from((w ^ word).count_ones() <= k) << i;
        bucket.0[..used].iter().enumerate().map(near).fold(0, std::ops::BitOr::bitor)
    }

    #[inline(always)]
    fn near_words(self, words: &[u32], n: usize, word: u32, k: u32) -> u32 {
        let near = |(i, w): (usize, &u32)| u32::from((w ^ word).count_ones() <= k) << i;
        words.iter().take(n.min(16)).enumerate().map(near).fold(0, std::ops::BitOr::bitor)
    }

    #[inline(always)]
    fn near_fingerprints(self, fingerprints: &[u64], query: u64, k: u32) -> u64 {
        let near = |(i, f): (usize, &u64)| u64::from((f ^ query).count_ones() <= k) << i;
        fingerprints.iter().enumerate().map(near).fold(0, std::ops::BitOr::bitor)
    }

    #[inline(always)]
    fn near_parts(self, parts: &[u32; 32], query: u32, limits: Limits) -> u32 {
        let is_near =
            |different: u32| different.count_ones() <= limits.whole && (different >> 16).count_ones() <= limits.upper;
        let near = |(i, part): (usize, &u32)| u32::from(is_near(part ^ query)) << i;
        parts.iter().enumerate().map(near).fold(0, std::ops::BitOr::bitor)
    }
}
