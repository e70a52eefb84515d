//! Which URLs were ever met, and what became of them.
//!
//! Membership is answered from memory. On disk the hashes are a log, a few dozen to an entry, in the order of arrival:
//! written once, never moved about, read back in one pass. What became of a URL stands beside it by hash, written when the
//! URL is done or refused; a URL that was met and has no such entry is queued.

use std::ops::ControlFlow;

use dedup_stage::judge::Row;
use dedup_stage::store::{Error, Result, Session};
use dedup_stage::url::KeySet;

use crate::codec::{self, Reader};
use crate::job::SkipReason;
use crate::spaces;

/// Where a URL stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlState {
    /// Fetched, or given up after an error status.
    Done {
        /// HTTP status.
        status: u16,
        /// Row of its page; `None` for sitemaps.
        row: Option<Row>,
    },
    /// No answer in as many attempts as there may be.
    Failed,
    /// Never to be fetched.
    Refused(SkipReason),
}

/// The set of URLs met.
#[derive(Debug, Default)]
pub struct Seen {
    hashes: KeySet,
    /// Number of the log entry that is being filled, and what is in it.
    entry: u64,
    open: Vec<u8>,
}

/// First byte of the keys in [`spaces::URLS`]: the log …
const LOG: u8 = b'l';
/// … and the states.
const STATE: u8 = b's';

impl Seen {
    /// Bytes of hashes in one entry of the log.
    const ENTRY: usize = 64 * 8;

    /// What `session` remembers.
    pub fn open(session: &Session) -> Result<Self> {
        let mut seen = Self::default();
        let mut damaged = false;
        session.scan(spaces::URLS, &[LOG], &[LOG + 1], &mut |key, value| {
            let (hashes, rest) = value.as_chunks::<8>();
            damaged = !rest.is_empty() || key.len() != 9;
            for hash in hashes {
                seen.hashes.insert(u64::from_be_bytes(*hash));
            }
            seen.entry = key.iter().skip(1).fold(0, |number, byte| number << 8 | u64::from(*byte)) + 1;
            if damaged { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if damaged { Err(Error::Damaged("the log of URLs met cannot be read".into())) } else { Ok(seen) }
    }

    /// Adds a URL; false if it was met before.
    pub fn insert(&mut self, hash: u64, session: &mut Session) -> bool {
        if !self.hashes.insert(hash) {
            return false;
        }
        self.open.extend(hash.to_be_bytes());
        let mut key = vec![LOG];
        key.extend(self.entry.to_be_bytes());
        session.put(spaces::URLS, key, self.open.as_slice());
        if self.open.len() == Self::ENTRY {
            self.entry += 1;
            self.open.clear();
        }
        true
    }

    /// Whether a URL was met before.
    pub fn contains(&self, hash: u64) -> bool {
        self.hashes.contains(hash)
    }

    /// Says which URLs will be asked for next.
    pub fn expect(&self, hashes: impl IntoIterator<Item = u64>) {
        self.hashes.expect(hashes);
    }

    /// Number of URLs met.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }
}

/// Writes down what became of a URL.
pub fn set_state(hash: u64, state: UrlState, session: &mut Session) {
    let mut value = Vec::with_capacity(12);
    match state {
        UrlState::Done { status, row } => {
            value.push(b'd');
            codec::write(&mut value, u64::from(status));
            codec::write(&mut value, row.map_or(0, |row| row + 1));
        }
        UrlState::Failed => value.push(b'f'),
        UrlState::Refused(reason) => {
            value.push(b'r');
            value.extend(reason.name().as_bytes());
        }
    }
    session.put(spaces::URLS, state_key(hash), value);
}

/// A URL is queued again: what became of it before does not count.
pub fn forget_state(hash: u64, session: &mut Session) {
    session.delete(spaces::URLS, state_key(hash));
}

/// What became of a URL, by the hash of its key; `None` while it is queued, or was never met.
pub fn state(hash: u64, session: &Session) -> Result<Option<UrlState>> {
    let Some(value) = session.get(spaces::URLS, &state_key(hash))? else { return Ok(None) };
    let mut reader = Reader::new(&value, "the state of a URL");
    let tag = reader.array::<1>()?[0];
    Ok(Some(match tag {
        b'd' => UrlState::Done { status: reader.small()?, row: reader.number()?.checked_sub(1) },
        b'f' => UrlState::Failed,
        b'r' => {
            let damaged = reader.damaged();
            UrlState::Refused(SkipReason::named(reader.text()?).ok_or(damaged)?)
        }
        _ => return Err(reader.damaged()),
    }))
}

fn state_key(hash: u64) -> Vec<u8> {
    let mut key = vec![STATE];
    key.extend(hash.to_be_bytes());
    key
}
