//! One table alone, for whoever knows which one it must be.

use super::{Reader, Visit};
use crate::hamming::memory::prefetch;

/// Queries whose buckets are loaded together.
const GROUP: usize = 16;

impl Reader<'_> {
    /// As [`Reader::within`], but only pairs that this table must find, and no earlier one.
    pub fn within_table(&mut self, table: usize, queries: &[u64], found: &mut impl FnMut(usize, u64, u32)) {
        let mut visits = std::mem::take(&mut self.visits);
        let view = &self.tables[table];
        for (start, group) in (0..).step_by(GROUP).zip(queries.chunks(GROUP)) {
            visits.clear();
            for (query, i) in group.iter().zip(0..) {
                let keyed = view.view.keyed(*query);
                for bucket in view.ball(keyed) {
                    prefetch(view.cell(bucket));
                    let (table, part, filter) = (table as u32, view.part_of(bucket), keyed.filter);
                    visits.push(Visit { query: i, table, bucket, part, filter, entries: 0..0 });
                }
            }
            self.load(&mut visits);
            self.finish(group, &visits, &mut |i, fingerprint, distance| found(start + i, fingerprint, distance));
        }
        self.visits = visits;
    }
}
