//! The index file: a head, sections of plain words, and a header in JSON at the end.
//!
//! ```text
//! head      64 bytes: magic, format version, place and checksum of the header, checksum of the head itself
//! sections  little-endian words, each section at a multiple of 64 bytes
//! header    JSON: design, recipe, counts, the place and checksum (XXH3-64) of every section
//! ```
//!
//! The length of the file is never a multiple of 8. So an index file with a damaged magic is no fingerprint file
//! either.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use memmap2::{Advice, Mmap, MmapMut};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::Load;
use super::cells::{Cell, GROUP};
use crate::hamming::Error;
use crate::hamming::design::Design;
use crate::hamming::key::{Key, View};

/// First bytes of every index file.
pub const MAGIC: [u8; 8] = *b"\x89HAMIDX\n";

/// Format version.
pub const VERSION: u64 = 1;

/// Bytes of the head.
pub const HEAD: usize = 64;

/// A range of bytes, and its checksum.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// The first byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
    /// XXH3-64 of the bytes.
    pub checksum: u64,
}

impl Section {
    /// Number of bytes.
    pub fn len(&self) -> u64 {
        self.end - self.start
    }
}

/// Everything about an index but its tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexHeader {
    /// The recipe of the fingerprints.
    pub recipe: String,
    /// The design.
    pub design: Design,
    /// The number of rows of the file that was indexed.
    pub rows: u64,
    /// The number of distinct fingerprints.
    pub distinct: u64,
    /// Whether the first table has rows.
    pub with_rows: bool,
    /// The tables, one for each key of the design.
    pub tables: Vec<TablePlace>,
    /// Value and row of every row that repeats a value (so not of the first row of a value), sorted.
    pub further: Section,
}

/// The place of a table in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TablePlace {
    /// Its key.
    pub key: Key,
    /// The number of bits that number the buckets.
    pub bits: u32,
    /// The parts. The highest bits of the number of a bucket choose its part. The number of parts is a power of two.
    pub parts: Vec<PartPlace>,
}

/// The place of a part of a table in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartPlace {
    /// The number of entries, which are distinct fingerprints.
    pub entries: u64,
    /// The directory.
    pub cells: Section,
    /// The lists of ends of groups with more than 255 entries.
    pub large: Section,
    /// The filters, as 32-bit words.
    pub filters: Section,
    /// The rests, packed.
    pub rests: Section,
    /// The rows, packed. Only the first table has them.
    pub rows: Section,
}

impl PartPlace {
    /// Its sections.
    pub fn sections(&self) -> [&Section; 5] {
        [&self.cells, &self.large, &self.filters, &self.rests, &self.rows]
    }
}

impl IndexHeader {
    /// The number of bits of a row number.
    pub fn row_bits(&self) -> u32 {
        64 - self.rows.leading_zeros()
    }

