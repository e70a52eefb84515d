//! Writing a series: records are appended to its newest part, which is closed when it is full.

use std::io;
use std::path::{Path, PathBuf};

use super::append::AppendFile;
use super::{ends_of, part_name, put_ends, remove_file, start, sync_names};

/// Appends to a series.
#[derive(Debug)]
pub struct SeriesWriter {
    dir: PathBuf,
    name: String,
    /// The newest part.
    file: AppendFile,
    /// The ends of the closed parts.
    ends: Vec<u64>,
    /// The number of bytes after which a part is full.
    most: u64,
}

impl SeriesWriter {
    /// Opens the series `name` in `dir`, and cuts it back to the first `length` bytes, which the state vouches for. A
    /// part is full when it has `most` bytes (`None`: never). A rotation that a crash has interrupted is undone.
    ///
    /// # Errors
    ///
    /// `InvalidData` if the series is shorter than `length`, or if a part that must be cut is missing.
    pub fn open(dir: &Path, name: &str, length: u64, most: Option<u64>) -> io::Result<Self> {
        let mut ends = ends_of(dir, name)?;
        if length > start(&ends) {
            undo(dir, name, ends.len())?;
        }
        while ends.last().is_some_and(|end| *end > length) {
            reopen_last(dir, name, &mut ends)?;
        }
        let file = AppendFile::open(&dir.join(name), length - start(&ends))?;
        Ok(Self { dir: dir.to_owned(), name: name.to_owned(), file, ends, most: most.unwrap_or(u64::MAX) })
    }

    /// The name of the series, which is also that of its newest part.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of bytes written so far, in all parts. The next record begins at this place.
    pub fn length(&self) -> u64 {
        start(&self.ends) + self.file.length()
    }

    /// Appends one record, given in pieces.
    pub fn append(&mut self, pieces: &[&[u8]]) -> io::Result<()> {
        self.file.append(pieces)
    }

    /// Makes everything durable. Returns the length.
    pub fn sync(&mut self) -> io::Result<u64> {
        self.file.sync()?;
        Ok(self.length())
    }

    /// Records that the state vouches for everything that was appended. Only now may the newest part be closed. It is
    /// closed if it is full, or if a period has ended and the part is not empty.
    pub fn committed(&mut self, period_ended: bool) -> io::Result<()> {
        let length = self.file.length();
        if length == 0 || !(period_ended || length >= self.most) {
            return Ok(());
        }
        self.rename()?;
        self.note()?;
        self.begin()
    }

    /// Step 1 of closing the newest part.
    pub(super) fn rename(&mut self) -> io::Result<()> {
        self.file.sync()?;
        let closed = self.dir.join(part_name(&self.name, self.ends.len() + 1));
        if closed.exists() {
            let what = format!("{} is in the way: no part of {} has this number yet", closed.display(), self.name);
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
        }
        std::fs::rename(self.dir.join(&self.name), closed)?;
        sync_names(&self.dir)
    }

    /// Step 2 of closing the newest part.
    pub(super) fn note(&mut self) -> io::Result<()> {
        let mut ends = self.ends.clone();
        ends.push(self.length());
        put_ends(&self.dir, &self.name, &ends)
    }

    /// Step 3 of closing the newest part.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        let length = self.length();
        self.file = AppendFile::open(&self.dir.join(&self.name), 0)?;
        self.ends.push(length);
        Ok(())
    }
}

/// Undoes a rotation that was interrupted after its first step.
fn undo(dir: &Path, name: &str, closed: usize) -> io::Result<()> {
    let (newest, next) = (dir.join(name), dir.join(part_name(name, closed + 1)));
    if newest.exists() || !next.exists() {
        return Ok(());
    }
    std::fs::rename(next, newest)?;
    sync_names(dir)
}

/// Makes the last closed part the newest part again. This is needed after damage to the state: it may vouch for less
/// than it did before. The steps are those of a rotation, backwards.
fn reopen_last(dir: &Path, name: &str, ends: &mut Vec<u64>) -> io::Result<()> {
    let last = part_name(name, ends.len());
    if !dir.join(&last).exists() {
        let what = format!("{last} is gone, and has bytes that have to be cut: the state has recorded less of {name}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    remove_file(&dir.join(name))?;
    sync_names(dir)?;
    ends.pop();
    put_ends(dir, name, ends)?;
    undo(dir, name, ends.len())
}
