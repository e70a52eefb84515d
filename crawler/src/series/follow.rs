//! Reads a series while a writer appends to it and closes its parts.

use std::io;
use std::path::{Path, PathBuf};

use super::Series;

/// Reads a series of lines. It passes each line on once, in order.
#[derive(Debug)]
pub struct Follower {
    dir: PathBuf,
    name: &'static str,
    series: Option<Series>,
    /// The place of the first byte of `held`.
    offset: u64,
    /// The bytes that were read and are no complete line yet.
    held: Vec<u8>,
}

impl Follower {
    /// The number of bytes that are read at once. Counting them takes a fraction of a millisecond, so requests are
    /// answered between two pieces.
    const PIECE: usize = 64 << 10;

    /// Makes a follower that reads the series `name` in `dir` from its first byte.
    pub fn new(dir: &Path, name: &'static str) -> Self {
        Self { dir: dir.to_owned(), name, series: None, offset: 0, held: Vec::new() }
    }

    /// Reads one piece, and passes on its lines with their places. Returns false if there was nothing new. Parts that
    /// are missing are passed over.
    pub fn read(&mut self, visit: &mut dyn FnMut(u64, &[u8])) -> io::Result<bool> {
        let grown = self.fill()?;
        let mut start = 0;
        while let Some(length) = memchr::memchr(b'\n', &self.held[start..]) {
            visit(self.offset + start as u64, &self.held[start..start + length]);
            start += length + 1;
        }
        self.held.drain(..start);
        self.offset += start as u64;
        Ok(grown)
    }

    /// Reads one piece. Returns false if there was none.
    fn fill(&mut self) -> io::Result<bool> {
        // At the end of a part, the part may have been closed in the meantime. Then the next bytes are in another file.
        for series in [self.series.take(), None] {
            let series = series.map_or_else(|| Series::open(&self.dir, self.name), Ok)?;
            let grown = self.take(&series)?;
            self.series = Some(series);
            if grown {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn take(&mut self, series: &Series) -> io::Result<bool> {
        let (at, before) = (self.offset + self.held.len() as u64, self.held.len());
        self.held.resize(before + Self::PIECE, 0);
        let read = series.read_at(at, &mut self.held[before..]);
        self.held.truncate(before + *read.as_ref().unwrap_or(&0));
        match (read, series.end_of_part(at)) {
            // A missing part is passed over. No line lies in two parts.
            (Err(error), Some(end)) if error.kind() == io::ErrorKind::NotFound => {
                self.held.clear();
                self.offset = end;
                Ok(true)
            }
            (read, _) => Ok(read? > 0),
        }
    }
}
