//! Probes of an index file.
//!
//! A visit to a bucket waits for memory twice: for the directory cell, then for the filters. If a filter is near, the
//! visit waits a third time, for the rest. So many visits, of several queries, take each step together: all cells are
//! announced, then read; then all filters are announced, then compared.
//!
//! Announcing and reading are kept apart. A read waits behind the announcements that are under way, and the next
//! announcements wait for the read. (In another version, each visit went through all steps on its own, 64 visits behind
//! the one before. Then a query among 10⁸ took a fifth longer.)

use std::ops::Range;

use super::Reader;
use super::table::near_entries;
use crate::hamming::code::ones;
use crate::hamming::kernel::Kernel;
use crate::hamming::level::Work;
use crate::hamming::memory;

/// At least this many visits go together. It is enough to hide the waits, and the lines of the visits fit into the
/// second-level cache.
const TOGETHER: usize = 256;

/// If there are no more visits than this, as for a single query, the first filters are announced before the last cells
/// have arrived.
const FEW: usize = 64;

/// The buckets that a query reads in one table.
#[derive(Clone, Copy, Debug)]
struct Ball {
    query: u32,
    table: u32,
    filter: u32,
    visits: u32,
}

/// A bucket that is to be read, and the positions of its entries once the cell has told them.
#[derive(Clone, Debug)]
struct Visit {
    bucket: u32,
    entries: Range<usize>,
}

/// The queries under way.
#[derive(Clone, Debug, Default)]
pub struct UnderWay {
    balls: Vec<Ball>,
    /// The visits of the first ball, then those of the next one, and so on.
    visits: Vec<Visit>,
    /// Entries whose filters are near, with their balls and buckets.
    matches: Vec<(Ball, u32, usize)>,
}

impl Reader<'_> {
    /// Calls `found` for every pair of a query and a stored fingerprint within the distance of the index, in no order:
    /// with the position in `queries`, the stored fingerprint and the distance. The queries are answered together. So
    /// memory for one query is loaded while others are compared.
    pub fn within(&mut self, queries: &[u64], found: &mut impl FnMut(usize, u64, u32)) {
        self.probe(0..self.tables.len(), queries, found);
    }

    /// Like [`Reader::within`], for one table: only pairs that this table must find, and that no earlier table must
    /// find. It is for callers that know which table must find their pairs.
    pub fn within_table(&mut self, table: usize, queries: &[u64], found: &mut impl FnMut(usize, u64, u32)) {
        self.probe(table..table + 1, queries, found);
    }

    fn probe(&mut self, tables: Range<usize>, queries: &[u64], found: &mut impl FnMut(usize, u64, u32)) {
        let mut under_way = std::mem::take(&mut self.under_way);
        let probe = Probe { reader: self, tables, queries, under_way: &mut under_way, found };
        self.frozen.level.run(probe);
        self.under_way = under_way;
    }

    /// The number of buckets that are read to answer these queries, and of fingerprints that are compared.
    pub fn reads(&self, queries: &[u64]) -> (usize, usize) {
        let (mut buckets, mut entries) = (0, 0);
        for query in queries {
            for table in &self.tables {
                for bucket in table.ball(table.view.keyed(*query)) {
                    buckets += 1;
                    entries += table.entries(bucket).len();
                }
            }
        }
        (buckets, entries)
    }

    /// Reports a fingerprint that a table has found, if it is within the distance and no earlier table must find it.
    pub(super) fn report(
        &self,
        queries: &[u64],
        query: u32,
        table: u32,
        fingerprint: u64,
        found: &mut impl FnMut(usize, u64, u32),
    ) {
        let design = &self.frozen.header.design;
        let difference = fingerprint ^ queries[query as usize];
        let distance = difference.count_ones();
        let (earlier, own) = (&design.keys[..table as usize], &design.keys[table as usize]);
        if distance <= design.distance && own.catches(difference) && !earlier.iter().any(|key| key.catches(difference))
        {
            found(query as usize, fingerprint, distance);
        }
    }
}

