//! Many queries at once: the tables are read in the order in which they lie in the file.

use super::{Reader, Visit};
use crate::hamming::memory::prefer_huge_pages;

/// A bucket, and the query that reads it.
type Stop = (u32, u32);

/// Stops are sorted by so many high bits of the bucket: what then lies between two bins fits into the cache.
const BIN_BITS: u32 = 13;

/// Stops that are held at a time, about: 8 bytes each, for each thread.
const STOPS: usize = 1 << 25;

/// Stops that are loaded ahead.
const AHEAD: usize = 128;

impl Reader<'_> {
    /// How many queries to sweep with at a time, where that pays: if the file is mapped, so that what is read next should lie next
    /// to it on the disk, and one bucket in sixteen is read. (In memory, probing takes half the time.)
    pub fn sweep_size(&self, queries: usize) -> Option<usize> {
        if !self.frozen.contents.is_mapped() {
            return None;
        }
        let stops: usize = self.tables.iter().map(|table| table.ball_size()).sum();
        let buckets: usize = self.tables.iter().map(|table| 1 << table.bits()).sum();
        let at_a_time = queries.min(STOPS / stops.max(1)).max(1);
        (at_a_time * stops * 16 >= buckets).then_some(at_a_time)
    }

    /// As [`Reader::within`], but table after table, each from its first bucket to its last; results come in no order.
    ///
    /// # Complexity
    ///
    /// Two passes over the queries for each table to sort their stops into bins, then one pass over the table.
    ///
    /// # References
    ///
    /// Manku, Jain, Das Sarma (WWW 2007), section 3.3, where each map task scans one sorted table against all queries.
    pub fn sweep(&mut self, queries: &[u64], found: &mut impl FnMut(usize, u64, u32)) {
        let mut visits = std::mem::take(&mut self.visits);
        for t in 0..self.tables.len() {
            let table = &self.tables[t];
            for stops in self.stops(t, queries).chunks(AHEAD) {
                visits.clear();
                visits.extend(stops.iter().map(|&(bucket, query)| {
                    let filter = table.view.keyed(queries[query as usize]).filter;
                    Visit { query, table: t as u32, bucket, part: table.part_of(bucket), filter, entries: 0..0 }
                }));
                self.load(&mut visits);
                self.finish(queries, &visits, found);
            }
        }
        self.visits = visits;
    }

    /// All stops at a table, by bin.
    fn stops(&self, table: usize, queries: &[u64]) -> Vec<Stop> {
        let table = &self.tables[table];
        let shift = table.bits().saturating_sub(BIN_BITS);
        let mut places = vec![0; 1 << BIN_BITS];
        for query in queries {
            table.ball(table.view.keyed(*query)).for_each(|bucket| places[(bucket >> shift) as usize] += 1);
        }
        let mut total = 0;
        for place in &mut places {
            total += std::mem::replace(place, total);
        }
        let mut stops: Vec<Stop> = Vec::with_capacity(total);
        prefer_huge_pages(stops.spare_capacity_mut());
        stops.resize(total, (0, 0));
        for (query, i) in queries.iter().zip(0..) {
            for bucket in table.ball(table.view.keyed(*query)) {
                let place = &mut places[(bucket >> shift) as usize];
                stops[*place] = (bucket, i);
                *place += 1;
            }
        }
        stops
    }
}
