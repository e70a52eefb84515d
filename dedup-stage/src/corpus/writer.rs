//! Writes a signature file row by row. All columns are written at once: their places are known before the first row.

use std::fs::File;
use std::io;

use memmap2::MmapMut;
use xxhash_rust::xxh3::Xxh3;

use super::Error;
use super::format::{Columns, HEAD, Section, SignatureHeader};
use super::record::{NO_DATE, Row};
use crate::signature::Sketch;

/// The numbers that decide how large a signature file is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileShape {
    /// Number of documents.
    pub rows: u64,
    /// Number of documents with a fingerprint.
    pub judged: u64,
    /// Number of splits.
    pub splits: u64,
    /// Number of documents whose id is no integer.
    pub text_ids: u64,
    /// Bytes of all ids.
    pub ids: u64,
    /// Bytes of all URLs.
    pub urls: u64,
    /// Whether any document has a date.
    pub dates: bool,
}

impl FileShape {
    /// Counts one more row.
    pub fn add(&mut self, row: &Row<'_>) {
        self.rows += 1;
        self.judged += u64::from(row.signature.is_some());
        self.text_ids += u64::from(row.id.parse::<i64>().is_err());
        self.ids += row.id.len() as u64;
        self.urls += row.url.len() as u64;
        self.dates |= row.date != NO_DATE;
    }

    /// The shape of the file that two files are merged into.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            rows: self.rows + other.rows,
            judged: self.judged + other.judged,
            splits: self.splits + other.splits,
            text_ids: self.text_ids + other.text_ids,
            ids: self.ids + other.ids,
            urls: self.urls + other.urls,
            dates: self.dates || other.dates,
        }
    }

    /// The most bytes that the file can take.
    pub fn bytes(&self) -> u64 {
        const HEADER: u64 = 4096;
        let lengths = self.lengths();
        lengths.each().iter().map(|(_, length)| length.next_multiple_of(64)).sum::<u64>() + HEADER
    }

    /// Bytes of each column.
    fn lengths(&self) -> Columns<u64> {
        Columns {
            fingerprints: 8 * self.judged,
            sketches: Sketch::BYTES as u64 * self.judged,
            digests: 32 * self.rows,
            words: 4 * self.rows,
            places: 8 * self.rows,
            dates: if self.dates { 8 * self.rows } else { 0 },
            id_ends: 8 * self.rows,
            ids: self.ids,
            url_ends: if self.urls > 0 { 8 * self.rows } else { 0 },
            urls: self.urls,
        }
    }
}

/// A target that a signature file can be written to.
pub trait Output {
    /// Writes bytes, the first one at the place `at`.
    fn put(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;
}

impl Output for &File {
    fn put(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(*self, bytes, at)
    }
}

impl Output for MmapMut {
    fn put(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let at = at as usize;
        let place = self.get_mut(at..at + bytes.len()).ok_or(io::ErrorKind::WriteZero)?;
        place.copy_from_slice(bytes);
        Ok(())
    }
}

/// Writes one file. The rows must come in the order of [`Row::order`].
pub struct SignatureWriter<O> {
    out: O,
    header: SignatureHeader,
    columns: Columns<Column>,
    shape: FileShape,
    written: FileShape,
}

/// A column that is being written.
struct Column {
    start: u64,
    length: u64,
    written: u64,
    buffer: Vec<u8>,
    hash: Box<Xxh3>,
}

impl<O: Output> SignatureWriter<O> {
    /// Begins a file with the rows that `shape` counts.
    pub fn new(out: O, recipe: &str, shape: FileShape) -> Self {
        let mut end = HEAD as u64;
        let columns = shape.lengths().map(|length| {
            let start = end.next_multiple_of(64);
            end = start + length;
            Column { start, length, written: 0, buffer: Vec::new(), hash: Box::default() }
        });
        let header = SignatureHeader {
            recipe: recipe.to_owned(),
            rows: shape.rows,
            judged: shape.judged,
            splits: shape.splits,
            text_ids: shape.text_ids,
            columns: Columns::default(),
        };
        Self { out, header, columns, shape, written: FileShape { splits: shape.splits, ..FileShape::default() } }
    }

    /// Writes the next row.
    pub fn push(&mut self, row: &Row<'_>) -> io::Result<()> {
        self.written.add(row);
        let Self { out, columns, written, .. } = self;
        if let Some((fingerprint, sketch)) = row.signature {
            columns.fingerprints.push(out, &fingerprint.to_le_bytes())?;
            columns.sketches.push(out, sketch)?;
        }
        columns.digests.push(out, row.digest)?;
        columns.words.push(out, &row.words.to_le_bytes())?;
        columns.places.push(out, &row.place.to_le_bytes())?;
        if self.shape.dates {
            columns.dates.push(out, &row.date.to_le_bytes())?;
        }
        columns.ids.push(out, row.id.as_bytes())?;
        columns.id_ends.push(out, &written.ids.to_le_bytes())?;
        if self.shape.urls > 0 {
            columns.urls.push(out, row.url.as_bytes())?;
            columns.url_ends.push(out, &written.urls.to_le_bytes())?;
        }
        Ok(())
    }

    /// Ends the file. Returns the target and the length of the file. Errors if the rows were not those that were
    /// announced.
    pub fn finish(mut self) -> Result<(O, u64), Error> {
        if self.written != (FileShape { dates: self.written.dates, ..self.shape }) {
            return Err(Error::Damaged(format!("{:?} were announced, {:?} came", self.shape, self.written)));
        }
        let (out, mut end) = (&mut self.out, HEAD as u64);
        let mut result = Ok(());
        self.header.columns = self.columns.map(|mut column| {
            if let Err(error) = column.flush(out) {
                result = Err(error);
            }
            end = end.max(column.start + column.length);
            Section { start: column.start, length: column.length, checksum: column.hash.digest() }
        });
        result?;
        let start = end.next_multiple_of(64);
        let (json, head, _) = self.header.write(start);
        self.out.put(start, &json)?;
        self.out.put(0, &head)?;
        Ok((self.out, start + json.len() as u64))
    }
}

impl Column {
    /// Bytes of a column that are gathered before they are written.
    const BUFFER: usize = 1 << 18;

    fn push(&mut self, out: &mut impl Output, bytes: &[u8]) -> io::Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= Self::BUFFER { self.flush(out) } else { Ok(()) }
    }

    fn flush(&mut self, out: &mut impl Output) -> io::Result<()> {
        self.hash.update(&self.buffer);
        out.put(self.start + self.written, &self.buffer)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}
