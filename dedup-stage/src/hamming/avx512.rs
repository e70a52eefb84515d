//! The kernel for machines with vectors of 512 bits that count the ones in them (VPOPCNTDQ).

use std::arch::x86_64::*;

use super::bucket::Bucket;
use super::kernel::{Kernel, Limits};

/// Compares sixteen words, or eight fingerprints, at a time.
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

impl Avx512 {
    /// Proof that this machine has the instructions. `None` if it does not.
    pub fn new() -> Option<Self> {
        let able = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vpopcntdq")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2");
        able.then_some(Self(()))
    }
}

impl Kernel for Avx512 {
    #[inline(always)]
    fn near<const W: usize>(self, bucket: &Bucket<W>, word: u32, k: u32) -> u32 {
        const { assert!(W.is_multiple_of(16) && W <= 32) };
        let mut near = 0;
        for (i, line) in bucket.0.chunks_exact(16).enumerate() {
            // SAFETY: `line` has the 64 bytes that are read. `self` exists only if `new` found the instructions.
            let mask = unsafe {
                let words = _mm512_loadu_si512(line.as_ptr().cast());
                let different = _mm512_xor_si512(words, _mm512_set1_epi32(word as i32));
                _mm512_cmple_epu32_mask(_mm512_popcnt_epi32(different), _mm512_set1_epi32(k as i32))
            };
            near |= u32::from(mask) << (16 * i);
        }
        near
    }

    #[inline(always)]
    fn near_words(self, words: &[u32], n: usize, word: u32, k: u32) -> u32 {
        let used = ((1u32 << n.min(16)) - 1) as u16;
        // SAFETY: the read is within `words`, because of their number or of the mask. `self` exists only if `new` found
        // the instructions.
        let mask = unsafe {
            let words = match words.first_chunk::<16>() {
                Some(words) => _mm512_loadu_si512(words.as_ptr().cast()),
                None => _mm512_maskz_loadu_epi32(((1u32 << words.len()) - 1) as u16, words.as_ptr().cast()),
            };
            let different = _mm512_xor_si512(words, _mm512_set1_epi32(word as i32));
            _mm512_cmple_epu32_mask(_mm512_popcnt_epi32(different), _mm512_set1_epi32(k as i32))
        };
        u32::from(mask & used)
    }

    #[inline(always)]
    fn near_fingerprints(self, fingerprints: &[u64], query: u64, k: u32) -> u64 {
        let (lines, rest) = fingerprints.as_chunks::<8>();
        let mut near = 0;
        for (i, line) in lines.iter().enumerate() {
            // SAFETY: `line` has the 64 bytes that are read. `self` exists only if `new` found the instructions.
            let mask = unsafe {
                let different =
                    _mm512_xor_si512(_mm512_loadu_si512(line.as_ptr().cast()), _mm512_set1_epi64(query as i64));
                _mm512_cmple_epu64_mask(_mm512_popcnt_epi64(different), _mm512_set1_epi64(i64::from(k)))
            };
            near |= u64::from(mask) << (8 * i);
        }
        if !rest.is_empty() {
            let used = (1 << rest.len()) - 1;
            // SAFETY: the mask keeps the read within `rest`. The machine has the instructions.
            let mask = unsafe {
                let rest = _mm512_maskz_loadu_epi64(used, rest.as_ptr().cast());
                let different = _mm512_xor_si512(rest, _mm512_set1_epi64(query as i64));
                _mm512_mask_cmple_epu64_mask(used, _mm512_popcnt_epi64(different), _mm512_set1_epi64(i64::from(k)))
            };
            near |= u64::from(mask) << (8 * lines.len());
        }
        near
    }

    #[inline(always)]
    fn near_parts(self, parts: &[u32; 32], query: u32, limits: Limits) -> u32 {
        let mut near = 0;
        for (i, line) in parts.as_chunks::<16>().0.iter().enumerate() {
            // SAFETY: `line` has the 64 bytes that are read. `self` exists only if `new` found the instructions.
            let mask = unsafe {
                let words = _mm512_loadu_si512(line.as_ptr().cast());
                let different = _mm512_xor_si512(words, _mm512_set1_epi32(query as i32));
                let whole = _mm512_set1_epi32(limits.whole as i32);
                let near = _mm512_cmple_epu32_mask(_mm512_popcnt_epi32(different), whole);
                let (upper, limit) = (_mm512_srli_epi32::<16>(different), _mm512_set1_epi32(limits.upper as i32));
                _mm512_mask_cmple_epu32_mask(near, _mm512_popcnt_epi32(upper), limit)
            };
            near |= u32::from(mask) << (16 * i);
        }
        near
    }
}
