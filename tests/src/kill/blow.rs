//! What is done to a crawl, and what comes of it.

use std::time::Duration;

/// What is done to the crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blow {
    /// SIGKILL.
    Kill,
    /// SIGKILL, and the last file of the state is cut at a random place.
    Cut,
    /// SIGKILL, and a bit of the last file of the state is flipped.
    Flip,
    /// A power cut: SIGKILL, and what was written since the last fsync of each file is lost, wholly or in parts.
    Power,
}

/// Where a kill fell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillPoint {
    /// Before the first commit.
    Start,
    /// Between two batches: nothing was written since the last commit.
    Quiet,
    /// Between two writes of one batch: some of its lines are in the outputs, nothing of it in the journal.
    Outputs,
    /// Between two writes of one batch: some of it is in the journal, and not all of it durable.
    Journal,
}

/// How the crawl went on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It did.
    Resumed,
    /// It refused, with these words.
    Told(String),
}

/// One kill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kill {
    /// What was done.
    pub blow: Blow,
    /// Time from the start of the process.
    pub after: Duration,
    /// Where it fell.
    pub point: KillPoint,
    /// Bytes in the outputs that the state does not vouch for.
    pub ahead: u64,
    /// What came of it.
    pub end: End,
}

impl Kill {
    /// Whether it fell between two writes of one batch.
    pub fn is_within_a_batch(&self) -> bool {
        matches!(self.point, KillPoint::Outputs | KillPoint::Journal)
    }
}
