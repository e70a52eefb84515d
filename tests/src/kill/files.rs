//! The files of a crawl: those that grow as it writes, and copies of all of them.

use std::fs;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::ensure;
use crawler::series::PARTS;

use crate::power;

/// The outputs, which grow before the state does.
pub(super) const OUTPUTS: [&str; 4] = ["pages.jsonl", "skipped.jsonl", "warc/crawl-00000.warc.gz", "warc/index.cdxj"];

/// The event for which a kill waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// Nothing.
    None,
    /// A write to any file.
    Write,
    /// A write to the journal.
    Journal,
    /// A part of the outputs that is closed: any of its steps.
    Rotation,
}

/// The path of the log of fsyncs of the crawl in `dir`.
pub(super) fn log_of(dir: &Path) -> PathBuf {
    dir.with_extension("fsyncs")
}

/// The sizes of the files of a crawl. They change with every write for which a kill may wait.
pub(super) fn footprint(dir: &Path, aim: Aim) -> Vec<(u64, u64)> {
    if aim == Aim::Rotation {
        let names = fs::read_dir(dir).into_iter().flatten().flatten();
        let is_meant = |name: &str| name == PARTS || name.starts_with("pages");
        let inode = |entry: fs::DirEntry| is_meant(&entry.file_name().to_string_lossy()).then(|| (entry.ino(), 0));
        let mut inodes: Vec<(u64, u64)> = names.filter_map(inode).collect();
        inodes.sort_unstable();
        return inodes;
    }
    let outputs = OUTPUTS.map(|name| dir.join(name)).into_iter().filter(|_| aim == Aim::Write);
    outputs
        .chain(journals(dir))
        .filter_map(|path| fs::metadata(path).ok())
        .map(|data| (data.len(), data.blocks()))
        .collect()
}

/// The journals of the state.
pub(super) fn journals(dir: &Path) -> impl Iterator<Item = PathBuf> {
    let files = fs::read_dir(dir.join("state")).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    files.filter(|path| path.extension().is_some_and(|end| end == "jnl"))
}

/// The file of the state that was written last: a journal or a table.
pub(super) fn last_of_state(dir: &Path) -> anyhow::Result<Option<PathBuf>> {
    let state = dir.join("state");
    let files = if state.exists() { power::files(&state)? } else { Vec::new() };
    let dated = files.into_iter().filter_map(|path| {
        let data = fs::metadata(&path).ok().filter(|data| data.len() > 0)?;
        Some((data.modified().ok()?, path))
    });
    Ok(dated.max().map(|(_, path)| path))
}

/// Copies a folder, keeping the holes in its files.
pub(super) fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    let status = Command::new("cp").args(["-a", "--sparse=always"]).arg(from).arg(to).status()?;
    ensure!(status.success(), "{} could not be copied", from.display());
    Ok(())
}
