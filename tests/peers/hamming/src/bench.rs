//! What is asked of every index, and the line that is printed about it.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use dedup_stage::hamming::Fingerprints;

use crate::data::ByRow;

/// So many queries have their answers counted by a scan.
const SCANNED: usize = 200;

/// How many are within k of a query.
pub type Ask<'a> = Box<dyn FnMut(u64) -> usize + 'a>;

/// Asks all queries at once.
pub type AskAll<'a, T> = &'a dyn Fn(&T, &[u64]);

/// CPU time of this process.
pub fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a timespec to be filled in.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn resident() -> usize {
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4096
}

/// Distinct fingerprints, and queries to them.
pub struct Bench {
    pub stored: Vec<u64>,
    pub queries: Vec<u64>,
    /// How many fingerprints are within k of each of the first queries.
    truth: Vec<usize>,
    pub k: u32,
}

impl Bench {
    pub fn new(set: &str, k: u32) -> Self {
        let (mut stored, queries) = match set.parse::<f64>() {
            Ok(n) => (ByRow(n as u64).all().collect(), ByRow(n as u64).queries(20_000)),
            Err(_) => real(&Fingerprints::open(Path::new(set)).expect("a number, or a file of fingerprints")),
        };
        // Shuffled, as they come: sorted input is a kindness to some.
        stored.sort_unstable();
        stored.dedup();
        stored.sort_unstable_by_key(|f| ByRow::hash(*f));
        let scan = |q: &u64| stored.iter().filter(|f| (*f ^ q).count_ones() <= k).count();
        let truth = queries.iter().take(SCANNED).map(scan).collect();
        Self { stored, queries, truth, k }
    }

    pub fn head() {
        println!(
            "{:<28}{:>11}{:>3}{:>13}{:>10}{:>10}{:>10}{:>9}{:>8}",
            "index", "N", "k", "inserts/s", "p50 us", "p99 us", "batch us", "B/fp", "recall"
        );
    }

    /// Builds an index, asks one query after the other, then, where it can, all at once (a round for warmth, then the
    /// best of three).
    pub fn run<T>(
        &self,
        name: &str,
        build: impl FnOnce() -> T,
        asked: impl for<'a> FnOnce(&'a T) -> Ask<'a>,
        all: Option<AskAll<'_, T>>,
    ) {
        let (memory, start) = (resident(), cpu_time());
        let index = build();
        let built = cpu_time() - start;
        // What the allocator keeps of what building freed is not the index's.
        // SAFETY: it moves nothing.
        unsafe { libc::malloc_trim(0) };
        let bytes = resident().saturating_sub(memory);
        let mut ask = asked(&index);
        let (mut found, mut expected) = (0, 0);
        let mut times = Vec::new();
        for (i, query) in self.queries.iter().enumerate() {
            let start = Instant::now();
            let n = ask(*query);
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
        let batch = all.map(|all| {
            let round = || {
                let start = cpu_time();
                all(&index, &self.queries);
                (cpu_time() - start).as_secs_f64() * 1e6 / self.queries.len() as f64
            };
            round();
            (0..3).map(|_| round()).fold(f64::MAX, f64::min)
        });
        println!(
            "{name:<28}{:>11}{:>3}{:>13.0}{:>10.2}{:>10.2}{:>10}{:>9.1}{:>8.4}",
            self.stored.len(),
            self.k,
            self.stored.len() as f64 / built.as_secs_f64(),
            at(0.5),
            at(0.99),
            batch.map_or("-".into(), |us| format!("{us:.2}")),
            bytes as f64 / self.stored.len() as f64,
            f64::from(found as u32) / f64::from(expected.max(1) as u32),
        );
    }

    /// Writes the set for other languages.
    pub fn write(&self, dir: &Path) {
        let truth: Vec<u64> = self.truth.iter().map(|n| *n as u64).collect();
        for (name, words) in [("stored", &self.stored), ("queries", &self.queries), ("truth", &truth)] {
            let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
            fs::write(dir.join(name), bytes).expect("a writable directory");
        }
    }
}

/// Every twentieth of a file's fingerprints is no stored one but a query; so is the one behind it, with up to 6 flips.
fn real(fingerprints: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let rows = || fingerprints.iter().enumerate();
    let stored = rows().filter(|(row, _)| row % 20 != 0).map(|(_, f)| *f).collect();
    let flipped = |f: u64, i: usize| (0..i % 7).fold(f, |g, e| g ^ 1 << (ByRow::hash(f) >> (6 * e) & 63));
    let pairs = fingerprints.windows(2).step_by(20).zip(0..);
    let queries = pairs.flat_map(|(pair, i)| [pair[0], flipped(pair[1], i)]).collect();
    (stored, queries)
}
