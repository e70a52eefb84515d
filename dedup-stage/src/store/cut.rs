//! Cutting a part of a state out: ranges of keys of several spaces, copied to another store.

use std::ops::ControlFlow;

use super::{Batch, Change, Result, Session, Space, Store};

/// Entries of one space with `from <= key < to` (`to` empty: to the end of the space).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// The space.
    pub space: Space,
    /// The first key.
    pub from: Vec<u8>,
    /// The key behind the last one.
    pub to: Vec<u8>,
}

impl KeyRange {
    /// All keys that begin with `prefix`.
    pub fn of_prefix(space: Space, prefix: &[u8]) -> Self {
        let mut to = prefix.to_vec();
        // The key behind the last: the prefix plus one. A prefix of 0xff alone reaches to the end.
        while to.last() == Some(&0xff) {
            to.pop();
        }
        if let Some(last) = to.last_mut() {
            *last += 1;
        }
        Self { space, from: prefix.to_vec(), to }
    }
}

/// Copies the entries in `ranges` to another store, in batches of at most `most` entries; returns how many there were.
/// Each batch is atomic, and the copy is complete when this returns.
pub fn copy(session: &Session, ranges: &[KeyRange], most: usize, to: &mut dyn Store) -> Result<u64> {
    let (mut batch, mut copied, mut result) = (Batch::new(), 0, Ok(()));
    for range in ranges {
        session.scan(range.space, &range.from, &range.to, &mut |key, value| {
            batch.push(Change { space: range.space, key: key.to_vec(), value: Some(value.to_vec()) });
            copied += 1;
            if batch.len() == most {
                result = to.commit(&std::mem::take(&mut batch));
            }
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        std::mem::replace(&mut result, Ok(()))?;
    }
    if !batch.is_empty() {
        to.commit(&batch)?;
    }
    Ok(copied)
}

/// Deletes the entries in `ranges`, in batches of at most `most` entries that are committed one by one; returns how many
/// there were.
pub fn delete(session: &mut Session, ranges: &[KeyRange], most: usize) -> Result<u64> {
    let mut deleted = 0;
    for range in ranges {
        loop {
            let mut keys = Vec::new();
            session.scan(range.space, &range.from, &range.to, &mut |key, _| {
                keys.push(key.to_vec());
                if keys.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            if keys.is_empty() {
                break;
            }
            deleted += keys.len() as u64;
            keys.into_iter().for_each(|key| session.delete(range.space, key));
            session.commit()?;
        }
    }
    Ok(deleted)
}
