//! Cuts a part out of a state: copies entries of several spaces to another store, and deletes them in the first store.
//!
//! Each of the two takes several commits. After a crash, each can be done again: a copy writes the same entries again,
//! and a deletion finds fewer entries. The caller deletes entries only when the whole copy is durable.

use std::ops::ControlFlow;

use super::{Result, Session, Space};

/// Entries of one space with `from <= key < to` (`to` empty: to the end of the space).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// The space of the entries.
    pub space: Space,
    /// The first key.
    pub from: Vec<u8>,
    /// The key after the last one.
    pub to: Vec<u8>,
}

/// The number of entries that are read or committed together.
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
        // The key after the last one is the prefix plus one. A prefix of 0xff bytes only reaches to the end of the
        // space.
        while to.last() == Some(&0xff) {
            to.pop();
        }
        if let Some(last) = to.last_mut() {
            *last += 1;
        }
        Self { space, from: first.to_vec(), to }
    }
}

/// Gives the value that another store gets for an entry, from the key and the value here; `None` if the entry is not
/// copied.
pub type Copied<'a> = &'a dyn Fn(&[u8], &[u8]) -> Result<Option<Vec<u8>>>;

/// Decides from the key and the value whether an entry is to be deleted.
pub type Meant<'a> = &'a dyn Fn(&[u8], &[u8]) -> Result<bool>;

/// A [`Copied`] that copies all entries as they are.
pub fn as_it_is(_: &[u8], value: &[u8]) -> Result<Option<Vec<u8>>> {
    Ok(Some(value.to_vec()))
}

/// A [`Meant`] that is true for all entries.
pub fn all(_: &[u8], _: &[u8]) -> Result<bool> {
    Ok(true)
}

/// Copies the entries in `ranges` to another session, under the same keys. Returns their number. When this returns, the
/// copy is complete and durable.
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

/// Deletes those entries in `ranges` for which `meant` is true. Returns their number.
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

/// Calls `show` with the entries of a range, one part after the other.
pub fn each_part(session: &Session, range: &KeyRange, show: &mut dyn FnMut(&[Entry]) -> Result<()>) -> Result<()> {
    let mut rest = range.clone();
    while let Some(entries) = part(session, &mut rest)? {
        show(&entries)?;
    }
    Ok(())
}

/// The next entries of a range. Afterwards the range begins after them. `None` if there are no more.
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
