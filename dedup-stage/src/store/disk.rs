//! The embedded store: fjall, one keyspace per [`Space`], one journal, batches made durable by fsync.
//!
//! Every commit leaves its number in each space that it touches. fjall forgives a journal that ends early (a torn tail), and
//! then comes back as of an earlier commit; but where a table on disk already holds a later one, the spaces would disagree.
//! So the numbers are compared at start, and such a store is refused.

use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use fjall::compaction::Leveled;
use fjall::config::{BlockSizePolicy, CompressionPolicy, FilterPolicy};
use fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use super::{Batch, Error, Result, Space, Store, Visitor};

/// A directory with a log-structured store in it, open in this process only.
pub struct Disk {
    database: Database,
    spaces: Vec<Keyspace>,
    /// Number of the last commit.
    commits: u64,
}

/// In each space, the number of the last commit that touched it. Visitors never see it.
const MARK: [u8; 24] = [0xff; 24];

impl Disk {
    /// Opens the store in `dir`, or makes one there.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] where another process has it, [`Error::Damaged`] where it is not what was written,
    /// [`Error::Io`] where the disk does not serve.
    pub fn open(dir: &Path) -> Result<Self> {
        Self::open_with(dir, 4 << 20)
    }

    /// As [`Disk::open`], with so many bytes of a space in memory before they become a table.
    pub(super) fn open_with(dir: &Path, memtable: u64) -> Result<Self> {
        // The engine trusts some of what it reads of its own files so far as to panic where they were damaged.
        catch_unwind(AssertUnwindSafe(|| Self::open_trusting(dir, memtable)))
            .unwrap_or_else(|_| Err(Error::Damaged("its files cannot be read".into())))
    }

    fn open_trusting(dir: &Path, memtable: u64) -> Result<Self> {
        let database =
            Database::builder(dir).cache_size(8 << 20).max_journaling_size(64 << 20).worker_threads(1).open()?;
        let spaces = Space::ALL
            .iter()
            .map(|space| database.keyspace(space.name(), || options(*space, memtable)))
            .collect::<std::result::Result<Vec<_>, _>>()?;
        let mut disk = Self { database, spaces, commits: 0 };
        disk.commits = disk.mark(Space::Meta)?;
        for space in Space::ALL {
            let mark = disk.mark(space)?;
            if mark > disk.commits {
                return Err(Error::Damaged(format!(
                    "its journal ends at commit {}, but {} are of commit {mark}",
                    disk.commits,
                    space.name()
                )));
            }
        }
        Ok(disk)
    }

    fn mark(&self, space: Space) -> Result<u64> {
        match self.get(space, &MARK)? {
            None => Ok(0),
            Some(mark) => match <[u8; 8]>::try_from(mark) {
                Ok(mark) => Ok(u64::from_be_bytes(mark)),
                Err(_) => Err(Error::Damaged(format!("the mark of {} has the wrong length", space.name()))),
            },
        }
    }
}

/// How a space is laid out on disk.
fn options(space: Space, memtable: u64) -> KeyspaceCreateOptions {
    let options = KeyspaceCreateOptions::default().manual_journal_persist(true);
    match space {
        // Written and scanned in volume, never or hardly ever asked for a single key: no filters, larger tables in
        // memory (so that less is merged twice), compressed blocks from the first level on.
        Space::Queue | Space::Urls => options
            .max_memtable_size(2 * memtable)
            .filter_policy(FilterPolicy::disabled())
            // Both grow at their end: tables so small that the merges at the end leave what is older alone.
            .compaction_strategy(Arc::new(Leveled::default().with_table_target_size(8 << 20)))
            .data_block_size_policy(BlockSizePolicy::all(8 << 10))
            .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4)),
        _ => options.max_memtable_size(memtable),
    }
}

impl Store for Disk {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(self.spaces[space as usize].get(key)?.map(|value| value.to_vec()))
    }

    fn scan(&self, space: Space, from: &[u8], to: &[u8], visit: &mut Visitor<'_>) -> Result<()> {
        if !to.is_empty() && from >= to {
            return Ok(());
        }
        let space = &self.spaces[space as usize];
        let entries = if to.is_empty() { space.range(from..) } else { space.range(from..to) };
        for entry in entries {
            let (key, value) = entry.into_inner()?;
            if *key != MARK && visit(&key, &value) == ControlFlow::Break(()) {
                break;
            }
        }
        Ok(())
    }

    fn commit(&mut self, batch: &Batch) -> Result<()> {
        let number = self.commits + 1;
        let mut out = self.database.batch().durability(Some(PersistMode::SyncAll));
        let mut touched = [false; Space::ALL.len()];
        touched[Space::Meta as usize] = true;
        for change in batch {
            touched[change.space as usize] = true;
            let space = &self.spaces[change.space as usize];
            match &change.value {
                Some(value) => out.insert(space, change.key.as_slice(), value.as_slice()),
                None => out.remove(space, change.key.as_slice()),
            }
        }
        for (space, _) in self.spaces.iter().zip(touched).filter(|(_, touched)| *touched) {
            out.insert(space, MARK, number.to_be_bytes());
        }
        out.commit()?;
        self.commits = number;
        Ok(())
    }
}

impl From<fjall::Error> for Error {
    fn from(error: fjall::Error) -> Self {
        use fjall::LsmError as Tree;
        match error {
            fjall::Error::Locked => Error::Locked,
            fjall::Error::Io(error) | fjall::Error::Storage(Tree::Io(error)) => match error.kind() {
                // A file is missing, short or garbled.
                ErrorKind::NotFound | ErrorKind::UnexpectedEof | ErrorKind::InvalidData => {
                    Error::Damaged(error.to_string())
                }
                _ => Error::Io(error),
            },
            fjall::Error::Poisoned => Error::Engine("an earlier write failed; start again".into()),
            fjall::Error::KeyspaceDeleted => Error::Engine("a space was deleted".into()),
            // Versions, tags, trailers, checksums, what cannot be decompressed or recovered.
            damage => Error::Damaged(damage.to_string()),
        }
    }
}
