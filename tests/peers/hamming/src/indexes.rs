//! The indexes: ours, and those of other Rust crates.

use std::io::Cursor;

use dedup_stage::hamming::frozen::{self, Frozen, IndexSpec};
use dedup_stage::hamming::{Design, Fill, Index, Probe};
use gaoya::simhash::SimHashIndex;
use memmap2::{Advice, MmapMut};

use crate::bench::Bench;

/// gaoya takes half a kilobyte a fingerprint.
const MOST_FOR_GAOYA: usize = 10_000_000;

/// Runs the index of a name.
pub fn run(bench: &Bench, name: &str) {
    match name {
        "ours, Fast" => online(bench, name, || Index::new(bench.k)),
        "ours, Compact" => online(bench, name, || Index::with_design(Design::standard(bench.k), Fill::Compact)),
        "ours, six tables" if bench.k != 3 => {}
        "ours, six tables" => online(bench, name, || Index::with_design(Design::drop_one(3), Fill::Fast)),
        "ours, frozen" => frozen(bench, name),
        "gaoya" => gaoya(bench),
        _ => mih(bench, name.rsplit(' ').next().and_then(|blocks| blocks.parse().ok()).expect("an index that we know")),
    }
}

fn online(bench: &Bench, name: &str, empty: impl FnOnce() -> Index) {
    let build = || {
        let mut index = empty();
        bench.stored.iter().for_each(|f| {
            index.insert(*f);
        });
        index
    };
    let all = |index: &Index, queries: &[u64]| {
        let mut near = Vec::new();
        let mut probes = [Probe::default(), Probe::default()];
        index.begin(queries[0], &mut probes[0]);
        for i in 0..queries.len() {
            if let Some(next) = queries.get(i + 1) {
                index.begin(*next, &mut probes[(i + 1) % 2]);
            }
            near.clear();
            index.finish(&probes[i % 2], &mut near);
        }
    };
    bench.run(
        name,
        build,
        |index| {
            let mut near = Vec::new();
            Box::new(move |query| {
                near.clear();
                index.within(query, &mut near);
                near.len()
            })
        },
        Some(&all),
    );
}

fn frozen(bench: &Bench, name: &str) {
    let n = bench.stored.len() as u64;
    let build = || {
        let design = Design::for_size(bench.k, n);
        let bits = |key| 64.0 - f64::from(IndexSpec::bits(key, n)) + 16.0;
        let bytes = design.keys.iter().map(|key| bits(*key)).sum::<f64>() / 8.0 * n as f64 + 1e6;
        let spec = IndexSpec { design, recipe: "bench".into(), with_rows: false, threads: 1, part: IndexSpec::PART };
        let mut memory = MmapMut::map_anon(bytes as usize).expect("address space");
        let _ = memory.advise(Advice::HugePage);
        let length = frozen::build(&bench.stored[..], &spec, &mut Cursor::new(&mut memory[..]), &|_| {});
        Frozen::from_memory(memory, length.expect("memory does not fail") as usize, "bench").expect("undamaged")
    };
    let all = |index: &Frozen, queries: &[u64]| {
        let mut found = 0;
        index.reader().within(queries, &mut |_, _, _| found += 1);
        std::hint::black_box(found);
    };
    bench.run(
        name,
        build,
        |index| {
            let mut reader = index.reader();
            Box::new(move |query| {
                let mut near = 0;
                reader.within(&[query], &mut |_, _, _| near += 1);
                near
            })
        },
        Some(&all),
    );
}

fn mih(bench: &Bench, blocks: usize) {
    // Their index takes the array over, so that it counts as theirs.
    let build = || mih_rs::Index::with_blocks(bench.stored.clone(), blocks).expect("codes");
    let radius = bench.k as usize;
    bench.run(
        &format!("mih-rs, {blocks} blocks"),
        build,
        |index| {
            let mut searcher = index.range_searcher();
            Box::new(move |query| searcher.run(query, radius).len())
        },
        None,
    );
}

fn gaoya(bench: &Bench) {
    if bench.stored.len() > MOST_FOR_GAOYA || bench.k > 3 && bench.stored.len() > MOST_FOR_GAOYA / 10 {
        return;
    }
    let build = || {
        // Its distance is exclusive.
        let mut index = SimHashIndex::<u64, u32>::new(bench.k as usize + 3, bench.k as usize + 1);
        (0..).zip(&bench.stored).for_each(|(id, f)| index.insert(id, *f));
        index
    };
    bench.run("gaoya SimHashIndex", build, |index| Box::new(|query| index.query(&query).len()), None);
}
