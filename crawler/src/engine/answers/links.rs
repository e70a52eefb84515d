//! The fate of the links of one page: they are queued, or held for the links of the page's twin.

use std::sync::Arc;

use dedup_stage::flow::{Counterpart, Fate};
use dedup_stage::judge::Judgement;
use frontier::{Admission, FoundLink, Hold, Job, SkipReason, Via};
use url::Url;

use super::barren::area;
use crate::engine::error::Result;
use crate::engine::message::{LinkNote, PageFinding};
use crate::engine::state::EngineState;
use crate::outbound::Wish;

/// Counts of the links of one page.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinkCounts {
    /// Links that were not met before.
    pub new: u32,
    /// Links that were queued as links.
    pub admitted: u32,
    /// Links of a duplicate (or of a page that is unique only by its links) that were held, stopped or tried.
    pub dropped: u32,
    /// New links out of the page's area, if the page has no new text.
    pub beyond: u32,
    /// New links within the page's area, if the page has no new text.
    pub within: u32,
    /// Of a page whose links are held or tried: links in its content that lead out of the crawl's scope and were not
    /// met before. Links with parameters do not count, because buttons for sharing a page and advertisements have them.
    pub away: u32,
    /// If the pieces of the page are known: new links that promise something new ([`LinkCounts::promise`]).
    pub promising: u32,
}

impl LinkCounts {
    /// A page with at least this many links of [`LinkCounts::away`] is a directory of other sites.
    pub const MANY_AWAY: u32 = 3;

    /// Whether a page whose pieces are known has links that promise something new: some were not met before, lead out
    /// of the area of the page, and have a form whose pages still bring something; or it is a directory of other
    /// sites.
    pub fn promise(&self) -> bool {
        self.promising > 0 || self.away >= Self::MANY_AWAY
    }
}

impl EngineState<'_> {
    /// At most this many new links of a page are named, and as many vanished ones.
    pub(in crate::engine) const NAMED: usize = 100;

    /// Takes the links of one page: they are queued, or held. At a later visit to its URL, also returns the links that
    /// were not met before. `rearranges` says that the pieces of the page are known.
    pub(super) fn take_links(
        &mut self,
        job: &Job,
        judgement: &Judgement,
        relevance: Option<f32>,
        finding: &PageFinding,
        (fate, rearranges): (Fate, bool),
    ) -> Result<(LinkCounts, Option<Vec<Url>>)> {
        let mut counts = LinkCounts::default();
        let mut named = (job.page.visit > 1).then(Vec::new);
        let corpora = Arc::clone(self.flow.judge().known());
        let (via, depth) = match &finding.redirect {
            Some(redirect) => (Via::Redirect { hops: job.hops + 1, again: redirect.again }, job.depth),
            None if finding.is_feed => (Via::Feed, job.depth + 1),
            None => (Via::Link, job.depth + 1),
        };
        let novelty = match fate {
            Fate::Follow(novelty) => novelty,
            Fate::Try(_) => 1.0,
            Fate::Hold(_) | Fate::HoldKnown(_) => 0.0,
        };
        let page = self.scores.page(job, novelty, depth, relevance);
        let area = area(job, judgement, rearranges);
        self.frontier.expect(finding.links.iter().map(|link| link.id.url));
        self.ledger.stats.links_found += finding.links.len() as u64;
        for (link, note) in finding.links.iter().zip(&finding.notes) {
            let (priority, merits) = match &finding.redirect {
                // A target to which the chain comes back with a cookie is requested at once, because some cookies do
                // not last.
                Some(redirect) if redirect.again && link.id != job.page.url => (1.0, job.merits),
                Some(_) => (job.priority, job.merits),
                None => self.scores.link(page, link.id.url, note),
            };
            let source = Some(job.page);
            let found = FoundLink { url: &link.url, id: link.id, depth, priority, merits, source, via };
            let new = match &fate {
                Fate::Follow(_) => {
                    let (admission, new) = self.admit(&found, note.refusal)?;
                    counts.admitted += u32::from(admission == Admission::Queued);
                    new
                }
                Fate::Hold(held) | Fate::Try(held) => {
                    let (kept, is_away) = self.hold(&found, note, || match held.counterpart(link) {
                        Counterpart::Same => Hold::For(found.id),
                        Counterpart::Of(other) => Hold::For(other),
                        Counterpart::News => Hold::News,
                    })?;
                    counts.dropped += u32::from(kept);
                    counts.away += u32::from(is_away && link.content && link.url.query().is_none());
                    kept
                }
                Fate::HoldKnown(corpus) => {
                    let (kept, _) = self.hold(&found, note, || Hold::Known(corpora.get(*corpus).name()))?;
                    counts.dropped += u32::from(kept);
                    kept
                }
            };
            counts.new += u32::from(new);
            if let Some(named) = named.as_mut().filter(|named| new && named.len() < Self::NAMED) {
                named.push(link.url.clone());
            }
            let within = area.as_ref().is_some_and(|area| new && area.has(&link.url));
            counts.within += u32::from(within);
            counts.beyond += u32::from(new && area.is_some() && !within);
            let promises = rearranges && new && !within && note.refusal.is_none();
            counts.promising += u32::from(promises && self.forms.promises(link.id.site, &link.url));
        }
        let stats = &mut self.ledger.stats;
        stats.links_new += u64::from(counts.new);
        stats.links_admitted += u64::from(counts.admitted);
        stats.links_dropped += u64::from(counts.dropped);
        Ok((counts, named))
    }

    /// Takes a link of a duplicate: it is held for its counterpart, as news or as known. Returns two facts. The first
    /// is whether it was held, stopped or queued now. (The frontier may decide to try it at once.) The second is
    /// whether it leads out of the scope and was not met before.
    fn hold<'h>(
        &mut self,
        found: &FoundLink<'_>,
        note: &LinkNote,
        hold: impl FnOnce() -> Hold<'h>,
    ) -> Result<(bool, bool)> {
        if note.refusal.is_some() {
            let is_new = !self.frontier.met(found.id.url);
            let (admission, _) = self.admit(found, note.refusal)?;
            return Ok((false, is_new && admission == Admission::Refused(SkipReason::Scope)));
        }
        if !self.frontier.wants_counterpart(found.id.url) {
            return Ok((false, false));
        }
        let (hold, session) = (hold(), &mut self.ledger.session);
        let admission = self.frontier.hold(found, hold, session)?;
        self.ledger.stats.count_left_out(admission);
        match admission {
            Admission::Held | Admission::Queued => Ok((true, false)),
            Admission::Elsewhere => Ok((self.put_outbound(found, Wish::hold(hold))?, false)),
            Admission::Seen | Admission::Refused(_) | Admission::LeftOut => Ok((false, false)),
        }
    }
}
