//! The data that was read from `pages.jsonl` so far, while it grows.

use std::collections::VecDeque;
use std::io;
use std::path::Path;

use crate::report::line::PageLine;
use crate::report::tally::Tally;
use crate::series::Follower;
use crate::sink::PagesJsonl;

/// The data that was read so far.
#[derive(Debug)]
pub struct Read {
    /// The counts over all lines.
    pub tally: Tally,
    /// The places where the lines of the last pages begin.
    pub recent: VecDeque<u64>,
    pages: Follower,
}

impl Read {
    /// The number of pages that are shown as the last ones.
    const RECENT: usize = 40;

    /// Makes data of a file of which nothing was read yet.
    pub fn new(dir: &Path) -> Self {
        Self { tally: Tally::new(false), recent: VecDeque::new(), pages: Follower::new(dir, PagesJsonl::NAME) }
    }

    /// Reads one piece of the file. Returns false if there was nothing new.
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

#[cfg(test)]
mod tests {
    use std::fs::File;
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
