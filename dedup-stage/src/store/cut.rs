//! Cutting a part of a state out: entries of several spaces that are copied to another store, and deleted where they were.
//!
//! Neither happens in one commit, so both can be done again after a crash: a copy writes the same entries again, and what was
//! deleted is not there a second time. Whoever moves entries deletes them only when the whole copy is durable.

use std::ops::ControlFlow;

use super::{Result, Session, Space};

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

/// Entries that are read, and changes that are committed, together.
const PART: usize = if cfg!(test) { 7 } else { 4_096 };

impl KeyRange {
    /// A whole space.
    pub fn whole(space: Space) -> Self {
        Self { space, from: Vec::new(), to: Vec::new() }
    }

    /// All keys that begin with `prefix`.
    pub fn of_prefix(space: Space, prefix: &[u8]) -> Self {
        Self::between(space, prefix, prefix)
    }

    /// All keys from the first one that begins with `first` to the last one that begins with `last`.
    pub fn between(space: Space, first: &[u8], last: &[u8]) -> Self {
        let mut to = last.to_vec();
        // The key behind the last: the prefix plus one. A prefix of 0xff alone reaches to the end.
        while to.last() == Some(&0xff) {
            to.pop();
        }
        if let Some(last) = to.last_mut() {
            *last += 1;
        }
        Self { space, from: first.to_vec(), to }
    }
}

/// What another store gets of an entry, from its key and its value; `None`: nothing.
pub type Copied<'a> = &'a dyn Fn(&[u8], &[u8]) -> Result<Option<Vec<u8>>>;

/// Whether an entry is meant, from its key and its value.
pub type Meant<'a> = &'a dyn Fn(&[u8], &[u8]) -> Result<bool>;

/// The [`Copied`] of entries that are copied as they are.
pub fn as_it_is(_: &[u8], value: &[u8]) -> Result<Option<Vec<u8>>> {
    Ok(Some(value.to_vec()))
}

/// The [`Meant`] of all entries.
pub fn all(_: &[u8], _: &[u8]) -> Result<bool> {
    Ok(true)
}

/// Copies the entries in `ranges` to another session, under the same keys; returns how many there were. The copy is complete
/// and durable when this returns.
pub fn copy(from: &Session, ranges: &[KeyRange], copied: Copied<'_>, to: &mut Session) -> Result<u64> {
    let mut count = 0;
    for range in ranges {
        each_part(from, range, &mut |entries| {
            for (key, value) in entries {
                if let Some(value) = copied(key, value)? {
                    to.put(range.space, key.as_slice(), value);
                    count += 1;
                }
            }
            to.commit()
        })?;
    }
    to.commit()?;
    Ok(count)
}

/// Deletes those entries in `ranges` that are meant; returns how many there were.
pub fn delete(session: &mut Session, ranges: &[KeyRange], meant: Meant<'_>) -> Result<u64> {
    let mut count = 0;
    for range in ranges {
        let mut rest = range.clone();
        while let Some(entries) = part(session, &mut rest)? {
            for (key, value) in entries {
                if meant(&key, &value)? {
                    session.delete(range.space, key);
                    count += 1;
                }
            }
            session.commit()?;
        }
    }
    Ok(count)
}

/// A key and its value.
pub type Entry = (Vec<u8>, Vec<u8>);

/// Shows the entries of a range, part by part.
pub fn each_part(session: &Session, range: &KeyRange, show: &mut dyn FnMut(&[Entry]) -> Result<()>) -> Result<()> {
    let mut rest = range.clone();
    while let Some(entries) = part(session, &mut rest)? {
        show(&entries)?;
    }
    Ok(())
}

/// The next entries of a range, which begins behind them then; `None` where there are no more.
pub fn part(session: &Session, rest: &mut KeyRange) -> Result<Option<Vec<Entry>>> {
    let mut entries = Vec::new();
    session.scan(rest.space, &rest.from, &rest.to, &mut |key, value| {
        entries.push((key.to_vec(), value.to_vec()));
        if entries.len() == PART { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    let Some((last, _)) = entries.last() else { return Ok(None) };
    rest.from = [last.as_slice(), &[0]].concat();
    Ok(Some(entries))
}
