//! State that survives: a small ordered key-value seam with atomic batches. [`Disk`] (fjall) is behind a crawl and
//! `dedup-stage --state`, [`Memory`] behind everything else; a test double injects faults through the same seam.
//!
//! Nobody writes to a [`Store`] directly: changes gather in a [`Session`], are visible to its reads at once, and reach
//! the store as one [`Batch`] when the owner commits.

mod disk;
mod double;
mod memory;
mod session;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

pub use disk::Disk;
pub use double::{Double, Fault};
pub use memory::Memory;
pub use session::Session;

/// The named, separately ordered key spaces of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Space {
    /// Format version, recipe, secrets, counters, output offsets.
    Meta = 0,
    /// Judge: SHA-256 of a body → first page that had it.
    Digests = 1,
    /// Judge: fingerprint of an accepted page (and row, if it is not the first with this one) → its row and sketch.
    Accepted = 2,
    /// Row → what was recorded of the page.
    Pages = 3,
    /// Frontier: hash of a URL key → where the URL stands.
    Urls = 4,
    /// Frontier: queued URLs by group, priority and order of arrival.
    Queue = 5,
    /// Frontier: hosts and groups.
    Hosts = 6,
    /// Frontier: robots rules by origin.
    Robots = 7,
    /// Links kept from the frontier, by the page that carried them.
    Held = 8,
    /// Learned rules, mirrors, traps, with their evidence.
    Rules = 9,
    /// Hash of a URL key and a reason → the page that carried it: what `skipped.jsonl` says already.
    Skipped = 10,
}

impl Space {
    /// Every space, in order.
    pub const ALL: [Space; 11] = [
        Space::Meta,
        Space::Digests,
        Space::Accepted,
        Space::Pages,
        Space::Urls,
        Space::Queue,
        Space::Hosts,
        Space::Robots,
        Space::Held,
        Space::Rules,
        Space::Skipped,
    ];

    /// Stable name, used on disk.
    pub fn name(self) -> &'static str {
        match self {
            Space::Meta => "meta",
            Space::Digests => "digests",
            Space::Accepted => "accepted",
            Space::Pages => "pages",
            Space::Urls => "urls",
            Space::Queue => "queue",
            Space::Hosts => "hosts",
            Space::Robots => "robots",
            Space::Held => "held",
            Space::Rules => "rules",
            Space::Skipped => "skipped",
        }
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Where.
    pub space: Space,
    /// Which key.
    pub key: Vec<u8>,
    /// The new value, or `None` to delete.
    pub value: Option<Vec<u8>>,
}

/// Changes that happen together or not at all. A value: it can be grouped, sent elsewhere and replayed.
pub type Batch = Vec<Change>;

/// Why the store could not serve.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The disk failed, or is full.
    #[error("state")]
    Io(#[from] std::io::Error),
    /// The engine under the store failed.
    #[error("state: {0}")]
    Engine(String),
    /// What is on disk is not what was written.
    #[error("state is damaged: {0}")]
    Damaged(String),
    /// Another process has it open.
    #[error("state is in use by another process")]
    Locked,
}

/// Result of a store operation.
pub type Result<T> = std::result::Result<T, Error>;

/// Receives the entries of a scan; `Break` ends it.
pub type Visitor<'a> = dyn FnMut(&[u8], &[u8]) -> ControlFlow<()> + 'a;

/// An ordered key-value store with atomic, durable batches.
pub trait Store: Send {
    /// The value of one key.
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>>;

    /// The values of many keys, in the order asked.
    fn probe_many(&self, space: Space, keys: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>> {
        keys.iter().map(|key| self.get(space, key)).collect()
    }

    /// Visits the entries with `from <= key < to` in key order (`to` empty: to the end of the space).
    fn scan(&self, space: Space, from: &[u8], to: &[u8], visit: &mut Visitor<'_>) -> Result<()>;

    /// Applies a batch atomically, and returns when it is durable.
    fn commit(&mut self, batch: &Batch) -> Result<()>;
}
