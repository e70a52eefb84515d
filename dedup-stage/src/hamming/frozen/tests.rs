//! Tests of index files: their answers, their format, and damage to them.

use std::io::Cursor;

use memmap2::MmapMut;
use proptest::prelude::*;

use super::*;

fn spec(design: Design, part: u64) -> IndexSpec {
    IndexSpec { design, recipe: "test".into(), with_rows: true, threads: 2, part }
}

fn bytes(fingerprints: &[u64], spec: &IndexSpec) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    let written = build(fingerprints, spec, &mut out, &|_| {}).expect("memory does not fail");
    let bytes = out.into_inner();
    assert_eq!(bytes.len() as u64, written);
    bytes
}

fn open(bytes: &[u8]) -> Result<Frozen, Error> {
    let mut memory = MmapMut::map_anon(bytes.len().max(1)).expect("memory");
    memory[..bytes.len()].copy_from_slice(bytes);
    Frozen::from_memory(memory, bytes.len(), "test")
}

/// A naive search: query, row and distance of each pair.
fn scan(stored: &[u64], queries: &[u64], k: u32) -> Vec<(usize, u64, u32)> {
    let mut hits = Vec::new();
    for (i, query) in queries.iter().enumerate() {
        for (row, fingerprint) in (0..).zip(stored) {
            let distance = (query ^ fingerprint).count_ones();
            if distance <= k {
                hits.push((i, row, distance));
            }
        }
    }
    hits
}

fn search(index: &Frozen, queries: &[u64]) -> Vec<(usize, u64, u32)> {
    let mut values = Vec::new();
    let mut reader = index.reader();
    reader.within(queries, &mut |i, fingerprint, distance| values.push((i, fingerprint, distance)));
    let mut hits = Vec::new();
    for (i, fingerprint, distance) in values {
        reader.rows_of(fingerprint, &mut |row| hits.push((i, row, distance)));
    }
    hits.sort_unstable();
    hits
}

fn check(stored: &[u64], queries: &[u64], spec: &IndexSpec) {
    let index = open(&bytes(stored, spec)).expect("undamaged");
    assert_eq!(index.rows(), stored.len() as u64);
    let expected = scan(stored, queries, spec.design.distance);
    assert_eq!(search(&index, queries), expected, "{}, part {}", spec.design.name, spec.part);
    let (mut probed, mut swept) = (Vec::new(), Vec::new());
    index.reader().within(queries, &mut |i, fingerprint, distance| probed.push((i, fingerprint, distance)));
    let reader = index.reader();
    for bins in (0..reader.tables()).map(|table| reader.bins(table, queries)) {
        for region in 0..bins.regions() {
            reader
                .sweep(&bins, region, queries, &mut |i, fingerprint, distance| swept.push((i, fingerprint, distance)));
        }
    }
    probed.sort_unstable();
    swept.sort_unstable();
    assert_eq!(swept, probed, "{}, part {}", spec.design.name, spec.part);
    let (all, mut distinct) = (index.reader().fingerprints(), stored.to_vec());
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(
        all.iter().collect::<std::collections::BTreeSet<_>>().into_iter().copied().collect::<Vec<_>>(),
        distinct
    );
    assert_eq!(all.len(), distinct.len());
}

fn clustered(n: u64, centres: u64) -> Vec<u64> {
    let random = |i: u64| xxhash_rust::xxh3::xxh3_64(&i.to_le_bytes());
    (0..n)
        .map(|i| (0..random(i) % 6).fold(random(!(random(i) % centres)), |f, e| f ^ 1 << (random(i ^ e << 40) % 64)))
        .collect()
}

#[test]
fn every_design_equals_a_scan() {
    let stored = clustered(1500, 100);
    for k in 0..=7 {
        for design in Design::all(k) {
            check(&stored, &stored[..60], &spec(design, 1 << 27));
        }
    }
}

