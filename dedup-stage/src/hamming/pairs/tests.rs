//! Tests of the pairs of one or two files against a naive search.

use super::*;
use proptest::prelude::*;

fn naive(fingerprints: &[u64], k: u32) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (second, b) in fingerprints.iter().enumerate() {
        for (first, a) in fingerprints[..second].iter().enumerate() {
            let distance = (a ^ b).count_ones();
            if distance <= k {
                pairs.push(Pair { first: first as u64, second: second as u64, distance });
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Of equal values, only pairs with their first row. Of different values, only pairs of first rows.
fn of_first_rows(pairs: &[Pair]) -> Vec<Pair> {
    let repeats: std::collections::HashSet<u64> = pairs.iter().filter(|p| p.distance == 0).map(|p| p.second).collect();
    let kept = |p: &&Pair| !repeats.contains(&p.first) && (p.distance == 0 || !repeats.contains(&p.second));
    pairs.iter().filter(kept).copied().collect()
}

fn clustered(n: u64, centres: u64) -> Vec<u64> {
    let random = |i: u64| xxhash_rust::xxh3::xxh3_64(&i.to_le_bytes());
    (0..n)
        .map(|i| (0..random(i) % 5).fold(random(!(random(i) % centres)), |f, e| f ^ 1 << (random(i ^ e << 40) % 64)))
        .collect()
}

fn check(fingerprints: &[u64], k: u32) {
    let expected = naive(fingerprints, k);
    let mut ways: Vec<Near> = [1, 3].map(|threads| flips::near(fingerprints, k, threads, &|_| {})).into();
    if k <= 3 {
        ways.extend([1, 3].map(|threads| thirds::near(fingerprints, k, threads, &|_| {})));
    }
    for near in ways {
        assert_eq!(rows(fingerprints, &near, Listed::All), expected);
        assert_eq!(rows(fingerprints, &near, Listed::First), of_first_rows(&expected));
    }
}

#[test]
fn equals_comparing_all_with_all() {
    for k in 0..=8 {
        check(&clustered(1200, 300), k);
    }
}

#[test]
fn equals_comparing_all_with_all_on_adversarial_sets() {
    for k in 0..=4 {
        check(&[], k);
        check(&[7], k);
        check(&[0; 70], k);
        check(&(0..64).map(|i| 1 << i).collect::<Vec<_>>(), k);
        check(&(0..600).map(|i| i << 20).collect::<Vec<_>>(), k);
    }
}

#[test]
fn a_hot_value_does_not_make_it_quadratic() {
    let mut fingerprints = vec![42; 200_000];
    fingerprints.extend([43, 40, u64::MAX]);
    let near = near(&fingerprints, 3, 2, &|_| {});
    assert_eq!(near, Near { pairs: vec![(40, 42), (40, 43), (42, 43)], repeated: vec![42] });
    assert_eq!(rows(&fingerprints, &near, Listed::First).len(), 199_999 + 3);
}

#[test]
fn the_fast_way_equals_the_general_one() {
    let fingerprints = clustered(100_000, 60_000);
    assert_eq!(near(&fingerprints, 3, 2, &|_| {}), flips::near(&fingerprints, 3, 1, &|_| {}));
}

#[test]
fn rotating_finds_nothing_wrong() {
    let fingerprints = clustered(3000, 1000);
    let exact = near(&fingerprints, 3, 1, &|_| {});
    let rotated = rotate(&fingerprints, 3, &|_| {});
    assert_eq!(rotated.repeated, exact.repeated);
    assert!(rotated.pairs.iter().all(|pair| exact.pairs.binary_search(pair).is_ok()));
    assert!(rotated.pairs.len() * 2 > exact.pairs.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]
    #[test]
    fn equals_comparing_all_with_all_on_anything(base: u64, errors in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>()), 0..150), k in 0u32..=64) {
        let fingerprints: Vec<u64> = errors.iter().map(|(a, b, c, d)| base ^ (a & b & c & d)).collect();
        check(&fingerprints, k);
    }
}
