//! What is kept from the frontier, and why: links of duplicates, which are held, and URLs that will not be fetched, which
//! are written to `skipped.jsonl` once per key and reason.

use std::ops::ControlFlow;

use config::OnDuplicate;
use dedup_stage::judge::Row;
use dedup_stage::store::{self, Session};
use dedup_stage::url::KeySet;
use frontier::rules::RuleId;
use frontier::{Found, Held, Job, SkipReason, Via, Walk};
use url::Url;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{Engine, Result};
use crate::fetch::FetchError;
use crate::priority::OfLink;
use crate::record::PageRecord;
use crate::sink::{SkipOut, SkippedJsonl};
use crate::spaces;

/// A URL kept aside, under the hash of its key in [`spaces::HELD`]: `source row u64 · depth u32 · number of rules u8 ·
/// rules u32 each · class u64 · URL`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldLink {
    /// The page that carried it: a duplicate, unless rules stopped it. [`Row::MAX`] for seeds.
    pub source: Row,
    /// Links from a seed.
    pub depth: u32,
    /// The rules that stopped it; none where it is held for the sake of its page.
    pub rules: Vec<RuleId>,
    /// Hash of the class by which they stopped it; 0 for none.
    pub class: u64,
    /// As written.
    pub url: String,
}

impl HeldLink {
    /// Stored form.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = self.source.to_be_bytes().to_vec();
        out.extend(self.depth.to_be_bytes());
        // A chain of rules is short.
        out.push(self.rules.len() as u8);
        self.rules.iter().for_each(|rule| out.extend(rule.to_be_bytes()));
        out.extend(self.class.to_be_bytes());
        out.extend(self.url.as_bytes());
        out
    }

    /// From the stored form.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (source, bytes) = bytes.split_first_chunk()?;
        let (depth, bytes) = bytes.split_first_chunk()?;
        let (count, bytes) = bytes.split_first()?;
        let (rules, bytes) = bytes.split_at_checked(4 * usize::from(*count))?;
        let (class, url) = bytes.split_first_chunk()?;
        Some(Self {
            source: Row::from_be_bytes(*source),
            depth: u32::from_be_bytes(*depth),
            rules: rules.as_chunks().0.iter().map(|rule| RuleId::from_be_bytes(*rule)).collect(),
            class: u64::from_be_bytes(*class),
            url: String::from_utf8(url.to_vec()).ok()?,
        })
    }
}

/// Stands for no page: the source of a seed.
const NO_ROW: Row = Row::MAX;

/// URLs held back that are written down in one commit.
const HELD_AT_ONCE: usize = 2_000;
/// Hosts whose last failure is remembered.
const MOST_TROUBLES: usize = 10_000;

/// The key of a skipped URL in [`spaces::SKIPPED`].
pub fn skip_key(hash: u64, reason: SkipReason) -> [u8; 9] {
    let mut key = [0; 9];
    key[..8].copy_from_slice(&hash.to_be_bytes());
    key[8] = reason as u8;
    key
}

/// The set of (URL, reason) that were written before.
pub(super) fn skips(session: &Session) -> store::Result<KeySet> {
    let mut set = KeySet::default();
    session.scan(spaces::SKIPPED, &[], &[], &mut |key, _| {
        set.insert(xxh3_64_with_seed(key, 0));
        ControlFlow::Continue(())
    })?;
    Ok(set)
}