#[test]
fn parts_make_no_difference() {
    let stored = clustered(5000, 1000);
    for part in [100, 1000, 100_000] {
        check(&stored, &stored[..200], &spec(Design::halves(3), part));
    }
}

#[test]
fn equals_a_scan_on_adversarial_sets() {
    let queries = [0, 1, u64::MAX, 1 << 40];
    for k in [0, 3, 5] {
        let spec = spec(Design::standard(k), 64);
        check(&[], &queries, &spec);
        check(&[0], &queries, &spec);
        check(&[0; 1000], &queries, &spec);
        check(&(0..64).map(|i| 1 << i).collect::<Vec<_>>(), &queries, &spec);
        // More than 255 entries are in one bucket.
        check(&(0..2000).map(|i| i << 32).collect::<Vec<_>>(), &queries, &spec);
        check(&(0..2000).map(|i| i << 32 | 7).chain(0..2000).collect::<Vec<_>>(), &queries, &spec);
    }
}

#[test]
fn the_same_file_whatever_the_threads() {
    let stored = clustered(4000, 1000);
    let with = |threads| bytes(&stored, &IndexSpec { threads, ..spec(Design::halves(3), 500) });
    assert_eq!(with(1), with(4));
}

#[test]
fn another_recipe_is_refused() {
    let bytes = bytes(&[1, 2, 3], &IndexSpec { recipe: "other".into(), ..spec(Design::halves(3), 64) });
    assert!(matches!(open(&bytes), Err(Error::Recipe { .. })));
}

#[test]
fn an_index_file_is_no_fingerprint_file() {
    for n in 0..20 {
        assert!(!bytes(&clustered(n, 5), &spec(Design::halves(3), 64)).len().is_multiple_of(8));
    }
}

#[test]
fn every_cut_is_detected() {
    let bytes = bytes(&clustered(40, 10), &spec(Design::halves(3), 64));
    for length in 0..bytes.len() {
        assert!(open(&bytes[..length]).is_err(), "cut to {length} of {}", bytes.len());
    }
}

#[test]
fn every_damaged_byte_that_is_read_is_detected() {
    let stored = clustered(40, 10);
    let mut bytes = bytes(&stored, &spec(Design::halves(3), 64));
    let expected = scan(&stored, &stored, 3);
    for i in 0..bytes.len() {
        bytes[i] ^= 0x10;
        // The padding between sections is never read.
        if let Ok(index) = open(&bytes) {
            assert_eq!(search(&index, &stored), expected, "byte {i}");
        }
        bytes[i] ^= 0x10;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn equals_a_scan(base: u64, k in 0u32..=12, errors in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u64>()), 0..300), part in 16u64..400) {
        let stored: Vec<u64> = errors.iter().map(|(a, b, c)| base ^ (a & b & c)).collect();
        check(&stored, &stored[..stored.len().min(20)], &spec(Design::standard(k), part));
    }
}

#[test]
fn damage_to_a_mapped_index_never_panics() {
    let (dir, stored) = (tempfile::TempDir::new().unwrap(), clustered(400, 12));
    let path = dir.path().join("index");
    let whole = bytes(&stored, &spec(Design::halves(3), 64));
    let mut random = fastrand::Rng::with_seed(5);
    let mut met = 0;
    for _ in 0..60 {
        let mut bytes = whole.clone();
        let at = random.usize(..bytes.len());
        let end = bytes.len().min(at + random.usize(1..2000));
        bytes[at..end].iter_mut().for_each(|byte| *byte = random.u8(..));
        std::fs::write(&path, bytes).unwrap();
        let Ok(index) = Frozen::map(&path, "test") else { continue };
        index.reader().within(&stored, &mut |i, fingerprint, distance| {
            assert_eq!((stored[i] ^ fingerprint).count_ones(), distance);
        });
        met += u32::from(index.is_damaged());
    }
    assert!(met > 10, "{met}");
}
