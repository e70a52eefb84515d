//! A power cut, told from the log of fsyncs that `crawl` in this package keeps: every file loses what was written after
//! its last fsync, all of it or some blocks of it.
//!
//! What is not simulated: names. A file that was created, renamed or deleted keeps its new state, as after an fsync of its
//! folder.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use fastrand::Rng;

/// What of a file is durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Durable {
    /// Its length.
    pub length: u64,
    /// The end of what was written to it.
    pub end: u64,
}

/// The length of a journal that the store's engine has allocated.
const ALLOCATED: u64 = 64 << 20;

/// What is durable, by inode, says the log at `path`.
pub fn durable(path: &Path) -> HashMap<u64, Durable> {
    let mut files: HashMap<u64, Durable> = HashMap::new();
    for line in fs::read_to_string(path).unwrap_or_default().lines() {
        let mut numbers = line.split(' ').map_while(|number| number.parse::<u64>().ok());
        if let (Some(inode), Some(length), Some(position)) = (numbers.next(), numbers.next(), numbers.next()) {
            let file = files.entry(inode).or_default();
            file.length = length;
            // A journal is allocated ahead, and then its writer's position tells where it ends.
            file.end = if length == ALLOCATED { file.end.max(position) } else { length };
        }
    }
    files
}

/// Writes a new log at `path`: everything below `folder` is durable.
pub fn vouch(folder: &Path, path: &Path) -> std::io::Result<()> {
    let mut log = String::new();
    for file in files(folder)? {
        let data = fs::metadata(&file)?;
        log += &format!("{} {} {}\n", data.ino(), data.len(), written(&file)?);
    }
    fs::write(path, log)
}

/// Bytes of a file up to the last that is not zero: journals are allocated ahead.
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
            // A crawl that was killed leaves the socket on which it was asked; that is no file.
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Cuts the power of the process that wrote below `folder` and kept the log `durable`. Returns how many files lost something.
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
        // Each block that was written since is there or not, in no order …
        let mut at = safe;
        while at < end {
            let next = ((at / BLOCK + 1) * BLOCK).min(end);
            if random.bool() {
                file.write_all_at(&vec![0; (next - at) as usize], at)?;
            }
            at = next;
        }
        // … and so is the length.
        if data.len() > length {
            file.set_len(length + random.u64(..=data.len() - length))?;
        }
    }
    Ok(hurt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_synced_stays_and_the_rest_may_go() -> std::io::Result<()> {
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("file");
        let mut lost = 0;
        for seed in 0..20 {
            fs::write(&path, [1; 20_000])?;
            let inode = fs::metadata(&path)?.ino();
            let durable = HashMap::from([(inode, Durable { length: 5_000, end: 5_000 })]);
            assert_eq!(cut(dir.path(), &durable, &mut Rng::with_seed(seed))?, 1);
            let left = fs::read(&path)?;
            assert!(left.len() >= 5_000 && left[..5_000].iter().all(|byte| *byte == 1));
            lost += usize::from(left.len() < 20_000 || left.contains(&0));
            fs::write(&path, [1; 20_000])?;
            let all = HashMap::from([(inode, Durable { length: 20_000, end: 20_000 })]);
            assert_eq!(cut(dir.path(), &all, &mut Rng::with_seed(seed))?, 0);
        }
        assert!(lost > 15, "{lost} of 20 lost something");
        Ok(())
    }
}
