//! Queries of the online index.
//!
//! A query has two steps, so that the caller can do something else while memory is loaded. [`Index::begin`] computes
//! which buckets are to be read, and starts to load them into the cache. [`Index::finish`] reads them.

use super::Index;
use crate::hamming::kernel::Kernel;
use crate::hamming::level::Work;
use crate::hamming::table::Table;
use crate::hamming::tables::Tables;

/// A query that has begun: the buckets that it will read are being loaded. The same value can be used for the next
/// query.
#[derive(Clone, Debug)]
pub struct Probe {
    query: u64,
    /// Whether `visits` has all buckets of the query.
    complete: bool,
    /// The state of the index when the query began: whether tables were in use, how many sets of tables had been given
    /// up, and how many buckets each table had. If any of these has changed since, `visits` is computed again.
    uses_tables: bool,
    past: usize,
    buckets: [usize; Probe::TABLES],
    len: usize,
    visits: [Visit; Probe::VISITS],
}

/// A bucket that is to be read: its table and its number. The upper 16 bits of the table are the position of its set,
/// the lower 16 its position in the set.
type Visit = (u32, u32);

impl Probe {
    /// At most this many buckets are loaded at a time. Four tables with one flipped bit each need 68.
    const VISITS: usize = 72;
    /// The sizes of at most this many tables are remembered. In designs with more tables, `finish` computes the buckets
    /// again.
    const TABLES: usize = 8;
}

impl Default for Probe {
    fn default() -> Self {
        Self {
            query: 0,
            complete: false,
            uses_tables: false,
            past: 0,
            buckets: [0; Probe::TABLES],
            len: 0,
            visits: [(0, 0); Probe::VISITS],
        }
    }
}

impl Index {
    /// Appends every distinct stored fingerprint within `k` of `query`, with its distance, to `out`; in no order.
    pub fn within(&self, query: u64, out: &mut Vec<(u64, u32)>) {
        let mut probe = Probe::default();
        self.begin(query, &mut probe);
        self.finish(&probe, out);
    }

    /// Begins a query: starts to load the buckets that [`Index::finish`] will read. This helps a caller that knows its
    /// next query before the present one is answered. (Loading the next buckets between the comparisons of the present
    /// query was measured, too. It does not help.)
    pub fn begin(&self, query: u64, probe: &mut Probe) {
        (probe.query, probe.uses_tables, probe.past, probe.len, probe.complete) =
            (query, self.uses_tables, self.past, 0, true);
        if !self.uses_tables {
            return;
        }
        let mut sizes = probe.buckets.iter_mut();
        for (set, s) in self.sets.iter().zip(0..) {
            for (table, t) in set.tables.iter().zip(0..) {
                let Some(size) = sizes.next() else {
                    probe.complete = false;
                    return;
                };
                *size = table.buckets();
                for bucket in table.ball(table.keyed(query)) {
                    if probe.len == Probe::VISITS {
                        probe.complete = false;
                        return;
                    }
                    table.prefetch(bucket);
                    probe.visits[probe.len] = (s << 16 | t, bucket);
                    probe.len += 1;
                }
            }
        }
    }

    /// Ends a query, with the answer of [`Index::within`]. The index may have grown since it began.
    pub fn finish(&self, probe: &Probe, out: &mut Vec<(u64, u32)>) {
        self.level.run(Finish { index: self, probe, out });
    }

    #[inline(always)]
    fn finish_by(&self, kernel: impl Kernel, probe: &Probe, out: &mut Vec<(u64, u32)>) {
        self.flat.within(kernel, probe.query, self.distance(), out);
        if let Some(runs) = &self.runs {
            runs.within(kernel, probe.query, out);
        }
        if !self.uses_tables {
            return;
        }
        if self.is_current(probe) {
            self.visit(kernel, probe.query, &probe.visits[..probe.len], out);
            return;
        }
        // Half of the buckets are loaded while the other half is read.
        const HALF: usize = Probe::VISITS / 2;
        let mut visits = [(0, 0); 2 * HALF];
        let mut len = 0;
        for (set, s) in self.sets.iter().zip(0..) {
            for (table, t) in set.tables.iter().zip(0..) {
                for bucket in table.ball(table.keyed(probe.query)) {
                    if len == visits.len() {
                        self.visit(kernel, probe.query, &visits[..HALF], out);
                        visits.copy_within(HALF.., 0);
                        len = HALF;
                    }
                    table.prefetch(bucket);
                    visits[len] = (s << 16 | t, bucket);
                    len += 1;
                }
            }
        }
        self.visit(kernel, probe.query, &visits[..len], out);
    }

    /// Looks through some buckets, and then through their overflows. The overflows are loaded while the buckets are
    /// read.
    #[inline(always)]
    fn visit(&self, kernel: impl Kernel, query: u64, visits: &[Visit], out: &mut Vec<(u64, u32)>) {
        let k = self.distance();
        let mut overflowing = [(0, 0); Probe::VISITS];
        let mut pending = 0;
        for visits in visits.chunk_by(|a, b| a.0 == b.0) {
            let (set, t) = self.place(visits[0].0);
            let table = &set.tables[t];
            let filter = table.keyed(query).filter;
            for &visit in visits {
                let mut found = |fingerprint| self.found(query, set, t, fingerprint, out);
                let more = table.probe(kernel, visit.1, filter, k, &mut found);
                overflowing[pending] = visit;
                pending += usize::from(more);
            }
        }
        for &(place, bucket) in &overflowing[..pending] {
            let (set, t) = self.place(place);
            let table = &set.tables[t];
            let mut found = |fingerprint| self.found(query, set, t, fingerprint, out);
            table.probe_overflow(kernel, bucket, table.keyed(query).filter, k, &mut found);
        }
    }

    /// The set and the position of the table of a visit.
    #[inline(always)]
    fn place(&self, table: u32) -> (&Tables, usize) {
        (&self.sets[(table >> 16) as usize], (table & 0xffff) as usize)
    }

    /// Several tables may find the same fingerprint. It is reported only by the first table that must find it.
    fn found(&self, query: u64, set: &Tables, table: usize, fingerprint: u64, out: &mut Vec<(u64, u32)>) {
        let difference = fingerprint ^ query;
        let distance = difference.count_ones();
        let keys = &set.design.keys;
        if distance <= set.design.distance
            && keys[table].catches(difference)
            && !keys[..table].iter().any(|key| key.catches(difference))
            && !set.has_moved(fingerprint, || self.newest().contains(fingerprint))
        {
            out.push((fingerprint, distance));
        }
    }

    /// Whether `probe` still has the right buckets: no table has grown or was replaced since the query began.
    #[inline(always)]
    fn is_current(&self, probe: &Probe) -> bool {
        let mut sizes = probe.buckets.iter();
        let mut is_whole = |place: u32, table: &Table| {
            let ball = probe.visits[..probe.len].iter().filter(|visit| visit.0 == place).map(|visit| visit.1);
            sizes.next().is_some_and(|then| table.is_whole(*then, ball))
        };
        probe.complete
            && (probe.uses_tables, probe.past) == (self.uses_tables, self.past)
            && self
                .sets
                .iter()
                .zip(0..)
                .all(|(set, s)| set.tables.iter().zip(0..).all(|(table, t)| is_whole(s << 16 | t, table)))
    }
}

/// [`Index::finish`], to be compiled for each kernel.
struct Finish<'a> {
    index: &'a Index,
    probe: &'a Probe,
    out: &'a mut Vec<(u64, u32)>,
}

impl Work for Finish<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, kernel: impl Kernel) {
        self.index.finish_by(kernel, self.probe, self.out);
    }
}
