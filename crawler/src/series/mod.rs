//! Outputs that grow without end. A *series* is one output whose bytes lie in several files, its *parts*. `pages.jsonl`
//! is always the newest part, to which the crawl appends. `pages-000001.jsonl`, `pages-000002.jsonl` … are the closed
//! parts, the oldest first. No record lies in two parts.
//!
//! A place in a series counts from the first byte of its first part. So a place never changes, whatever part it lies
//! in, and even if earlier parts are removed. `parts.json` says for each series where its closed parts end. A series
//! that was never cut is one file, and has no entry in `parts.json`.
//!
//! # Crashes
//!
//! The newest part is closed only after a commit, when every byte of it is durable and vouched for. The steps are:
//!
//! 1. `pages.jsonl` gets the name of a closed part.
//! 2. `parts.json` is replaced by one that knows the closed part.
//! 3. A new `pages.jsonl` is made.
//!
//! After a crash between 1 and 2, the file with the next number belongs to no closed part, and `pages.jsonl` is
//! missing: [`SeriesWriter::open`] gives it its old name. After a crash between 2 and 3, the newest part is empty.

mod append;
mod follow;
mod read;
mod write;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

pub use append::AppendFile;
pub use follow::Follower;
pub use read::{Bytes, Gone, Series};
pub use write::SeriesWriter;

/// For each series, the ends of its closed parts, in their order.
type Ends = BTreeMap<String, Vec<u64>>;

/// The name of the file with the ends of closed parts, in the crawl directory.
pub const PARTS: &str = "parts.json";

/// The name of a closed part. The first has number 1.
pub fn part_name(series: &str, number: usize) -> String {
    let (stem, end) = series.rsplit_once('.').unwrap_or((series, ""));
    format!("{stem}-{number:06}.{end}")
}

/// The place where the newest part begins, after closed parts with these ends.
fn start(ends: &[u64]) -> u64 {
    ends.last().copied().unwrap_or(0)
}

/// The ends of the closed parts of a series.
fn ends_of(dir: &Path, series: &str) -> io::Result<Vec<u64>> {
    Ok(all_ends(dir)?.remove(series).unwrap_or_default())
}

fn all_ends(dir: &Path) -> io::Result<Ends> {
    let json = match std::fs::read(dir.join(PARTS)) {
        Ok(json) => json,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Ends::new()),
        Err(error) => return Err(error),
    };
    let ends: Ends = serde_json::from_slice(&json).map_err(|_| damaged("is no list of parts"))?;
    let grows = |ends: &Vec<u64>| ends.first() != Some(&0) && ends.is_sorted_by(|a, b| a < b);
    if ends.values().all(grows) { Ok(ends) } else { Err(damaged("has parts that do not follow each other")) }
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{PARTS} is damaged: it {what}"))
}

/// Replaces the entry of a series in `parts.json`. The change is durable when this returns.
fn put_ends(dir: &Path, series: &str, ends: &[u64]) -> io::Result<()> {
    let mut all = all_ends(dir)?;
    if ends.is_empty() {
        all.remove(series)
    } else {
        all.insert(series.to_owned(), ends.to_vec())
    };
    let (path, unfinished) = (dir.join(PARTS), dir.join("parts.json.part"));
    let mut file = File::create(&unfinished)?;
    file.write_all(&serde_json::to_vec(&all)?)?;
    file.sync_all()?;
    std::fs::rename(unfinished, path)?;
    sync_names(dir)
}

/// Makes the names of files durable.
fn sync_names(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Removes a series with all its parts.
pub fn remove(dir: &Path, series: &str) -> io::Result<()> {
    for number in 1..=ends_of(dir, series)?.len() {
        remove_file(&dir.join(part_name(series, number)))?;
    }
    remove_file(&dir.join(series))?;
    // Without closed parts, the series has no entry, and nothing must be written.
    if ends_of(dir, series)?.is_empty() { Ok(()) } else { put_ends(dir, series, &[]) }
}

/// Removes a file, if it is there.
fn remove_file(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