impl Engine<'_> {
    /// Held links read at once.
    const PART: usize = 4_096;

    /// A URL will not be fetched: says so, once per key and reason. `source` is the page that carried it.
    pub(super) fn skip(&mut self, url: &Url, hash: u64, source: Option<(Row, &Url)>, reason: SkipReason) -> Result<()> {
        self.skip_by(url, hash, source, reason, None)
    }

    /// As [`Engine::skip`], because of a rule with this name.
    fn skip_by(
        &mut self,
        url: &Url,
        hash: u64,
        source: Option<(Row, &Url)>,
        reason: SkipReason,
        rule: Option<&str>,
    ) -> Result<()> {
        let key = skip_key(hash, reason);
        if !self.skips.insert(xxh3_64_with_seed(&key, 0)) {
            return Ok(());
        }
        self.stats.skipped += 1;
        let (row, source) = source.map_or((NO_ROW, ""), |(row, url)| (row, url.as_str()));
        let detail = url.host_str().and_then(|host| self.troubles.get(host)).map(String::as_str);
        let detail = detail.filter(|_| matches!(reason, SkipReason::Address | SkipReason::Robots));
        for sink in &mut self.sinks {
            sink.skipped(&SkipOut { url: url.as_str(), reason, source, rule, detail })?;
        }
        self.session.put(spaces::SKIPPED, key, row.to_be_bytes());
        Ok(())
    }

    /// As [`Engine::skip`], where only the number of the source is at hand.
    pub(super) fn skip_later(&mut self, url: &Url, hash: u64, source: Option<Row>, reason: SkipReason) -> Result<()> {
        let source_url = self.url_of(source)?;
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

    fn url_of(&self, row: Option<Row>) -> Result<Option<Url>> {
        let record = row.map(|row| PageRecord::get(row, &self.session)).transpose()?.flatten();
        Ok(record.and_then(|record| Url::parse(&record.url).ok()))
    }

    /// Keeps a URL aside that learned rules stopped when its turn came. Where it is stopped for good, the outputs say so.
    pub(super) fn hold_stopped(&mut self, job: &Job, reason: SkipReason) -> Result<()> {
        let Some(stop) = &job.stop else { return self.skip_later(&job.url, job.hash, job.source, reason) };
        let link = HeldLink {
            source: job.source.unwrap_or(NO_ROW),
            depth: job.depth,
            rules: stop.rules.clone(),
            class: stop.class,
            url: job.url.as_str().to_owned(),
        };
        self.session.put(spaces::HELD, job.hash.to_be_bytes(), link.encode());
        if self.settings.dedup.on_duplicate == OnDuplicate::Demote && stop.class != 0 {
            return Ok(());
        }
        let known = self.frontier.rules();
        let names: Vec<String> = stop.rules.iter().filter_map(|id| Some(known?.get(*id)?.to_string())).collect();
        let source_url = self.url_of(job.source)?;
        self.skip_by(
            &job.url,
            job.hash,
            job.source.zip(source_url.as_ref()),
            reason,
            Some(&names.join(SkippedJsonl::THEN)),
        )
    }

    /// Queues again what rules stopped and `wanted` names. Returns how many URLs that were.
    pub(super) fn release(&mut self, wanted: &dyn Fn(&Self, &HeldLink) -> Result<bool>) -> Result<u64> {
        let mut back = Vec::new();
        let mut from = Vec::new();
        loop {
            let part = self.held_part(&mut from)?;
            if part.is_empty() {
                break;
            }
            for (hash, link) in part {
                if !link.rules.is_empty() && wanted(self, &link)? {
                    back.push((hash, link));
                }
            }
        }
        for (hash, link) in &back {
            self.requeue(*hash, link)?;
            if self.drains > 1 {
                // What was stopped again after it was released once is stopped no more, so that this ends.
                self.frontier.free(*hash);
            }
            for reason in [SkipReason::Rule, SkipReason::Mirror, SkipReason::Trap] {
                self.session.delete(spaces::SKIPPED, skip_key(*hash, reason));
            }
        }
        Ok(back.len() as u64)
    }

    /// Queues what was held, as the last of what waits.
    pub(super) fn requeue(&mut self, hash: u64, link: &HeldLink) -> Result<()> {
        if let Ok(url) = Url::parse(&link.url) {
            let source = Some(link.source).filter(|row| *row != NO_ROW);
            let (priority, merits) = self.scoring.link(self.scoring.page(0.0, link.depth), OfLink::default());
            let found = Found { url: &url, hash, depth: link.depth, priority, merits, source, via: Via::Released };
            self.frontier.add(&found, &mut self.session)?;
        }
        self.session.delete(spaces::HELD, hash.to_be_bytes());
        Ok(())
    }

    /// The next held links from a key on, which moves behind them: in parts, for whoever looks at them reads the state as well.
    pub(super) fn held_part(&self, from: &mut Vec<u8>) -> Result<Vec<(u64, HeldLink)>> {
        let mut part = Vec::new();
        self.session.scan(spaces::HELD, from, &[], &mut |key, link| {
            if let (Ok(hash), Some(link)) = (key.try_into().map(u64::from_be_bytes), HeldLink::decode(link)) {
                part.push((hash, link));
            }
            if part.len() == Self::PART { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if let Some((last, _)) = part.last() {
            *from = last.to_be_bytes().to_vec();
            from.push(0);
        }
        Ok(part)
    }

    /// Everything queued is done. Queues again what rules stopped for the sake of URLs that then had no good answer, and in
    /// `demote` mode all that rewrites and mirrors stopped: it comes last, but it comes. True if there was any.
    pub(super) fn drain(&mut self) -> Result<bool> {
        if self.frontier.rules().is_none() {
            return Ok(false);
        }
        self.drains += 1;
        if self.settings.dedup.on_duplicate != OnDuplicate::Demote {
            return Ok(self.release(&|engine, link| Ok(!engine.frontier.is_kept(link.class, &engine.session)?))? > 0);
        }
        self.frontier.free_all();
        Ok(self.release(&|_, link| Ok(link.class != 0))? > 0)
    }

    /// Keeps a link of a duplicate aside. False if it is held already.
    pub(super) fn hold(&mut self, url: &Url, hash: u64, depth: u32, source: (Row, &Url)) -> Result<bool> {
        let key = hash.to_be_bytes();
        if self.session.get(spaces::HELD, &key)?.is_some() {
            return Ok(false);
        }
        let link = HeldLink { source: source.0, depth, url: url.as_str().to_owned(), ..HeldLink::default() };
        self.session.put(spaces::HELD, key, link.encode());
        self.skip(url, hash, Some(source), SkipReason::DuplicateSource)?;
        Ok(true)
    }
}
