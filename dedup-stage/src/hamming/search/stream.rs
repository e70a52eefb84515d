//! Reads a stream of stored fingerprints, and compares it with queries that are held in memory.

use std::io::Cursor;

use memmap2::MmapMut;

use super::Hit;
use super::pieces::in_pieces;
use crate::hamming::design::Design;
use crate::hamming::filter::Filter;
use crate::hamming::frozen::{self, Frozen, IndexSpec};
use crate::hamming::index::{Fill, Index, Probe};

/// A thread looks at this many stored fingerprints before it takes more work.
const PIECE: usize = 1 << 16;

/// Searches a stream of stored fingerprints. Their rows are counted from `first_row`. `design` is the design of the
/// index in which the queries are kept. Without a design, the queries are kept in two halves behind a `Filter`, if a
/// filter is possible. `done` is told the share of the work that was done since its last call.
///
/// # Complexity
///
/// One pass over `stored`, from which each thread takes piece after piece. The index and the filter of the queries are
/// in memory.
pub fn search(
    stored: &[u64],
    first_row: u64,
    queries: &[u64],
    k: u32,
    design: Option<Design>,
    threads: usize,
    done: &(dyn Fn(f64) + Sync),
) -> Vec<Hit> {
    let filter = if design.is_none() { Filter::new(queries, k) } else { None };
    let mut hits = match filter {
        Some(filter) => filtered(stored, first_row, queries, k, &filter, threads, done),
        None => probed(stored, first_row, queries, design.unwrap_or_else(|| Design::standard(k)), threads, done),
    };
    hits.sort_unstable();
    hits
}

/// For each half, asks the table of the queries only about the stored fingerprints whose half passes the filter.
fn filtered(
    stored: &[u64],
    first_row: u64,
    queries: &[u64],
    k: u32,
    filter: &Filter,
    threads: usize,
    done: &(dyn Fn(f64) + Sync),
) -> Vec<Hit> {
    let index = in_memory(queries, Design::halves(k), threads);
    in_pieces(stored.len(), PIECE, threads, done, &|piece, hits| {
        let (first_row, stored) = (first_row + piece.start as u64, &stored[piece]);
        let mut reader = index.reader();
        let mut positions = [Vec::new(), Vec::new()];
        filter.pass(stored, &mut positions);
        for (table, positions) in positions.iter().enumerate() {
            let values: Vec<u64> = positions.iter().map(|position| stored[*position as usize]).collect();
            let mut near = Vec::new();
            reader.within_table(table, &values, &mut |i, query, distance| near.push((i, query, distance)));
            let near_queries: Vec<u64> = near.iter().map(|(_, query, _)| *query).collect();
            reader.rows_of_each(&near_queries, &mut |i, query| {
                let (passed, _, distance) = near[i];
                hits.push(Hit { query, stored: first_row + u64::from(positions[passed]), distance });
            });
        }
    })
}

/// An index with the format of an index file, in memory only.
fn in_memory(fingerprints: &[u64], design: Design, threads: usize) -> Frozen {
    let spec = IndexSpec { design, recipe: String::new(), with_rows: true, threads, part: IndexSpec::PART };
    let mut file = Cursor::new(Vec::new());
    frozen::build(fingerprints, &spec, &mut file, &|_| {}).expect("memory does not fail");
    let file = file.into_inner();
    let mut memory = MmapMut::map_anon(file.len()).expect("there is memory for a copy of the queries");
    memory.copy_from_slice(&file);
    Frozen::from_memory(memory, file.len(), &spec.recipe).expect("nothing damaged it")
}

/// Asks an index of the queries about every stored fingerprint.
fn probed(
    stored: &[u64],
    first_row: u64,
    queries: &[u64],
    design: Design,
    threads: usize,
    done: &(dyn Fn(f64) + Sync),
) -> Vec<Hit> {
    let mut rows: Vec<(u64, u64)> = queries.iter().copied().zip(0..).collect();
    rows.sort_unstable();
    let rows_of = |value: u64| {
        let start = rows.partition_point(|(v, _)| *v < value);
        rows[start..].iter().take_while(move |(v, _)| *v == value).map(|(_, row)| *row)
    };
    let mut index = Index::with_design(design, Fill::Fast);
    rows.iter().for_each(|(value, _)| {
        index.insert(*value);
    });
    in_pieces(stored.len(), PIECE, threads, done, &|piece, hits| {
        let (first_row, stored) = (first_row + piece.start as u64, &stored[piece]);
        let mut near = Vec::new();
        let mut probes = [Probe::default(), Probe::default()];
        let begin = |i: usize, probes: &mut [Probe; 2]| {
            if let Some(fingerprint) = stored.get(i) {
                index.begin(*fingerprint, &mut probes[i % 2]);
            }
        };
        begin(0, &mut probes);
        for (i, row) in (first_row..).enumerate().take(stored.len()) {
            begin(i + 1, &mut probes);
            near.clear();
            index.finish(&probes[i % 2], &mut near);
            for &(value, distance) in &near {
                hits.extend(rows_of(value).map(|query| Hit { query, stored: row, distance }));
            }
        }
    })
}
