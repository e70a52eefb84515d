//! What is kept from the frontier, and why: links of duplicates, which are held, and URLs that will not be fetched, which
//! are written to `skipped.jsonl` once per key and reason.

use std::ops::ControlFlow;

use dedup_stage::judge::Row;
use dedup_stage::store::{self, Session, Space};
use dedup_stage::url::KeySet;
use frontier::{Held, SkipReason, Walk};
use url::Url;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{Engine, Result};
use crate::fetch::FetchError;
use crate::record::PageRecord;
use crate::sink::SkipOut;

/// A link kept aside, under the hash of its key in [`Space::Held`]: `source row u64 · depth u32 · URL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldLink {
    /// The duplicate page that carried it.
    pub source: Row,
    /// Links from a seed.
    pub depth: u32,
    /// As written.
    pub url: String,
}

impl HeldLink {
    /// Stored form.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = self.source.to_be_bytes().to_vec();
        out.extend(self.depth.to_be_bytes());
        out.extend(self.url.as_bytes());
        out
    }

    /// From the stored form.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            source: Row::from_be_bytes(bytes.get(..8)?.try_into().ok()?),
            depth: u32::from_be_bytes(bytes.get(8..12)?.try_into().ok()?),
            url: String::from_utf8(bytes.get(12..)?.to_vec()).ok()?,
        })
    }
}

/// Stands for no page: the source of a seed.
const NO_ROW: Row = Row::MAX;

/// URLs held back that are written down in one commit.
const HELD_AT_ONCE: usize = 2_000;
/// Hosts whose last failure is remembered.
const MOST_TROUBLES: usize = 10_000;

/// The key of a skipped URL in [`Space::Skipped`].
pub fn skip_key(hash: u64, reason: SkipReason) -> [u8; 9] {
    let mut key = [0; 9];
    key[..8].copy_from_slice(&hash.to_be_bytes());
    key[8] = reason as u8;
    key
}

/// The set of (URL, reason) that were written before.
pub(super) fn skips(session: &Session) -> store::Result<KeySet> {
    let mut set = KeySet::default();
    session.scan(Space::Skipped, &[], &[], &mut |key, _| {
        set.insert(xxh3_64_with_seed(key, 0));
        ControlFlow::Continue(())
    })?;
    Ok(set)
}

impl Engine<'_> {
    /// A URL will not be fetched: says so, once per key and reason. `source` is the page that carried it.
    pub(super) fn skip(&mut self, url: &Url, hash: u64, source: Option<(Row, &Url)>, reason: SkipReason) -> Result<()> {
        let key = skip_key(hash, reason);
        if !self.skips.insert(xxh3_64_with_seed(&key, 0)) {
            return Ok(());
        }
        self.stats.skipped += 1;
        let (row, source) = source.map_or((NO_ROW, ""), |(row, url)| (row, url.as_str()));
        let detail = url.host_str().and_then(|host| self.troubles.get(host)).map(String::as_str);
        let detail = detail.filter(|_| matches!(reason, SkipReason::Address | SkipReason::Robots));
        for sink in &mut self.sinks {
            sink.skipped(&SkipOut { url: url.as_str(), reason, source, rule: None, detail })?;
        }
        self.session.put(Space::Skipped, key, row.to_be_bytes());
        Ok(())
    }

    /// As [`Engine::skip`], where only the number of the source is at hand.
    pub(super) fn skip_later(&mut self, url: &Url, hash: u64, source: Option<Row>, reason: SkipReason) -> Result<()> {
        let record = source.map(|row| PageRecord::get(row, &self.session)).transpose()?.flatten();
        let source_url = record.and_then(|record| Url::parse(&record.url).ok());
        self.skip(url, hash, source.zip(source_url.as_ref()), reason)
    }

    /// Says of everything that stays queued because its host cannot be asked why that is, once per key and reason.
    pub(super) fn skip_held(&mut self) -> Result<()> {
        let mut walk = Walk::default();
        loop {
            let held = self.frontier.held(&mut walk, HELD_AT_ONCE, &self.session)?;
            if held.is_empty() {
                return Ok(());
            }
            for Held { url, hash, source, reason } in held {
                if let Ok(url) = Url::parse(&url)
                    && !self.is_skipped(hash, reason)
                {
                    self.skip_later(&url, hash, source, reason)?;
                }
            }
            self.commit()?;
        }
    }

    fn is_skipped(&self, hash: u64, reason: SkipReason) -> bool {
        self.skips.contains(xxh3_64_with_seed(&skip_key(hash, reason), 0))
    }

    /// Remembers why a host could not be asked for its robots.txt, or its name not be resolved.
    pub(super) fn note_trouble(&mut self, host: Option<&str>, error: &FetchError) {
        if let Some(host) = host
            && self.troubles.len() < MOST_TROUBLES
        {
            self.troubles.insert(host.to_owned(), error.to_string());
        }
    }

    /// Keeps a link of a duplicate aside. False if it is held already.
    pub(super) fn hold(&mut self, url: &Url, hash: u64, depth: u32, source: (Row, &Url)) -> Result<bool> {
        let key = hash.to_be_bytes();
        if self.session.get(Space::Held, &key)?.is_some() {
            return Ok(false);
        }
        let link = HeldLink { source: source.0, depth, url: url.as_str().to_owned() };
        self.session.put(Space::Held, key, link.encode());
        self.skip(url, hash, Some(source), SkipReason::DuplicateSource)?;
        Ok(true)
    }
}
