//! Tests of the online index against a naive search.

use super::*;
use proptest::prelude::*;

/// The naive search.
#[derive(Default)]
struct Scan(Vec<u64>);

impl Scan {
    fn insert(&mut self, fingerprint: u64) -> bool {
        let new = !self.0.contains(&fingerprint);
        if new {
            self.0.push(fingerprint);
        }
        new
    }

    fn within(&self, query: u64, k: u32) -> Vec<(u64, u32)> {
        let mut near: Vec<_> = self.0.iter().map(|f| (*f, (f ^ query).count_ones())).collect();
        near.retain(|(_, distance)| *distance <= k);
        near.sort_unstable();
        near
    }
}

fn check(k: u32, load: usize, fingerprints: impl IntoIterator<Item = u64>, queries: &[u64]) {
    check_design(Design::standard(k), load, fingerprints, queries);
}

fn check_design(design: Design, load: usize, fingerprints: impl IntoIterator<Item = u64>, queries: &[u64]) {
    let k = design.distance;
    let fingerprints: Vec<u64> = fingerprints.into_iter().collect();
    let distinct = fingerprints.iter().collect::<std::collections::HashSet<_>>().len();
    let larger = || if k <= 8 { Design::flips(3.min(k + 1), k) } else { Design::standard(k) };
    // In this order: tables from the start; a list that is just being moved; a list; tables after a move; tables during
    // a move …
    let mut indexes: Vec<Index> = [
        (0, None),
        (70, None),
        (usize::MAX, None),
        (30, Some((distinct / 2, larger()))),
        (0, Some((distinct - distinct / 10, larger()))),
    ]
    .into_iter()
    .map(|(list, larger)| Index::with_load(design.clone(), load, list, larger))
    .collect();
    // … runs; a list that is being moved to runs; runs that are just being moved.
    if k > 3 {
        indexes.extend([0, 1, 2].map(|_| Index::with_load(design.clone(), load, usize::MAX, None)));
    }
    let mut scan = Scan::default();
    for fingerprint in fingerprints {
        let n = scan.0.len();
        for i in indexes.len().min(5)..indexes.len() {
            if i != 6 && n == 0 || i == 6 && n == distinct / 10 * 8 {
                indexes[i].runs.get_or_insert_with(|| Runs::new(k));
            }
            indexes[i].uses_tables |= i == 7 && n == distinct / 10 * 9;
        }
        let new = scan.insert(fingerprint);
        assert!(indexes.iter_mut().all(|index| index.insert(fingerprint) == new));
    }
    let asked: Vec<u64> =
        queries.iter().chain(scan.0.iter().take(100)).chain(scan.0.iter().rev().take(100)).copied().collect();
    let mut near = Vec::new();
    for (i, index) in indexes.iter().enumerate() {
        assert_eq!(index.len(), scan.0.len());
        for &query in &asked {
            near.clear();
            index.within(query, &mut near);
            near.sort_unstable();
            assert_eq!(near, scan.within(query, k), "query {query:016x}, k = {k}, index {i}");
        }
    }
}

fn random(seed: u64) -> impl Iterator<Item = u64> {
    (1..).map(move |i: u64| xxhash_rust::xxh3::xxh3_64_with_seed(&i.to_le_bytes(), seed))
}

#[test]
fn equals_a_scan_on_clustered_sets() {
    for k in 0..=10 {
        let centres: Vec<u64> = random(1).take(40).collect();
        let noise: Vec<u64> = random(2).take(2000).collect();
        let flip = |(i, n): (usize, &u64)| {
            let errors = i as u32 % 14;
            (0..errors).fold(centres[i % 40], |f, e| f ^ 1 << ((n >> (6 * (e % 10)) & 63) + u64::from(e / 10)).min(63))
        };
        let clustered: Vec<u64> = noise.iter().enumerate().map(flip).collect();
        check(k, 11, clustered.into_iter().chain(random(3).take(2000)), &centres);
    }
}

#[test]
fn every_design_equals_a_scan() {
    for k in 0..=7 {
        for design in Design::all(k) {
            let near =
                |f: u64| (0..4).map(move |i| f ^ f.rotate_left(9 * i) & f.rotate_left(23) & f.rotate_left(41) & 0x1111);
            let queries: Vec<u64> = random(5).take(30).chain([0]).collect();
            check_design(design, 3, random(5).take(150).flat_map(near), &queries);
        }
    }
}

