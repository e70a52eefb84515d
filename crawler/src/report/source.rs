//! The outputs of a crawl that are lines: read through once, and again at single lines.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use crate::series::{Gone, Series};

/// An output of lines, as far as it is vouched for. A line is named by the place of its first byte.
#[derive(Clone, Debug)]
pub struct Lines {
    series: Series,
    length: u64,
}

impl Lines {
    /// The lines of the output `name` in `dir`, up to `length` bytes if the state has such a length. An output that
    /// does not exist has no lines.
    pub fn open(dir: &Path, name: &str, length: Option<u64>) -> io::Result<Self> {
        let series = Series::open(dir, name)?;
        let length = length.map_or(series.end(), |length| length.min(series.end()));
        Ok(Self { series, length })
    }

    /// Calls `visit` with the place of each line and the line, without its end. A last line without an end is left out:
    /// it is still being written. So are the lines of parts that are gone ([`Lines::gone`]).
    pub fn each(&self, visit: &mut dyn FnMut(u64, &[u8])) -> io::Result<()> {
        let mut line = Vec::with_capacity(4096);
        for part in self.series.parts(self.length)? {
            let mut place = part.start;
            let mut bytes = BufReader::with_capacity(1 << 20, self.series.bytes(part.start, part.end));
            while bytes.read_until(b'\n', &mut line)? > 0 {
                if line.last() == Some(&b'\n') {
                    visit(place, &line[..line.len() - 1]);
                }
                place += line.len() as u64;
                line.clear();
            }
        }
        Ok(())
    }

    /// All bytes, except those of parts that are gone.
    pub fn bytes(&self) -> impl Read + '_ {
        self.series.bytes(0, self.length)
    }

    /// Parts that are not there any more.
    pub fn gone(&self) -> io::Result<Vec<Gone>> {
        self.series.gone(self.length)
    }

    /// Whether a line begins at a place.
    pub fn is_start(&self, at: u64) -> io::Result<bool> {
        if at == 0 || at >= self.length {
            return Ok(at < self.length);
        }
        let mut before = [0];
        match self.series.read_exact_at(at - 1, &mut before) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            read => read.map(|()| before == *b"\n"),
        }
    }

    /// The lines that begin at these places, without their ends; empty where a part is gone.
    pub fn at(&self, places: impl IntoIterator<Item = u64>) -> io::Result<Vec<Vec<u8>>> {
        let line = |place| match self.series.line_at(place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            line => Ok(line?.unwrap_or_default()),
        };
        places.into_iter().map(line).collect()
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
            let file = Lines::open(dir.path(), "x.jsonl", length).unwrap();
            file.each(&mut |offset, line| lines.push((offset, String::from_utf8_lossy(line).into_owned()))).unwrap();
            lines
        };
        assert!(read(None).is_empty());
        std::fs::write(&path, "one\ntwo\n\nthr").unwrap();
        assert_eq!(read(None), [(0, "one".into()), (4, "two".into()), (8, String::new())]);
        assert_eq!(read(Some(4)).len(), 1);
        assert_eq!(read(Some(400)).len(), 3);
        let starts = |offset| Lines::open(dir.path(), "x.jsonl", None).unwrap().is_start(offset).unwrap();
        assert_eq!([0, 1, 4, 8, 9, 400].map(starts), [true, false, true, true, true, false]);
        assert_eq!(Lines::open(dir.path(), "x.jsonl", None).unwrap().at([4, 0]).unwrap(), [b"two", b"one"]);
    }
}
