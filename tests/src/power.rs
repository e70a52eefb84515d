//! A simulated power cut, based on the log of fsyncs that the program `crawl` of this package keeps: every file loses
//! some or all of the blocks that were written after its last fsync.
//!
//! Names are not simulated. A file that was created, renamed or deleted keeps its new state, as after an fsync of its
//! folder.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use fastrand::Rng;

/// The durable part of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Durable {
    /// The length of the file.
    pub length: u64,
    /// The end of the data in the file.
    pub end: u64,
}

/// The length to which the engine of the store allocates a journal.
const ALLOCATED: u64 = 64 << 20;

/// The durable part of each file, by inode, according to the log at `path`.
pub fn durable(path: &Path) -> HashMap<u64, Durable> {
    let mut files: HashMap<u64, Durable> = HashMap::new();
    for line in fs::read_to_string(path).unwrap_or_default().lines() {
        let mut numbers = line.split(' ').map_while(|number| number.parse::<u64>().ok());
        if let (Some(inode), Some(length), Some(position)) = (numbers.next(), numbers.next(), numbers.next()) {
            let file = files.entry(inode).or_default();
            file.length = length;
            // A journal is allocated in advance. Therefore its end is the position of its writer, not its length.
            file.end = if length == ALLOCATED { file.end.max(position) } else { length };
        }
    }
    files
}

/// Starts a new log at `path`, according to which everything below `folder` is durable.
pub fn vouch(folder: &Path, path: &Path) -> std::io::Result<()> {
    let mut log = String::new();
    for file in files(folder)? {
        let data = fs::metadata(&file)?;
        log += &format!("{} {} {}\n", data.ino(), data.len(), written(&file)?);
    }
    fs::write(path, log)
}

/// The number of bytes of a file up to the last that is not zero. Journals are allocated in advance, with zeros.
pub fn written(path: &Path) -> std::io::Result<u64> {
    Ok(fs::read(path)?.iter().rposition(|byte| *byte != 0).map_or(0, |last| last as u64 + 1))
}

/// The files below a folder.
pub fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.is_file() {
            // A crawl that was killed leaves its control socket behind, which is not a file.
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Cuts the power of the process that wrote below `folder` and whose log says `durable`. Returns the number of files
/// that lost something.
pub fn cut(folder: &Path, durable: &HashMap<u64, Durable>, random: &mut Rng) -> std::io::Result<usize> {
    const BLOCK: u64 = 4096;
    let mut hurt = 0;
    for path in files(folder)? {
        let data = fs::metadata(&path)?;
        let Durable { length, end: safe } = durable.get(&data.ino()).copied().unwrap_or_default();
        let end = written(&path)?;
        if end <= safe && data.len() <= length {
            continue;
        }
        hurt += 1;
        let file = OpenOptions::new().write(true).open(&path)?;
        // Each block that was written since the last fsync may be there or be missing, whatever comes after it.
        let mut at = safe;
        while at < end {
            let next = ((at / BLOCK + 1) * BLOCK).min(end);
            if random.bool() {
                file.write_all_at(&vec![0; (next - at) as usize], at)?;
            }
            at = next;
        }
        // The new length may be lost, too.
        if data.len() > length {
            file.set_len(length + random.u64(..=data.len() - length))?;
        }
    }
    Ok(hurt)
}
