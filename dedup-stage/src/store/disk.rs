//! The embedded store: fjall, with one keyspace for each [`Space`] that has entries, and one journal. Batches are made
//! durable by fsync.
//!
//! Commits are numbered. A commit leaves its number in each space that it touches. [`Space::META`] has the numbers of
//! all spaces. If a journal ends early (a torn tail), fjall opens the store as of an earlier commit. But if a table on
//! disk already has a later commit, the spaces would disagree. So the numbers are compared at start, and a store whose
//! spaces disagree is refused. So is a store that had later commits when it was closed (see the module `closed`).

use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use fjall::{AbstractTree, Database, Iter, Keyspace, OwnedWriteBatch, PersistMode};

use super::keyspaces::Keyspaces;
use super::{Batch, Change, Error, Reader, Result, Space, Spaces, Store, Visitor, closed, private, tear, unmade};

/// A directory with a log-structured store, which is open in this process only.
pub struct Disk {
    database: Database,
    spaces: Keyspaces,
    dir: PathBuf,
    /// The number of the last commit that touched each space, by the number of the space. Every commit touches
    /// [`Space::META`].
    marks: [u64; Space::MOST],
    /// The bytes that all memory tables together may hold.
    tables: u64,
    /// If the files are for their owner only: the time at which they were last looked at.
    private: Option<Instant>,
}

/// The time between two looks whether there is room for the next commit.
const LOOK: Duration = Duration::from_millis(2);
/// The longest time that a commit waits for room.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The time after which a commit looks at the permissions of the files again.
const PRIVATE: Duration = Duration::from_secs(1);

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
        let spaces = Keyspaces::open(&database, dir, wanted, tables)?;
        spaces.make(Space::META)?;
        let mut disk = Self { database, spaces, dir: dir.to_owned(), marks: [0; Space::MOST], tables, private: None };
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
        closed::check(dir, disk.marks[Space::META.number()])?;
        Ok(disk)
    }

    /// Gives the files of the store to their owner alone (mode 0600). Files that the store makes
    /// later follow with the first commit after a second, and when the store is closed.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the permissions of a file cannot be changed.
    pub fn keep_private(&mut self) -> Result<()> {
        private::close(&self.dir)?;
        self.private = Some(Instant::now());
        Ok(())
    }

    /// A reader for other threads, which may read while this store is written to.
    pub fn reader(&self) -> Reader {
        Reader::new(self.database.clone(), self.spaces.clone())
    }

    fn marks_in(&self, space: Space) -> Result<Vec<u64>> {
        let Some(keyspace) = self.spaces.find(space)? else { return Ok(Vec::new()) };
        let Some(value) = keyspace.get(MARK)? else { return Ok(Vec::new()) };
        Ok(value.as_chunks::<8>().0.iter().map(|mark| u64::from_be_bytes(*mark)).collect())
    }

    /// Each space, with the bytes of its memory table.
    fn memory_tables(&self) -> impl Iterator<Item = (u64, &Keyspace)> {
        self.spaces.iter().map(|space| (space.tree.active_memtable().size(), space))
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
        let full = || self.spaces.iter().map(Keyspace::sealed_memtable_count).sum::<usize>();
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

impl Store for Disk {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let Some(keyspace) = self.spaces.find(space)? else { return Ok(None) };
        Ok(keyspace.get(key)?.map(|value| value.to_vec()))
    }

    fn scan(&self, space: Space, from: &[u8], to: &[u8], visit: &mut Visitor<'_>) -> Result<()> {
        let Some(keyspace) = self.spaces.find(space)? else { return Ok(()) };
        visit_all(from, to, visit, |from, to| match to {
            Some(to) => keyspace.range(from..to),
            None => keyspace.range(from..),
        })
    }

    fn commit(&mut self, batch: &Batch) -> Result<()> {
        self.commit_all(batch.iter())
    }

    fn index_bytes(&self) -> u64 {
        let of = |space: &Keyspace| space.tree.pinned_block_index_size() + space.tree.pinned_filter_size();
        self.spaces.iter().map(of).sum::<usize>() as u64
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
        let places = batch.size_hint().0 + Space::MOST;
        let out = OwnedWriteBatch::with_capacity(self.database.clone(), places);
        let mut out = out.durability(Some(PersistMode::SyncAll));
        let made = self.spaces.iter().count();
        for Change { space, key, value } in batch {
            let key = key.as_slice();
            match (value, self.spaces.find(*space)?) {
                (Some(value), Some(keyspace)) => out.insert(keyspace, key, value.as_slice()),
                (Some(value), None) => out.insert(self.spaces.make(*space)?, key, value.as_slice()),
                (None, Some(keyspace)) => out.remove(keyspace, key),
                // The space has no entry.
                (None, None) => continue,
            }
            if marks[space.number()] != number {
                marks[space.number()] = number;
                out.insert(self.spaces.make(*space)?, MARK, number.to_be_bytes());
            }
        }
        out.insert(self.spaces.make(Space::META)?, MARK, marks.map(u64::to_be_bytes).concat());
        out.commit()?;
        self.marks = marks;
        self.bound_tables()?;
        self.wait_for_room();
        let has_new_files = self.spaces.iter().count() > made;
        if self.private.is_some_and(|looked| has_new_files || looked.elapsed() >= PRIVATE) {
            private::close(&self.dir)?;
            self.private = Some(Instant::now());
        }
        Ok(())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        closed::note(&self.dir, self.marks[Space::META.number()]);
        if self.private.is_some() {
            // If this fails, the process that opens the store next tries again.
            let _ = private::close(&self.dir);
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
