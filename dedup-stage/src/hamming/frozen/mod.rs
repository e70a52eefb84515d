//! The frozen index: sorted and compressed tables in a file. It never changes.

mod bins;
mod build;
mod cells;
pub mod coders;
mod format;
mod output;
mod packed;
mod probe;
mod rows;
mod sweep;
mod table;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

pub use build::{IndexSpec, Source, build};
pub use sweep::Bins;

use super::Error;
use super::design::Design;
use super::level::Level;
use format::{Contents, IndexHeader, Section};
use probe::UnderWay;
use table::Table;

/// Answers exactly which stored fingerprints are within a distance of a query. Each distinct fingerprint is stored
/// once, with its rows.
///
/// # Complexity
///
/// With two halves, N fingerprints and 2^p buckets in a table, a fingerprint takes 2 · (64 - p + 16 · 2^p / N) bits; p
/// is 27 for a billion. Rows take another ⌈log₂ rows⌉ + 1 bits, and are read only for a fingerprint that is found. A
/// probe reads a directory cell for each bucket of two balls, and then the filters of these buckets. No read of a cell
/// waits for another cell, and no read of filters waits for other filters.
///
/// # References
///
/// Manku, Jain, Das Sarma (WWW 2007), section 3.2, for compressed tables; the near-optimal size is that of quotienting,
/// Cleary, "Compact Hash Tables Using Bidirectional Linear Probing" (IEEE Trans. Comp. 1984).
#[derive(Debug)]
pub struct Frozen {
    header: IndexHeader,
    contents: Contents,
    level: Level,
    /// Whether a read met damage.
    damaged: AtomicBool,
}

/// How a file is brought into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Mapped: starts at once, and may be larger than memory.
    Map,
    /// Read into huge pages: this makes probes faster.
    Read,
}

impl Frozen {
    /// Opens an index file, and reads it once to see that it is undamaged. Returns an error if the file cannot be read,
    /// is damaged, has another format, or was made from fingerprints of another recipe.
    pub fn open(path: &Path, recipe: &str, load: Load) -> Result<Self, Error> {
        let contents = Contents::open(path, load)?;
        Self::from_contents(contents, recipe).map_err(|error| error.about(path))
    }

    /// Maps an index file and reads only its header, so even the largest file is ready at once. If the file is damaged
    /// in a way that [`Frozen::open`] would find, this index gives wrong answers. [`Frozen::is_damaged`] tells whether
    /// such damage was met.
    pub fn map(path: &Path, recipe: &str) -> Result<Self, Error> {
        let contents = Contents::open(path, Load::Map)?;
        let header = IndexHeader::read_unchecked(contents.bytes()).map_err(|error| error.about(path))?;
        Self::with_header(header, contents, recipe)
    }

    /// Like [`Frozen::open`], for an index that was built in memory. Its first `length` bytes are those of the file.
    pub fn from_memory(memory: memmap2::MmapMut, length: usize, recipe: &str) -> Result<Self, Error> {
        Self::from_contents(Contents::Read { memory, length }, recipe)
    }

    fn from_contents(contents: Contents, recipe: &str) -> Result<Self, Error> {
        let header = IndexHeader::read(contents.bytes())?;
        Self::with_header(header, contents, recipe)
    }

    fn with_header(header: IndexHeader, contents: Contents, recipe: &str) -> Result<Self, Error> {
        if header.recipe != recipe {
            return Err(Error::Recipe { found: header.recipe, expected: recipe.into() });
        }
        Ok(Self { header, contents, level: Level::detect(), damaged: AtomicBool::new(false) })
    }

    /// Whether a file begins as an index file does.
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

    /// Whether no fingerprint is stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of the tables, and the bytes of the rows.
    pub fn bytes(&self) -> (u64, u64) {
        let parts = || self.header.tables.iter().flat_map(|table| &table.parts);
        let tables = parts().flat_map(|part| [&part.cells, &part.large, &part.filters, &part.rests]).map(Section::len);
        let rows = parts().map(|part| part.rows.len());
        (tables.sum(), rows.sum::<u64>() + self.header.further.len())
    }

    /// Whether a read has met damage since the file was opened: a directory that points to entries that are not there.
    pub fn is_damaged(&self) -> bool {
        self.damaged.load(Ordering::Relaxed)
    }

    fn table(&self, i: usize) -> Table<'_> {
        Table::new(&self.header.tables[i], self.contents.bytes(), self.header.row_bits(), &self.damaged)
    }

    /// A reader of the index. It keeps what takes long to prepare.
    pub fn reader(&self) -> Reader<'_> {
        let tables = (0..self.header.tables.len()).map(|i| self.table(i)).collect();
        Reader { frozen: self, tables, under_way: UnderWay::default() }
    }
}

/// Answers queries from a [`Frozen`] index; one for each thread.
#[derive(Debug)]
pub struct Reader<'a> {
    frozen: &'a Frozen,
    tables: Vec<Table<'a>>,
    /// The queries under way. Empty between calls.
    under_way: UnderWay,
}

impl Reader<'_> {
    /// The index that it reads.
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
}
