//! Measures how long the parts of a probe of an index file take on this machine, once, at the start of `dedup-stage
//! plan`.

use std::io::Cursor;
use std::time::Instant;

use memmap2::MmapMut;
use serde::Serialize;

use super::design::Design;
use super::frozen::{self, Frozen};
use super::memory::{in_huge_pages, prefetch_in};

/// The times of the parts of a probe on this machine, in nanoseconds.
///
/// Queries are answered together, so work and waiting overlap. If both take about the same time, neither hides the
/// other completely. So the sum of the two times is estimated as the square root of the sum of their squares.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Calibration {
    /// Time for a query, besides its visits.
    pub query: f64,
    /// Time to visit a bucket that is in the cache.
    pub visit: f64,
    /// Time to compare one more fingerprint.
    pub candidate: f64,
    /// Time to load one of many announced cache lines, out of `Calibration::MEMORY` bytes.
    pub line: f64,
}

impl Calibration {
    /// The lines are loaded from this many bytes, which no cache can hold.
    const MEMORY: f64 = 128.0 * 1024.0 * 1024.0;
    /// The lines of this many bytes are in the cache.
    const CACHE: f64 = 1024.0 * 1024.0;

    /// The time to load the line that follows another loaded line, as a share of the time for the first line. It takes
    /// less time because the page of both lines is known already. This number is not measured at the start. It was
    /// chosen so that the estimate for buckets of several lines is right at 10⁸ fingerprints (`hamming_large growth`).
    pub const NEXT_LINE: f64 = 0.6;

    /// Takes the measurements. This takes less than a second.
    pub fn measure() -> Self {
        // These indexes fit into the cache. They have few buckets, many buckets, and few buckets with many fingerprints
        // each.
        let few = Measured::of(Design::halves(1));
        let many = Measured::of(Design::halves(3));
        let full = Measured::of(Design::flips(8, 7));
        let bucket = ((many.nanoseconds - few.nanoseconds) / (many.lookups - few.lookups)).max(0.1);
        let query = (few.nanoseconds - few.lookups * bucket).max(0.0);
        let of_many = many.candidates / many.lookups;
        let of_full = full.candidates / full.lookups;
        let candidate = (((full.nanoseconds - query) / full.lookups - bucket) / (of_full - of_many)).max(0.01);
        let visit = (bucket - of_many * candidate).max(0.1);
        Self { query, visit, candidate, line: line() }
    }

    /// The time of a query that reads this many buckets, fingerprints and cache lines, in an index of this many bytes.
    pub fn nanoseconds(&self, lookups: f64, candidates: f64, lines: f64, bytes: f64) -> f64 {
        // Each time the memory doubles, the caches and page tables miss more often, by about the same amount.
        let beyond = |bytes: f64| (bytes / Self::CACHE).log2().max(0.0);
        let line = self.line * beyond(bytes) / beyond(Self::MEMORY);
        self.query + (lookups * self.visit + candidates * self.candidate).hypot(lines * line)
    }
}

/// A small index, and the measured cost of a query to it.
struct Measured {
    lookups: f64,
    candidates: f64,
    nanoseconds: f64,
}

impl Measured {
    fn of(design: Design) -> Self {
        let stored: Vec<u64> = (0..1 << 14).map(random).collect();
        let queries: Vec<u64> = (0..1 << 12).map(|i| random(i + (1 << 32))).collect();
        let spec = frozen::IndexSpec {
            design,
            recipe: String::new(),
            with_rows: false,
            threads: 1,
            part: frozen::IndexSpec::PART,
        };
        let mut file = Cursor::new(Vec::new());
        let length = frozen::build(&stored[..], &spec, &mut file, &|_| {}).expect("memory does not fail");
        let mut memory = MmapMut::map_anon(length as usize).expect("a little memory");
        memory.copy_from_slice(file.get_ref());
        let index = Frozen::from_memory(memory, length as usize, "").expect("what was just built is whole");
        let mut reader = index.reader();
        let (lookups, candidates) = reader.reads(&queries);
        let n = queries.len() as f64;
        let mut found = 0;
        let nanoseconds = best(|| reader.within(&queries, &mut |_, _, _| found += 1)) / n;
        std::hint::black_box(found);
        Self { lookups: lookups as f64 / n, candidates: candidates as f64 / n, nanoseconds }
    }
}

/// Loads cache lines at random. Each is announced while others are being loaded.
fn line() -> f64 {
    const AHEAD: u64 = 64;
    const LINES: u64 = 1 << 17;
    let mut memory: Vec<u64> = in_huge_pages((Calibration::MEMORY / 8.0) as usize);
    memory.resize(memory.capacity(), 1);
    let place = |i: u64| (random(i) >> 40) as usize % memory.len();
    let mut round = 0;
    best(|| {
        round += 1;
        for first in (round * LINES..(round + 1) * LINES).step_by(AHEAD as usize) {
            (first..first + AHEAD).for_each(|i| prefetch_in(&memory, place(i)));
            std::hint::black_box((first..first + AHEAD).map(|i| memory[place(i)]).sum::<u64>());
        }
    }) / LINES as f64
}

fn random(i: u64) -> u64 {
    (i ^ 0x5bd1_e995).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// Nanoseconds of the fastest of a few runs. Other programs can only make a run slower.
fn best(mut work: impl FnMut()) -> f64 {
    (0..25)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_nanos() as f64
        })
        .fold(f64::MAX, f64::min)
}
