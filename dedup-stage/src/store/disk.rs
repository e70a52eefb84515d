//! The embedded store: fjall, one keyspace per [`Space`], one journal, batches made durable by fsync.
//!
//! Every commit leaves its number in each space that it touches, and the numbers of all spaces in one of them. fjall forgives
//! a journal that ends early (a torn tail), and then comes back as of an earlier commit; but where a table on disk already
//! holds a later one, the spaces would disagree. So the numbers are compared at start, and such a store is refused.

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
    /// By space, the number of the last commit that touched it; every commit touches [`Space::Meta`].
    marks: [u64; Space::ALL.len()],
}

/// In each space, the number of the last commit that touched it; in [`Space::Meta`], those of all spaces. Visitors never
/// see it.
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
        let mut disk = Self { database, spaces, marks: [0; Space::ALL.len()] };
        for (mark, known) in disk.marks.iter_mut().zip(Self::marks(&disk.spaces, Space::Meta)?) {
            *mark = known;
        }
        for space in Space::ALL.into_iter().skip(1) {
            let mark = Self::marks(&disk.spaces, space)?.first().copied().unwrap_or(0);
            if mark != disk.marks[space as usize] {
                return Err(Error::Damaged(format!(
                    "{} is as of commit {mark}, but should be as of commit {}",
                    space.name(),
                    disk.marks[space as usize]
                )));
            }
        }
        Ok(disk)
    }

    fn marks(spaces: &[Keyspace], space: Space) -> Result<Vec<u64>> {
        let Some(value) = spaces[space as usize].get(MARK)? else { return Ok(Vec::new()) };
        Ok(value.as_chunks::<8>().0.iter().map(|mark| u64::from_be_bytes(*mark)).collect())
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
        let number = self.marks[Space::Meta as usize] + 1;
        let mut marks = self.marks;
        marks[Space::Meta as usize] = number;
        let mut out = self.database.batch().durability(Some(PersistMode::SyncAll));
        for change in batch {
            marks[change.space as usize] = number;
            let space = &self.spaces[change.space as usize];
            match &change.value {
                Some(value) => out.insert(space, change.key.as_slice(), value.as_slice()),
                None => out.remove(space, change.key.as_slice()),
            }
        }
        for (space, _) in self.spaces.iter().zip(marks).skip(1).filter(|(_, mark)| *mark == number) {
            out.insert(space, MARK, number.to_be_bytes());
        }
        out.insert(&self.spaces[Space::Meta as usize], MARK, marks.map(u64::to_be_bytes).concat());
        out.commit()?;
        self.marks = marks;
        Ok(())
    }
}

impl From<fjall::Error> for Error {
    fn from(error: fjall::Error) -> Self {
        use fjall::LsmError as Tree;
        match error {
            fjall::Error::Locked => Error::Locked,
            fjall::Error::Io(error) | fjall::Error::Storage(Tree::Io(error)) => match error.kind() {
                // A file is missing, short or garbled, or an offset in it leads nowhere.
                ErrorKind::NotFound
                | ErrorKind::AlreadyExists
                | ErrorKind::UnexpectedEof
                | ErrorKind::InvalidData
                | ErrorKind::InvalidInput => Error::Damaged(error.to_string()),
                _ => Error::Io(error),
            },
            fjall::Error::Poisoned => Error::Engine("an earlier write failed; start again".into()),
            fjall::Error::KeyspaceDeleted => Error::Engine("a space was deleted".into()),
            fjall::Error::JournalRecovery(damage) => Error::Damaged(format!("its journal cannot be read: {damage:?}")),
            // Versions, tags, trailers, checksums, what cannot be decompressed or recovered.
            damage => Error::Damaged(damage.to_string()),
        }
    }
}
