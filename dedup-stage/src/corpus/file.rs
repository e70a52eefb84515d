//! Reads signature files. A file is mapped into memory: opening it reads only the header.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use memmap2::{Advice, Mmap, MmapMut};
use xxhash_rust::xxh3::xxh3_64;

use super::Error;
use super::format::{DIGEST, MAGIC, Section, SignatureHeader};
use super::record::{NO_DATE, Record, Row};
use super::writer::{Shape, SignatureWriter};
use crate::hamming::words;
use crate::signature::{RECIPE, Sketch};

/// The signatures of many documents, sorted by fingerprint.
///
/// Rows are numbered from 0. Rows with a fingerprint come first, in ascending order of the fingerprint. Then come the
/// others, in the order of their digests.
#[derive(Debug)]
pub struct Signatures {
    bytes: Bytes,
    header: SignatureHeader,
    identity: u64,
}

#[derive(Debug)]
enum Bytes {
    Mapped(Mmap),
    Memory(MmapMut, usize),
}

impl std::ops::Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Memory(memory, length) => &memory[..*length],
        }
    }
}

impl Signatures {
    /// Opens a file, and reads its header. Errors if the file cannot be read, is no signature file, or has another
    /// recipe. Only [`Signatures::check`] finds damage to the columns.
    pub fn open(path: &Path) -> Result<Self, Error> {
        if cfg!(target_endian = "big") {
            return Err(Error::Damaged("signature files are read on little-endian machines only".into()));
        }
        let file = File::open(path).map_err(Error::io(path))?;
        if Error::unless_file(&file, path, "signatures")? == 0 {
            return Err(Error::Damaged(format!("{}: not a signature file, it is empty", path.display())));
        }
        // SAFETY: the bytes are plain data. As with any mapped file, a process that shortens the file may end this
        // program.
        let map = unsafe { Mmap::map(&file) }.map_err(Error::io(path))?;
        Self::from_bytes(Bytes::Mapped(map)).map_err(|error| error.about(path))
    }

    fn from_bytes(bytes: Bytes) -> Result<Self, Error> {
        let (header, identity) = SignatureHeader::read(&bytes)?;
        if header.recipe != RECIPE {
            return Err(Error::Recipe { found: header.recipe, expected: RECIPE.into() });
        }
        Ok(Self { bytes, header, identity })
    }

    /// Makes a signature file in memory, from records in any order.
    pub fn of(mut records: Vec<Record>) -> Result<Self, Error> {
        records.sort_unstable_by(|a, b| a.row().order(&b.row()));
        let mut shape = Shape { splits: 1, ..Shape::default() };
        records.iter().for_each(|record| shape.add(&record.row()));
        let mut writer = SignatureWriter::new(MmapMut::map_anon(shape.bytes() as usize)?, RECIPE, shape);
        records.iter().try_for_each(|record| writer.push(&record.row()))?;
        let (memory, length) = writer.finish()?;
        Self::from_bytes(Bytes::Memory(memory, length as usize))
    }

    /// Whether a file begins as signature files do.
    pub fn is_signatures(path: &Path) -> Result<bool, Error> {
        let mut start = Vec::new();
        File::open(path).and_then(|file| file.take(8).read_to_end(&mut start)).map_err(Error::io(path))?;
        Ok(start == MAGIC)
    }

    /// Reads all columns, and errors if one of them is damaged.
    pub fn check(&self) -> Result<(), Error> {
        for (name, section) in self.header.columns.each() {
            if xxh3_64(self.section(section)) != section.checksum {
                return Err(Error::Damaged(format!("the signature file is damaged: its {name} do not add up")));
            }
        }
        Ok(())
    }

    /// Bytes of all columns together.
    pub fn bytes(&self) -> u64 {
        self.header.columns.each().iter().map(|(_, section)| section.length).sum()
    }

    /// Tells the operating system that rows will be read one after another.
    pub fn advise_sequential(&self) {
        if let Bytes::Mapped(map) = &self.bytes {
            // This is only a hint. If it is not taken, reading is slower.
            let _ = map.advise(Advice::Sequential);
        }
    }

