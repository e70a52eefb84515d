//! Snapshots: the whole state of a share as of one of its commits, in a folder that all machines see. With snapshots,
//! the streams need not be kept for ever. A worker that takes a share over reads a snapshot and the commits after it.
//!
//! A *snapshot* has every record of the state, and the outputs up to the lengths that the state vouches for. Outputs
//! only grow. So the bytes that were appended to an output since the last snapshot are a file of their own, a
//! *segment*. Later snapshots name this file, too. A *manifest* names these files with their checksums. The board names
//! the last two snapshots of each share. Files that no such manifest names do not count.
//!
//! When a snapshot is on the board, the streams are *cut*: the messages that the snapshot before it contains are
//! dropped. So there are always two snapshots from which the share can be made again, and one that is damaged does no
//! harm.
//!
//! A share that is added later has no snapshot. Its judge begins with the records of another share's judge
//! ([`borrow`]).

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

/// The approximate number of bytes of records in one batch.
const BATCH: usize = 4 << 20;

/// The places in the streams that a state has reached: those of the last messages that it contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// The place in the commits of the share.
    pub commits: u64,
    /// The place in the links to the share.
    pub links: u64,
    /// The place in the pages of all shares.
    pub pages: u64,
}

/// The snapshots of a share that count, as a record on the board.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SnapshotsOnBoard {
    /// At most two snapshots, the newest last.
    snapshots: Vec<Entry>,
}

/// A snapshot, as the board names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The manifest.
    pub manifest: Part,
    /// The places that its state has reached.
    pub places: Places,
}

/// The files of a snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The records of the state.
    pub state: Part,
    /// The segments of each output, in their order.
    pub outputs: BTreeMap<String, Vec<Segment>>,
}

/// A range of bytes of an output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// The place of the first byte in the output.
    pub from: u64,
    /// The compressed bytes.
    pub part: Part,
    /// The place after the last byte.
    pub to: u64,
}

/// A file in the folder of snapshots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The name of the file.
    pub name: String,
    /// The length of the file in bytes.
    pub bytes: u64,
    /// The XXH3 (128 bits) of the file, in hex.
    pub sum: String,
}

impl SnapshotsOnBoard {
    /// Adds a snapshot, unless there is one that is as new: a worker that has lost the share may come late. Returns
    /// whether that changed anything.
    fn add(&mut self, entry: Entry) -> bool {
        let is_newer = self.snapshots.last().is_none_or(|last| last.places.commits < entry.places.commits);
        if is_newer {
            self.snapshots.push(entry);
            let most = self.snapshots.len().saturating_sub(2);
            self.snapshots.drain(..most);
        }
        is_newer
    }

    /// The places up to which the streams may be cut for this share.
    pub fn floor(&self) -> Places {
        if self.snapshots.len() < 2 { Places::default() } else { self.snapshots[0].places }
    }

    /// The snapshots, the newest first.
    fn newest_first(&self) -> impl Iterator<Item = &Entry> {
        self.snapshots.iter().rev()
    }
}

impl Manifest {
    /// The length of an output in this snapshot.
    fn length(&self, file: &str) -> u64 {
        self.outputs.get(file).and_then(|segments| segments.last()).map_or(0, |segment| segment.to)
    }
}

/// The snapshots of a share.
pub async fn kept(board: &Board, share: usize) -> Result<SnapshotsOnBoard> {
    Ok(board.get::<SnapshotsOnBoard>(&keys::snapshots(share)).await?.map(|message| message.record).unwrap_or_default())
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
        let mut kept = SnapshotsOnBoard::default();
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
