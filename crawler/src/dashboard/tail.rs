//! What was read of `pages.jsonl` so far, while it grows.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::report::line::PageLine;
use crate::report::tally::Tally;
use crate::sink::PagesJsonl;

/// What was read so far.
#[derive(Debug)]
pub struct Read {
    /// What it adds up to.
    pub tally: Tally,
    /// Where the lines of the last pages begin.
    pub recent: VecDeque<u64>,
    pages: Growing,
}

impl Read {
    /// Pages shown as the last ones.
    const RECENT: usize = 40;

    /// Nothing yet.
    pub fn new(dir: &Path) -> Self {
        Self { tally: Tally::new(false), recent: VecDeque::new(), pages: Growing::new(dir.join(PagesJsonl::NAME)) }
    }

    /// Reads one piece. False if there was nothing new.
    pub fn step(&mut self) -> io::Result<bool> {
        let Self { tally, recent, pages } = self;
        let more = pages.read(&mut |offset, line| {
            if let Some(page) = PageLine::parse(line) {
                tally.page(&page, offset);
                recent.push_back(offset);
            }
        })?;
        if recent.len() > Self::RECENT {
            recent.drain(..recent.len() - Self::RECENT);
        }
        Ok(more)
    }
}

/// A file that another thread appends to.
#[derive(Debug)]
struct Growing {
    path: PathBuf,
    file: Option<File>,
    /// Offset of the first byte of `held`.
    offset: u64,
    /// What was read and is not a whole line yet.
    held: Vec<u8>,
}

impl Growing {
    /// Bytes read at once: a fraction of a millisecond of counting, so that requests are answered between two pieces.
    const PIECE: usize = 64 << 10;

    fn new(path: PathBuf) -> Self {
        Self { path, file: None, offset: 0, held: Vec::new() }
    }

    /// Reads one piece and passes on its lines. False if there was nothing new.
    fn read(&mut self, visit: &mut dyn FnMut(u64, &[u8])) -> io::Result<bool> {
        if self.file.is_none() {
            match File::open(&self.path) {
                Ok(file) => self.file = Some(file),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        let Some(file) = &mut self.file else { return Ok(false) };
        file.seek(SeekFrom::Start(self.offset + self.held.len() as u64))?;
        let before = self.held.len();
        file.take(Self::PIECE as u64).read_to_end(&mut self.held)?;
        let mut start = 0;
        while let Some(length) = memchr::memchr(b'\n', &self.held[start..]) {
            visit(self.offset + start as u64, &self.held[start..start + length]);
            start += length + 1;
        }
        let grown = self.held.len() > before;
        self.held.drain(..start);
        self.offset += start as u64;
        Ok(grown)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn lines_are_taken_as_they_become_whole() {
        let dir = tempfile::tempdir().unwrap();
        let mut read = Read::new(dir.path());
        assert!(!read.step().unwrap());
        let mut file = File::create(dir.path().join("pages.jsonl")).unwrap();
        file.write_all(b"{\"url\":\"http://a.test/\",\"status\":200,\"verdict\":\"unique\"}\n{\"url\":\"http://a.te")
            .unwrap();
        assert!(read.step().unwrap());
        assert_eq!((read.tally.verdicts.unique, read.recent.len()), (1, 1));
        file.write_all(b"st/x\",\"status\":200,\"verdict\":\"near\"}\n").unwrap();
        assert!(read.step().unwrap() && !read.step().unwrap());
        assert_eq!((read.tally.verdicts.near, read.recent.len()), (1, 2));
        assert_eq!(read.recent[1], 57);
    }
}
