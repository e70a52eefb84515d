//! The frozen index: sorted, compressed tables as a file.

mod bins;
mod build;
pub mod coders;
mod format;
mod output;
mod packed;
mod rows;
mod single;
mod sweep;
mod table;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::path::Path;

pub use build::{Plan, Source, build};
pub use sweep::Bins;

use super::design::Design;
use super::kernel::{Kernel, Level, Work};
use super::{Error, memory};
use format::{Contents, Header, Section};
use table::Table;

/// Fingerprints within a distance, exactly, from compressed tables that are never changed; each distinct fingerprint once, with its rows.
///
/// # Complexity
///
/// With two halves, N fingerprints and 2^p buckets to a table, a fingerprint takes 2 · (64 - p + 16 · 2^p / N) bits, where
/// p = 27 for a billion; rows take another ⌈log₂ rows⌉ + 1 bits beside them, read on a hit. A probe reads a directory cell for each bucket of
/// two balls, all independent, and then the filters of those buckets, all independent.
///
/// # References
///
/// Manku, Jain, Das Sarma (WWW 2007), section 3.2, for compressed tables; the near-optimal size is that of quotienting, Cleary,
/// "Compact Hash Tables Using Bidirectional Linear Probing" (IEEE Trans. Comp. 1984).
#[derive(Debug)]
pub struct Frozen {
    header: Header,
    contents: Contents,
    level: Level,
}

/// How a file is brought into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Mapped: starts at once, and may be larger than memory.
    Map,
    /// Read into huge pages: probes are faster.
    Read,
}

impl Frozen {
    /// Opens an index file, and reads it once to see that it is undamaged. Errors where it cannot be read, is damaged, of another
    /// format, or made from fingerprints of another recipe.
    pub fn open(path: &Path, recipe: &str, load: Load) -> Result<Self, Error> {
        let contents = Contents::open(path, load)?;
        Self::from_contents(contents, recipe).map_err(|error| error.about(path))
    }

    /// The same for an index that was built in memory, of which the first `length` bytes are the file's.
    pub fn from_memory(memory: memmap2::MmapMut, length: usize, recipe: &str) -> Result<Self, Error> {
        Self::from_contents(Contents::Read { memory, length }, recipe)
    }

    fn from_contents(contents: Contents, recipe: &str) -> Result<Self, Error> {
        let header = Header::read(contents.bytes())?;
        if header.recipe != recipe {
            return Err(Error::Recipe { found: header.recipe, expected: recipe.into() });
        }
        Ok(Self { header, contents, level: Level::detect() })
    }

    /// Whether a file calls itself an index file.
    pub fn is_index(path: &Path) -> Result<bool, Error> {
        format::is_index(path)
    }

    /// The design.
    pub fn design(&self) -> &Design {
        &self.header.design
    }

    /// Number of rows of the file that was indexed.
    pub fn rows(&self) -> u64 {
        self.header.rows
    }

    /// Number of distinct fingerprints.
    pub fn len(&self) -> u64 {
        self.header.distinct
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of the tables, and of the rows beside them.
    pub fn bytes(&self) -> (u64, u64) {
        let parts = || self.header.tables.iter().flat_map(|table| &table.parts);
        let tables = parts().flat_map(|part| [&part.cells, &part.large, &part.filters, &part.rests]).map(Section::len);
        let rows = parts().map(|part| part.rows.len());
        (tables.sum(), rows.sum::<u64>() + self.header.further.len())
    }

    fn table(&self, i: usize) -> Table<'_> {
        Table::new(&self.header.tables[i], self.contents.bytes(), self.header.row_bits())
    }

    /// A reader, which keeps what is costly to prepare.
    pub fn reader(&self) -> Reader<'_> {
        let tables = (0..self.header.tables.len()).map(|i| self.table(i)).collect();
        Reader { frozen: self, tables, visits: Vec::new() }
    }
}

/// Answers queries from a [`Frozen`] index; one for each thread.
#[derive(Debug)]
pub struct Reader<'a> {
    frozen: &'a Frozen,
    tables: Vec<Table<'a>>,
    visits: Vec<Visit>,
}

/// A bucket under way.
#[derive(Clone, Debug)]
struct Visit {
    query: u32,
    table: u32,
    bucket: u32,
    part: u32,
    filter: u32,
    entries: Range<usize>,
}

