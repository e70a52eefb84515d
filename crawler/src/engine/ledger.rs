//! The ledger: state, outputs and counters of a crawl, and the commit that makes them durable together.
//!
//! The changes of one report are committed together, and the changes of many reports in one commit. Outputs are synced
//! before the commit that records their lengths. At the next start they are cut back to these lengths.

use std::path::{Path, PathBuf};

use dedup_stage::judge::Judge;
use dedup_stage::store::{Result as StoreResult, Session, Space};
use dedup_stage::url::PageId;
use frontier::rules::Content;
use frontier::{Frontier, Millis};
use url::Url;

use super::error::Result;
use super::stats::{Memory, Stats, StopReason};
use crate::record::PageRecord;
use crate::sink::{Lengths, PageOut, Sink};

/// A commit is due after this many pages.
const COMMIT_PAGES: u32 = 500;
/// A commit is due after this many milliseconds.
const COMMIT_INTERVAL: Millis = 1_000;
/// A commit is due after this many bytes of keys and values.
const COMMIT_BYTES: usize = config::bounds::UNCOMMITTED;
/// After a host asked for time, a commit is due at once, if the last commit was this long ago.
const PROMISE_INTERVAL: Millis = 50;

/// Keys in [`Space::META`].
const OUTPUTS: &[u8] = b"outputs";
const ORDER: &[u8] = b"order";
const STOP_REASON: &[u8] = b"stop-reason";
/// The time at which the present period of the outputs began.
const PERIOD: &[u8] = b"period";

/// State, outputs and counters.
pub(super) struct Ledger {
    pub session: Session,
    pub stats: Stats,
    /// Outputs. The first is `pages.jsonl`, the second the link graph: page records name places in both.
    sinks: Vec<Box<dyn Sink>>,
    /// The next place in the order of judging.
    next_order: u64,
    /// The place of the page that is taken now, if several processes share one order.
    given: Option<u64>,
    /// The crawl directory.
    dir: PathBuf,
    started: Millis,
    elapsed_before: u64,
    last_commit: Millis,
    /// The time at which the next commit is due.
    commit_at: Millis,
    pages_since_commit: u32,
    /// If outputs begin new files at intervals: the length of an interval.
    period: Option<Millis>,
    period_began: Millis,
}

impl Ledger {
    /// Opens the ledger with the records that `session` has. Outputs begin new files after each `period`.
    pub fn open(
        dir: PathBuf,
        session: Session,
        sinks: Vec<Box<dyn Sink>>,
        stats: Stats,
        period: Option<Millis>,
        now: Millis,
    ) -> StoreResult<Self> {
        let number = |key: &[u8]| -> StoreResult<Option<u64>> {
            let bytes = session.get(Space::META, key)?;
            Ok(bytes.and_then(|bytes| bytes.try_into().ok()).map(u64::from_be_bytes))
        };
        let (order, period_began) = (number(ORDER)?, number(PERIOD)?);
        Ok(Self {
            next_order: order.unwrap_or(0),
            period,
            period_began: period_began.unwrap_or(now),
            given: None,
            dir,
            session,
            sinks,
            elapsed_before: stats.elapsed_ms,
            stats,
            started: now,
            last_commit: now,
            commit_at: now + COMMIT_INTERVAL,
            pages_since_commit: 0,
        })
    }

    /// Sets the place of the next page.
    pub fn set_order(&mut self, order: u64) {
        self.given = Some(order);
    }

    /// Undoes [`Ledger::set_order`]. Returns true if no page has taken the place.
    pub fn unset_order(&mut self) -> bool {
        self.given.take().is_some()
    }

    /// The next place in the order of judging. Places grow, and never repeat. (If several processes share one order,
    /// this holds for the pages that the judge compares. It keeps nothing under the place of another page.)
    pub fn next_order(&mut self) -> u64 {
        if let Some(order) = self.given.take() {
            self.next_order = self.next_order.max(order);
            return order;
        }
        self.next_order += 1;
        self.next_order
    }

    /// The time at which this run began.
    pub fn started(&self) -> Millis {
        self.started
    }

    /// The time at which the next commit is due.
    pub fn commit_at(&self) -> Millis {
        self.commit_at
    }

    /// Whether a commit is due.
    pub fn is_due(&self, now: Millis) -> bool {
        self.pages_since_commit >= COMMIT_PAGES || now >= self.commit_at || self.is_full()
    }

