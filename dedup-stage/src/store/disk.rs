//! The embedded store: fjall, with one keyspace for each [`Space`] and one journal. Batches are made durable by fsync.
//!
//! Commits are numbered. A commit leaves its number in each space that it touches. [`Space::META`] has the numbers of
//! all spaces. If a journal ends early (a torn tail), fjall opens the store as of an earlier commit. But if a table on
//! disk already has a later commit, the spaces would disagree. So the numbers are compared at start, and a store whose
//! spaces disagree is refused.

use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use fjall::compaction::Leveled;
use fjall::config::{BlockSizePolicy, CompressionPolicy, FilterPolicy, PinningPolicy};
use fjall::{
    AbstractTree, CompressionType, Database, Iter, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch, PersistMode,
};

use super::{Batch, Change, Error, Layout, Reader, Result, Space, Spaces, Store, Visitor, private, tear, unmade};

/// A directory with a log-structured store, which is open in this process only.
pub struct Disk {
    database: Database,
    spaces: Keyspaces,
    /// The number of the last commit that touched each space, by the number of the space. Every commit touches
    /// [`Space::META`].
    marks: [u64; Space::MOST],
    /// The bytes that all memory tables together may hold.
    tables: u64,
    /// If the files are for their owner only: the directory, and the time at which they were last looked at.
    private: Option<(PathBuf, Instant)>,
}

/// The time between two looks whether there is room for the next commit …
const LOOK: Duration = Duration::from_millis(2);
/// … and the longest time that a commit waits for room.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The time after which a commit looks at the permissions of the files again.
const PRIVATE: Duration = Duration::from_secs(1);

/// The keyspaces of a store by the number of the space; `None` for numbers that no space of this store has.
#[derive(Clone)]
pub(super) struct Keyspaces(Arc<[Option<Keyspace>]>);

impl Keyspaces {
    pub(super) fn of(&self, space: Space) -> Result<&Keyspace> {
        let unknown = || Error::Engine(format!("the store was opened without the space {}", space.name()));
        self.0[space.number()].as_ref().ok_or_else(unknown)
    }
}

/// The key of the entry with the number of the last commit that touched the space. In [`Space::META`] it has the
/// numbers of all spaces. Visitors never see this entry.
const MARK: [u8; 24] = [0xff; 24];

impl Disk {
    /// Opens the store in `dir` with these spaces. If there is none, makes one.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] if another process has it open, [`Error::Damaged`] if its files are not as they were written,
    /// [`Error::Io`] if the disk fails.
    pub fn open(dir: &Path, spaces: &Spaces) -> Result<Self> {
        Self::open_with(dir, spaces, config::bounds::MEMORY_TABLES)
    }

    /// Does the same as [`Disk::open`], with another bound for the bytes in memory tables.
    pub(super) fn open_with(dir: &Path, spaces: &Spaces, tables: u64) -> Result<Self> {
        std::fs::create_dir_all(dir)?;
        unmade::delete(dir)?;
        // fjall trusts some parts of its own files, and panics if they are damaged.
        catch_unwind(AssertUnwindSafe(|| Self::open_trusting(dir, spaces, tables)))
            .unwrap_or_else(|_| Err(Error::Damaged("its files cannot be read".into())))
    }