impl Reader<'_> {
    /// Calls `found` with the position in `queries`, the stored fingerprint and the distance of every pair within the index's distance.
    /// The queries are answered together, so that what one waits for is loaded while others are compared.
    pub fn within(&mut self, queries: &[u64], found: &mut impl FnMut(usize, u64, u32)) {
        let mut visits = std::mem::take(&mut self.visits);
        // So many that their loads fit into the caches, and so few that they are still there when they are read.
        for (start, group) in (0..).step_by(8).zip(queries.chunks(8)) {
            visits.clear();
            self.begin(group, &mut visits);
            let mut found = |i: usize, fingerprint, distance| found(start + i, fingerprint, distance);
            self.finish(group, &visits, &mut found);
        }
        self.visits = visits;
    }

    /// What it reads.
    pub fn index(&self) -> &Frozen {
        self.frozen
    }

    /// Whether a fingerprint is stored.
    pub fn contains(&self, fingerprint: u64) -> bool {
        self.tables.first().is_some_and(|table| table.find(fingerprint).is_some())
    }

    /// All distinct fingerprints, in the order of the first table.
    pub fn fingerprints(&self) -> Vec<u64> {
        let mut all = Vec::with_capacity(self.frozen.len() as usize);
        self.tables.first().inspect(|table| table.for_each(&mut |fingerprint| all.push(fingerprint)));
        all
    }

    /// Buckets that are read to answer these queries, and fingerprints that are compared.
    pub fn reads(&self, queries: &[u64]) -> (usize, usize) {
        let mut visits = Vec::new();
        let (mut buckets, mut entries) = (0, 0);
        for group in queries.chunks(8) {
            visits.clear();
            self.begin(group, &mut visits);
            buckets += visits.len();
            entries += visits.iter().map(|visit| visit.entries.len()).sum::<usize>();
        }
        (buckets, entries)
    }

    /// First the directory cells of all buckets, then where their entries are.
    fn begin(&self, queries: &[u64], visits: &mut Vec<Visit>) {
        for (query, i) in queries.iter().zip(0..) {
            for (table, t) in self.tables.iter().zip(0..) {
                let keyed = table.view.keyed(*query);
                for bucket in table.ball(keyed) {
                    let part = table.part_of(bucket);
                    memory::prefetch(table.cell(bucket));
                    visits.push(Visit { query: i, table: t, bucket, part, filter: keyed.filter, entries: 0..0 });
                }
            }
        }
        self.load(visits);
    }

    /// Finds where the entries of buckets are, and starts loading them.
    fn load(&self, visits: &mut [Visit]) {
        for visit in visits {
            let table = &self.tables[visit.table as usize];
            visit.entries = table.entries(visit.bucket);
            let part = &table.parts[visit.part as usize];
            // Sixteen filters are read at a time, even where the bucket ends before: the line behind its last may be waited for, too.
            let last = visit.entries.end.max(visit.entries.start + 16) - 1;
            for entry in [visit.entries.start, last.min(part.filters.len().saturating_sub(1))] {
                part.filters.get(entry).inspect(|filter| memory::prefetch(*filter));
            }
        }
    }

    /// Compares the entries of all buckets with their queries.
    fn finish(&self, queries: &[u64], visits: &[Visit], found: &mut impl FnMut(usize, u64, u32)) {
        self.frozen.level.run(Finish { reader: self, queries, visits, found });
    }

    /// A fingerprint is reported by the first table that must find it, and by no other.
    fn report(&self, queries: &[u64], visit: &Visit, fingerprint: u64, found: &mut impl FnMut(usize, u64, u32)) {
        let design = &self.frozen.header.design;
        let difference = fingerprint ^ queries[visit.query as usize];
        let distance = difference.count_ones();
        let (earlier, own) = (&design.keys[..visit.table as usize], &design.keys[visit.table as usize]);
        if distance <= design.distance && own.catches(difference) && !earlier.iter().any(|key| key.catches(difference))
        {
            found(visit.query as usize, fingerprint, distance);
        }
    }
}

/// [`Reader::finish`], to be compiled for each kernel.
struct Finish<'a, F> {
    reader: &'a Reader<'a>,
    queries: &'a [u64],
    visits: &'a [Visit],
    found: &'a mut F,
}

impl<F: FnMut(usize, u64, u32)> Work for Finish<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self, kernel: impl Kernel) {
        let Self { reader, queries, visits, found } = self;
        let k = reader.frozen.header.design.distance;
        for visit in visits {
            let table = &reader.tables[visit.table as usize];
            let filters = &table.parts[visit.part as usize].filters[visit.entries.clone()];
            for (chunk, start) in filters.chunks(16).zip((visit.entries.start..).step_by(16)) {
                let mut near = kernel.near_words(chunk, visit.filter, k);
                while near != 0 {
                    let entry = start + near.trailing_zeros() as usize;
                    near &= near - 1;
                    let fingerprint = table.fingerprint(visit.part, visit.bucket, entry);
                    reader.report(queries, visit, fingerprint, found);
                }
            }
        }
    }
}
