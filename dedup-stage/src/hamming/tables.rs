//! The tables of one design, filled together.

use super::design::Design;
use super::table::Table;

/// Fingerprints in every table of a design; perhaps on their way to another set of tables.
#[derive(Clone, Debug)]
pub struct Tables {
    /// What they are keyed by.
    pub design: Design,
    /// One for each key.
    pub tables: Vec<Table>,
    /// If its fingerprints move on: the bucket and the entry of the first table whose turn is next.
    next: Option<(u32, usize)>,
    /// How many have moved on.
    moved: usize,
}

impl Tables {
    /// Empty tables.
    pub fn new(design: Design, load: usize) -> Self {
        let tables = design.keys.iter().map(|key| Table::new(*key, load)).collect();
        Self { design, tables, next: None, moved: 0 }
    }

    /// Number of fingerprints that have not moved on.
    pub fn len(&self) -> usize {
        self.tables[0].len() - self.moved
    }

    /// Bytes in use or set aside.
    pub fn bytes(&self) -> usize {
        self.tables.iter().map(Table::bytes).sum()
    }

    /// Whether a fingerprint is there, or was.
    pub fn contains(&self, fingerprint: u64) -> bool {
        self.tables[0].contains(self.tables[0].keyed(fingerprint))
    }

    /// Starts loading where a fingerprint will be inserted.
    pub fn prefetch(&self, fingerprint: u64) {
        for table in &self.tables {
            table.prefetch(table.bucket_of(table.keyed(fingerprint)));
        }
    }

    /// Adds a fingerprint that is not there yet.
    pub fn insert(&mut self, fingerprint: u64) {
        for table in &mut self.tables {
            table.insert(table.keyed(fingerprint));
        }
    }

    /// The next fingerprint that moves on; nothing may be inserted any more.
    pub fn take(&mut self) -> Option<u64> {
        let next = self.next.get_or_insert((0, 0));
        let fingerprint = following(&self.tables[0], next)?;
        self.moved += 1;
        Some(fingerprint)
    }

    /// Calls `visit` with every fingerprint that has not moved on.
    pub fn for_each(&self, visit: &mut impl FnMut(u64)) {
        let mut next = self.next.unwrap_or((0, 0));
        while let Some(fingerprint) = following(&self.tables[0], &mut next) {
            visit(fingerprint);
        }
    }

    /// Whether a fingerprint that is here has moved on; `arrived` looks for it where it would be.
    #[inline(always)]
    pub fn has_moved(&self, fingerprint: u64, arrived: impl FnOnce() -> bool) -> bool {
        self.next.is_some_and(|(next, _)| {
            let bucket = self.tables[0].bucket_of(self.tables[0].keyed(fingerprint));
            bucket < next || bucket == next && arrived()
        })
    }

    /// Gives back some memory of tables that are not needed any more; false if none is left.
    pub fn shrink(&mut self) -> bool {
        if self.tables.last_mut().is_some_and(|table| !table.shrink()) {
            self.tables.pop();
        }
        !self.tables.is_empty()
    }
}

/// The fingerprint at a bucket and entry, or the first one behind; the place is then that after it.
fn following(table: &Table, (bucket, entry): &mut (u32, usize)) -> Option<u64> {
    while (*bucket as usize) < table.buckets() {
        if let Some(fingerprint) = table.entry(*bucket, *entry) {
            *entry += 1;
            return Some(fingerprint);
        }
        (*bucket, *entry) = (*bucket + 1, 0);
    }
    None
}
