//! Fingerprint files: 64-bit little-endian words and nothing else. The row number of a fingerprint is its id.

use std::fs::File;
use std::path::Path;

use memmap2::{Advice, Mmap};

use super::Error;

/// The fingerprints of a file, mapped into memory.
#[derive(Debug)]
pub struct Fingerprints(Words);

#[derive(Debug)]
enum Words {
    Mapped(Mmap),
    Owned(Vec<u64>),
}

impl Fingerprints {
    /// Opens a file. Returns an error if the file cannot be read, or if its length is no multiple of 8.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(Error::io(path))?;
        let length = Error::unless_file(&file, path, "fingerprints")?;
        if !length.is_multiple_of(8) {
            return Err(Error::Damaged(format!(
                "{}: {length} bytes are no whole number of 64-bit fingerprints",
                path.display()
            )));
        }
        if length == 0 {
            return Ok(Self(Words::Owned(Vec::new())));
        }
        // SAFETY: if somebody shortens the file while it is read, the program may end, as with any mapped file. The
        // words are plain data.
        let map = unsafe { Mmap::map(&file) }.map_err(Error::io(path))?;
        // This is only a hint. If the system ignores it, reading is slower.
        let _ = map.advise(Advice::Sequential);
        Ok(Self(if cfg!(target_endian = "little") {
            Words::Mapped(map)
        } else {
            Words::Owned(map.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect())
        }))
    }
}

impl std::ops::Deref for Fingerprints {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        match &self.0 {
            Words::Mapped(map) => words(map),
            Words::Owned(words) => words,
        }
    }
}

/// The bytes of a mapping as 64-bit words, on a little-endian machine.
pub fn words(bytes: &[u8]) -> &[u64] {
    // SAFETY: every bit pattern is a u64.
    let (before, words, _) = unsafe { bytes.align_to() };
    assert!(before.is_empty(), "mappings and their sections are aligned");
    words
}

/// The bytes of a mapping as 32-bit words, on a little-endian machine.
pub fn half_words(bytes: &[u8]) -> &[u32] {
    // SAFETY: every bit pattern is a u32.
    let (before, words, _) = unsafe { bytes.align_to() };
    assert!(before.is_empty(), "mappings and their sections are aligned");
    words
}
