//! Links that a page showed at its last visit, and does not show any more.

use std::collections::HashSet;

use dedup_stage::judge::{Judgement, Verdict};
use dedup_stage::url::PageId;
use frontier::Job;

use super::error::Result;
use super::message::PageFinding;
use super::state::EngineState;
use crate::graph::{self, Edge, Kind};
use crate::record::PageRecord;

/// The links that vanished from one page.
#[derive(Clone, Debug, Default)]
pub(super) struct Vanished {
    pub count: u32,
    /// The URLs of those that the crawl has fetched; no more than [`EngineState::NAMED`].
    pub named: Vec<String>,
}

impl EngineState<'_> {
    /// The links that vanished since the last visit, of which `before` is the record. `None` if nothing can be
    /// compared: at the first visit, after an error, and if another directory has the links of the last visit.
    pub(super) fn vanished(
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
        let Some(at) = before.graph else {
            let had_none = before.shown.is_some() && before.offset != PageRecord::ELSEWHERE;
            return Ok(had_none.then(Vanished::default));
        };
        let Some(earlier) = graph::edges_at(self.ledger.dir(), at, job.page.url)? else { return Ok(None) };
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
}