/// [`Reader::within`], to be compiled for each kernel.
struct Probe<'a, F> {
    reader: &'a Reader<'a>,
    tables: Range<usize>,
    queries: &'a [u64],
    under_way: &'a mut UnderWay,
    found: &'a mut F,
}

impl<F: FnMut(usize, u64, u32)> Work for Probe<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(mut self, kernel: impl Kernel) {
        for (query, i) in self.queries.iter().zip(0..) {
            for t in self.tables.clone() {
                self.announce(*query, i, t);
                if self.under_way.visits.len() >= TOGETHER {
                    self.go(kernel);
                }
            }
        }
        self.go(kernel);
    }
}

impl<F: FnMut(usize, u64, u32)> Probe<'_, F> {
    /// Starts loading the cells of a ball.
    #[inline(always)]
    fn announce(&mut self, query: u64, i: u32, t: usize) {
        let table = &self.reader.tables[t];
        let keyed = table.view.keyed(query);
        let visits = &mut self.under_way.visits;
        let before = visits.len();
        visits.extend(table.ball(keyed).map(|bucket| {
            memory::prefetch(table.cell(bucket));
            Visit { bucket, entries: 0..0 }
        }));
        let visits = (visits.len() - before) as u32;
        self.under_way.balls.push(Ball { query: i, table: t as u32, filter: keyed.filter, visits });
    }

    /// Takes the other steps for all balls that are announced.
    #[inline(always)]
    fn go(&mut self, kernel: impl Kernel) {
        let reader = self.reader;
        let table = |ball: &Ball| &reader.tables[ball.table as usize];
        let UnderWay { balls, visits, matches } = &mut *self.under_way;
        let few = visits.len() <= FEW;
        for (ball, visits) in each(balls, visits) {
            let table = table(ball);
            if table.has_large_groups() {
                visits.iter().for_each(|visit| table.announce_ends(visit.bucket));
            }
            for visit in visits {
                let part = table.part(visit.bucket);
                visit.entries = part.entries(visit.bucket & table.part_mask());
                if few {
                    announce_filters(part.filters, &visit.entries);
                }
            }
        }
        for (ball, visits) in each(balls, visits).filter(|_| !few) {
            let table = table(ball);
            visits.iter().for_each(|visit| announce_filters(table.part(visit.bucket).filters, &visit.entries));
        }
        let distance = reader.frozen.header.design.distance;
        for (ball, visits) in each(balls, visits) {
            let table = table(ball);
            for Visit { bucket, entries } in visits {
                near_entries(
                    kernel,
                    table.part(*bucket).filters,
                    entries.clone(),
                    ball.filter,
                    distance,
                    &mut |start, near| {
                        for entry in ones(near).map(|i| start + i as usize) {
                            table.announce_rest(*bucket, entry);
                            matches.push((*ball, *bucket, entry));
                        }
                    },
                );
            }
        }
        for (ball, bucket, entry) in matches.drain(..) {
            let fingerprint = table(&ball).fingerprint(bucket, entry);
            reader.report(self.queries, ball.query, ball.table, fingerprint, self.found);
        }
        balls.clear();
        visits.clear();
    }
}

/// Each ball with its visits.
#[inline(always)]
fn each<'a>(balls: &'a [Ball], mut visits: &'a mut [Visit]) -> impl Iterator<Item = (&'a Ball, &'a mut [Visit])> {
    balls
        .iter()
        .map(move |ball| (ball, visits.split_off_mut(..ball.visits as usize).expect("each ball has its visits")))
}

/// Starts to load the filters of a bucket. Of a very large bucket, only the first filters are announced, because the
/// processor then prefetches the others by itself.
#[inline(always)]
fn announce_filters(filters: &[u32], entries: &Range<usize>) {
    const LINES: usize = 16;
    // Sixteen filters are read at a time, even if the bucket ends before. So the line behind the last filter may be
    // waited for, too.
    let end = entries.end.max(entries.start + 16);
    (entries.start..end - 1).step_by(16).take(LINES).for_each(|entry| memory::prefetch_in(filters, entry));
    memory::prefetch_in(filters, end - 1);
}
