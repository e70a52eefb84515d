//! The kernel for machines that have vectors of 256 bits, but no instruction that counts the ones in a vector. Most
//! machines of today are of this kind. Ones are counted by looking up each half of a byte in a table (Muła, Kurz,
//! Lemire, "Faster Population Counts Using AVX2 Instructions", The Computer Journal 2018).

use std::arch::x86_64::*;

use super::bucket::Bucket;
use super::kernel::{Kernel, Limits};

/// Eight words, or four fingerprints, at a time.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

impl Avx2 {
    /// Proof that this machine has the instructions. `None` if it does not.
    pub fn new() -> Option<Self> {
        let able = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2");
        able.then_some(Self(()))
    }

    /// The number of ones in each byte.
    #[inline(always)]
    fn ones(self, bytes: __m256i) -> __m256i {
        // SAFETY: `self` exists only where `new` found the instructions. That holds for every block below.
        unsafe {
            let table = _mm256_setr_epi8(
                0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
            );
            let low = _mm256_set1_epi8(15);
            let lower = _mm256_and_si256(bytes, low);
            let upper = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), low);
            _mm256_add_epi8(_mm256_shuffle_epi8(table, lower), _mm256_shuffle_epi8(table, upper))
        }
    }

    /// The number of ones in each half of a word.
    #[inline(always)]
    fn ones_of_halves(self, words: __m256i) -> __m256i {
        // SAFETY: see `ones`.
        unsafe { _mm256_maddubs_epi16(self.ones(words), _mm256_set1_epi8(1)) }
    }

    /// Bit i of the result is set if word i of the eight is within `k` of `word`.
    #[inline(always)]
    fn near_eight(self, words: __m256i, word: u32, k: u32) -> u32 {
        // SAFETY: see `ones`.
        unsafe {
            let halves = self.ones_of_halves(_mm256_xor_si256(words, _mm256_set1_epi32(word as i32)));
            let ones = _mm256_madd_epi16(halves, _mm256_set1_epi16(1));
            let near = _mm256_cmpgt_epi32(_mm256_set1_epi32(k.min(32) as i32 + 1), ones);
            _mm256_movemask_ps(_mm256_castsi256_ps(near)) as u32
        }
    }

    /// The first eight words of a slice, and zeros where it has fewer.
    #[inline(always)]
    fn load(self, words: &[u32]) -> __m256i {
        // SAFETY: a whole chunk has the 32 bytes that are read; otherwise the mask keeps the read within `words`. See
        // also `ones`.
        unsafe {
            match words.first_chunk::<8>() {
                Some(words) => _mm256_loadu_si256(words.as_ptr().cast()),
                None => {
                    let places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
                    let used = _mm256_cmpgt_epi32(_mm256_set1_epi32(words.len() as i32), places);
                    _mm256_maskload_epi32(words.as_ptr().cast(), used)
                }
            }
        }
    }
}

impl Kernel for Avx2 {
    #[inline(always)]
    fn near<const W: usize>(self, bucket: &Bucket<W>, word: u32, k: u32) -> u32 {
        const { assert!(W.is_multiple_of(8) && W <= 32) };
        let eights = bucket.0.as_chunks::<8>().0.iter().enumerate();
        eights.fold(0, |near, (i, eight)| near | self.near_eight(self.load(eight), word, k) << (8 * i))
    }

    #[inline(always)]
    fn near_words(self, words: &[u32], n: usize, word: u32, k: u32) -> u32 {
        let used = (1u32 << n.min(words.len()).min(16)) - 1;
        let (first, second) = words.split_at(words.len().min(8));
        let near = self.near_eight(self.load(first), word, k) | self.near_eight(self.load(second), word, k) << 8;
        near & used
    }

    #[inline(always)]
    fn near_fingerprints(self, fingerprints: &[u64], query: u64, k: u32) -> u64 {
        let (fours, rest) = fingerprints.as_chunks::<4>();
        let mut near = 0;
        for (i, four) in fours.iter().enumerate() {
            // SAFETY: `four` has the 32 bytes that are read. See also `ones`.
            let mask = unsafe {
                let different =
                    _mm256_xor_si256(_mm256_loadu_si256(four.as_ptr().cast()), _mm256_set1_epi64x(query as i64));
                let ones = _mm256_sad_epu8(self.ones(different), _mm256_setzero_si256());
                let near = _mm256_cmpgt_epi64(_mm256_set1_epi64x(i64::from(k) + 1), ones);
                _mm256_movemask_pd(_mm256_castsi256_pd(near)) as u32
            };
            near |= u64::from(mask) << (4 * i);
        }
        for (i, fingerprint) in (4 * fours.len()..).zip(rest) {
            near |= u64::from((fingerprint ^ query).count_ones() <= k) << i;
        }
        near
    }

    #[inline(always)]
    fn near_parts(self, parts: &[u32; 32], query: u32, limits: Limits) -> u32 {
        let mut near = 0;
        for (i, eight) in parts.as_chunks::<8>().0.iter().enumerate() {
            let words = self.load(eight);
            // SAFETY: see `ones`.
            let mask = unsafe {
                let halves = self.ones_of_halves(_mm256_xor_si256(words, _mm256_set1_epi32(query as i32)));
                let ones = _mm256_madd_epi16(halves, _mm256_set1_epi16(1));
                // The results of the lower halves do not count: `movemask` takes the highest bit of each word.
                let upper_near = _mm256_cmpgt_epi16(_mm256_set1_epi16(limits.upper as i16 + 1), halves);
                let near = _mm256_cmpgt_epi32(_mm256_set1_epi32(limits.whole as i32 + 1), ones);
                _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_and_si256(upper_near, near))) as u32
            };
            near |= mask << (8 * i);
        }
        near
    }
}
