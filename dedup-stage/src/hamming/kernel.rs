//! The inner loops: they compare all filters of a cache line with one word, or a list of fingerprints with a query.
//!
//! Compiled four times, for machines with vectors that count ones (AVX-512 VPOPCNTDQ), with other vectors (AVX2, see
//! [`super::avx2`]), with an instruction that counts ones, and without any of these; which one runs is decided when a table is
//! made. The results are equal (see the tests).

#[cfg(target_arch = "x86_64")]
use super::avx2::Avx2;
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

    /// Bit i is set where part i of at most 64 is within the limits of `query`.
    fn near_parts(self, parts: &[u32], query: u32, limits: Limits) -> u64;
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
    fn near_parts(self, parts: &[u32], query: u32, limits: Limits) -> u64 {
        let is_near =
            |different: u32| different.count_ones() <= limits.whole && (different >> 16).count_ones() <= limits.upper;
        let near = |(i, part): (usize, &u32)| u64::from(is_near(part ^ query)) << i;
        parts.iter().enumerate().map(near).fold(0, std::ops::BitOr::bitor)
    }
}

/// Compares sixteen words, or eight fingerprints, at a time.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

#[cfg(target_arch = "x86_64")]
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

#[cfg(target_arch = "x86_64")]
impl Kernel for Avx512 {
    #[inline(always)]
    fn near<const W: usize>(self, bucket: &Bucket<W>, word: u32, k: u32) -> u32 {
        use std::arch::x86_64::*;
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
        use std::arch::x86_64::*;
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
        use std::arch::x86_64::*;
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
    fn near_parts(self, parts: &[u32], query: u32, limits: Limits) -> u64 {
        use std::arch::x86_64::*;
        let mut near = 0;
        for (i, line) in parts.chunks(16).enumerate() {
            let used = ((1u32 << line.len()) - 1) as u16;
            // SAFETY: the mask keeps the read within `line`, and `self` exists only where `new` found the instructions.
            let mask = unsafe {
                let words = _mm512_maskz_loadu_epi32(used, line.as_ptr().cast());
                let different = _mm512_xor_si512(words, _mm512_set1_epi32(query as i32));
                let whole = _mm512_set1_epi32(limits.whole as i32);
                let near = _mm512_mask_cmple_epu32_mask(used, _mm512_popcnt_epi32(different), whole);
                let (upper, limit) = (_mm512_srli_epi32::<16>(different), _mm512_set1_epi32(limits.upper as i32));
                _mm512_mask_cmple_epu32_mask(near, _mm512_popcnt_epi32(upper), limit)
            };
            near |= u64::from(mask) << (16 * i);
        }
        near
    }
}

/// The compiled variant for a machine.
#[derive(Clone, Copy, Debug)]
pub enum Level {
    /// No instructions beyond the baseline of the architecture.
    Baseline,
    /// x86-64 with `popcnt`.
    #[cfg(target_arch = "x86_64")]
    Popcnt,
    /// x86-64 with AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// x86-64 with AVX-512 and VPOPCNTDQ.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

impl Level {
    /// The fastest variant that this machine can run.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(avx512) = Avx512::new() {
                return Level::Avx512(avx512);
            }
            if let Some(avx2) = Avx2::new() {
                return Level::Avx2(avx2);
            }
            if is_x86_feature_detected!("popcnt") {
                return Level::Popcnt;
            }
        }
        Level::Baseline
    }

    /// Does a piece of work with the kernel of this machine.
    #[inline(always)]
    pub fn run<W: Work>(self, work: W) -> W::Output {
        match self {
            Level::Baseline => work.run(Scalar),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Level::detect` found the instruction.
            Level::Popcnt => unsafe { run_popcnt(work) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a kernel exists only where `Avx2::new` found the instructions.
            Level::Avx2(kernel) => unsafe { run_avx2(kernel, work) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a kernel exists only where `Avx512::new` found the instructions.
            Level::Avx512(kernel) => unsafe { run_avx512(kernel, work) },
        }
    }
}

/// A piece of work that is compiled once for each kernel, so that all of it may use the instructions of the kernel.
pub trait Work {
    /// The result.
    type Output;

    /// Does the work. It must be inlined.
    fn run(self, kernel: impl Kernel) -> Self::Output;
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn run_popcnt<W: Work>(work: W) -> W::Output {
    work.run(Scalar)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,bmi2,avx2")]
fn run_avx2<W: Work>(kernel: Avx2, work: W) -> W::Output {
    work.run(kernel)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,bmi2,avx512f,avx512vpopcntdq")]
fn run_avx512<W: Work>(kernel: Avx512, work: W) -> W::Output {
    work.run(kernel)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Does something with each kernel with vectors that this machine has.
    macro_rules! for_each_vector_kernel {
        (|$kernel:ident| $check:expr) => {
            #[cfg(target_arch = "x86_64")]
            {
                if let Some($kernel) = Avx2::new() {
                    $check;
                }
                if let Some($kernel) = Avx512::new() {
                    $check;
                }
            }
        };
    }

    proptest! {
        #[test]
        fn vectors_and_scalars_agree(words: [u32; 32], base: u32, errors: [u8; 32], k in 0u32..=32) {
            let mut bucket = Bucket::<32>(words);
            for (i, error) in errors.into_iter().enumerate() {
                if error % 2 == 0 {
                    bucket.0[i] = base ^ 1 << (error % 32) ^ 1 << (error / 8);
                }
            }
            let used = (2u64 << bucket.len()) - 1;
            let mut expected = 0;
            for i in 0..=bucket.len().min(31) {
                expected |= u32::from((bucket.0[i] ^ base).count_ones() <= k) << i;
            }
            prop_assert_eq!(Scalar.near(&bucket, base, k), expected);
            for_each_vector_kernel!(|kernel| {
                prop_assert_eq!(u64::from(kernel.near(&bucket, base, k)) & used, u64::from(expected));
                for (words, n) in [(&bucket.0[..], bucket.len()), (&bucket.0[..bucket.len().min(15)], 16), (&[], 0)] {
                    prop_assert_eq!(kernel.near_words(words, n.min(words.len()), base, k), Scalar.near_words(words, n, base, k));
                }
            });
        }

        #[test]
        fn vectors_and_scalars_agree_on_parts(
            parts in proptest::collection::vec(any::<u32>(), 0..=64), query: u32, upper in 0u32..=16, more in 0u32..=16
        ) {
            // ANDing random words gives few errors.
            let parts: Vec<u32> = parts.windows(2).map(|pair| query ^ pair[0] & pair[1] & pair[0].rotate_left(9)).collect();
            let limits = Limits { upper, whole: (upper + more).min(32) };
            let near = Scalar.near_parts(&parts, query, limits);
            for (i, part) in parts.iter().enumerate() {
                let (different, upper) = ((part ^ query).count_ones(), (part >> 16 ^ query >> 16).count_ones());
                prop_assert_eq!(near >> i & 1 == 1, different <= limits.whole && upper <= limits.upper);
            }
            for_each_vector_kernel!(|kernel| prop_assert_eq!(kernel.near_parts(&parts, query, limits), near));
        }

        #[test]
        fn vectors_and_scalars_agree_on_fingerprints(seed: u64, base: u64, n in 0usize..=64, k in 0u32..=64) {
            let random = |i: u64| xxhash_rust::xxh3::xxh3_64_with_seed(&i.to_le_bytes(), seed);
            let list: [u64; 64] = std::array::from_fn(|i| {
                // The AND of random words gives few errors.
                (0..i as u64 % 5).fold(base, |f, j| if j == 0 { f ^ random(i as u64) } else { f ^ (f ^ base) & random(j * 64 + i as u64) })
            });
            let list = &list[..n];
            let near = Scalar.near_fingerprints(list, base, k);
            for (i, fingerprint) in list.iter().enumerate() {
                prop_assert_eq!(near >> i & 1 == 1, (fingerprint ^ base).count_ones() <= k);
            }
            for_each_vector_kernel!(|kernel| prop_assert_eq!(kernel.near_fingerprints(list, base, k), near));
        }
    }
}
