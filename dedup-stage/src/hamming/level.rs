//! Which kernel a machine runs. All work with kernels is compiled four times: for machines with vectors that count ones
//! ([`super::avx512`]), with other vectors ([`super::avx2`]), with an instruction that counts ones, and without any of
//! these. Which one runs is decided when an index is made or opened, or a join of pairs begins.

#[cfg(target_arch = "x86_64")]
use super::avx2::Avx2;
#[cfg(target_arch = "x86_64")]
use super::avx512::Avx512;
use super::kernel::{Kernel, Scalar};

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
    use proptest::prelude::*;

    use super::*;
    use crate::hamming::bucket::Bucket;
    use crate::hamming::kernel::Limits;

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
            words: [u32; 32], query: u32, upper in 0u32..=16, more in 0u32..=16
        ) {
            // ANDing random words gives few errors.
            let parts = std::array::from_fn(|i| query ^ words[i] & words[(i + 1) % 32] & words[i].rotate_left(9));
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
