//! Snapshots: the whole state of a share as of one of its commits, in a folder that all machines see. So the streams need not be
//! kept for ever, and who takes a share over reads a snapshot and the commits after it.
//!
//! A *snapshot* is a file with every record of the state, and the outputs up to the lengths that the state vouches for. Outputs
//! only grow, so what they have grown by since the snapshot before is a file of its own, a *segment*, which later snapshots
//! name too. A *manifest* names these files with their checksums. The board names the last two snapshots of each share; files
//! that no manifest there names count for nothing.
//!
//! When a snapshot is on the board, the streams are cut: what the snapshot *before* it has is dropped. So there are always two
//! from which the share can be made again, and a damaged one is no loss.
//!
//! A share that is added later has no snapshot. Its judge begins with what that of another share knows ([`borrow`]).

mod borrow;
mod folder;
mod make;
mod records;
mod restore;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use borrow::{borrow, is_cut, nameless};
pub use folder::Folder;
pub use make::{Maker, Taken, Tap};
pub use restore::restore;

use super::Result;
use super::board::Board;
use super::record::keys;

/// Bytes of records in one batch, about.
const BATCH: usize = 4 << 20;

/// How far a state is in each stream: the places of the last messages that are in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// Commits of the share.
    pub commits: u64,
    /// Links to the share.
    pub links: u64,
    /// Pages of all shares.
    pub pages: u64,
}

/// The snapshots of a share that count, on the board.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// At most two, the newest last.
    snapshots: Vec<Entry>,
}

/// A snapshot, as the board names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its manifest.
    pub manifest: Part,
    /// How far its state is.
    pub places: Places,
}

/// What a snapshot is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The records of the state.
    pub state: Part,
    /// The segments of each output, in their order.
    pub outputs: BTreeMap<String, Vec<Segment>>,
}

/// Bytes of an output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// Place of the first in the output.
    pub from: u64,
    /// The compressed bytes.
    pub part: Part,
    /// Place after the last.
    pub to: u64,
}

/// A file in the folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// XXH3 (128 bits) of its bytes, in hex.
    pub sum: String,
}

impl Kept {
    /// One more, unless one that is as new is there: a worker that has lost the share may come late. True if that changes
    /// anything.
    fn add(&mut self, entry: Entry) -> bool {
        let is_newer = self.snapshots.last().is_none_or(|last| last.places.commits < entry.places.commits);
        if is_newer {
            self.snapshots.push(entry);
            let most = self.snapshots.len().saturating_sub(2);
            self.snapshots.drain(..most);
        }
        is_newer
    }

    /// Up to here the streams may be cut for this share.
    pub fn floor(&self) -> Places {
        if self.snapshots.len() < 2 { Places::default() } else { self.snapshots[0].places }
    }

    /// The newest snapshot first.
    fn newest_first(&self) -> impl Iterator<Item = &Entry> {
        self.snapshots.iter().rev()
    }
}

impl Manifest {
    /// The length of an output.
    fn length(&self, file: &str) -> u64 {
        self.outputs.get(file).and_then(|segments| segments.last()).map_or(0, |segment| segment.to)
    }
}

/// The snapshots of a share.
pub async fn kept(board: &Board, share: usize) -> Result<Kept> {
    Ok(board.get::<Kept>(&keys::snapshots(share)).await?.map(|message| message.record).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(commits: u64) -> Entry {
        let manifest = Part { name: commits.to_string(), bytes: 1, sum: String::new() };
        Entry { manifest, places: Places { commits, links: commits, pages: commits } }
    }

    #[test]
    fn two_snapshots_are_kept_and_streams_are_cut_below_the_older() {
        let mut kept = Kept::default();
        assert!(kept.add(entry(5)));
        assert_eq!(kept.floor().commits, 0, "one alone may be damaged");
        assert!(!kept.add(entry(5)));
        assert!(kept.add(entry(9)));
        assert_eq!(kept.floor().commits, 5);
        assert!(!kept.add(entry(7)), "a worker that has lost the share comes late");
        assert!(kept.add(entry(12)));
        assert_eq!(kept.floor().commits, 9);
        assert_eq!(kept.newest_first().map(|entry| entry.places.commits).collect::<Vec<_>>(), [12, 9]);
    }
}
