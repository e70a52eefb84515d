//! The dedup stage as other programs see it. It gets pages, and answers with verdicts and the links that are worth
//! following. All state is in one place. `dedup-stage run` and `dedup-stage warc` add only file formats to it.
//!
//! A page is prepared on any thread ([`Preparer`]). One owner judges all pages, in order ([`Stage`]).
//!
//! # State
//!
//! The state is written to disk as it grows, but it counts only up to the page noted at the last [`Stage::flush`]. When
//! the state is opened again, all later changes are undone. So a caller that repeats what it sent after that flush gets
//! the same answers, and memory stays bounded even if the caller seldom flushes.
//!
//! Changes are undone in two ways. New entries hold the order of their page: those of later pages are removed. The old
//! values of entries that were overwritten are in an undo log ([`Session::overwrite`]).

mod known;
mod prepare;
mod records;
mod state;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::corpus::{Corpora, CorpusMatch};
use crate::flow::{Counterpart, Fate, Flow, FlowResult, Twin};
use crate::judge::{Case, Changed, Judgement, OutLink, Searcher, Verdict};
use crate::store::{Result, Session};
use crate::url::{Canonicalizer, KeyHasher, Keys, PageId};
use records::{Mark, Record, Urls, url_of};

pub use known::KnownDocument;
pub use prepare::{Follow, Prepared, Preparer, Source};
pub use records::PageName;

/// Counts of what was done, over all runs on one state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Number of pages, also of those that were not judged.
    pub pages: u64,
    /// Number of pages with the verdict `unique`.
    pub unique: u64,
    /// Number of pages with the verdict `exact`.
    pub exact: u64,
    /// Number of pages with the verdict `near`.
    pub near: u64,
    /// Number of pages with the verdict `unchanged`.
    pub unchanged: u64,
    /// Number of pages with the verdict `unjudged`.
    pub unjudged: u64,
    /// Number of links that were handed back to be followed.
    pub links_admitted: u64,
    /// Number of links that were not handed back because their page was a duplicate.
    pub links_dropped: u64,
}

/// A link to follow.
#[derive(Debug)]
pub struct NextLink {
    /// The link.
    pub link: OutLink,
    /// The place of the link among the links that the caller gave; `None` if it gave none.
    pub given: Option<u32>,
}

/// The answer to one page: the verdict, and what follows from it.
#[derive(Debug)]
pub struct StageOutput {
    /// The verdict and the novelty.
    pub judgement: Judgement,
    /// The earlier page of another URL that the page repeats.
    pub twin: Option<PageName>,
    /// The document of a known corpus that the page repeats, if no earlier page says the same.
    pub known: Option<KnownDocument>,
    /// Whether `twin` itself repeats another page. Then `twin` is a near duplicate, with bytes of its own.
    pub twin_repeats: bool,
    /// The change since the last visit of this URL, see [`Judgement::changed`].
    pub changed: Option<&'static str>,
    /// For an unchanged page: the earlier page of the same URL, which showed the same.
    pub earlier: Option<PageName>,
    /// The links to follow. None of them was met before.
    pub links: Vec<NextLink>,
    /// The priority of these links, 0..1.
    pub priority: f32,
    /// Number of links that are not followed because the page is a duplicate.
    pub links_dropped: u32,
    /// For a duplicate: the links that were not met before, and that have no counterpart on its twin.
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
    /// Whether changes by pages after the last flush have been written to the store.
    spilled: bool,
    /// Whether the undo log may hold entries from before the last flush.
    rubbish: bool,
}

impl Stage {
    /// If more changes than this are in memory, they are written to the store before the next flush.
    const PENDING: usize = 1 << 14;

    /// Opens a stage, which goes on from the state that `session` has.
    ///
    /// # Errors
    ///
    /// [`crate::store::Error::Foreign`] if the state was written by another version or program.
    pub fn open(mut session: Session, dedup: &config::Dedup, canonicalizer: Canonicalizer) -> Result<Self> {
        let counts = state::open(&mut session)?;
        let keys = Keys { canonicalizer, hasher: KeyHasher::new(state::secret(&mut session)?) };
        let flow = Flow::open(dedup, keys.clone(), &mut session)?;
        let urls = Urls::open(&session)?;
        session.commit()?;
        Ok(Self { session, flow, keys, urls, counts, spilled: false, rubbish: false })
    }

    /// The known corpora of the judge.
    pub fn known(&self) -> &Arc<Corpora> {
        self.flow.judge().known()
    }

    /// Gives the judge known corpora. From now on, a page that one of them has is a duplicate.
    pub fn know(&mut self, corpora: Arc<Corpora>) {
        self.flow.judge_mut().know(corpora);
    }

    /// The canonicalizer and the hasher by which this stage identifies URLs.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// A searcher for the threads that prepare pages, which finds the accepted fingerprints near those of pages. `None`
    /// if there are so few threads that the stage should search itself.
    pub fn searcher(&self, threads: usize) -> Option<Searcher> {
        self.flow.judge().searcher(threads)
    }

    /// Counts of what was done, over all runs on this state.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Number of distinct URL keys that were met.
    pub fn urls_seen(&self) -> usize {
        self.urls.len()
    }

    /// Number of distinct fingerprints of accepted pages.
    pub fn fingerprints(&self) -> usize {
        self.flow.judge().fingerprints()
    }

    /// Judges the next page. `name` stands in the answers to later duplicates of the page. Its links inherit
    /// `priority`, 0..1.
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
        let FlowResult { judgement, fate, shown, twin: beside } = self.flow.page(&case, &url_of, &mut self.session)?;
        let changed = judgement.changed(case.before, shown.as_ref()).map(Changed::name);
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
        let links_news = self.news(&case, beside, &fate, &links)?;
        let (priority, links_dropped) = match fate {
            Fate::Follow(factor) => (priority * factor, 0),
            // The caller of a stage gets no trials, so these links are followed.
            Fate::Try(_) => (priority, 0),
            Fate::Hold(_) | Fate::HoldKnown(_) => (0.0, std::mem::take(&mut links).len() as u32),
        };

        let mut new = Vec::new();
        let hashes = links.iter().map(|follow| page.links[follow.link as usize].id.url);
        new.extend([page.id.url].into_iter().chain(hashes).filter(|hash| self.urls.meet(*hash)));
        records::put_met(order, &new, &mut self.session);
        let earlier = met.as_ref().map(|record| record.name.clone());
        if let Some(shown) = shown {
            // If the same bytes come again, the name of the first page with these bytes is kept, because they are found
            // under it.
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

    /// The links of a duplicate, among those that its caller could follow, that have no counterpart on its twin.
    fn news(&mut self, case: &Case<'_>, twin: Option<Twin>, fate: &Fate, links: &[Follow]) -> Result<Vec<OutLink>> {
        if links.is_empty() {
            return Ok(Vec::new());
        }
        let passing = twin.map(|twin| self.flow.held(case, twin, &url_of, &self.session)).transpose()?;
        let held = if let Fate::Hold(held) = fate { Some(held) } else { passing.as_ref() };
        let is_news = |link: &&OutLink| held.is_some_and(|held| held.counterpart(link) == Counterpart::News);
        Ok(links.iter().map(|follow| &case.links[follow.link as usize]).filter(is_news).cloned().collect())
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

    /// Writes pending changes to the store. They do not count before the next flush.
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

    /// Removes some entries of the undo log that are not needed any more. The next commit writes the removal.
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
