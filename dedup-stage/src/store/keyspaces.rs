//! The keyspaces of a store on disk: one for each [`Space`] that has entries. A keyspace is made when the first entry of
//! its space is written. To make one takes several files and waits for the disk, and a crawl uses half of its spaces.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use fjall::compaction::Leveled;
use fjall::config::{BlockSizePolicy, CompressionPolicy, FilterPolicy, PinningPolicy};
use fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions};

use super::{Error, Layout, Result, Space, Spaces};

/// The keyspaces of an open store. Clones share them, so that a reader finds those that were made after it.
#[derive(Clone)]
pub(super) struct Keyspaces {
    database: Database,
    /// By the number of the space; `None` for numbers that no space of this store has.
    places: Arc<[Option<OnceLock<Keyspace>>]>,
    /// The bytes that all memory tables together may hold.
    tables: u64,
    /// The folder in which each keyspace has a folder.
    folder: PathBuf,
}

impl Keyspaces {
    /// The keyspaces of `wanted` that `database`, which is in `dir`, has.
    pub(super) fn open(database: &Database, dir: &Path, wanted: &Spaces, tables: u64) -> Result<Self> {
        let mut places: Vec<_> = (0..Space::MOST).map(|_| None).collect();
        for space in wanted.iter() {
            places[space.number()] = Some(OnceLock::new());
        }
        let keyspaces =
            Self { database: database.clone(), places: places.into(), tables, folder: dir.join("keyspaces") };
        for space in wanted.iter().filter(|space| database.keyspace_exists(space.name())) {
            keyspaces.make(space)?;
        }
        Ok(keyspaces)
    }

    /// The keyspace of `space`. `None` if the space never had an entry.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`] if the store was opened without this space.
    pub(super) fn find(&self, space: Space) -> Result<Option<&Keyspace>> {
        self.place(space).map(OnceLock::get)
    }

    /// The keyspace of `space`. If there is none, makes one.
    ///
    /// # Errors
    ///
    /// As [`Keyspaces::find`], and [`Error::Io`] if the disk fails.
    pub(super) fn make(&self, space: Space) -> Result<&Keyspace> {
        let place = self.place(space)?;
        if let Some(keyspace) = place.get() {
            return Ok(keyspace);
        }
        let is_new = !self.database.keyspace_exists(space.name());
        let keyspace = self.database.keyspace(space.name(), || options(space, self.tables))?;
        if is_new {
            // fjall syncs the new folder, but not its name in the folder above. After a power cut, entries of the
            // journal for a keyspace without a folder would be gone.
            File::open(&self.folder)?.sync_all()?;
        }
        Ok(place.get_or_init(|| keyspace))
    }

    /// The keyspaces that were made so far.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Keyspace> {
        self.places.iter().flatten().filter_map(OnceLock::get)
    }

    fn place(&self, space: Space) -> Result<&OnceLock<Keyspace>> {
        let unknown = || Error::Engine(format!("the store was opened without the space {}", space.name()));
        self.places[space.number()].as_ref().ok_or_else(unknown)
    }
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
