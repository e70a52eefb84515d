//! A buffered file that only grows, and whose durable length is known.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

/// Appends to a file through a buffer. [`AppendFile::sync`] makes the bytes durable.
#[derive(Debug)]
pub struct AppendFile {
    file: File,
    buffer: Vec<u8>,
    length: u64,
    synced: u64,
}

impl AppendFile {
    const BUFFER: usize = 64 << 10;

    /// Opens `path` and cuts it back to `length`, which the state vouches for. It is an error of kind `InvalidData` if
    /// the file is shorter. A crash does not cause this.
    pub fn open(path: &Path, length: u64) -> io::Result<Self> {
        let new = !path.exists();
        let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        let found = file.metadata()?.len();
        if found < length {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("{} has {found} bytes where the state has recorded {length}", path.display()),
            ));
        }
        file.set_len(length)?;
        if new && let Some(folder) = path.parent() {
            // Otherwise a power cut could remove the name of a file whose bytes are durable.
            File::open(folder)?.sync_all()?;
        }
        file.seek(SeekFrom::Start(length))?;
        Ok(Self { file, buffer: Vec::with_capacity(Self::BUFFER), length, synced: length })
    }

    /// The number of bytes written so far, including buffered ones. The next record begins at this place.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Appends one record, given in pieces.
    pub fn append(&mut self, pieces: &[&[u8]]) -> io::Result<()> {
        for piece in pieces {
            self.buffer.extend_from_slice(piece);
            self.length += piece.len() as u64;
        }
        if self.buffer.len() >= Self::BUFFER { self.flush() } else { Ok(()) }
    }

    /// Gives the buffer to the system.
    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Makes everything durable. Returns the length.
    pub fn sync(&mut self) -> io::Result<u64> {
        self.flush()?;
        if self.synced != self.length {
            self.file.sync_data()?;
            self.synced = self.length;
        }
        Ok(self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_cut_back_to_what_the_state_vouches_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pages.jsonl");
        let mut file = AppendFile::open(&path, 0).unwrap();
        file.append(&[b"one\n"]).unwrap();
        let vouched = file.sync().unwrap();
        file.append(&[b"two\n", b"three"]).unwrap();
        file.sync().unwrap();
        drop(file);
        let mut file = AppendFile::open(&path, vouched).unwrap();
        file.append(&[b"2\n"]).unwrap();
        file.sync().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one\n2\n");
        assert_eq!(AppendFile::open(&path, 100).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
