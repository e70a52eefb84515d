//! Reads a series: a record at a place, or all bytes from one place to another. The crawl may go on in the meantime.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{ends_of, part_name, start};

/// A series as it was when it was opened. Its newest part may grow.
#[derive(Clone, Debug)]
pub struct Series {
    dir: PathBuf,
    name: String,
    /// The ends of the closed parts.
    ends: Vec<u64>,
    /// The newest part; `None` if nothing was written.
    newest: Option<Arc<File>>,
    /// The end of the series when it was opened.
    end: u64,
}

/// A closed part that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    /// The name of the part.
    pub name: String,
    /// The place of its first byte.
    pub from: u64,
    /// The place after its last byte.
    pub to: u64,
}

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is gone, with {} bytes", self.name, self.to - self.from)
    }
}

impl Series {
    /// Opens the series `name` in `dir`. A series that does not exist is empty.
    pub fn open(dir: &Path, name: &str) -> io::Result<Self> {
        let mut ends = ends_of(dir, name)?;
        let newest = loop {
            let newest = newest(dir, name, ends.len())?;
            // If no part was closed in the meantime, the file that was opened is the newest part after these ends.
            let after = ends_of(dir, name)?;
            if after == ends {
                break newest;
            }
            ends = after;
        };
        let length = newest.as_ref().map_or(Ok(0), |file| file.metadata().map(|data| data.len()))?;
        let end = start(&ends) + length;
        Ok(Self { dir: dir.to_owned(), name: name.to_owned(), ends, newest: newest.map(Arc::new), end })
    }

    /// The end of the series when it was opened.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The places of all parts that exist, up to `to`.
    pub fn parts(&self, to: u64) -> io::Result<Vec<Range<u64>>> {
        let mut parts = Vec::new();
        for number in 1..=self.ends.len() {
            let part = self.part(number);
            if self.dir.join(&part.name).try_exists()? {
                parts.push(part.from..part.to.min(to));
            }
        }
        parts.push(start(&self.ends)..self.end.min(to));
        parts.retain(|part| !part.is_empty());
        Ok(parts)
    }

    /// The closed parts that are missing and begin before `to`.
    pub fn gone(&self, to: u64) -> io::Result<Vec<Gone>> {
        let mut gone = Vec::new();
        for number in 1..=self.ends.len() {
            let part = self.part(number);
            if part.from < to && !self.dir.join(&part.name).try_exists()? {
                gone.push(part);
            }
        }
        Ok(gone)
    }

    /// The closed parts whose lengths differ from their lengths when they were closed: name, length now, length then.
    pub fn misfits(&self) -> io::Result<Vec<(String, u64, u64)>> {
        let mut misfits = Vec::new();
        for number in 1..=self.ends.len() {
            let part = self.part(number);
            match std::fs::metadata(self.dir.join(&part.name)) {
                Ok(data) if data.len() == part.to - part.from => {}
                Ok(data) => misfits.push((part.name, data.len(), part.to - part.from)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(misfits)
    }

    /// Reads some bytes at a place, all from one part. Reads none at the end of the series. Bytes that were appended
    /// since the series was opened are read, too.
    ///
    /// # Errors
    ///
    /// `NotFound`, with the name of the part, if the part is missing.
    pub fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.piece_at(at)?.map_or(Ok(0), |mut piece| piece.read(buffer))
    }

    /// Fills the buffer with the bytes that begin at a place. The errors are those of [`Series::read_at`], and
    /// `UnexpectedEof`.
    pub fn read_exact_at(&self, mut at: u64, mut buffer: &mut [u8]) -> io::Result<()> {
        while !buffer.is_empty() {
            match self.read_at(at, buffer)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => {
                    at += read as u64;
                    buffer = &mut buffer[read..];
                }
            }
        }
        Ok(())
    }

    /// The line that begins at a place, without its line feed. `None` if no complete line begins there.
    pub fn line_at(&self, at: u64) -> io::Result<Option<Vec<u8>>> {
        const PIECE: usize = 4 << 10;
        let mut line = Vec::new();
        loop {
            let length = line.len();
            line.resize(length + PIECE, 0);
            let read = self.read_at(at + length as u64, &mut line[length..])?;
            line.truncate(length + read);
            if let Some(end) = memchr::memchr(b'\n', &line[length..]) {
                line.truncate(length + end);
                return Ok(Some(line));
            }
            if read == 0 {
                return Ok(None);
            }
        }
    }

    /// All bytes between two places, except those of missing parts.
    pub fn bytes(&self, from: u64, to: u64) -> Bytes<'_> {
        Bytes { series: self, at: from, to, piece: None }
    }

    /// The bytes of a part, beginning at a place.
    fn piece_at(&self, at: u64) -> io::Result<Option<Piece>> {
        let before = self.ends.partition_point(|end| *end <= at);
        if before == self.ends.len() {
            let piece = |file: &Arc<File>| Piece { file: Arc::clone(file), at: at - start(&self.ends), left: u64::MAX };
            return Ok(self.newest.as_ref().map(piece));
        }
        let part = self.part(before + 1);
        match File::open(self.dir.join(&part.name)) {
            Ok(file) => Ok(Some(Piece { file: Arc::new(file), at: at - part.from, left: part.to - at })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(io::Error::new(io::ErrorKind::NotFound, part.to_string()))
            }
            Err(error) => Err(error),
        }
    }

    /// The end of the part in which a place lies; `None` for the newest part.
    pub fn end_of_part(&self, at: u64) -> Option<u64> {
        self.ends.get(self.ends.partition_point(|end| *end <= at)).copied()
    }

    /// The description of a closed part. (The type is also used for missing parts.)
    fn part(&self, number: usize) -> Gone {
        let from = if number > 1 { self.ends[number - 2] } else { 0 };
        Gone { name: part_name(&self.name, number), from, to: self.ends[number - 1] }
    }
}

/// The file of the newest part, after `closed` closed parts. Between two steps of a rotation, this file already has the
/// name of the next closed part.
fn newest(dir: &Path, name: &str, closed: usize) -> io::Result<Option<File>> {
    for name in [name, &part_name(name, closed + 1)] {
        match File::open(dir.join(name)) {
            Ok(file) => return Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// The bytes of one part from a place on.
#[derive(Debug)]
struct Piece {
    file: Arc<File>,
    at: u64,
    left: u64,
}

impl Read for Piece {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.file.read_at(&mut buffer[..most], self.at)?;
        self.at += read as u64;
        self.left -= read as u64;
        Ok(read)
    }
}

/// The bytes of a series, without those of missing parts.
#[derive(Debug)]
pub struct Bytes<'a> {
    series: &'a Series,
    at: u64,
    to: u64,
    /// The rest of the part in which `at` lies.
    piece: Option<Piece>,
}

impl Read for Bytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at < self.to && !buffer.is_empty() {
            if self.piece.is_none() {
                self.piece = match self.series.piece_at(self.at) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                    piece => piece?,
                };
            }
            let end = self.series.end_of_part(self.at);
            let most = usize::try_from(self.to - self.at).unwrap_or(usize::MAX).min(buffer.len());
            let read = self.piece.as_mut().map_or(Ok(0), |piece| piece.read(&mut buffer[..most]))?;
            self.at += read as u64;
            if end == Some(self.at) {
                self.piece = None;
            }
            if read > 0 {
                return Ok(read);
            }
            // The rest of this part is missing.
            self.piece = None;
            match end {
                Some(end) => self.at = end,
                None => return Ok(0),
            }
        }
        Ok(0)
    }
}
