//! Following a series while somebody else appends to it, and closes its parts.

use std::io;
use std::path::{Path, PathBuf};

use super::Series;

/// Follows a series of lines: each line is passed on once, in order.
#[derive(Debug)]
pub struct Follower {
    dir: PathBuf,
    name: &'static str,
    series: Option<Series>,
    /// Place of the first byte of `held`.
    offset: u64,
    /// What was read and is not a whole line yet.
    held: Vec<u8>,
}

impl Follower {
    /// Bytes read at once: a fraction of a millisecond of counting, so that requests are answered between two pieces.
    const PIECE: usize = 64 << 10;

    /// Follows the series `name` in `dir` from its first byte on.
    pub fn new(dir: &Path, name: &'static str) -> Self {
        Self { dir: dir.to_owned(), name, series: None, offset: 0, held: Vec::new() }
    }

    /// Reads one piece, and passes on its lines with their places. False if there was nothing new. Parts that are gone are
    /// passed over.
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

    /// Reads one piece. False if there was none.
    fn fill(&mut self) -> io::Result<bool> {
        // Where a part ends it may have been closed meanwhile: then what follows is in another file.
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
            // A part that is gone is passed over. No line lies in two parts.
            (Err(error), Some(end)) if error.kind() == io::ErrorKind::NotFound => {
                self.held.clear();
                self.offset = end;
                Ok(true)
            }
            (read, _) => Ok(read? > 0),
        }
    }
}
