//! The embedded store: fjall, one keyspace per [`Space`], one journal, batches made durable by fsync.

use std::ops::ControlFlow;
use std::path::Path;

use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use super::{Batch, Error, Result, Space, Store, Visitor};

/// A directory with a log-structured store in it, open in this process only.
pub struct Disk {
    database: Database,
    spaces: Vec<Keyspace>,
}

impl Disk {
    /// Opens the store in `dir`, or makes one there.
    pub fn open(dir: &Path) -> Result<Self> {
        let database =
            Database::builder(dir).cache_size(8 << 20).max_journaling_size(64 << 20).worker_threads(1).open()?;
        let spaces = Space::ALL
            .iter()
            .map(|space| {
                database.keyspace(space.name(), || {
                    KeyspaceCreateOptions::default().manual_journal_persist(true).max_memtable_size(4 << 20)
                })
            })
            .collect::<std::result::Result<Vec<_>, _>>()?;
        Ok(Self { database, spaces })
    }
}

impl Store for Disk {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(self.spaces[space as usize].get(key)?.map(|value| value.to_vec()))
    }

    fn scan(&self, space: Space, from: &[u8], to: &[u8], visit: &mut Visitor<'_>) -> Result<()> {
        let space = &self.spaces[space as usize];
        let entries = if to.is_empty() { space.range(from..) } else { space.range(from..to) };
        for entry in entries {
            let (key, value) = entry.into_inner()?;
            if visit(&key, &value) == ControlFlow::Break(()) {
                break;
            }
        }
        Ok(())
    }

    fn commit(&mut self, batch: &Batch) -> Result<()> {
        let mut out = self.database.batch().durability(Some(PersistMode::SyncAll));
        for change in batch {
            let space = &self.spaces[change.space as usize];
            match &change.value {
                Some(value) => out.insert(space, change.key.as_slice(), value.as_slice()),
                None => out.remove(space, change.key.as_slice()),
            }
        }
        Ok(out.commit()?)
    }
}

impl From<fjall::Error> for Error {
    fn from(error: fjall::Error) -> Self {
        match error {
            fjall::Error::Locked => Error::Locked,
            fjall::Error::Io(error) => Error::Io(error),
            other => Error::Engine(other.to_string()),
        }
    }
}