    /// Tells the operating system that single rows will be read here and there.
    pub fn advise_random(&self) {
        if let Bytes::Mapped(map) = &self.bytes {
            let _ = map.advise(Advice::Random);
        }
    }

    /// Number of documents.
    pub fn rows(&self) -> u64 {
        self.header.rows
    }

    /// The shape of the file, from which the same file could be written.
    pub fn shape(&self) -> Shape {
        let columns = &self.header.columns;
        Shape {
            rows: self.header.rows,
            judged: self.header.judged,
            splits: self.header.splits,
            text_ids: self.header.text_ids,
            ids: columns.ids.length,
            urls: columns.urls.length,
            dates: columns.dates.length > 0,
        }
    }

    /// A number that tells this file from others: the checksum of its header, which holds the checksums of its columns.
    pub fn identity(&self) -> u64 {
        self.identity
    }

    /// The fingerprints of the rows that have one, ascending.
    pub fn fingerprints(&self) -> &[u64] {
        words(self.section(&self.header.columns.fingerprints))
    }

    /// The sketches of the rows that have a fingerprint, in their stored form.
    pub fn sketches(&self) -> &[[u8; Sketch::BYTES]] {
        self.section(&self.header.columns.sketches).as_chunks().0
    }

    /// The sketch of a row that has a fingerprint.
    pub fn sketch(&self, row: u64) -> Sketch {
        Sketch::from_bytes(self.sketches()[row as usize])
    }

    /// The SHA-256 of every row.
    pub fn digests(&self) -> &[[u8; DIGEST]] {
        self.section(&self.header.columns.digests).as_chunks().0
    }

    /// Number of words of a row.
    pub fn words(&self, row: u64) -> u32 {
        u32::from_le_bytes(self.section(&self.header.columns.words).as_chunks().0[row as usize])
    }

    /// The place of every row in the input: the number of its split, and its number there (see [`super::SPLIT_SHIFT`]).
    pub fn places(&self) -> &[u64] {
        words(self.section(&self.header.columns.places))
    }

    /// The date of a row, in milliseconds since 1970; [`NO_DATE`] = none.
    pub fn date(&self, row: u64) -> i64 {
        let dates = self.section(&self.header.columns.dates).as_chunks().0;
        dates.get(row as usize).map_or(NO_DATE, |bytes| i64::from_le_bytes(*bytes))
    }

    /// The id of a row, as JSON. Errors if the file is damaged.
    pub fn id(&self, row: u64) -> Result<&str, Error> {
        let columns = &self.header.columns;
        self.text(&columns.id_ends, &columns.ids, row)
    }

    /// The URL with which a row came. If it has none, its id if that is a string, otherwise an empty text.
    pub fn url(&self, row: u64) -> Result<String, Error> {
        let url = self.own_url(row)?;
        if url.is_empty() { Ok(serde_json::from_str(self.id(row)?).unwrap_or_default()) } else { Ok(url.into()) }
    }

    fn own_url(&self, row: u64) -> Result<&str, Error> {
        let columns = &self.header.columns;
        if columns.url_ends.length == 0 { Ok("") } else { self.text(&columns.url_ends, &columns.urls, row) }
    }

    /// All columns of a row.
    pub fn row(&self, row: u64) -> Result<Row<'_>, Error> {
        let i = row as usize;
        Ok(Row {
            signature: self.fingerprints().get(i).map(|fingerprint| (*fingerprint, &self.sketches()[i])),
            digest: &self.digests()[i],
            words: self.words(row),
            place: self.places()[i],
            date: self.date(row),
            id: self.id(row)?,
            url: self.own_url(row)?,
        })
    }

    fn text(&self, ends: &Section, texts: &Section, row: u64) -> Result<&str, Error> {
        let ends = words(self.section(ends));
        let start = if row == 0 { 0 } else { ends[row as usize - 1] };
        let bytes = self.section(texts).get(start as usize..ends[row as usize] as usize);
        bytes
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
            .ok_or_else(|| Error::Damaged(format!("the signature file is damaged: the id of row {row}")))
    }

    /// The bytes of a section, which [`SignatureHeader::read`] found to lie within the file.
    fn section(&self, section: &Section) -> &[u8] {
        &self.bytes[section.start as usize..(section.start + section.length) as usize]
    }
}
