//! The number of the last commit when a store was closed, in a file of its own.
//!
//! If the end of a journal was lost, fjall opens the store as of an earlier commit, because a power cut loses the end of
//! what was not synced. But if the store had more commits when it was closed, these were synced, and they were lost by
//! damage. Nothing in the journal tells the two cases apart. After a kill, the file has the number of an earlier closing,
//! which tells less.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::{Error, Result};

/// The name of the file in the folder of the store.
pub(super) const NAME: &str = "closed-at";

/// Checks the number of the last commit of the store in `dir`.
///
/// # Errors
///
/// [`Error::Damaged`] if the store had later commits when it was closed.
pub(super) fn check(dir: &Path, number: u64) -> Result<()> {
    match read(dir) {
        Some(closed) if closed > number => Err(Error::Damaged(format!(
            "its journal ends with commit {number}, but the store was closed after commit {closed}; to go on from commit \
             {number}, delete {}",
            dir.join(NAME).display()
        ))),
        _ => Ok(()),
    }
}

/// The number in the file. `None` also if a power cut has left the file empty.
fn read(dir: &Path) -> Option<u64> {
    fs::read_to_string(dir.join(NAME)).ok()?.trim().parse().ok()
}

/// Notes the number of the last commit. A larger number stays, because a store that was refused for it is closed, too.
/// An error is not reported, because the store is whole without the note.
pub(super) fn note(dir: &Path, number: u64) {
    if read(dir).is_some_and(|closed| closed >= number) {
        return;
    }
    let part = dir.join(NAME).with_extension("part");
    let file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&part);
    let written = file.and_then(|mut file| writeln!(file, "{number}"));
    let _ = written.and_then(|()| fs::rename(&part, dir.join(NAME)));
}
