//! The kernels of the Hamming index: `cargo bench -p dedup-stage --bench hamming`.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use dedup_stage::hamming::{Index, pairs};

fn random(i: u64) -> u64 {
    xxhash_rust::xxh3::xxh3_64(&i.to_le_bytes())
}

/// Asking an index of each distance and some sizes.
fn within(c: &mut Criterion) {
    let mut group = c.benchmark_group("within");
    for n in [20_000, 200_000u64] {
        for k in [0, 1, 2, 3, 4, 6, 8, 10] {
            let mut index = Index::new(k);
            (0..n).for_each(|i| {
                index.insert(random(i));
            });
            let mut near = Vec::new();
            let mut i = n;
            group.bench_function(BenchmarkId::new(format!("k={k}"), n), |b| {
                b.iter(|| {
                    i += 1;
                    near.clear();
                    index.within(black_box(random(i)), &mut near);
                    near.len()
                });
            });
        }
    }
    group.finish();
}

/// Insertion from empty.
fn insert(c: &mut Criterion) {
    let mut group = c.benchmark_group("insert");
    let n = 20_000;
    group.throughput(Throughput::Elements(n));
    for k in [3, 8] {
        group.bench_function(format!("k={k}"), |b| {
            b.iter(|| {
                let mut index = Index::new(k);
                (0..n).filter(|i| index.insert(random(*i))).count()
            });
        });
    }
    group.finish();
}

/// The self-join.
fn join(c: &mut Criterion) {
    let mut group = c.benchmark_group("join");
    group.sample_size(10);
    for n in [20_000, 200_000u64] {
        let fingerprints: Vec<u64> = (0..n).map(random).collect();
        group.throughput(Throughput::Elements(n));
        group.bench_function(BenchmarkId::new("k=3", n), |b| b.iter(|| pairs::near(&fingerprints, 3, 1, &|_| {})));
    }
    group.finish();
}

criterion_group!(benches, within, insert, join);
criterion_main!(benches);