    fn open_trusting(dir: &Path, wanted: &Spaces, tables: u64) -> Result<Self> {
        let open = || Database::builder(dir).cache_size(8 << 20).max_journaling_size(64 << 20).worker_threads(1).open();
        let database = match open() {
            Err(fjall::Error::JournalRecovery(_)) if tear::cut(dir)? => open()?,
            opened => opened?,
        };
        let mut spaces: Vec<Option<Keyspace>> = (0..Space::MOST).map(|_| None).collect();
        for space in wanted.iter() {
            spaces[space.number()] = Some(database.keyspace(space.name(), || options(space, tables))?);
        }
        let mut disk =
            Self { database, spaces: Keyspaces(spaces.into()), marks: [0; Space::MOST], tables, private: None };
        let known = disk.marks_in(Space::META)?;
        for (mark, known) in disk.marks.iter_mut().zip(known) {
            *mark = known;
        }
        for space in wanted.iter().skip(1) {
            let mark = disk.marks_in(space)?.first().copied().unwrap_or(0);
            let expected = disk.marks[space.number()];
            if mark != expected {
                let name = space.name();
                let reason = format!("{name} is as of commit {mark}, but should be as of commit {expected}");
                return Err(Error::Damaged(reason));
            }
        }
        Ok(disk)
    }

    /// Gives the files of the store, which is in `dir`, to their owner alone (mode 0600). Files that the store makes
    /// later follow with the first commit after a second, and when the store is closed.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the permissions of a file cannot be changed.
    pub fn keep_private(&mut self, dir: &Path) -> Result<()> {
        private::close(dir)?;
        self.private = Some((dir.to_owned(), Instant::now()));
        Ok(())
    }

    /// A reader for other threads, which may read while this store is written to.
    pub fn reader(&self) -> Reader {
        Reader::new(self.database.clone(), self.spaces.clone())
    }

    fn marks_in(&self, space: Space) -> Result<Vec<u64>> {
        let Some(value) = self.spaces.of(space)?.get(MARK)? else { return Ok(Vec::new()) };
        Ok(value.as_chunks::<8>().0.iter().map(|mark| u64::from_be_bytes(*mark)).collect())
    }

    /// Each space, with the bytes of its memory table.
    fn memory_tables(&self) -> impl Iterator<Item = (u64, &Keyspace)> {
        self.spaces.0.iter().flatten().map(|space| (space.tree.active_memtable().size(), space))
    }

    /// Bytes in memory tables that are not full.
    pub(super) fn in_memory(&self) -> u64 {
        self.memory_tables().map(|(bytes, _)| bytes).sum()
    }

    /// Writes the largest memory table to disk if all of them together are too large. fjall only bounds each table
    /// alone, so a state of many spaces could hold as many full tables as it has spaces.
    fn bound_tables(&self) -> Result<()> {
        if self.in_memory() > self.tables
            && let Some((_, largest)) = self.memory_tables().max_by_key(|(bytes, _)| *bytes)
        {
            largest.rotate_memtable()?;
        }
        Ok(())
    }

    /// Waits while too many full memory tables are not on disk yet. Otherwise, commits that are faster than the one
    /// thread that writes tables would leave several full tables in each space.
    fn wait_for_room(&self) {
        let full = || self.spaces.0.iter().flatten().map(Keyspace::sealed_memtable_count).sum::<usize>();
        // If the disk fails, the next commit returns the error.
        let looks = LONGEST_WAIT.as_millis() / LOOK.as_millis();
        (0..looks).take_while(|_| full() > config::bounds::FULL_TABLES).for_each(|_| sleep(LOOK));
    }
}

/// Calls `visit` with the entries with `from <= key < to` (`to` empty: to the end), but not with the mark of the space.
/// `entries` gives the entries of the space between two keys.
pub(super) fn visit_all(
    from: &[u8],
    to: &[u8],
    visit: &mut Visitor<'_>,
    entries: impl FnOnce(&[u8], Option<&[u8]>) -> Iter,
) -> Result<()> {
    if !to.is_empty() && from >= to {
        return Ok(());
    }
    for entry in entries(from, (!to.is_empty()).then_some(to)) {
        let (key, value) = entry.into_inner()?;
        if *key != MARK && visit(&key, &value) == ControlFlow::Break(()) {
            break;
        }
    }
    Ok(())
}

