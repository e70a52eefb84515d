//! State that survives the process: a small interface to ordered key-value stores with atomic batches. A crawl and
//! `dedup-stage --state` use [`Disk`] (fjall), everything else uses [`Memory`]. A test double injects faults through
//! the same interface.
//!
//! The store knows bytes, batches and marks. It names no space but [`Space::META`]: each crate declares the spaces that
//! it owns, and writes its records with [`codec`].
//!
//! Changes are not written to a [`Store`] directly. They gather in a [`Session`]. Its reads see them at once, and they
//! reach the store as one [`Batch`] when the owner commits.

mod closed;
pub mod codec;
pub mod cut;
mod disk;
#[cfg(any(test, feature = "double"))]
mod double;
mod keyspaces;
mod memory;
mod private;
mod reader;
mod session;
mod space;
mod tear;
#[cfg(test)]
mod tests;
mod undo;
mod unmade;

use std::ops::ControlFlow;

pub use disk::Disk;
#[cfg(any(test, feature = "double"))]
pub use double::{Double, Fault};
pub use memory::Memory;
pub use reader::Reader;
pub use session::Session;
pub use space::{Layout, Space, Spaces};

/// A change of one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The space of the entry.
    pub space: Space,
    /// The key of the entry.
    pub key: Vec<u8>,
    /// The new value; `None` deletes the entry.
    pub value: Option<Vec<u8>>,
}

/// Changes that happen together or not at all. A batch is a plain value, so it can be grouped, sent elsewhere and
/// replayed.
pub type Batch = Vec<Change>;

/// The reason why an operation of the store failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The disk failed, or is full.
    #[error("state: {0}")]
    Io(#[from] std::io::Error),
    /// The engine under the store failed.
    #[error("state: {0}")]
    Engine(String),
    /// The data on disk is not what was written.
    #[error("state is damaged: {0}")]
    Damaged(String),
    /// The state was written by another version of the program; the text says what to do.
    #[error("state is of another version: {0}")]
    Foreign(String),
    /// Another process has the state open.
    #[error("state is in use by another process")]
    Locked,
    /// The state belongs to a crawl that another process runs. It can only be read.
    #[error("the state belongs to a crawl that runs, and can only be read")]
    ReadOnly,
    /// A known corpus is damaged. The text names the file.
    #[error("--known {0}")]
    Known(String),
}

/// Result of a store operation.
pub type Result<T> = std::result::Result<T, Error>;

/// Receives the entries of a scan; `Break` ends it.
pub type Visitor<'a> = dyn FnMut(&[u8], &[u8]) -> ControlFlow<()> + 'a;

/// An ordered key-value store with atomic, durable batches.
pub trait Store: Send {
    /// The value of one key.
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>>;

    /// Visits the entries with `from <= key < to` in key order (`to` empty: to the end of the space).
    fn scan(&self, space: Space, from: &[u8], to: &[u8], visit: &mut Visitor<'_>) -> Result<()>;

    /// Applies a batch atomically, and returns when it is durable.
    fn commit(&mut self, batch: &Batch) -> Result<()>;

    /// The bytes of the indexes and filters that the store keeps in memory. They grow with what it has on disk.
    fn index_bytes(&self) -> u64 {
        0
    }
}
