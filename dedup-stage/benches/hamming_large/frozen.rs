//! The frozen index: how long it takes to build, to ask and to search, what it takes up, and what its coders make of a
//! table.

use std::time::{Duration, Instant};

use dedup_stage::hamming::Design;
use dedup_stage::hamming::frozen::{self, Frozen, IndexSpec, Source};
use dedup_stage::hamming::search::{search_frozen, values_near};
use memmap2::{Advice, MmapMut};

use crate::clock::{cpu_time, process_time};
use crate::data::ByRow;
use crate::latencies;

impl Source for ByRow {
    fn rows(&self) -> u64 {
        self.0
    }

    fn read(&self, from: u64, to: &mut [u64]) {
        to.iter_mut().zip(from..).for_each(|(f, row)| *f = Self::get(row));
    }
}

/// An index of `n` in memory, and how long it took to build.
pub fn built(n: u64, design: Design, with_rows: bool) -> (Frozen, Duration) {
    // Few passes over the source, which hashes, if there is room: a third table of a billion takes what bins would.
    let part = if with_rows || design.keys.len() > 2 { IndexSpec::PART } else { 4 * IndexSpec::PART };
    let upper: f64 = design.keys.iter().map(|key| 64.0 - f64::from(IndexSpec::bits(*key, n)) + 5.0).sum::<f64>() / 8.0;
    let size = (upper + if with_rows { 5.0 } else { 0.0 }) * n as f64 + 1e6;
    let mut memory = MmapMut::map_anon(size as usize).expect("address space");
    let _ = memory.advise(Advice::HugePage);
    let spec = IndexSpec { design, recipe: "bench".into(), with_rows, threads: 2, part };
    let start = Instant::now();
    let mut out = std::io::Cursor::new(&mut memory[..]);
    let bytes = frozen::build(&ByRow(n), &spec, &mut out, &|_| {}).expect("memory does not fail");
    let built = start.elapsed();
    (Frozen::from_memory(memory, bytes as usize, "bench").expect("undamaged"), built)
}

/// Builds an index of `n`, asks it, and searches it with a million queries.
pub fn frozen_index(n: u64, design: Design, with_rows: bool) {
    let source = ByRow(n);
    let k = design.distance;
    let start = Instant::now();
    let (index, built) = built(n, design, with_rows);
    let (tables, rows) = index.bytes();
    println!(
        "frozen {} k={k} n={n}: built in {:.1} s on two threads; {} distinct; tables {:.3} B/fp, rows {:.3} B/fp; verified in {:.1} s",
        index.design().name,
        built.as_secs_f64(),
        index.len(),
        tables as f64 / n as f64,
        rows as f64 / n as f64,
        (start.elapsed() - built).as_secs_f64(),
    );
    let queries = source.queries(100_000);
    let mut reader = index.reader();
    latencies(&queries, |query, near| {
        reader.within(&[query], &mut |_, fingerprint, distance| near.push((fingerprint, distance)))
    });
    let mut found = 0;
    let start = cpu_time();
    reader.within(&queries, &mut |_, _, _| found += 1);
    println!(
        "pipelined {:.0} ns a query, {found} found",
        (cpu_time() - start).as_nanos() as f64 / queries.len() as f64
    );
    // Recall: whoever was planted within k must be found.
    let planted: Vec<u64> = (0..20_000).map(|i| ByRow::get(ByRow::hash(i) % n)).collect();
    let shifted: Vec<u64> = planted.iter().map(|f| (0..k).fold(*f, |f, e| f ^ 1 << (f >> (7 * e) & 63))).collect();
    let mut hit = vec![false; planted.len()];
    reader.within(&shifted, &mut |i, fingerprint, _| hit[i] |= fingerprint == planted[i]);
    println!("recall {} of {}", hit.iter().filter(|hit| **hit).count(), hit.len());
    let queries = source.queries(1_000_000);
    for threads in [1, 2] {
        // The best of three: what else runs can only add.
        let (mut wall, mut cpu, mut pairs) = (Duration::MAX, Duration::MAX, 0);
        for _ in 0..3 {
            let (start, start_cpu) = (Instant::now(), process_time());
            pairs = if with_rows {
                search_frozen(&index, &queries, k, threads, &|_| {}).len()
            } else {
                values_near(&index, &queries, k, threads, &|_| {}).len()
            };
            (wall, cpu) = (wall.min(start.elapsed()), cpu.min(process_time() - start_cpu));
        }
        println!(
            "1 million queries on {threads} threads: {pairs} pairs in {:.2} s: {:.0} M/s, {:.0} M/s and second of cpu",
            wall.as_secs_f64(),
            n as f64 / wall.as_secs_f64() / 1e6,
            n as f64 / cpu.as_secs_f64() / 1e6,
        );
    }
}

/// What coders make of one sorted table of `n`.
pub fn coders(n: u64) {
    let mut sorted: Vec<u64> = (0..n).map(ByRow::hash).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let sizes = frozen::coders::sizes(&sorted);
    let bits = IndexSpec::bits(Design::halves(3).keys[0], n);
    let ours = 64.0 - f64::from(bits) + 16.0 * 2f64.powi(bits as i32) / n as f64;
    println!(
        "coders n={n}, bits a fingerprint and table: bound {:.2}; paper's XOR and Huffman +{:.2}, Elias-Fano +{:.2}, Rice +{:.2}; \
         ours, directory included, +{:.2}",
        sizes.bound,
        sizes.huffman - sizes.bound,
        sizes.elias_fano - sizes.bound,
        sizes.rice - sizes.bound,
        ours - sizes.bound,
    );
}
