//! The ways in which a crawl is killed and damaged, and the results.

use std::time::Duration;

/// A way to kill and damage the crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blow {
    /// SIGKILL.
    Kill,
    /// SIGKILL, and the last file of the state is cut at a random position.
    Cut,
    /// SIGKILL, and one bit of the last file of the state is flipped.
    Flip,
    /// A power cut: SIGKILL, and some or all of the data written since the last fsync of each file is lost.
    Power,
}

/// The stage of the crawl at which it was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillPoint {
    /// Before the first commit.
    Start,
    /// Between two batches: nothing had been written since the last commit.
    Quiet,
    /// Between two writes of one batch: some of its lines were in the outputs, and none of it was in the journal.
    Outputs,
    /// Between two writes of one batch: a part of it was in the journal, but not durable as a whole.
    Journal,
}

/// The result of resuming the crawl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The crawl resumed.
    Resumed,
    /// The crawl refused to resume, with this message.
    Told(String),
}

/// One kill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kill {
    /// The way in which the crawl was killed and damaged.
    pub blow: Blow,
    /// The time from the start of the process to the kill.
    pub after: Duration,
    /// The stage at which it was killed.
    pub point: KillPoint,
    /// The number of bytes in the outputs beyond the lengths in the state.
    pub ahead: u64,
    /// The result of resuming.
    pub end: End,
}

impl Kill {
    /// Whether the kill came between two writes of one batch.
    pub fn is_within_a_batch(&self) -> bool {
        matches!(self.point, KillPoint::Outputs | KillPoint::Journal)
    }
}
