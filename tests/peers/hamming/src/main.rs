//! Other people's Hamming indexes beside ours: the same fingerprints, the same queries, the same run.
//!
//! `hamming-peers table N K [NAME]...` prints a line for each index; `hamming-peers join N` the same for all pairs;
//! `hamming-peers data N K DIR` writes what `peers.py` reads.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use dedup_stage::hamming::{Design, Fill, Index, pairs};
use gaoya::simhash::SimHashIndex;

#[path = "../../../../dedup-stage/benches/hamming_large/data.rs"]
mod data;

use data::ByRow;

fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a timespec to be filled in.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn resident() -> usize {
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4096
}

/// Number of stored rows within k of each of the first queries, by scanning.
fn truth(stored: &[u64], queries: &[u64], k: u32) -> Vec<usize> {
    queries.iter().map(|q| stored.iter().filter(|f| (*f ^ q).count_ones() <= k).count()).collect()
}

struct Bench<'a> {
    stored: &'a [u64],
    distinct: &'a [u64],
    queries: &'a [u64],
    truth: Vec<usize>,
    k: u32,
}

impl Bench<'_> {
    /// Builds, then asks one query after the other.
    fn run<T>(&self, name: &str, build: impl FnOnce() -> T, mut ask: impl FnMut(&T, u64) -> usize) {
        let (memory, start) = (resident(), cpu_time());
        let index = build();
        let built = cpu_time() - start;
        let bytes = resident().saturating_sub(memory);
        let (mut found, mut expected) = (0, 0);
        let mut times = Vec::new();
        for (i, query) in self.queries.iter().enumerate() {
            let start = Instant::now();
            let n = ask(&index, *query);
            times.push(start.elapsed().as_nanos() as u64);
            if let Some(truth) = self.truth.get(i) {
                found += n.min(*truth);
                expected += truth;
            }
            // The slowest need not be asked everything.
            if i + 1 >= self.truth.len() && times.iter().sum::<u64>() > 20_000_000_000 {
                break;
            }
        }
        times.sort_unstable();
        let at = |p: f64| times[((times.len() - 1) as f64 * p) as usize] as f64 / 1000.0;
        println!(
            "{name:<28}{:>11}{:>3}{:>13.0}{:>11.2}{:>11.2}{:>9.1}{:>9.4}",
            self.stored.len(),
            self.k,
            self.stored.len() as f64 / built.as_secs_f64(),
            at(0.5),
            at(0.99),
            bytes as f64 / self.stored.len() as f64,
            found as f64 / expected.max(1) as f64,
        );
    }
}

/// Each index in a process of its own: memory that one gave back would be counted as nobody's.
fn each(arguments: &[String]) {
    println!(
        "{:<28}{:>11}{:>3}{:>13}{:>11}{:>11}{:>9}{:>9}",
        "index", "N", "k", "inserts/s", "p50 us", "p99 us", "B/fp", "recall"
    );
    for name in ["ours, Fast", "ours, Compact", "mih-rs, 2", "mih-rs, 3", "mih-rs, 4", "gaoya"] {
        let program = std::env::current_exe().expect("this program");
        let status = std::process::Command::new(program).args(arguments).arg(name).status();
        assert!(status.is_ok_and(|status| status.success()), "{name}");
    }
}

fn table(n: usize, k: u32, names: &[String]) {
    let stored: Vec<u64> = ByRow(n as u64).all().collect();
    let queries = ByRow(n as u64).queries(20_000);
    let mut distinct = stored.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let scanned = (2_000_000_000 / n).clamp(20, 500);
    let truth = truth(&distinct, &queries[..scanned], k);
    let bench = Bench { stored: &stored, distinct: &distinct, queries: &queries, truth, k };
    let wanted = |name: &str| names.iter().any(|n| name.starts_with(n.as_str()));
    for fill in [Fill::Fast, Fill::Compact] {
        let name = format!("ours, {fill:?}");
        if wanted(&name) {
            let mut near = Vec::new();
            let build = || {
                let mut index = Index::with_design(Design::standard(k), fill);
                bench.stored.iter().for_each(|f| {
                    index.insert(*f);
                });
                index
            };
            bench.run(&name, build, |index, query| {
                near.clear();
                index.within(query, &mut near);
                near.len()
            });
        }
    }
    for blocks in 2..=4 {
        let name = format!("mih-rs, {blocks} blocks");
        // Two blocks take half a kilobyte each.
        if wanted(&name) && (blocks > 2 || n <= 10_000_000) {
            let mut codes = bench.distinct.to_vec();
            codes.shrink_to_fit();
            let build = || mih_rs::Index::with_blocks(codes, blocks).expect("codes");
            bench.run(&name, build, |index, query| index.range_searcher().run(query, k as usize).len());
        }
    }
    let name = "gaoya SimHashIndex";
    if wanted(name) && n <= 10_000_000 && k <= 5 {
        let build = || {
            // Its distance is exclusive.
            let mut index = SimHashIndex::<u64, u32>::new(k as usize + 3, k as usize + 1);
            (0..).zip(bench.distinct).for_each(|(id, f)| index.insert(id, *f));
            index
        };
        bench.run(name, build, |index, query| index.query(&query).len());
    }
}

fn join(n: usize) {
    let stored: Vec<u64> = ByRow(n as u64).all().collect();
    let start = cpu_time();
    let near = pairs::near(&stored, 3, 1, &|_| {});
    println!("ours, pairs of values, 1 thread: {} and {} repeated in {:?}", near.pairs.len(), near.repeated.len(), cpu_time() - start);
    let rows = pairs::rows(&stored, &near, pairs::Listed::All);
    println!("ours, all pairs of rows: {} in {:?}", rows.len(), cpu_time() - start);
    let start = cpu_time();
    let mut joiner = all_pairs_hamming::ChunkedJoiner::new(2);
    stored.iter().for_each(|f| joiner.add([(*f & 0xffff_ffff) as u32, (*f >> 32) as u32]).expect("two chunks"));
    // It takes the distance as a fraction of the bits.
    let theirs = joiner.similar_pairs(3.0 / 64.0);
    println!("all-pairs-hamming, 2 chunks: {} in {:?}", theirs.len(), cpu_time() - start);
    let mut theirs: Vec<(u64, u64)> = theirs.iter().map(|(a, b, _)| (*a.min(b) as u64, *a.max(b) as u64)).collect();
    theirs.sort_unstable();
    theirs.dedup();
    let same = theirs.len() == rows.len() && theirs.iter().zip(&rows).all(|(a, b)| *a == (b.first, b.second));
    println!("the same pairs: {same}");
}

fn write(n: usize, k: u32, dir: &Path) {
    let stored: Vec<u64> = ByRow(n as u64).all().collect();
    let queries = ByRow(n as u64).queries(2_000);
    let truth: Vec<u64> = truth(&stored, &queries[..200], k).into_iter().map(|n| n as u64).collect();
    for (name, words) in [("stored", &stored), ("queries", &queries), ("truth", &truth)] {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        fs::write(dir.join(name), bytes).expect("a writable directory");
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| arguments.get(i).and_then(|a| a.parse::<f64>().ok()).expect("a number") as usize;
    match arguments.first().map(String::as_str) {
        Some("table") if arguments.len() == 3 => each(&arguments),
        Some("table") => table(number(1), number(2) as u32, &arguments[3..]),
        Some("join") => join(number(1)),
        Some("data") => write(number(1), number(2) as u32, Path::new(&arguments[3])),
        _ => eprintln!("hamming-peers table N K [NAME]... | join N | data N K DIR"),
    }
}
