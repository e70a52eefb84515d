//! The output files of a crawl: they are read once from beginning to end, and later single lines are read again.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// A file of lines, up to the length for which the state vouches.
#[derive(Clone, Debug)]
pub struct Lines {
    path: PathBuf,
    length: u64,
}

impl Lines {
    /// Opens the lines of `path`, up to `length` bytes if a length is given. A file that does not exist has no lines.
    pub fn open(path: &Path, length: Option<u64>) -> io::Result<Self> {
        let found = match std::fs::metadata(path) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
        Ok(Self { path: path.to_owned(), length: length.map_or(found, |length| length.min(found)) })
    }

    /// Calls `visit` with each line (without its line end) and its offset. A last line without a line end is left out,
    /// because it is still being written.
    pub fn each(&self, visit: &mut dyn FnMut(u64, &[u8])) -> io::Result<()> {
        if self.length == 0 {
            return Ok(());
        }
        let mut file = BufReader::with_capacity(1 << 20, File::open(&self.path)?.take(self.length));
        let mut line = Vec::with_capacity(4096);
        let mut offset = 0;
        while file.read_until(b'\n', &mut line)? > 0 {
            if line.last() == Some(&b'\n') {
                visit(offset, &line[..line.len() - 1]);
            }
            offset += line.len() as u64;
            line.clear();
        }
        Ok(())
    }

    /// Whether a line begins at `offset`.
    pub fn is_start(&self, offset: u64) -> io::Result<bool> {
        if offset == 0 || offset >= self.length {
            return Ok(offset < self.length);
        }
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(offset - 1))?;
        let mut before = [0];
        file.read_exact(&mut before)?;
        Ok(before == *b"\n")
    }

    /// The lines at `offsets`.
    pub fn at(&self, offsets: impl IntoIterator<Item = u64>) -> io::Result<Vec<Vec<u8>>> {
        let mut offsets = offsets.into_iter().peekable();
        if offsets.peek().is_none() {
            return Ok(Vec::new());
        }
        let mut file = BufReader::new(File::open(&self.path)?);
        offsets
            .map(|offset| {
                file.seek(SeekFrom::Start(offset))?;
                let mut line = Vec::new();
                file.read_until(b'\n', &mut line)?;
                Ok(line)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_far_as_they_are_vouched_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.jsonl");
        let read = |length| {
            let mut lines = Vec::new();
            let file = Lines::open(&path, length).unwrap();
            file.each(&mut |offset, line| lines.push((offset, String::from_utf8_lossy(line).into_owned()))).unwrap();
            lines
        };
        assert!(read(None).is_empty());
        std::fs::write(&path, "one\ntwo\n\nthr").unwrap();
        assert_eq!(read(None), [(0, "one".into()), (4, "two".into()), (8, String::new())]);
        assert_eq!(read(Some(4)).len(), 1);
        assert_eq!(read(Some(400)).len(), 3);
        let starts = |offset| Lines::open(&path, None).unwrap().is_start(offset).unwrap();
        assert_eq!([0, 1, 4, 8, 9, 400].map(starts), [true, false, true, true, true, false]);
        assert_eq!(Lines::open(&path, None).unwrap().at([4, 0]).unwrap(), [b"two\n", b"one\n"]);
    }
}