    /// Whether the changes that wait for the commit take so much memory that the commit must come first.
    pub fn is_full(&self) -> bool {
        self.session.pending_bytes() >= COMMIT_BYTES
    }

    /// A host asked to be left alone for a while. Commits soon, so that a crash does not make the crawl forget that.
    pub fn commit_soon(&mut self, now: Millis) {
        self.commit_at = self.commit_at.min(now.max(self.last_commit + PROMISE_INTERVAL));
    }

    /// Brings up to date: the time spent, the totals of the frontier, and the memory that grows with the crawl.
    pub fn update(&mut self, now: Millis, frontier: &Frontier, judge: &Judge) {
        self.stats.elapsed_ms = self.elapsed_before + now.saturating_sub(self.started);
        self.stats.take_counts(&frontier.counts());
        self.stats.memory = Memory {
            seen_set: frontier.seen_set_bytes() as u64,
            judge: judge.bytes() as u64,
            state_index: self.session.index_bytes(),
        };
    }

    /// The crawl directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes a page to the outputs and to the state. The record lacks its positions in the outputs, which are only
    /// known now.
    pub fn record(&mut self, page: PageId, out: &PageOut<'_>, record: PageRecord) -> Result<()> {
        let (mut offset, mut graph) = (0, record.graph);
        for (number, sink) in self.sinks.iter_mut().enumerate() {
            let at = sink.page(out)?;
            match number {
                0 => offset = at,
                1 if !out.graph.is_empty() => graph = Some(at),
                _ => {}
            }
        }
        PageRecord { offset, graph, ..record }.put(page, &mut self.session);
        self.pages_since_commit += 1;
        Ok(())
    }

    /// The record of a page.
    pub fn page(&self, page: PageId) -> StoreResult<Option<PageRecord>> {
        PageRecord::get(page, &self.session)
    }

    /// The lengths of the outputs at the last commit.
    pub fn lengths(&self) -> Result<Lengths> {
        Ok(match self.session.get(Space::META, OUTPUTS)? {
            Some(json) => serde_json::from_slice(&json).map_err(std::io::Error::from)?,
            None => Lengths::new(),
        })
    }

    /// Makes everything since the last commit durable: first the outputs, then the batch that records their lengths.
    pub fn commit(&mut self, now: Millis) -> Result<()> {
        (self.last_commit, self.commit_at, self.pages_since_commit) = (now, now + COMMIT_INTERVAL, 0);
        if self.session.pending() == 0 {
            return Ok(());
        }
        // Outputs that this run does not write keep their lengths.
        let mut lengths = self.lengths()?;
        for sink in &mut self.sinks {
            sink.sync(&mut lengths)?;
        }
        self.stats.commits += 1;
        self.stats.put(&mut self.session)?;
        self.put_json(OUTPUTS, &lengths)?;
        self.session.put(Space::META, ORDER, self.next_order.to_be_bytes());
        let period_ended = self.period.is_some_and(|period| now.saturating_sub(self.period_began) >= period);
        if period_ended {
            self.period_began = now;
        }
        if self.period.is_some() {
            self.session.put(Space::META, PERIOD, self.period_began.to_be_bytes());
        }
        self.session.commit()?;
        for sink in &mut self.sinks {
            sink.committed(period_ended)?;
        }
        Ok(())
    }

    /// Ends the run after the last commit: outputs finish their files.
    pub fn finish(&mut self) -> Result<()> {
        for sink in &mut self.sinks {
            sink.finish()?;
        }
        Ok(())
    }

    /// Records why the run ends.
    pub fn note_end(&mut self, reason: StopReason) -> Result<()> {
        self.put_json(STOP_REASON, reason.name())
    }

    /// Puts a small value into the state as JSON.
    pub fn put_json<T: serde::Serialize + ?Sized>(&mut self, key: &[u8], value: &T) -> Result<()> {
        let json = serde_json::to_vec(value).map_err(std::io::Error::from)?;
        self.session.put(Space::META, key, json);
        Ok(())
    }
}

/// The URL of a page that was judged earlier, for the judge.
pub(super) fn url_of(page: PageId, session: &Session) -> StoreResult<Option<Url>> {
    Ok(PageRecord::get(page, session)?.and_then(|record| Url::parse(&record.url).ok()))
}

/// The content of a page, for learned rules.
pub(super) fn shows(page: PageId, session: &Session) -> StoreResult<Option<Content>> {
    Ok(PageRecord::get(page, session)?.and_then(|record| record.content))
}
