//! The inner loop of the self-join: all pairs that lie at most so far apart in an array.

/// Compares every fingerprint with the `reach` that follow it, and calls `found` with pairs within `k`.
pub fn neighbours(fingerprints: &[u64], reach: usize, k: u32, found: &mut impl FnMut(u64, u64)) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vpopcntdq") {
        // SAFETY: the instructions are there.
        unsafe { neighbours_avx512(fingerprints, reach, k, found) };
        return;
    } else if is_x86_feature_detected!("popcnt") {
        // SAFETY: the instruction is there.
        unsafe { neighbours_popcnt(fingerprints, reach, k, found) };
        return;
    }
    neighbours_scalar(fingerprints, reach, k, found);
}

#[inline(always)]
fn neighbours_scalar(fingerprints: &[u64], reach: usize, k: u32, found: &mut impl FnMut(u64, u64)) {
    for (i, &a) in fingerprints.iter().enumerate() {
        for &b in fingerprints[i + 1..].iter().take(reach) {
            if (a ^ b).count_ones() <= k {
                found(a, b);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn neighbours_popcnt(fingerprints: &[u64], reach: usize, k: u32, found: &mut impl FnMut(u64, u64)) {
    neighbours_scalar(fingerprints, reach, k, found);
}

/// Eight fingerprints with eight others at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,bmi2,avx512f,avx512vpopcntdq")]
fn neighbours_avx512(fingerprints: &[u64], reach: usize, k: u32, found: &mut impl FnMut(u64, u64)) {
    use std::arch::x86_64::*;
    let bound = _mm512_set1_epi64(i64::from(k));
    let n = fingerprints.len();
    for i in (0..n).step_by(8) {
        let own = (n - i).min(8);
        let load = |from: usize| {
            if from + 8 <= n {
                // SAFETY: eight are there.
                return unsafe { _mm512_loadu_epi64(fingerprints.as_ptr().add(from).cast()) };
            }
            let mask = ((1u16 << (n - from).min(8)) - 1) as u8;
            // SAFETY: the mask keeps the read within the slice.
            unsafe { _mm512_maskz_loadu_epi64(mask, fingerprints.as_ptr().add(from).cast()) }
        };
        let a = load(i);
        for from in i + 1..(i + 1 + reach).min(n) {
            let b = load(from);
            let near = _mm512_cmple_epu64_mask(_mm512_popcnt_epi64(_mm512_xor_si512(a, b)), bound);
            if near != 0 {
                let pairs = own.min(n - from);
                for lane in (0..pairs).filter(|lane| near >> lane & 1 == 1) {
                    found(fingerprints[i + lane], fingerprints[from + lane]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn vectors_and_scalars_agree(errors: Vec<u8>, reach in 0usize..40, k in 0u32..4) {
            let fingerprints: Vec<u64> = errors.iter().map(|e| 1u64 << (e % 64) ^ 1 << (e / 16)).collect();
            let (mut expected, mut got) = (Vec::new(), Vec::new());
            neighbours_scalar(&fingerprints, reach, k, &mut |a, b| expected.push((a, b)));
            neighbours(&fingerprints, reach, k, &mut |a, b| got.push((a, b)));
            expected.sort_unstable();
            got.sort_unstable();
            prop_assert_eq!(got, expected);
        }
    }
}
