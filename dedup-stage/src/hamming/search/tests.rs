//! Tests of the searches against a naive search.

use super::*;
use crate::hamming::Design;

fn naive(stored: &[u64], queries: &[u64], k: u32) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (q, query) in (0..).zip(queries) {
        for (s, fingerprint) in (0..).zip(stored) {
            let distance = (query ^ fingerprint).count_ones();
            if distance <= k {
                hits.push(Hit { query: q, stored: s, distance });
            }
        }
    }
    hits
}

fn clustered(n: u64) -> Vec<u64> {
    let random = |i: u64| xxhash_rust::xxh3::xxh3_64(&i.to_le_bytes());
    (0..n)
        .map(|i| (0..random(i) % 7).fold(random(!(random(i) % 200)), |f, e| f ^ 1 << (random(i ^ e << 40) % 64)))
        .collect()
}

#[test]
fn equals_comparing_all_with_all() {
    let stored = clustered(1500);
    let queries: Vec<u64> = stored.iter().step_by(17).chain(&stored[..20]).copied().collect();
    for k in 0..=8 {
        let expected = naive(&stored, &queries, k);
        for threads in [1, 3] {
            assert_eq!(search(&stored, 0, &queries, k, None, threads, &|_| {}), expected, "k = {k}");
        }
        for design in Design::all(k) {
            assert_eq!(search(&stored, 0, &queries, k, Some(design), 1, &|_| {}), expected, "k = {k}");
        }
    }
    assert_eq!(search(&[], 0, &queries, 3, None, 2, &|_| {}), []);
    assert_eq!(search(&stored, 0, &[], 3, None, 2, &|_| {}), []);
}

#[test]
fn splits_add_up_to_the_whole() {
    let stored = clustered(4000);
    let queries = &stored[..300];
    let whole = search(&stored, 0, queries, 3, None, 2, &|_| {});
    let mut splits = Vec::new();
    for (i, split) in (0..).zip(stored.chunks(1234)) {
        splits.extend(search(split, 1234 * i, queries, 3, None, 1, &|_| {}));
    }
    splits.sort_unstable();
    assert_eq!(splits, whole);
}
