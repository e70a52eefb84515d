//! Probing an index file.
//!
//! A visit to a bucket waits for memory twice: for its directory cell, then for its filters; and a third time where a filter is near.
//! So many visits, of several queries, take each step together: cells are announced; read; filters are announced; compared.
//!
//! Announcing is kept apart from reading: a read waits behind the announcements that are under way, and those that would follow wait
//! for the read. (Where each visit followed the one before through all steps at a distance of 64, a query among 10⁸ took a fifth longer.)

use std::ops::Range;

use super::Reader;
use crate::hamming::kernel::{Kernel, Work};
use crate::hamming::memory;

/// Visits that go together, at least: enough to hide what one waits for, and their lines fit into the second-level cache.
const TOGETHER: usize = 256;

/// Of so few visits, as a single query makes, the first filters should be announced before the last cells are there.
const FEW: usize = 64;

/// The buckets that a query reads in one table.
#[derive(Clone, Copy, Debug)]
pub struct Ball {
    pub query: u32,
    pub table: u32,
    pub filter: u32,
    /// After the last of its visits.
    end: u32,
}

/// A bucket to be read, and where its entries are, once that is known.
#[derive(Clone, Copy, Debug)]
struct Visit {
    bucket: u32,
    entries: u32,
    start: usize,
}

/// What is under way.
#[derive(Clone, Debug, Default)]
pub struct UnderWay {
    balls: Vec<Ball>,
    visits: Vec<Visit>,
    /// Entries whose filters are near: which of the balls, bucket and entry.
    matches: Vec<(Ball, u32, usize)>,
}

impl UnderWay {
    /// The balls, each with the places of its visits.
    #[inline(always)]
    fn balls(&self) -> impl Iterator<Item = (Ball, Range<usize>)> {
        let mut start = 0;
        self.balls.iter().map(move |ball| {
            let end = ball.end as usize;
            (*ball, std::mem::replace(&mut start, end)..end)
        })
    }
}

impl Reader<'_> {
    /// Calls `found` with the position in `queries`, the stored fingerprint and the distance of every pair within the index's distance, in
    /// no order. The queries are answered together, so that what one waits for is loaded while others are compared.
    pub fn within(&mut self, queries: &[u64], found: &mut impl FnMut(usize, u64, u32)) {
        self.probe(0..self.tables.len(), queries, found);
    }

    /// The same, but only pairs that this table must find, and no earlier one: for whoever knows which one it must be.
    pub fn within_table(&mut self, table: usize, queries: &[u64], found: &mut impl FnMut(usize, u64, u32)) {
        self.probe(table..table + 1, queries, found);
    }

    fn probe(&mut self, tables: Range<usize>, queries: &[u64], found: &mut impl FnMut(usize, u64, u32)) {
        let mut under_way = std::mem::take(&mut self.under_way);
        let probe = Probe { reader: self, tables, queries, under_way: &mut under_way, found };
        self.frozen.level.run(probe);
        self.under_way = under_way;
    }

    /// Buckets that are read to answer these queries, and fingerprints that are compared.
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
        visits.extend(table.ball(keyed).map(|bucket| {
            memory::prefetch(table.cell(bucket));
            Visit { bucket, entries: 0, start: 0 }
        }));
        let end = visits.len() as u32;
        self.under_way.balls.push(Ball { query: i, table: t as u32, filter: keyed.filter, end });
    }

    #[inline(always)]
    fn go(&mut self, kernel: impl Kernel) {
        let tables = &self.reader.tables;
        let mut start = 0;
        let few = self.under_way.visits.len() <= FEW;
        for ball in &self.under_way.balls {
            let table = &tables[ball.table as usize];
            for visit in &mut self.under_way.visits[start..ball.end as usize] {
                let part = &table.parts[table.part_of(visit.bucket) as usize];
                let entries = part.entries(visit.bucket & table.part_mask());
                (visit.start, visit.entries) = (entries.start, entries.len() as u32);
                if few {
                    announce_filters(part.filters, visit);
                }
            }
            start = ball.end as usize;
        }
        if !few {
            for (ball, visits) in self.under_way.balls() {
                let table = &tables[ball.table as usize];
                for visit in &self.under_way.visits[visits] {
                    announce_filters(table.parts[table.part_of(visit.bucket) as usize].filters, visit);
                }
            }
        }
        let distance = self.reader.frozen.header.design.distance;
        let mut matches = std::mem::take(&mut self.under_way.matches);
        for (ball, visits) in self.under_way.balls() {
            let table = &tables[ball.table as usize];
            for visit in &self.under_way.visits[visits] {
                let part = table.part_of(visit.bucket);
                let filters = table.parts[part as usize].filters;
                let (mut start, mut left) = (visit.start, visit.entries as usize);
                loop {
                    let mut near = kernel.near_words(&filters[start..], left.min(16), ball.filter, distance);
                    while near != 0 {
                        let entry = start + near.trailing_zeros() as usize;
                        near &= near - 1;
                        table.announce_rest(part, entry);
                        matches.push((ball, visit.bucket, entry));
                    }
                    if left <= 16 {
                        break;
                    }
                    (start, left) = (start + 16, left - 16);
                }
            }
        }
        for (ball, bucket, entry) in matches.drain(..) {
            let table = &tables[ball.table as usize];
            let fingerprint = table.fingerprint(table.part_of(bucket), bucket, entry);
            self.reader.report(self.queries, ball.query, ball.table, fingerprint, self.found);
        }
        self.under_way.matches = matches;
        self.under_way.balls.clear();
        self.under_way.visits.clear();
    }
}

/// Starts loading the filters of a bucket.
#[inline(always)]
fn announce_filters(filters: &[u32], visit: &Visit) {
    // Sixteen are read at a time, even where the bucket ends before: the line behind its last may be waited for, too.
    let end = visit.start + (visit.entries as usize).max(16);
    memory::prefetch_in(filters, visit.start);
    memory::prefetch_in(filters, end - 1);
}
