//! The inner loop of the join of a set with itself: all pairs whose positions in an array are not too far apart.

/// Compares each fingerprint with all others, and calls `found` with pairs within `k`.
pub fn all(fingerprints: &[u64], k: u32, found: &mut impl FnMut(u64, u64)) {
    neighbours(fingerprints, &|_, _| fingerprints.len(), k, found);
}

/// Compares every fingerprint with those that follow it before its `end`, and perhaps with a few more. `end` never
/// falls from one fingerprint to the next. Calls `found` with pairs within `k`.
pub fn neighbours(fingerprints: &[u64], end: &impl Fn(usize, u64) -> usize, k: u32, found: &mut impl FnMut(u64, u64)) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vpopcntdq") {
        // SAFETY: the machine has the instructions.
        unsafe { neighbours_avx512(fingerprints, end, k, found) };
        return;
    } else if is_x86_feature_detected!("popcnt") {
        // SAFETY: the machine has the instruction.
        unsafe { neighbours_popcnt(fingerprints, end, k, found) };
        return;
    }
    neighbours_scalar(fingerprints, end, k, found);
}

#[inline(always)]
fn neighbours_scalar(
    fingerprints: &[u64],
    end: &impl Fn(usize, u64) -> usize,
    k: u32,
    found: &mut impl FnMut(u64, u64),
) {
    for (i, &a) in fingerprints.iter().enumerate() {
        let end = end(i, a).clamp(i + 1, fingerprints.len());
        for &b in &fingerprints[i + 1..end] {
            if (a ^ b).count_ones() <= k {
                found(a, b);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn neighbours_popcnt(
    fingerprints: &[u64],
    end: &impl Fn(usize, u64) -> usize,
    k: u32,
    found: &mut impl FnMut(u64, u64),
) {
    neighbours_scalar(fingerprints, end, k, found);
}

/// Compares eight fingerprints with eight others at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,bmi2,avx512f,avx512vpopcntdq")]
fn neighbours_avx512(
    fingerprints: &[u64],
    end: &impl Fn(usize, u64) -> usize,
    k: u32,
    found: &mut impl FnMut(u64, u64),
) {
    use std::arch::x86_64::*;
    let bound = _mm512_set1_epi64(i64::from(k));
    let n = fingerprints.len();
    // Eight fingerprints from here on, or as many as there are.
    let load = |from: usize| {
        if from + 8 <= n {
            // SAFETY: the slice has eight fingerprints from here on.
            return unsafe { _mm512_loadu_epi64(fingerprints.as_ptr().add(from).cast()) };
        }
        let mask = ((1u16 << (n - from).min(8)) - 1) as u8;
        // SAFETY: the mask keeps the read within the slice.
        unsafe { _mm512_maskz_loadu_epi64(mask, fingerprints.as_ptr().add(from).cast()) }
    };
    for i in (0..n).step_by(8) {
        let own = (n - i).min(8);
        // The `end` of the last of the eight is the farthest.
        let end = end(i + own - 1, fingerprints[i + own - 1]).min(n);
        let a = load(i);
        let different = |from: usize| _mm512_popcnt_epi64(_mm512_xor_si512(a, load(from)));
        let mut from = i + 1;
        // Four groups of eight are compared at a time. Some fingerprints may lie behind the end: comparing them takes
        // less time than checking.
        while from < end && from + 11 <= n {
            let least = _mm512_min_epu64(
                _mm512_min_epu64(different(from), different(from + 1)),
                _mm512_min_epu64(different(from + 2), different(from + 3)),
            );
            if _mm512_cmple_epu64_mask(least, bound) != 0 {
                report_four(fingerprints, i, from, k, found);
            }
            from += 4;
        }
        for from in from..end {
            let near = _mm512_cmple_epu64_mask(different(from), bound);
            report(fingerprints, i, from, near, found);
        }
    }
}

/// Looks again at four times eight pairs. It is a function of its own, so that the loop keeps its registers.
#[cfg(target_arch = "x86_64")]
#[cold]
#[inline(never)]
#[target_feature(enable = "popcnt,bmi1,bmi2,avx512f,avx512vpopcntdq")]
fn report_four(fingerprints: &[u64], i: usize, from: usize, k: u32, found: &mut impl FnMut(u64, u64)) {
    for from in from..from + 4 {
        let (own, others) = (&fingerprints[i..], &fingerprints[from..]);
        let near =
            (0..8).filter(|lane| (own[*lane] ^ others[*lane]).count_ones() <= k).fold(0, |near, lane| near | 1 << lane);
        report(fingerprints, i, from, near, found);
    }
}

/// Calls `found` with the pairs, out of eight, whose bits are set.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn report(fingerprints: &[u64], i: usize, from: usize, mut near: u8, found: &mut impl FnMut(u64, u64)) {
    // Behind the end of the slice, zeros were compared instead of fingerprints.
    near &= ((1u16 << (fingerprints.len() - from).min(8)) - 1) as u8;
    while near != 0 {
        let lane = near.trailing_zeros() as usize;
        near &= near - 1;
        found(fingerprints[i + lane], fingerprints[from + lane]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn vectors_and_scalars_agree(mut fingerprints: Vec<u8>, group in 1u32..8, k in 0u32..4) {
            fingerprints.sort_unstable();
            let fingerprints: Vec<u64> = fingerprints.into_iter().map(u64::from).collect();
            let end = |_, f: u64| fingerprints.partition_point(|other| other >> group <= f >> group);
            let (mut expected, mut got) = (Vec::new(), Vec::new());
            let add = |pairs: &mut Vec<_>, a: u64, b: u64| if a >> group == b >> group { pairs.push((a, b)) };
            neighbours_scalar(&fingerprints, &end, k, &mut |a, b| add(&mut expected, a, b));
            neighbours(&fingerprints, &end, k, &mut |a, b| add(&mut got, a, b));
            expected.sort_unstable();
            got.sort_unstable();
            prop_assert_eq!(got, expected);
        }
    }
}
