//! The dedup stage as other programs see it: pages in; verdicts and the links worth following out; all state in one place.
//! `dedup-stage run` and `dedup-stage warc` are this behind two file formats.
//!
//! Pages are prepared on any thread ([`Preparer`]) and judged by one owner, in order ([`Stage`]).
//!
//! # State
//!
//! The state reaches the disk as it grows, long before it counts. It counts up to the page noted at the last
//! [`Stage::flush`]. When it is opened again, what came later is taken back. So a caller that repeats what it sent after
//! that flush gets the same answers, and memory stays bounded however rarely it flushes.
//!
//! There are two ways of taking back. New entries hold the order of their page: those of later pages are removed. Entries
//! that were overwritten have their old values in an undo log ([`Session::overwrite`]).

mod known;
mod prepare;
mod records;
mod state;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::corpus::{Corpora, CorpusMatch};
use crate::flow::{Counterpart, Fate, Flow};
use crate::judge::{Case, Changed, Judgement, OutLink, Searcher, Verdict};
use crate::store::{Result, Session};
use crate::url::{Canonicalizer, KeyHasher, Keys, PageId};
use records::{Mark, Record, Urls, url_of};

pub use known::KnownDocument;
pub use prepare::{Follow, Prepared, Preparer, Source};
pub use records::PageName;

/// What was done so far, over all runs on one state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    pub unchanged: u64,
    /// By verdict.
    pub unjudged: u64,
    /// Links handed back to be followed.
    pub links_admitted: u64,
    /// Links not handed back because a duplicate carried them.
    pub links_dropped: u64,
}

/// A link to follow.
#[derive(Debug)]
pub struct NextLink {
    /// The link.
    pub link: OutLink,
    /// Its place among the links that the caller gave.
    pub given: Option<u32>,
}

/// The judge's answer, and what follows from it.
#[derive(Debug)]
pub struct StageOutput {
    /// Verdict and novelty.
    pub judgement: Judgement,
    /// The earlier page of another URL that it repeats.
    pub twin: Option<PageName>,
    /// The document of a known corpus that it repeats, if no earlier page says the same.
    pub known: Option<KnownDocument>,
    /// Whether that page repeats another one itself: then it is a near duplicate with its own bytes.
    pub twin_repeats: bool,
    /// What changed since the last visit of this URL, see [`Judgement::changed`].
    pub changed: Option<&'static str>,
    /// Of an unchanged page, the earlier page of the same URL that showed the same.
    pub earlier: Option<PageName>,
    /// Links to follow, none met before.
    pub links: Vec<NextLink>,
    /// Priority of these links, 0..1.
    pub priority: f32,
    /// Links kept back.
    pub links_dropped: u32,
    /// Of a duplicate: links not met before that its twin has no counterpart of.
    pub links_news: Vec<OutLink>,
}

/// Judges pages in order and remembers them.
#[derive(Debug)]
pub struct Stage {
    session: Session,
    flow: Flow,
    keys: Keys,
    urls: Urls,
    counts: Counts,
    /// Whether pages beyond the last flush have been written to the store.
    spilled: bool,
    /// Whether the undo log may hold entries from before the last flush.
    rubbish: bool,
}

impl Stage {
    /// Changes held in memory before they are written ahead of the next flush.
    const PENDING: usize = 1 << 14;

    /// A stage that goes on from what `session` remembers.
    ///
    /// # Errors
    ///
    /// [`crate::store::Error::Foreign`] where the state was written by another version or program.
    pub fn open(mut session: Session, dedup: &config::Dedup, canonicalizer: Canonicalizer) -> Result<Self> {
        let counts = state::open(&mut session)?;
        let keys = Keys { canonicalizer, hasher: KeyHasher::new(state::secret(&mut session)?) };
        let flow = Flow::open(dedup, keys.clone(), &mut session)?;
        let urls = Urls::open(&session)?;
        session.commit()?;
        Ok(Self { session, flow, keys, urls, counts, spilled: false, rubbish: false })
    }

    /// From now on, pages that one of these corpora has are duplicates of it.
    pub fn know(&mut self, corpora: Arc<Corpora>) {
        self.flow.judge_mut().know(corpora);
    }

    /// How this stage identifies URLs.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Finds the fingerprints near those of pages, on the threads that prepare them. `None` if these are so few that the
    /// stage should search itself.
    pub fn searcher(&self, threads: usize) -> Option<Searcher> {
        self.flow.judge().searcher(threads)
    }

    /// What was done so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Distinct URL keys met.
    pub fn urls_seen(&self) -> usize {
        self.urls.len()
    }

    /// Distinct fingerprints of accepted pages.
    pub fn fingerprints(&self) -> usize {
        self.flow.judge().fingerprints()
    }

