//! The dedup stage as other programs see it: pages in, verdicts and the links worth following out, all state in one
//! place. `dedup-stage run` and `dedup-stage warc` are this behind two file formats.
//!
//! Pages are prepared on any thread ([`Preparer`]) and judged by one owner, in order ([`Stage`]).
//!
//! # State
//!
//! Everything a page adds is keyed by, or holds, its row, and nothing is ever overwritten. So the state can be written to
//! disk as it grows, long before it counts: it counts up to the row noted at the last [`Stage::flush`], and what lies
//! beyond is removed when the state is opened again. A caller that repeats what it sent after that flush gets the same
//! answers, and memory stays bounded however rarely it flushes.

mod prepare;
mod state;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::gate::{OnDuplicate, Passage, gate};
use crate::old_judge::{Case, Judge, Judgement, Row, Verdict};
use crate::spaces;
use crate::store::{Result, Session, Space};
use crate::url::{KeyHasher, KeySet};

pub use prepare::{OutLink, Prepared, Preparer, Source};

/// What was done so far, over all runs on one state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Pages judged or passed over.
    pub pages: u64,
    /// By verdict.
    pub unique: u64,
    /// By verdict.
    pub exact: u64,
    /// By verdict.
    pub near: u64,
    /// By verdict.
    pub unjudged: u64,
    /// Links handed back to be followed.
    pub links_admitted: u64,
    /// Links not handed back because a duplicate carried them.
    pub links_dropped: u64,
}

/// A page that is repeated.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Twin {
    /// Its URL, as the caller spelt it.
    pub url: String,
    /// The caller's name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Box<RawValue>>,
}

/// The judge's answer, and what follows from it.
#[derive(Debug)]
pub struct Outcome {
    /// Number of the page.
    pub row: Row,
    /// Verdict and novelty.
    pub judgement: Judgement,
    /// The page it repeats.
    pub twin: Option<Twin>,
    /// Links to follow, none met before.
    pub links: Vec<OutLink>,
    /// Priority of these links, 0..1.
    pub priority: f32,
    /// Links kept back.
    pub links_dropped: u32,
}

/// Judges pages in order and remembers them.
#[derive(Debug)]
pub struct Stage {
    session: Session,
    judge: Judge,
    hasher: KeyHasher,
    /// URL keys met: of pages, and of links handed back.
    seen: KeySet,
    counts: Counts,
    on_duplicate: OnDuplicate,
    /// Whether rows beyond the last flush have been written to the store.
    spilled: bool,
}

impl Stage {
    /// Changes held in memory before they are written ahead of the next flush.
    const PENDING: usize = 1 << 14;

    /// A stage that goes on from what `session` remembers.
    pub fn open(mut session: Session, distance: u32, on_duplicate: OnDuplicate) -> Result<Self> {
        let counts = state::open(&mut session)?;
        let hasher = KeyHasher::new(state::secret(&mut session)?);
        let judge = Judge::open(distance, &mut session)?;
        let seen = state::seen(&session)?;
        session.commit()?;
        Ok(Self { session, judge, hasher, seen, counts, on_duplicate, spilled: false })
    }

    /// How this stage hashes URL keys.
    pub fn hasher(&self) -> &KeyHasher {
        &self.hasher
    }

    /// What was done so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Distinct URL keys met.
    pub fn urls_seen(&self) -> usize {
        self.seen.len()
    }

    /// Distinct fingerprints of accepted pages.
    pub fn fingerprints(&self) -> usize {
        self.judge.fingerprints()
    }

    /// Judges the next page. `name` is what later duplicates of it are told; `priority` in 0..1 is what its links
    /// inherit.
    pub fn judge(&mut self, page: Prepared, name: &Twin, priority: f32) -> Result<Outcome> {
        let row = self.counts.pages;
        let case = Case { row, key: page.hash, judgeable: page.judgeable, page: &page.page };
        let judgement = self.judge.judge(&case, &mut self.session)?;
        let twin = judgement.verdict.duplicate_of().map(|of| state::twin(&self.session, of)).transpose()?.flatten();
        if page.judgeable && !matches!(judgement.verdict, Verdict::Exact { .. }) {
            state::put_twin(&mut self.session, row, name);
        }

        let mut met = Vec::new();
        if self.seen.insert(page.hash) {
            met.push(page.hash);
        }
        let mut links = page.links;
        let (priority, links_dropped) = match gate(&judgement, self.on_duplicate) {
            Passage::Follow(factor) => {
                links.retain(|link| self.seen.insert(link.hash));
                met.extend(links.iter().map(|link| link.hash));
                (priority * factor, 0)
            }
            Passage::Hold => {
                let dropped = links.iter().filter(|link| !self.seen.contains(link.hash)).count();
                links.clear();
                (0.0, dropped as u32)
            }
        };
        state::put_seen(&mut self.session, row, &met);
        self.count(judgement.verdict, links.len(), links_dropped);
        if self.session.pending() > Self::PENDING {
            self.spill()?;
        }
        Ok(Outcome { row, judgement, twin, links, priority, links_dropped })
    }

    fn count(&mut self, verdict: Verdict, admitted: usize, dropped: u32) {
        let counts = &mut self.counts;
        counts.pages += 1;
        *match verdict {
            Verdict::Unique => &mut counts.unique,
            Verdict::Exact { .. } => &mut counts.exact,
            Verdict::Near { .. } => &mut counts.near,
            Verdict::Unjudged => &mut counts.unjudged,
        } += 1;
        counts.links_admitted += admitted as u64;
        counts.links_dropped += u64::from(dropped);
    }

    /// Writes what is pending without letting it count.
    fn spill(&mut self) -> Result<()> {
        if !self.spilled {
            state::mark_spilled(&mut self.session);
            self.spilled = true;
        }
        self.session.commit()
    }

    /// Makes everything judged so far durable.
    pub fn flush(&mut self) -> Result<()> {
        state::put_counts(&mut self.session, &self.counts);
        self.session.commit()?;
        self.spilled = false;
        Ok(())
    }
}

/// The spaces a page adds to.
const SPACES: [Space; 4] = [spaces::DIGESTS, spaces::ACCEPTED, spaces::STAGE_PAGES, spaces::STAGE_URLS];

#[cfg(test)]
mod tests;
