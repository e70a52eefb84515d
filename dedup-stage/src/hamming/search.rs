//! Batch: all pairs (query, stored) within a distance.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::design::Design;
use super::filter::Filter;
use super::frozen::Frozen;
use super::index::{Fill, Index, Probe};

/// A query and a stored fingerprint within the distance, by their rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    /// Row of the query.
    pub query: u64,
    /// Row of the stored fingerprint.
    pub stored: u64,
    /// Hamming distance.
    pub distance: u32,
}

/// How much is done between two looks at the work that is left.
const PIECE: usize = 1 << 16;

/// Searches a stream of stored fingerprints, whose rows are counted from `first_row`. `design` is that of the index in which the queries
/// are kept; without, the standard one behind a [`Filter`]. `done` is told the share of the work that was done since it was told last.
///
/// # Complexity
///
/// One pass over `stored`, from which each thread takes piece after piece; the queries' index and filter in memory.
pub fn search(
    stored: &[u64],
    first_row: u64,
    queries: &[u64],
    k: u32,
    design: Option<Design>,
    threads: usize,
    done: &(dyn Fn(f64) + Sync),
) -> Vec<Hit> {
    let rows = by_value(queries);
    let values: Vec<u64> = rows.chunk_by(|a, b| a.0 == b.0).map(|group| group[0].0).collect();
    let filter = if design.is_none() { Filter::new(&values, k) } else { None };
    let mut index = design.map_or_else(|| Index::new(k), |design| Index::with_design(design, Fill::Fast));
    values.iter().for_each(|value| {
        index.insert(*value);
    });
    in_pieces(stored.len(), PIECE, threads, done, &|piece, hits: &mut Vec<Hit>| {
        let stored = &stored[piece.clone()];
        let mut positions = Vec::new();
        match &filter {
            Some(filter) => filter.pass(stored, &mut positions),
            None => positions.extend(0..stored.len() as u32),
        }
        let mut near = Vec::new();
        let mut probes = [Probe::default(), Probe::default()];
        let begin = |i: usize, probes: &mut [Probe; 2]| {
            if let Some(position) = positions.get(i) {
                index.begin(stored[*position as usize], &mut probes[i % 2]);
            }
        };
        begin(0, &mut probes);
        for (i, position) in positions.iter().enumerate() {
            begin(i + 1, &mut probes);
            near.clear();
            index.finish(&probes[i % 2], &mut near);
            for &(value, distance) in &near {
                let stored = first_row + piece.start as u64 + u64::from(*position);
                hits.extend(rows_of(&rows, value).map(|query| Hit { query, stored, distance }));
            }
        }
    })
}

/// Searches an index file, by probing its tables, or, if it is mapped and the queries are many, by sweeping through them.
pub fn search_frozen(
    stored: &Frozen,
    queries: &[u64],
    k: u32,
    threads: usize,
    done: &(dyn Fn(f64) + Sync),
) -> Vec<Hit> {
    let rows = by_value(queries);
    let values: Vec<u64> = rows.chunk_by(|a, b| a.0 == b.0).map(|group| group[0].0).collect();
    let sweep = stored.reader().sweep_size(values.len().div_ceil(threads.max(1)));
    in_pieces(values.len(), sweep.unwrap_or(PIECE), threads, done, &|piece, hits: &mut Vec<Hit>| {
        let values = &values[piece];
        let mut reader = stored.reader();
        let mut near = Vec::new();
        let mut found = |i: usize, fingerprint, distance| {
            if distance <= k {
                near.push((values[i], fingerprint, distance));
            }
        };
        match sweep {
            Some(_) => reader.sweep(values, &mut found),
            None => reader.within(values, &mut found),
        }
        for (value, fingerprint, distance) in near {
            reader.rows_of(fingerprint, &mut |stored| {
                hits.extend(rows_of(&rows, value).map(|query| Hit { query, stored, distance }));
            });
        }
    })
}

/// Values with their rows, sorted.
fn by_value(queries: &[u64]) -> Vec<(u64, u64)> {
    let mut rows: Vec<(u64, u64)> = queries.iter().copied().zip(0..).collect();
    rows.sort_unstable();
    rows
}

fn rows_of(rows: &[(u64, u64)], value: u64) -> impl Iterator<Item = u64> {
    let start = rows.partition_point(|(v, _)| *v < value);
    rows[start..].iter().take_while(move |(v, _)| *v == value).map(|(_, row)| *row)
}

/// Lets threads work at `n` things, `piece` at a time, and sorts what they find.
fn in_pieces(
    n: usize,
    piece: usize,
    threads: usize,
    done: &(dyn Fn(f64) + Sync),
    work: &(dyn Fn(std::ops::Range<usize>, &mut Vec<Hit>) + Sync),
) -> Vec<Hit> {
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::new());
    let pieces = n.div_ceil(piece);
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, pieces.max(1)) {
            scope.spawn(|| {
                let mut hits = Vec::new();
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= pieces {
                        break;
                    }
                    work(i * piece..n.min((i + 1) * piece), &mut hits);
                    done(1.0 / pieces as f64);
                }
                all.lock().expect("no thread panicked").append(&mut hits);
            });
        }
    });
    let mut hits = all.into_inner().expect("no thread panicked");
    hits.sort_unstable();
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