#[test]
fn equals_a_scan_on_adversarial_sets() {
    for k in 0..=10 {
        for load in [1, 11, 40] {
            let queries = [0, u64::MAX, 1 << 63, 0xffff];
            check(k, load, [], &queries);
            check(k, load, [0; 100], &queries);
            check(k, load, (0..64).map(|i| 1 << i), &queries);
            check(k, load, (0..600).map(|i| i << 16), &queries);
            check(k, load, (0..600).map(|i| i << 48), &queries);
            check(k, load, (0..600).map(|i| u64::MAX >> (i % 64) ^ i), &queries);
        }
    }
}

#[test]
fn all_move_on_and_the_memory_is_given_back() {
    let mut index = Index::with_load(Design::standard(7), 11, 100, Some((3000, Design::flips(3, 7))));
    let mut fixed = Index::with_load(Design::flips(3, 7), 11, 0, None);
    let (mut probe, mut query) = (Probe::default(), 0);
    let mut near = Vec::new();
    for (n, fingerprint) in random(7).take(5000).enumerate() {
        assert!(index.insert(fingerprint) && fixed.insert(fingerprint));
        assert_eq!(index.len(), n + 1);
        // This query began before the last insertions.
        match n % 5 {
            0 => {
                query = fingerprint;
                index.begin(query, &mut probe);
            }
            4 => {
                near.clear();
                index.finish(&probe, &mut near);
                assert!(near.contains(&(query, 0)));
            }
            _ => {}
        }
    }
    assert_eq!(index.design().name, "flips-3");
    assert_eq!((index.sets.len(), index.retired.is_none()), (1, true));
    let buckets = |index: &Index| index.sets[0].tables.iter().map(|table| table.buckets()).collect::<Vec<_>>();
    assert_eq!(buckets(&index), buckets(&fixed));
}

/// Some fingerprints near a common one, and queries.
#[derive(Clone, Debug)]
struct Near {
    load: usize,
    base: u64,
    errors: Vec<(u64, u64, u64)>,
    queries: Vec<u64>,
}

impl Near {
    fn any() -> impl Strategy<Value = Self> {
        let parts = (1usize..30, any::<u64>(), any::<Vec<(u64, u64, u64)>>(), any::<Vec<u64>>());
        parts.prop_map(|(load, base, errors, queries)| Self { load, base, errors, queries })
    }

    fn check(self, k: u32) {
        // The AND of random words gives few errors.
        let few = self.errors.iter().map(|(a, b, c)| self.base ^ (a & b & c));
        let queries: Vec<u64> = self.queries.into_iter().chain([self.base]).collect();
        check(k, self.load, few, &queries);
    }
}

// Three tests, because they take long and run at the same time.
proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn equals_a_scan_at_small_distances(k in 0u32..=20, near in Near::any()) {
        near.check(k);
    }

    #[test]
    fn equals_a_scan_at_middle_distances(k in 21u32..=42, near in Near::any()) {
        near.check(k);
    }

    #[test]
    fn equals_a_scan_at_large_distances(k in 43u32..=64, near in Near::any()) {
        near.check(k);
    }
}

#[test]
fn crowding_fingerprints_are_kept_in_runs_until_they_crowd_no_more() {
    let spread = |n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let random = || random(11).take(150_000);
    // Pages of one site: only four bits of each quarter of a fingerprint differ.
    let alike = (0..6_000).map(|n| spread(n) & 0x0f0f_0000_00f0_f00f);
    // Pages of one language: each bit is seldom set.
    let seldom = || random().map(|f| f & f.rotate_left(21)).take(20_000);
    let kept = |index: &Index| match (index.uses_tables, &index.runs) {
        (true, _) => "tables",
        (false, Some(_)) => "runs",
        (false, None) => "list",
    };
    let cases: [(Vec<u64>, &str); 4] = [
        (alike.collect(), "list"),
        (seldom().collect(), "runs"),
        (random().take(6_000).collect(), "tables"),
        (seldom().chain(random()).collect(), "tables"),
    ];
    for (fingerprints, expected) in cases {
        let (mut index, mut scan) = (Index::new(7), Scan::default());
        scan.0 = fingerprints.iter().copied().collect::<std::collections::BTreeSet<_>>().into_iter().collect();
        let mut known = std::collections::HashSet::new();
        fingerprints.iter().filter(|f| known.insert(**f)).for_each(|f| index.insert_new(*f));
        assert_eq!((index.len(), kept(&index)), (scan.0.len(), expected));
        for query in scan.0.iter().step_by(scan.0.len() / 60) {
            let mut near = Vec::new();
            index.within(*query, &mut near);
            near.sort_unstable();
            assert_eq!(near, scan.within(*query, 7));
        }
    }
}
