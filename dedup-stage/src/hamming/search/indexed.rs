//! Queries to an index file. If they are few, they probe its tables. If they are many, they sweep through its tables.

use super::Hit;
use super::pieces::in_pieces;
use crate::hamming::frozen::{Bins, Frozen};

/// A thread answers, or looks up, this many queries before it takes more work.
const PIECE: usize = 1 << 14;

/// The regions of a table are cut into this many pieces, which threads take one by one.
const PIECES: usize = 64;

/// Finds all rows of queries and all rows of an index file that are within `k` of each other, sorted. `done` is told
/// the share of the work that was done since its last call.
pub fn search_frozen(
    stored: &Frozen,
    queries: &[u64],
    k: u32,
    threads: usize,
    done: &(dyn Fn(f64) + Sync),
) -> Vec<Hit> {
    let mut rows: Vec<(u64, u64)> = queries.iter().copied().zip(0..).collect();
    rows.sort_unstable();
    let groups: Vec<&[(u64, u64)]> = rows.chunk_by(|a, b| a.0 == b.0).collect();
    let values: Vec<u64> = groups.iter().map(|group| group[0].0).collect();
    let near = values_near(stored, &values, k, threads, done);
    let mut hits = in_pieces(near.len(), PIECE, threads, &|_| {}, &|piece, hits: &mut Vec<Hit>| {
        let near = &near[piece];
        let fingerprints: Vec<u64> = near.iter().map(|(_, fingerprint, _)| *fingerprint).collect();
        stored.reader().rows_of_each(&fingerprints, &mut |i, stored| {
            let (value, _, distance) = near[i];
            hits.extend(groups[value].iter().map(|(_, query)| Hit { query: *query, stored, distance }));
        });
    });
    hits.sort_unstable();
    hits
}

/// For each query, finds the stored fingerprints within `k`: the position in `queries`, the fingerprint and the
/// distance, in no order. There must be fewer than 2^32 queries.
pub fn values_near(
    stored: &Frozen,
    queries: &[u64],
    k: u32,
    threads: usize,
    done: &(dyn Fn(f64) + Sync),
) -> Vec<(usize, u64, u32)> {
    let reader = stored.reader();
    if !reader.sweep_pays(queries.len()) {
        return in_pieces(queries.len(), PIECE, threads, done, &|piece, near: &mut Vec<(usize, u64, u32)>| {
            stored.reader().within(&queries[piece.clone()], &mut |i, fingerprint, distance| {
                if distance <= k {
                    near.push((piece.start + i, fingerprint, distance));
                }
            });
        });
    }
    let mut near = Vec::new();
    let tables: Vec<usize> = (0..reader.tables()).collect();
    for some in tables.chunks(threads.max(1)) {
        let bins: Vec<Bins> = std::thread::scope(|scope| {
            let sorting: Vec<_> = some.iter().map(|table| scope.spawn(|| reader.bins(*table, queries))).collect();
            sorting.into_iter().map(|bins| bins.join().expect("no thread panicked")).collect()
        });
        for bins in bins {
            let piece = bins.regions().div_ceil(PIECES);
            let share = |share: f64| done(share / tables.len() as f64);
            near.append(&mut in_pieces(bins.regions(), piece, threads, &share, &|regions, near| {
                for region in regions {
                    reader.sweep(&bins, region, queries, &mut |i, fingerprint, distance| {
                        if distance <= k {
                            near.push((i, fingerprint, distance));
                        }
                    });
                }
            }));
        }
    }
    near
}
