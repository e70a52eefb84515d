//! Writes an index file section by section. The head is written last.

use std::io::{Seek, SeekFrom, Write};

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::cells::{Cell, GROUP};
use super::format::{HEAD, IndexHeader, MAGIC, PartPlace, Section, VERSION};
use crate::hamming::Error;

/// A part of a table, in memory.
#[derive(Default)]
pub struct Built {
    /// The directory.
    pub cells: Vec<Cell>,
    /// The ends of groups that are too large for their cell.
    pub large: Vec<[u64; GROUP]>,
    /// The filters.
    pub filters: Vec<u32>,
    /// The rests, packed.
    pub rests: Vec<u64>,
    /// The first row of each entry, packed.
    pub rows: Vec<u64>,
    /// Values that occur more than once, with all their rows but the first.
    pub further: Vec<(u64, u64)>,
}

/// The file while it is written.
pub struct Output<'a, W> {
    out: &'a mut W,
    at: u64,
}

impl<'a, W: Write + Seek> Output<'a, W> {
    /// Begins a file, and leaves room for the head.
    pub fn new(out: &'a mut W) -> Result<Self, Error> {
        out.seek(SeekFrom::Start(HEAD as u64))?;
        Ok(Self { out, at: HEAD as u64 })
    }

    /// Appends a part.
    pub fn part(&mut self, built: &Built) -> Result<PartPlace, Error> {
        let (pairs, odd) = built.filters.as_chunks::<2>();
        let mut filters = pairs.iter().map(|[a, b]| u64::from(*a) | u64::from(*b) << 32);
        let odd = odd.first().map(|last| u64::from(*last));
        Ok(PartPlace {
            entries: built.filters.len() as u64,
            cells: self.section(built.cells.as_flattened())?,
            large: self.section(built.large.as_flattened())?,
            filters: self.words(&mut filters.by_ref().chain(odd))?,
            rests: self.section(&built.rests)?,
            rows: self.section(&built.rows)?,
        })
    }

    /// Appends a section.
    pub fn section(&mut self, words: &[u64]) -> Result<Section, Error> {
        self.words(&mut words.iter().copied())
    }

    fn words(&mut self, words: &mut dyn Iterator<Item = u64>) -> Result<Section, Error> {
        let start = self.at;
        let mut checksum = Xxh3::new();
        let mut buffer = Vec::with_capacity(1 << 16);
        loop {
            buffer.clear();
            words.take(1 << 13).for_each(|word| buffer.extend(word.to_le_bytes()));
            if buffer.is_empty() {
                break;
            }
            checksum.update(&buffer);
            self.out.write_all(&buffer)?;
            self.at += buffer.len() as u64;
        }
        let end = self.at;
        let padding = self.at.next_multiple_of(64) - self.at;
        self.out.write_all(&[0; 64][..padding as usize])?;
        self.at += padding;
        Ok(Section { start, end, checksum: checksum.digest() })
    }

    /// Writes the header, and then the head. Without the head the file is no index.
    pub fn finish(self, header: &IndexHeader) -> Result<u64, Error> {
        let mut json = serde_json::to_vec(header).map_err(std::io::Error::from)?;
        if json.len().is_multiple_of(8) {
            json.push(b'\n');
        }
        self.out.write_all(&json)?;
        let mut head = Vec::with_capacity(HEAD);
        head.extend(MAGIC);
        [VERSION, self.at, json.len() as u64, xxh3_64(&json), 0, 0]
            .iter()
            .for_each(|word| head.extend(word.to_le_bytes()));
        let own = xxh3_64(&head);
        head.extend(own.to_le_bytes());
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(&head)?;
        self.out.flush()?;
        Ok(self.at + json.len() as u64)
    }
}
