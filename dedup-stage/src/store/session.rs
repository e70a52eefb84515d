//! Holds changes that are on their way to the store. They can be read at once, and become durable together.

use std::any::Any;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};

use super::undo::Log;
use super::{Batch, Change, Error, Result, Space, Store, Visitor};

/// The pending changes of one space: new values, or `None` for keys that are to be deleted.
type Pending = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

/// A store, and the changes to it that are not committed yet. It has one owner, which reads what it wrote.
pub struct Session {
    pub(super) store: Box<dyn Store>,
    /// The pending changes of each space, by the number of the space.
    pending: Vec<(Space, Pending)>,
    changes: usize,
    /// Roughly the bytes of memory of all changes since the last commit.
    bytes: usize,
    /// The undo log, if this session keeps one.
    pub(super) log: Option<Log>,
    /// What was derived from the entries: see [`Session::derived`].
    derived: OnceCell<Box<dyn Any + Send>>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("pending", &self.changes).finish_non_exhaustive()
    }
}

impl Session {
    /// The bytes of memory that a change takes besides its key and its value, roughly. Most keys and values are short,
    /// so this is most of the memory.
    const BESIDE: usize = 100;

    /// A session without pending changes.
    pub fn new(store: Box<dyn Store>) -> Self {
        Self { store, pending: Vec::new(), changes: 0, bytes: 0, log: None, derived: OnceCell::new() }
    }

    /// Sets a value. If the session keeps an undo log, the entry must be new. For other entries see
    /// [`Session::overwrite`].
    pub fn put(&mut self, space: Space, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) {
        self.change(space, key.into(), Some(value.into()));
    }

    /// Deletes a key. It is no error if the key is not there.
    pub fn delete(&mut self, space: Space, key: impl Into<Vec<u8>>) {
        self.change(space, key.into(), None);
    }

    pub(super) fn change(&mut self, space: Space, key: Vec<u8>, value: Option<Vec<u8>>) {
        let number = space.number();
        while self.pending.len() <= number {
            self.pending.push((space, Pending::new()));
        }
        self.pending[number].0 = space;
        self.bytes += key.len() + value.as_ref().map_or(0, Vec::len) + Self::BESIDE;
        self.changes += usize::from(self.pending[number].1.insert(key, value).is_none());
    }

    /// Drops the pending changes of a space.
    pub(super) fn discard(&mut self, space: Space) {
        if let Some((_, pending)) = self.pending.get_mut(space.number()) {
            self.changes -= pending.len();
            pending.clear();
        }
    }

    fn pending_of(&self, space: Space) -> Option<&Pending> {
        self.pending.get(space.number()).map(|(_, pending)| pending)
    }

    /// The value of a key, pending changes included.
    pub fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>> {
        match self.pending_of(space).and_then(|pending| pending.get(key)) {
            Some(value) => Ok(value.clone()),
            None => self.store.get(space, key),
        }
    }

    /// Visits the entries with `from <= key < to` in key order, pending changes included (`to` empty: to the end).
    pub fn scan(&self, space: Space, from: &[u8], to: &[u8], visit: &mut Visitor<'_>) -> Result<()> {
        let empty = Pending::new();
        let mut pending = self
            .pending_of(space)
            .unwrap_or(&empty)
            .range::<[u8], _>((Bound::Included(from), Bound::Unbounded))
            .take_while(|(key, _)| to.is_empty() || key.as_slice() < to)
            .peekable();
        let mut done = false;
        self.store.scan(space, from, to, &mut |key, value| {
            while let Some((newer, change)) = pending.next_if(|(newer, _)| newer.as_slice() <= key) {
                if let Some(change) = change
                    && visit(newer, change).is_break()
                {
                    done = true;
                    return ControlFlow::Break(());
                }
                if newer.as_slice() == key {
                    return ControlFlow::Continue(());
                }
            }
            let flow = visit(key, value);
            done = flow.is_break();
            flow
        })?;
        for (key, change) in pending {
            if done {
                break;
            }
            if let Some(change) = change {
                done = visit(key, change).is_break();
            }
        }
        Ok(())
    }

    /// A value that is computed from the entries, and that all code which reads them needs. `derive` makes it when it
    /// is first asked for. From then on, code that changes these entries must change the value, too. A session has one
    /// such value.
    pub(crate) fn derived<T: Any + Send>(&self, derive: impl FnOnce(&Self) -> Result<T>) -> Result<&T> {
        if self.derived.get().is_none() {
            let derived = derive(self)?;
            self.derived.get_or_init(|| Box::new(derived));
        }
        self.derived.get().and_then(|derived| derived.downcast_ref()).ok_or_else(other)
    }

    /// Like [`Session::derived`], to change the value.
    pub(crate) fn derived_mut<T: Any + Send>(&mut self, derive: impl FnOnce(&Self) -> Result<T>) -> Result<&mut T> {
        self.derived(derive)?;
        self.derived.get_mut().and_then(|derived| derived.downcast_mut()).ok_or_else(other)
    }

    /// Forgets the derived value, as if the session were opened again.
    #[cfg(test)]
    pub(crate) fn forget_derived(&mut self) {
        self.derived = OnceCell::new();
    }

    /// Roughly the bytes of memory of all changes since the last commit. Changes that were changed again count, too.
    pub fn pending_bytes(&self) -> usize {
        self.bytes
    }

    /// The bytes of the indexes and filters that the store keeps in memory ([`Store::index_bytes`]).
    pub fn index_bytes(&self) -> u64 {
        self.store.index_bytes()
    }

    /// Number of pending changes.
    pub fn pending(&self) -> usize {
        self.changes
    }

    /// Makes the pending changes durable, as one batch. On an error they stay pending.
    pub fn commit(&mut self) -> Result<()> {
        if self.changes == 0 {
            return Ok(());
        }
        let mut batch = Batch::with_capacity(self.changes);
        for (space, pending) in &mut self.pending {
            let changes = std::mem::take(pending).into_iter();
            batch.extend(changes.map(|(key, value)| Change { space: *space, key, value }));
        }
        (self.changes, self.bytes) = (0, 0);
        let result = self.store.commit(&batch);
        if result.is_err() {
            for Change { space, key, value } in batch {
                self.change(space, key, value);
            }
        }
        result
    }
}

fn other() -> Error {
    Error::Engine("a session has one derived value".into())
}
