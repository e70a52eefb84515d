//! Answers many queries at once. Each table is read once, region by region, in the order of the file.

use super::Reader;
use super::table::{Table, near_entries};
use crate::hamming::code::ones;
use crate::hamming::kernel::Kernel;
use crate::hamming::level::Work;
use crate::hamming::memory::prefetch_in;

/// The bytes of a region. They stay in the second-level cache while queries are compared with them.
const REGION: u64 = if cfg!(test) { 1 << 8 } else { 1 << 20 };

/// While one bucket is compared, this many others are being loaded.
const AHEAD: usize = 64;

/// Queries as one table sees them, sorted by the region and the syndrome of their own buckets.
///
/// The buckets of the ball of a query are its own bucket XOR each entry (*change*) of a list, and the list depends only
/// on the syndrome. So the queries that read a region need not be listed and sorted. For each syndrome and each change
/// of its list, they are the queries with that syndrome in one other region.
#[derive(Debug)]
pub struct Bins {
    table: usize,
    /// The base-2 logarithm of the number of buckets in a region.
    shift: u32,
    syndromes: usize,
    regions: usize,
    /// The position at which each bin starts, region by region, and the end of the last one.
    starts: Vec<u32>,
    members: Vec<Member>,
    /// Whether the queries read most of the table.
    dense: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Member {
    bucket: u32,
    filter: u32,
    query: u32,
}

impl Bins {
    /// The number of regions of the table.
    pub fn regions(&self) -> usize {
        self.regions
    }

    fn members(&self, region: usize, syndrome: usize) -> &[Member] {
        let bin = region * self.syndromes + syndrome;
        &self.members[self.starts[bin] as usize..self.starts[bin + 1] as usize]
    }
}

impl Reader<'_> {
    /// Number of tables.
    pub fn tables(&self) -> usize {
        self.tables.len()
    }

    /// Whether a sweep answers this number of queries sooner than probes. It does if one bucket in eight is read. For a
    /// mapped file, one in sixteen is enough, because a sweep reads the pages of the file in order.
    pub fn sweep_pays(&self, queries: usize) -> bool {
        let stops: usize = self.tables.iter().map(Table::ball_size).sum();
        let buckets: usize = self.tables.iter().map(|table| 1 << table.bits()).sum();
        let share = if self.frozen.contents.is_mapped() { 16 } else { 8 };
        queries.saturating_mul(stops).saturating_mul(share) >= buckets
    }

    /// Sorts queries into the bins of a table. There must be fewer than 2^32 queries.
    pub fn bins(&self, table: usize, queries: &[u64]) -> Bins {
        let view = &self.tables[table];
        let entries: u64 = self.frozen.header.tables[table].parts.iter().map(|part| part.entries).sum();
        // The filters take four bytes each, and the directory takes two bytes for each bucket.
        let bytes = ((4 * entries) >> view.bits()) + 2;
        let shift = (REGION / bytes).max(1).ilog2().min(view.part_bits());
        let regions = 1 << (view.bits() - shift);
        let syndromes = view.changes().len();
        let member = |(query, i): (&u64, u32)| {
            let keyed = view.view.keyed(*query);
            let (bucket, syndrome) = view.own(keyed);
            ((bucket >> shift) as usize * syndromes + syndrome, Member { bucket, filter: keyed.filter, query: i })
        };
        let mut starts = vec![0u32; regions * syndromes + 1];
        let seen: Vec<(u32, Member)> = queries
            .iter()
            .zip(0..)
            .map(member)
            .map(|(bin, member)| {
                starts[bin + 1] += 1;
                (bin as u32, member)
            })
            .collect();
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut places = starts.clone();
        let mut members = vec![Member::default(); queries.len()];
        for (bin, member) in seen {
            let place = &mut places[bin as usize];
            members[*place as usize] = member;
            *place += 1;
        }
        let dense = queries.len() * view.ball_size() * 4 >= 1 << view.bits();
        Bins { table, shift, syndromes, regions, starts, members, dense }
    }