/// The layout of a space on disk. `tables` is the number of bytes that all memory tables together may hold.
fn options(space: Space, tables: u64) -> KeyspaceCreateOptions {
    // While a table is made, its index holds a block in memory for each block on disk. Small tables bound that. And if
    // a space grows at its end, the merges at the end leave older tables alone.
    let table_size = |bytes| Arc::new(Leveled::default().with_table_target_size(bytes));
    let options = KeyspaceCreateOptions::default().manual_journal_persist(true).max_memtable_size(tables / 2);
    match space.layout() {
        // No filters, and compressed blocks from the first level on.
        Layout::Volume => options
            .compaction_strategy(table_size(2 << 20))
            .filter_policy(FilterPolicy::disabled())
            .data_block_size_policy(BlockSizePolicy::all(8 << 10))
            .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4)),
        Layout::Points => pinned(options).compaction_strategy(table_size(8 << 20)),
        // No filters on the last level, which has nearly all keys that are asked for.
        Layout::Known => pinned(options).compaction_strategy(table_size(8 << 20)).expect_point_read_hits(true),
    }
}

/// Keeps the indexes and filters of all tables in memory. This takes a hundredth of what the tables take on disk. The
/// cache is much smaller than the state of a large crawl, so without this each lookup would read two blocks of 100 KB
/// from disk, to find one of 4 KB. (The indexes of very large levels have two parts. Only the small part stays in
/// memory.)
fn pinned(options: KeyspaceCreateOptions) -> KeyspaceCreateOptions {
    options.index_block_pinning_policy(PinningPolicy::all(true)).filter_block_pinning_policy(PinningPolicy::all(true))
}

impl Store for Disk {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(self.spaces.of(space)?.get(key)?.map(|value| value.to_vec()))
    }

    fn scan(&self, space: Space, from: &[u8], to: &[u8], visit: &mut Visitor<'_>) -> Result<()> {
        let space = self.spaces.of(space)?;
        visit_all(from, to, visit, |from, to| match to {
            Some(to) => space.range(from..to),
            None => space.range(from..),
        })
    }

    fn commit(&mut self, batch: &Batch) -> Result<()> {
        self.commit_all(batch.iter())
    }
}

impl Disk {
    /// Does the same as [`Store::commit`] with the changes of several batches.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the disk fails.
    pub fn commit_all<'a>(&mut self, batch: impl Iterator<Item = &'a Change>) -> Result<()> {
        let number = self.marks[Space::META.number()] + 1;
        let mut marks = self.marks;
        marks[Space::META.number()] = number;
        // A batch that grows takes twice its memory meanwhile.
        let places = batch.size_hint().0 + self.spaces.0.len();
        let out = OwnedWriteBatch::with_capacity(self.database.clone(), places);
        let mut out = out.durability(Some(PersistMode::SyncAll));
        for change in batch {
            marks[change.space.number()] = number;
            let space = self.spaces.of(change.space)?;
            match &change.value {
                Some(value) => out.insert(space, change.key.as_slice(), value.as_slice()),
                None => out.remove(space, change.key.as_slice()),
            }
        }
        let meta = self.spaces.of(Space::META)?;
        for (space, _) in self.spaces.0.iter().zip(marks).skip(1).filter(|(_, mark)| *mark == number) {
            if let Some(space) = space {
                out.insert(space, MARK, number.to_be_bytes());
            }
        }
        out.insert(meta, MARK, marks.map(u64::to_be_bytes).concat());
        out.commit()?;
        self.marks = marks;
        self.bound_tables()?;
        self.wait_for_room();
        if let Some((dir, looked)) = &mut self.private
            && looked.elapsed() >= PRIVATE
        {
            private::close(dir)?;
            *looked = Instant::now();
        }
        Ok(())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if let Some((dir, _)) = &self.private {
            // Whoever opens it next tries again.
            let _ = private::close(dir);
        }
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
            // The rest is damage to versions, tags, trailers or checksums, or data that cannot be decompressed or
            // recovered.
            damage => Error::Damaged(damage.to_string()),
        }
    }
}
