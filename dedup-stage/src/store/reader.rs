//! Reads a store while its owner goes on writing to it. Each snapshot shows the store as of one commit.

use fjall::{Database, Readable, Snapshot};

use super::disk::visit_all;
use super::keyspaces::Keyspaces;
use super::{Batch, Error, Result, Space, Store, Visitor};

/// Makes snapshots of a [`Disk`](super::Disk). It may be sent to other threads, and cloned.
#[derive(Clone)]
pub struct Reader {
    database: Database,
    spaces: Keyspaces,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

impl Reader {
    pub(super) fn new(database: Database, spaces: Keyspaces) -> Self {
        Self { database, spaces }
    }

    /// The store as of its last commit. Later commits do not change the snapshot. While it lives, the disk keeps values
    /// that the owner has replaced since. So drop it soon.
    pub fn snapshot(&self) -> impl Store + use<> {
        Frozen { snapshot: self.database.snapshot(), spaces: self.spaces.clone() }
    }
}

/// A store as of one commit.
struct Frozen {
    snapshot: Snapshot,
    spaces: Keyspaces,
}

impl Store for Frozen {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let Some(keyspace) = self.spaces.find(space)? else { return Ok(None) };
        Ok(self.snapshot.get(keyspace, key)?.map(|value| value.to_vec()))
    }

    fn scan(&self, space: Space, from: &[u8], to: &[u8], visit: &mut Visitor<'_>) -> Result<()> {
        let Some(keyspace) = self.spaces.find(space)? else { return Ok(()) };
        visit_all(from, to, visit, |from, to| match to {
            Some(to) => self.snapshot.range(keyspace, from..to),
            None => self.snapshot.range(keyspace, from..),
        })
    }

    /// # Errors
    ///
    /// Always, because a snapshot can only be read.
    fn commit(&mut self, _batch: &Batch) -> Result<()> {
        Err(Error::ReadOnly)
    }
}