    /// Calls `found` for pairs within the distance of the index, in no order: with the position in `queries`, the
    /// stored fingerprint and the distance. These are the pairs whose stored fingerprint lies in this region of this
    /// table, and that no earlier table must find.
    ///
    /// # Complexity
    ///
    /// For all regions of all tables together: one pass over the tables, and as many comparisons as [`Reader::within`]
    /// makes.
    ///
    /// # References
    ///
    /// Manku, Jain, Das Sarma (WWW 2007), section 3.3, where each map task scans one sorted table against all queries.
    pub fn sweep(&self, bins: &Bins, region: usize, queries: &[u64], found: &mut impl FnMut(usize, u64, u32)) {
        self.frozen.level.run(Sweep { reader: self, bins, region, queries, candidates: Vec::new(), found });
    }
}

/// [`Reader::sweep`], to be compiled for each kernel.
struct Sweep<'a, F> {
    reader: &'a Reader<'a>,
    bins: &'a Bins,
    region: usize,
    queries: &'a [u64],
    /// Entries whose filters are near, each with its query and bucket.
    candidates: Vec<(usize, Member)>,
    found: &'a mut F,
}

/// A bucket with the query that reads it.
#[derive(Clone, Copy, Default)]
struct BucketVisit {
    start: usize,
    end: usize,
    member: Member,
}

impl<F: FnMut(usize, u64, u32)> Work for Sweep<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(mut self, kernel: impl Kernel) {
        let (bins, table) = (self.bins, &self.reader.tables[self.bins.table]);
        let first = (self.region << bins.shift) as u32;
        let part = table.part(first);
        if bins.dense {
            table.load(first, 1 << bins.shift);
        }
        let mut stops = [BucketVisit::default(); AHEAD];
        let mut waiting = 0;
        for (syndrome, changes) in table.changes().iter().enumerate() {
            for &change in changes {
                let other = self.region ^ (change >> bins.shift) as usize;
                for member in bins.members(other, syndrome) {
                    let bucket = member.bucket ^ change;
                    let entries = part.entries(bucket & table.part_mask());
                    prefetch_in(part.filters, entries.start);
                    prefetch_in(part.filters, entries.end);
                    let member = Member { bucket, ..*member };
                    stops[waiting] = BucketVisit { start: entries.start, end: entries.end, member };
                    waiting += 1;
                    if waiting == AHEAD {
                        self.compare(kernel, part.filters, &stops);
                        waiting = 0;
                    }
                }
            }
        }
        self.compare(kernel, part.filters, &stops[..waiting]);
        self.resolve();
    }
}

impl<F: FnMut(usize, u64, u32)> Sweep<'_, F> {
    #[inline(always)]
    fn compare(&mut self, kernel: impl Kernel, filters: &[u32], stops: &[BucketVisit]) {
        let k = self.reader.frozen.header.design.distance;
        for BucketVisit { start, end, member } in stops {
            near_entries(kernel, filters, *start..*end, member.filter, k, &mut |start, near| {
                self.note(start, near, *member)
            });
        }
    }

    /// Notes entries whose filters are near, and announces the rest of them.
    #[cold]
    fn note(&mut self, start: usize, near: u32, member: Member) {
        for i in ones(near) {
            self.reader.tables[self.bins.table].announce_rest(member.bucket, start + i as usize);
            self.candidates.push((start + i as usize, member));
        }
        if self.candidates.len() >= AHEAD {
            self.resolve();
        }
    }

    fn resolve(&mut self) {
        let table = &self.reader.tables[self.bins.table];
        for (entry, Member { bucket, query, .. }) in self.candidates.drain(..) {
            let fingerprint = table.fingerprint(bucket, entry);
            self.reader.report(self.queries, query, self.bins.table as u32, fingerprint, self.found);
        }
    }
}