    /// Judges the next page. `name` is what later duplicates of it are told; `priority` in 0..1 is what its links
    /// inherit.
    pub fn judge(&mut self, page: Prepared, name: &PageName, priority: f32) -> Result<StageOutput> {
        let order = self.counts.pages;
        let met = match self.urls.get(page.id.url) {
            Some(Mark::Recorded) => Record::get(page.id, &self.session)?,
            Some(Mark::Met) | None => None,
        };
        let visit = met.as_ref().map_or(0, |record| record.visits).saturating_add(1);
        let case = Case {
            order,
            id: PageId { url: page.id, visit },
            url: &page.url,
            before: met.as_ref().map(|record| &record.shown),
            judgeable: page.judgeable,
            page: &page.page,
            links: &page.links,
            ahead: page.ahead.as_ref(),
        };
        let result = self.flow.page(&case, &url_of, &mut self.session)?;
        let judgement = result.judgement;
        let changed = judgement.changed(case.before, result.shown.as_ref()).map(Changed::name);
        let twin = match judgement.verdict.twin() {
            Some(of) => Record::get(of.url, &self.session)?,
            None => None,
        };
        let twin_repeats = twin.as_ref().is_some_and(|twin| twin.shown.of.is_some());
        let twin = twin.map(|twin| twin.name);

        let known = KnownDocument::of(judgement.verdict, self.flow.judge().known());

        self.urls.expect(page.follow.iter().map(|follow| page.links[follow.link as usize].id.url));
        let is_new = |follow: &&Follow| self.urls.get(page.links[follow.link as usize].id.url).is_none();
        let mut links: Vec<Follow> = page.follow.iter().filter(is_new).copied().collect();
        links.retain(|follow| page.links[follow.link as usize].id.url != page.id.url);
        let mut links_news = Vec::new();
        if judgement.verdict.twin().is_some() && !links.is_empty() {
            let told = match &result.links {
                Fate::Hold(_) | Fate::HoldKnown(_) => None,
                Fate::Follow(_) | Fate::Try(_) => self.flow.held(&case, &judgement, &url_of, &self.session)?,
            };
            let held = if let Fate::Hold(held) = &result.links { Some(held) } else { told.as_ref() };
            let is_news = |link: &&OutLink| held.is_some_and(|held| held.counterpart(link) == Counterpart::News);
            links_news =
                links.iter().map(|follow| &page.links[follow.link as usize]).filter(is_news).cloned().collect();
        }
        let (priority, links_dropped) = match result.links {
            Fate::Follow(factor) => (priority * factor, 0),
            // A caller that judges only cannot try links.
            Fate::Try(_) => (priority, 0),
            Fate::Hold(_) | Fate::HoldKnown(_) => (0.0, std::mem::take(&mut links).len() as u32),
        };

        let mut new = Vec::new();
        let hashes = links.iter().map(|follow| page.links[follow.link as usize].id.url);
        new.extend([page.id.url].into_iter().chain(hashes).filter(|hash| self.urls.meet(*hash)));
        records::put_met(order, &new, &mut self.session);
        let earlier = met.as_ref().map(|record| record.name.clone());
        if let Some(shown) = result.shown {
            // The same bytes again are called what they were called first: that is where they are found.
            let same_bytes = matches!(judgement.verdict, Verdict::Unchanged { bytes: false, .. });
            let shows_nothing = judgement.verdict == Verdict::Unjudged && case.before == Some(&shown);
            let name = earlier.clone().filter(|_| same_bytes || shows_nothing).unwrap_or_else(|| name.clone());
            self.urls.record(page.id.url);
            Record { order, visits: visit, name, shown }.put(page.id, met.is_some(), &mut self.session)?;
        }
        self.count(judgement.verdict, links.len(), links_dropped);
        if self.session.pending() > Self::PENDING {
            self.spill()?;
        }
        let earlier = earlier.filter(|_| matches!(judgement.verdict, Verdict::Unchanged { .. }));
        let links = next_links(page.links, &links);
        Ok(StageOutput {
            judgement,
            twin,
            known,
            twin_repeats,
            changed,
            earlier,
            links,
            priority,
            links_dropped,
            links_news,
        })
    }

    fn count(&mut self, verdict: Verdict, admitted: usize, dropped: u32) {
        let counts = &mut self.counts;
        counts.pages += 1;
        *match verdict {
            Verdict::Unique => &mut counts.unique,
            Verdict::Exact { .. } | Verdict::Known { document: CorpusMatch { exact: true, .. }, .. } => {
                &mut counts.exact
            }
            Verdict::Near { .. } | Verdict::Known { .. } => &mut counts.near,
            Verdict::Unchanged { .. } => &mut counts.unchanged,
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
        self.session.commit()?;
        self.sweep()
    }

    /// Makes everything judged so far durable.
    pub fn flush(&mut self) -> Result<()> {
        state::put_counts(&mut self.session, &self.counts)?;
        self.session.commit()?;
        self.rubbish |= std::mem::take(&mut self.spilled);
        self.sweep()
    }

    /// Removes some of the undo log that is not needed any more, with the next commit.
    fn sweep(&mut self) -> Result<()> {
        if self.rubbish {
            self.rubbish = self.session.sweep_undo()?;
        }
        Ok(())
    }
}

/// Takes the links to follow out of all links of a page.
fn next_links(all: Vec<OutLink>, follow: &[Follow]) -> Vec<NextLink> {
    let mut all: Vec<Option<OutLink>> = all.into_iter().map(Some).collect();
    let mut take =
        |follow: &Follow| all[follow.link as usize].take().map(|link| NextLink { link, given: follow.given });
    follow.iter().filter_map(&mut take).collect()
}
