//! The tables of one design, filled together.

use super::design::Design;
use super::table::Table;

/// A set of tables: one table for each key of a design. Each fingerprint is in every table. The fingerprints may be
/// moving to another set.
#[derive(Clone, Debug)]
pub struct Tables {
    /// The design, which has the keys of the tables.
    pub design: Design,
    /// One table for each key.
    pub tables: Vec<Table>,
    /// If fingerprints are moving to another set: the bucket and the entry in the first table from which to go on.
    next: Option<(u32, usize)>,
    /// Number of fingerprints that have moved.
    moved: usize,
}

impl Tables {
    /// Empty tables.
    pub fn new(design: Design, load: usize) -> Self {
        let tables = design.keys.iter().map(|key| Table::new(*key, load)).collect();
        Self { design, tables, next: None, moved: 0 }
    }

    /// Number of fingerprints that have not moved.
    pub fn len(&self) -> usize {
        self.tables[0].len() - self.moved
    }

    /// Bytes in use or set aside.
    pub fn bytes(&self) -> usize {
        self.tables.iter().map(Table::bytes).sum()
    }

    /// Whether the set has a fingerprint, or had it before it moved.
    pub fn contains(&self, fingerprint: u64) -> bool {
        self.tables[0].contains(self.tables[0].keyed(fingerprint))
    }

    /// Starts to load the buckets into which a fingerprint will be inserted.
    pub fn prefetch(&self, fingerprint: u64) {
        for table in &self.tables {
            table.prefetch(table.bucket_of(table.keyed(fingerprint)));
        }
    }

    /// Adds a fingerprint. The set must not have it.
    pub fn insert(&mut self, fingerprint: u64) {
        for table in &mut self.tables {
            table.insert(table.keyed(fingerprint));
        }
    }

    /// Takes the next fingerprint that moves to another set. After the first call, nothing may be inserted into this
    /// set.
    pub fn take(&mut self) -> Option<u64> {
        let next = self.next.get_or_insert((0, 0));
        let fingerprint = following(&self.tables[0], next)?;
        self.moved += 1;
        Some(fingerprint)
    }

    /// Calls `visit` with every fingerprint that has not moved.
    pub fn for_each(&self, visit: &mut impl FnMut(u64)) {
        let mut next = self.next.unwrap_or((0, 0));
        while let Some(fingerprint) = following(&self.tables[0], &mut next) {
            visit(fingerprint);
        }
    }

    /// Whether a fingerprint of this set has moved to the next set. The buckets before `next` have moved. For the
    /// bucket that is under way, `arrived` looks the fingerprint up in the next set.
    #[inline(always)]
    pub fn has_moved(&self, fingerprint: u64, arrived: impl FnOnce() -> bool) -> bool {
        self.next.is_some_and(|(next, _)| {
            let bucket = self.tables[0].bucket_of(self.tables[0].keyed(fingerprint));
            bucket < next || bucket == next && arrived()
        })
    }

    /// Gives back some memory of a set that is not needed any more. False if no memory is left to give back.
    pub fn shrink(&mut self) -> bool {
        if self.tables.last_mut().is_some_and(|table| !table.shrink()) {
            self.tables.pop();
        }
        !self.tables.is_empty()
    }
}

/// The fingerprint at a bucket and entry, or the first one after it. Moves bucket and entry behind that fingerprint.
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
