//! Reads signature files. A file is mapped into memory: opening it reads only the header.
//!
//! The pages of a mapped file that were read count as memory of the program until the system needs them elsewhere. So
//! passes over whole columns read the file itself ([`Signatures::check`], [`Signatures::each_sketch`]), a merge lets go
//! of what it has read ([`Signatures::release`]), and of a large file, some sketches are never read from the mapping
//! ([`Signatures::map_sketches`]).

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use memmap2::{Advice, Mmap, MmapMut};
use xxhash_rust::xxh3::Xxh3;

use super::Error;
use super::format::{DIGEST, HEAD, MAGIC, Section, SignatureHeader};
use super::record::{NO_DATE, Record, Row};
use super::writer::{FileShape, SignatureWriter};
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
    /// The file, if the sketches of the rows from `mapped` on are read from it and not from the mapping.
    file: Option<File>,
    mapped: usize,
}

#[derive(Debug)]
enum Bytes {
    Mapped(Mmap, PathBuf),
    Memory(MmapMut, usize),
}

impl std::ops::Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map, _) => map,
            Bytes::Memory(memory, length) => &memory[..*length],
        }
    }
}

/// Bytes that are read at once from a file.
const PIECE: usize = 1 << 18;

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
        Self::from_bytes(Bytes::Mapped(map, path.to_owned())).map_err(|error| error.about(path))
    }

    fn from_bytes(bytes: Bytes) -> Result<Self, Error> {
        let (header, identity) = SignatureHeader::read(&bytes)?;
        if header.recipe != RECIPE {
            return Err(Error::Recipe { found: header.recipe, expected: RECIPE.into() });
        }
        Ok(Self { bytes, header, identity, file: None, mapped: usize::MAX })
    }

    /// Makes a signature file in memory, from records in any order.
    pub fn of(mut records: Vec<Record>) -> Result<Self, Error> {
        records.sort_unstable_by(|a, b| a.row().order(&b.row()));
        let mut shape = FileShape { splits: 1, ..FileShape::default() };
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

    /// Reads all columns, and errors if one of them is damaged, or if the fingerprints are not in ascending order. This
    /// leaves nothing of them in memory.
    pub fn check(&self) -> Result<(), Error> {
        let file = self.reopened();
        for (name, section) in self.header.columns.each() {
            let mut order = Order::default();
            let mut hash = Xxh3::new();
            let mut see = |bytes: &[u8]| {
                hash.update(bytes);
                if name == "fingerprints" {
                    order.see(bytes);
                }
            };
            match &file {
                Some(file) => each_piece(file, section, &mut see)?,
                None => see(self.section(section)),
            }
            if hash.digest() != section.checksum {
                return Err(Error::Damaged(format!("the signature file is damaged: its {name} do not add up")));
            }
            if order.is_broken {
                return Err(Error::Damaged("the signature file is damaged: its fingerprints are not in order".into()));
            }
        }
        Ok(())
    }

    /// Bytes of all columns together.
    pub fn bytes(&self) -> u64 {
        self.header.columns.each().iter().map(|(_, section)| section.length).sum()
    }

    /// Limits the memory that sketches take: at most this many bytes of them are read from the mapping, where they stay
    /// in memory. Each of the others is read with a call of the system, which takes longer.
    #[must_use]
    pub fn map_sketches(mut self, bytes: u64) -> Self {
        let mapped = (bytes / Sketch::BYTES as u64) as usize;
        if mapped < self.sketches().len()
            && let Some(file) = self.reopened()
        {
            (self.file, self.mapped) = (Some(file), mapped);
        }
        self
    }

    /// Lets go of the memory of what was read so far. It is read again when it is needed.
    pub fn release(&mut self) {
        // If another file has taken its place, the old mapping stays.
        if let Bytes::Mapped(map, path) = &mut self.bytes
            && let Ok(Self { bytes: Bytes::Mapped(new, _), identity, .. }) = Self::open(path)
            && identity == self.identity
        {
            *map = new;
        }
    }

    /// The file of this mapping once more. `None` if these signatures are no file, or if its path now leads elsewhere.
    fn reopened(&self) -> Option<File> {
        let Bytes::Mapped(map, path) = &self.bytes else { return None };
        let mut file = File::open(path).ok()?;
        let mut head = [0; HEAD];
        file.read_exact(&mut head).ok()?;
        map.starts_with(&head).then_some(file)
    }

    /// Tells the operating system that rows will be read one after another.
    pub fn advise_sequential(&self) {
        if let Bytes::Mapped(map, _) = &self.bytes {
            // This is only a hint. If it is not taken, reading is slower.
            let _ = map.advise(Advice::Sequential);
        }
    }

    /// Tells the operating system that single rows will be read here and there.
    pub fn advise_random(&self) {
        if let Bytes::Mapped(map, _) = &self.bytes {
            let _ = map.advise(Advice::Random);
        }
    }

    /// Number of documents.
    pub fn rows(&self) -> u64 {
        self.header.rows
    }

    /// The shape of the file, from which the same file could be written.
    pub fn shape(&self) -> FileShape {
        let columns = &self.header.columns;
        FileShape {
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
        Sketch::from_bytes(self.stored_sketch(row))
    }

    /// The sketch of a row that has a fingerprint, in its stored form. See [`Signatures::map_sketches`].
    pub fn stored_sketch(&self, row: u64) -> [u8; Sketch::BYTES] {
        let row = row as usize;
        match &self.file {
            Some(file) if row >= self.mapped => {
                let mut bytes = [[0; Sketch::BYTES]];
                self.read_sketches(file, row, &mut bytes);
                bytes[0]
            }
            _ => self.sketches()[row],
        }
    }

    /// Calls `visit` with each of these rows, which have fingerprints, and its sketch in its stored form.
    pub fn each_sketch(&self, rows: Range<usize>, mut visit: impl FnMut(usize, &[u8; Sketch::BYTES])) {
        let Some(file) = self.reopened() else {
            return rows.clone().zip(&self.sketches()[rows]).for_each(|(row, sketch)| visit(row, sketch));
        };
        let mut piece = vec![[0; Sketch::BYTES]; rows.len().min(PIECE / Sketch::BYTES)];
        for first in rows.clone().step_by(piece.len().max(1)) {
            let n = piece.len().min(rows.end - first);
            self.read_sketches(&file, first, &mut piece[..n]);
            (first..).zip(&piece[..n]).for_each(|(row, sketch)| visit(row, sketch));
        }
    }

    /// Reads the sketches from a row on. If the file cannot be read, they come from the mapping.
    fn read_sketches(&self, file: &File, first: usize, sketches: &mut [[u8; Sketch::BYTES]]) {
        let mapped = &self.sketches()[first..first + sketches.len()];
        let at = self.header.columns.sketches.start + (first * Sketch::BYTES) as u64;
        if file.read_exact_at(sketches.as_flattened_mut(), at).is_err() {
            sketches.copy_from_slice(mapped);
        }
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
        self.text("id", &columns.id_ends, &columns.ids, row)
    }

    /// The URL with which a row came. If it has none, its id if that is a string, otherwise an empty text.
    pub fn url(&self, row: u64) -> Result<String, Error> {
        let url = self.own_url(row)?;
        if url.is_empty() { Ok(serde_json::from_str(self.id(row)?).unwrap_or_default()) } else { Ok(url.into()) }
    }

    fn own_url(&self, row: u64) -> Result<&str, Error> {
        let columns = &self.header.columns;
        if columns.url_ends.length == 0 { Ok("") } else { self.text("URL", &columns.url_ends, &columns.urls, row) }
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

    /// The text of a row. `what` names the column.
    fn text(&self, what: &str, ends: &Section, texts: &Section, row: u64) -> Result<&str, Error> {
        let ends = words(self.section(ends));
        let start = if row == 0 { 0 } else { ends[row as usize - 1] };
        let bytes = self.section(texts).get(start as usize..ends[row as usize] as usize);
        bytes
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
            .ok_or_else(|| Error::Damaged(format!("the signature file is damaged: the {what} of row {row}")))
    }

    /// The bytes of a section, which [`SignatureHeader::read`] found to lie within the file.
    fn section(&self, section: &Section) -> &[u8] {
        &self.bytes[section.start as usize..(section.start + section.length) as usize]
    }
}

/// Calls `see` with the bytes of a section, piece by piece.
fn each_piece(file: &File, section: &Section, see: &mut dyn FnMut(&[u8])) -> Result<(), Error> {
    let mut piece = vec![0; PIECE];
    let mut at = section.start;
    let end = section.start + section.length;
    while at < end {
        let n = (end - at).min(PIECE as u64);
        let bytes = &mut piece[..n as usize];
        file.read_exact_at(bytes, at)?;
        see(bytes);
        at += n;
    }
    Ok(())
}

/// Looks whether numbers ascend.
#[derive(Debug, Default)]
struct Order {
    last: u64,
    is_broken: bool,
}

impl Order {
    /// Takes the next numbers, of eight bytes each.
    fn see(&mut self, bytes: &[u8]) {
        for number in bytes.as_chunks().0.iter().map(|number| u64::from_le_bytes(*number)) {
            self.is_broken |= number < self.last;
            self.last = number;
        }
    }
}
