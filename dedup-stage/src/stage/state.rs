//! What the stage keeps in the store beside the judge's own entries, and how the state is cut back to the last flush.

use std::ops::ControlFlow;

use crate::old_judge::Row;
use crate::spaces;
use crate::store::{Error, Result, Session, Space};
use crate::url::{KeyHasher, KeySet};

use super::{Counts, SPACES, Twin};

const FORMAT: &[u8] = b"stage-2";
const KEY_FORMAT: &[u8] = b"format";
const KEY_SECRET: &[u8] = b"secret";
/// Counts at the last flush, as JSON; rows from `pages` on do not count.
const KEY_COUNTS: &[u8] = b"counts";
/// There, while rows that do not count may be in the store.
const KEY_SPILLED: &[u8] = b"spilled";

/// Checks what kind of state this is, and removes what was not flushed.
pub(super) fn open(session: &mut Session) -> Result<Counts> {
    match session.get(Space::META, KEY_FORMAT)? {
        None => session.put(Space::META, KEY_FORMAT, FORMAT),
        Some(format) if format == FORMAT => {}
        Some(format) => {
            return Err(Error::Damaged(format!(
                "it is of another kind, {:?}; `dedup-stage run` keeps {:?}",
                String::from_utf8_lossy(&format),
                String::from_utf8_lossy(FORMAT)
            )));
        }
    }
    let counts: Counts = match session.get(Space::META, KEY_COUNTS)? {
        None => Counts::default(),
        Some(json) => serde_json::from_slice(&json).map_err(|error| Error::Damaged(format!("its counts: {error}")))?,
    };
    if session.get(Space::META, KEY_SPILLED)?.is_some() {
        for space in SPACES {
            cut(session, space, counts.pages)?;
        }
        session.delete(Space::META, KEY_SPILLED);
        session.commit()?;
    }
    Ok(counts)
}

/// Removes the entries of rows from `rows` on.
fn cut(session: &mut Session, space: Space, rows: Row) -> Result<()> {
    const AT_ONCE: usize = 1 << 16;
    let mut from = Vec::new();
    loop {
        let mut last = Vec::new();
        let mut doomed = Vec::new();
        session.scan(space, &from, &[], &mut |key, value| {
            if row_of(space, key, value) >= rows {
                doomed.push(key.to_vec());
            }
            last = key.to_vec();
            if doomed.len() == AT_ONCE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        let more = doomed.len() == AT_ONCE;
        for key in doomed {
            session.delete(space, key);
        }
        session.commit()?;
        if !more {
            return Ok(());
        }
        from = last;
    }
}

/// The page that an entry belongs to.
fn row_of(space: Space, key: &[u8], value: &[u8]) -> Row {
    let in_value = space == spaces::DIGESTS || space == spaces::ACCEPTED;
    let bytes = if in_value { value.get(..8) } else { key.get(..8) };
    bytes.and_then(|bytes| bytes.try_into().ok()).map_or(Row::MAX, u64::from_be_bytes)
}

/// The secret by which URL keys are hashed; made once per state.
pub(super) fn secret(session: &mut Session) -> Result<[u8; KeyHasher::SECRET]> {
    if let Some(secret) = session.get(Space::META, KEY_SECRET)? {
        return secret.try_into().map_err(|_| Error::Damaged("its secret has the wrong length".into()));
    }
    let mut secret = [0; KeyHasher::SECRET];
    getrandom::fill(&mut secret).map_err(|error| Error::Io(std::io::Error::other(error)))?;
    session.put(Space::META, KEY_SECRET, secret);
    Ok(secret)
}

/// The URL keys met in all earlier runs.
pub(super) fn seen(session: &Session) -> Result<KeySet> {
    let mut seen = KeySet::default();
    session.scan(spaces::STAGE_URLS, &[], &[], &mut |_, hashes| {
        for hash in hashes.as_chunks::<8>().0 {
            seen.insert(u64::from_be_bytes(*hash));
        }
        ControlFlow::Continue(())
    })?;
    Ok(seen)
}

pub(super) fn put_seen(session: &mut Session, row: Row, hashes: &[u64]) {
    if !hashes.is_empty() {
        let value: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_be_bytes()).collect();
        session.put(spaces::STAGE_URLS, row.to_be_bytes(), value);
    }
}

pub(super) fn twin(session: &Session, row: Row) -> Result<Option<Twin>> {
    let Some(json) = session.get(spaces::STAGE_PAGES, &row.to_be_bytes())? else { return Ok(None) };
    serde_json::from_slice(&json).map(Some).map_err(|error| Error::Damaged(format!("page {row}: {error}")))
}

pub(super) fn put_twin(session: &mut Session, row: Row, twin: &Twin) {
    let json = serde_json::to_vec(twin).expect("a URL and a JSON value serialise");
    session.put(spaces::STAGE_PAGES, row.to_be_bytes(), json);
}

pub(super) fn put_counts(session: &mut Session, counts: &Counts) {
    session.put(Space::META, KEY_COUNTS, serde_json::to_vec(counts).expect("numbers serialise"));
    session.delete(Space::META, KEY_SPILLED);
}

pub(super) fn mark_spilled(session: &mut Session) {
    session.put(Space::META, KEY_SPILLED, []);
}
