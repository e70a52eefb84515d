//! Compares the links of a page with those that it showed at its last visit: links that vanished, and new links to URLs
//! that had no page. Such a URL may have one now, so it is visited in the next round, however long it would have waited.

use std::collections::HashSet;

use dedup_stage::judge::{Judgement, Verdict};
use dedup_stage::url::{PageId, UrlId};
use frontier::Job;

use crate::engine::error::Result;
use crate::engine::message::PageFinding;
use crate::engine::state::EngineState;
use crate::graph::{self, Edge, Kind};
use crate::record::PageRecord;
use crate::spaces;

/// The links that vanished from one page.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct Vanished {
    pub count: u32,
    /// The URLs of those that the crawl has fetched; no more than [`EngineState::NAMED`].
    pub named: Vec<String>,
}

impl EngineState<'_> {
    /// The links that vanished since the last visit, of which `before` is the record. `None` if nothing can be
    /// compared: at the first visit, after an error, and if another directory has the links of the last visit.
    pub(in crate::engine) fn vanished(
        &self,
        job: &Job,
        finding: &PageFinding,
        judgement: &Judgement,
        before: Option<&PageRecord>,
    ) -> Result<Option<Vanished>> {
        let Some(before) = before.filter(|_| job.page.visit > 1) else { return Ok(None) };
        if matches!(judgement.verdict, Verdict::Unchanged { bytes: false, .. }) {
            return Ok(Some(Vanished::default()));
        }
        if !finding.shows() {
            return Ok(None);
        }
        let Some(earlier) = self.links_before(job, before)? else { return Ok(None) };
        let present: HashSet<u64> = finding.links.iter().map(|link| link.id.url).collect();
        let is_gone = |edge: &&Edge| edge.kind != Kind::Redirect && !present.contains(&edge.target.url);
        let mut vanished = Vanished::default();
        for Edge { target, .. } in earlier.iter().filter(is_gone) {
            vanished.count += 1;
            if vanished.named.len() < Self::NAMED
                && let Some(record) = self.ledger.page(PageId { url: *target, visit: 1 })?
            {
                vanished.named.push(record.url);
            }
        }
        Ok(Some(vanished))
    }

    /// The links at the last visit, of which `before` is the record. `None` if another directory has them.
    fn links_before(&self, job: &Job, before: &PageRecord) -> Result<Option<Vec<Edge>>> {
        let Some(at) = before.graph else {
            let had_none = before.shown.is_some() && before.offset != PageRecord::ELSEWHERE;
            return Ok(had_none.then(Vec::new));
        };
        Ok(graph::edges_at(self.ledger.dir(), at, job.page.url)?)
    }

    /// Notes the URLs without a page to which a page links now and did not link at its last visit. This is done only
    /// while pages are visited again: in a first crawl, nearly all links are new, and most dead ones are just that.
    pub(super) fn note_relinked(
        &mut self,
        job: &Job,
        finding: &PageFinding,
        before: Option<&PageRecord>,
    ) -> Result<()> {
        if self.visits.is_none() && self.continuous.is_none() {
            return Ok(());
        }
        let links = finding.links.iter().zip(&finding.notes).filter(|(_, note)| note.refusal.is_none());
        let targets = links.map(|(link, _)| link.id).filter(|id| self.frontier.has_no_page(id.url));
        let targets: Vec<UrlId> = targets.collect();
        if targets.is_empty() || !finding.shows() {
            return Ok(());
        }
        let earlier = match before {
            Some(before) => self.links_before(job, before)?,
            None => Some(Vec::new()),
        };
        let Some(earlier) = earlier else { return Ok(()) };
        let known: HashSet<UrlId> = earlier.iter().map(|edge| edge.target).collect();
        for url in targets.into_iter().filter(|url| !known.contains(url)) {
            self.ledger.session.put(spaces::RELINKED, url.to_bytes(), []);
            if let Some(visits) = &mut self.continuous {
                visits.relinked(url);
            }
        }
        Ok(())
    }
}
