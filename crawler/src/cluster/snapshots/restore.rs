//! Makes the disk of a share from a snapshot.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use dedup_stage::store::Space;

use super::super::commits::LOG_AT;
use super::super::logged::place_of;
use super::super::task::WorkerError;
use super::super::{ClusterError, Result};
use super::records::{commit_records, failed};
use super::{Entry, Folder, Manifest, SnapshotsOnBoard};
use crate::crawl::{CrawlDir, DirIdentity};
use crate::series;

/// Makes a disk from the newest undamaged snapshot if the disk needs one: if it is empty, or if commits that it lacks
/// were dropped. Returns the last snapshot, on which later ones may build, and the place of the commit that was
/// restored, if one was.
///
/// # Errors
///
/// [`ClusterError::Usage`] if a snapshot is needed and no folder was named. [`ClusterError::Damaged`] if all are
/// damaged.
pub fn restore(
    kept: &SnapshotsOnBoard,
    folder: Option<&Folder>,
    dir: &Path,
    member: &DirIdentity,
) -> std::result::Result<(Option<Manifest>, Option<u64>), WorkerError> {
    let at = place_of(&CrawlDir::open_disk(dir)?).map_err(failed)?;
    let is_needed = at < kept.floor().commits;
    let Some(folder) = folder else {
        if is_needed {
            let what = "the commits of this share begin with a snapshot: name its folder with --snapshots";
            return Err(ClusterError::Usage(what.into()).into());
        }
        return Ok((None, None));
    };
    if at > 0 && !is_needed {
        return Ok((kept.newest_first().find_map(|entry| manifest(folder, entry).ok()), None));
    }
    for entry in kept.newest_first() {
        match whole(folder, entry) {
            Ok(manifest) => {
                load(folder, &manifest, dir, member)?;
                return Ok((Some(manifest), Some(entry.places.commits)));
            }
            Err(error) => tracing::warn!("the snapshot as of commit {} cannot be used: {error}", entry.places.commits),
        }
    }
    if is_needed {
        return Err(ClusterError::Damaged("every snapshot of this share".into()).into());
    }
    Ok((None, None))
}

/// The manifest of a snapshot.
fn manifest(folder: &Folder, entry: &Entry) -> io::Result<Manifest> {
    folder.check(&entry.manifest)?;
    Ok(serde_json::from_reader(folder.read(&entry.manifest)?)?)
}

/// The manifest of a snapshot, after a check that none of its files is damaged.
pub fn whole(folder: &Folder, entry: &Entry) -> io::Result<Manifest> {
    let manifest = manifest(folder, entry)?;
    folder.check(&manifest.state)?;
    manifest.outputs.values().flatten().try_for_each(|segment| folder.check(&segment.part))?;
    Ok(manifest)
}

/// Replaces the state and the outputs of the directory. If this fails in the middle, the state has no place in the log,
/// and the next start does it again.
fn load(
    folder: &Folder,
    manifest: &Manifest,
    dir: &Path,
    member: &DirIdentity,
) -> std::result::Result<(), WorkerError> {
    let loading = || -> Result<()> {
        for entry in fs::read_dir(dir.join("state"))? {
            let path = entry?.path();
            if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
        }
        for (file, segments) in &manifest.outputs {
            let path = dir.join(file);
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            series::remove(dir, file)?;
            let mut output = File::create(path)?;
            for segment in segments {
                io::copy(&mut folder.read(&segment.part)?, &mut output)?;
            }
            if output.metadata()?.len() != manifest.length(file) {
                return Err(ClusterError::Damaged(format!("{file} in a snapshot")));
            }
            output.sync_all()?;
        }
        Ok(())
    };
    loading()?;
    // From here on, the directory belongs to this worker again, whatever happens.
    CrawlDir::restored(dir)?.enter(member)?;
    let mut disk = CrawlDir::open_disk(dir)?;
    let is_place = |space: Space, key: &[u8]| space == Space::META && key == LOG_AT;
    let from = &mut folder.read(&manifest.state).map_err(ClusterError::from)?;
    Ok(commit_records(from, &mut disk, is_place, |space, value| Ok(Some((space, value))))?)
}