    /// Reads the header of an index. Checks the header and every section.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let header = Self::read_unchecked(bytes)?;
        let mut sections: Vec<&Section> = vec![&header.further];
        sections.extend(header.tables.iter().flat_map(|table| &table.parts).flat_map(PartPlace::sections));
        for section in sections {
            if xxh3_64(&bytes[section.start as usize..section.end as usize]) != section.checksum {
                return Err(damaged(&format!("bytes {} to {} do not add up", section.start, section.end)));
            }
        }
        Ok(header)
    }

    /// Reads the header of an index. Checks the header, but no section.
    pub fn read_unchecked(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.get(..8) != Some(&MAGIC) {
            return Err(Error::Damaged("not an index file".into()));
        }
        if bytes.len() < HEAD {
            return Err(damaged("it is cut short"));
        }
        let (words, _) = bytes[..HEAD].as_chunks::<8>();
        let [_, version, start, length, checksum, _, _, own]: [u64; 8] =
            std::array::from_fn(|i| u64::from_le_bytes(words[i]));
        if xxh3_64(&bytes[..HEAD - 8]) != own {
            return Err(damaged("its head does not add up"));
        }
        if version != VERSION {
            return Err(Error::Damaged(format!("the index file has format {version}; this program reads {VERSION}")));
        }
        let end = start.checked_add(length).filter(|end| *end == bytes.len() as u64);
        if end.is_none() {
            return Err(damaged("its length is not what it was"));
        }
        let json = &bytes[start as usize..];
        if xxh3_64(json) != checksum {
            return Err(damaged("its header does not add up"));
        }
        let header: Self = serde_json::from_slice(json).map_err(|error| damaged(&format!("its header: {error}")))?;
        if !header.is_consistent(start) {
            return Err(damaged("its header contradicts itself"));
        }
        Ok(header)
    }

    /// Whether each section lies within the file, and has the right size.
    fn is_consistent(&self, end: u64) -> bool {
        let within =
            |s: &Section| s.start <= s.end && s.end <= end && s.start.is_multiple_of(64) && s.end.is_multiple_of(8);
        let packed = |entries: u64, width: u32| 8 * ((entries * u64::from(width)).div_ceil(64) + 1);
        let part = |first: bool, bits: u32, cells: u64, part: &PartPlace| {
            part.sections().iter().all(|section| within(section))
                && part.cells.len() == cells * size_of::<Cell>() as u64
                && part.large.len().is_multiple_of(8 * GROUP as u64)
                && part.filters.len() == (4 * part.entries).next_multiple_of(8)
                && part.rests.len() == packed(part.entries, 32 - bits)
                && (!first || !self.with_rows || part.rows.len() == packed(part.entries, self.row_bits() + 1))
        };
        let table = |(i, table): (usize, &TablePlace)| {
            let parts = table.parts.len();
            self.design.keys.get(i) == Some(&table.key)
                && table.bits <= View::new(table.key).code().address_bits()
                && parts.is_power_of_two()
                && parts.trailing_zeros() <= table.bits
                && {
                    let buckets = 1u64 << (table.bits - parts.trailing_zeros());
                    table.parts.iter().all(|p| part(i == 0, table.bits, buckets.div_ceil(GROUP as u64), p))
                }
        };
        !self.tables.is_empty()
            && self.tables.len() == self.design.keys.len()
            && self.tables.iter().enumerate().all(table)
            && within(&self.further)
            && self.further.len().is_multiple_of(16)
    }
}

/// The bytes of an index.
#[derive(Debug)]
pub enum Contents {
    /// A mapped file.
    Map(Mmap),
    /// A file that was read into memory.
    Read {
        /// The memory.
        memory: MmapMut,
        /// The number of bytes in use.
        length: usize,
    },
}

impl Contents {
    /// Maps a file, or reads it into memory.
    pub fn open(path: &Path, load: Load) -> Result<Self, Error> {
        let mut file = File::open(path).map_err(Error::io(path))?;
        let length = file.metadata().map_err(Error::io(path))?.len();
        if load == Load::Read && length > 0 {
            let mut memory = MmapMut::map_anon(length as usize).map_err(Error::io(path))?;
            #[cfg(target_os = "linux")]
            let _ = memory.advise(Advice::HugePage);
            file.read_exact(&mut memory).map_err(Error::io(path))?;
            return Ok(Self::Read { memory, length: length as usize });
        }
        // SAFETY: if somebody changes a file while we read it, the program may end, as with any mapped file. The words
        // are plain data.
        let map = unsafe { Mmap::map(&file) }.map_err(Error::io(path))?;
        let _ = map.advise(Advice::Normal);
        Ok(Self::Map(map))
    }

    /// Whether the bytes are read from the disk only when they are needed.
    pub fn is_mapped(&self) -> bool {
        matches!(self, Self::Map(_))
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Map(map) => map,
            Self::Read { memory, length } => &memory[..*length],
        }
    }
}

fn damaged(what: &str) -> Error {
    Error::Damaged(format!("the index file is damaged: {what}"))
}

/// Whether a file begins as an index file does.
pub fn is_index(path: &Path) -> Result<bool, Error> {
    let mut start = Vec::new();
    File::open(path).and_then(|file| file.take(8).read_to_end(&mut start)).map_err(Error::io(path))?;
    Ok(start == MAGIC)
}
