//! Changes on their way to the store: readable at once, durable together.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};

use super::{Batch, Change, Result, Space, Store, Visitor};

/// A store with the changes that are not committed yet laid over it. One owner; what it reads is what it wrote.
pub struct Session {
    store: Box<dyn Store>,
    pending: BTreeMap<(Space, Vec<u8>), Option<Vec<u8>>>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("pending", &self.pending.len()).finish_non_exhaustive()
    }
}

impl Session {
    /// Starts with nothing pending.
    pub fn new(store: Box<dyn Store>) -> Self {
        Self { store, pending: BTreeMap::new() }
    }

    /// Sets a value.
    pub fn put(&mut self, space: Space, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) {
        self.pending.insert((space, key.into()), Some(value.into()));
    }

    /// Deletes a key; deleting what is not there is no error.
    pub fn delete(&mut self, space: Space, key: impl Into<Vec<u8>>) {
        self.pending.insert((space, key.into()), None);
    }

    /// The value of a key, pending changes included.
    pub fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>> {
        match self.pending.get(&(space, key.to_vec())) {
            Some(value) => Ok(value.clone()),
            None => self.store.get(space, key),
        }
    }

    /// Visits the entries with `from <= key < to` in key order, pending changes included (`to` empty: to the end).
    pub fn scan(&self, space: Space, from: &[u8], to: &[u8], visit: &mut Visitor<'_>) -> Result<()> {
        let mut pending = self
            .pending
            .range((Bound::Included((space, from.to_vec())), Bound::Unbounded))
            .take_while(|((s, key), _)| *s == space && (to.is_empty() || key.as_slice() < to))
            .map(|((_, key), value)| (key, value))
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

    /// Number of pending changes.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Makes the pending changes durable, as one batch. On an error they stay pending.
    pub fn commit(&mut self) -> Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let pending = std::mem::take(&mut self.pending);
        let batch: Batch = pending.into_iter().map(|((space, key), value)| Change { space, key, value }).collect();
        let result = self.store.commit(&batch);
        if result.is_err() {
            self.pending = batch.into_iter().map(|change| ((change.space, change.key), change.value)).collect();
        }
        result
    }
}
