//! The part of the engine that talks with other processes: it sends links and pages to them, and follows the pages that
//! they judge.

use dedup_stage::judge::{Case, Proposal};
use dedup_stage::store::{self, Space};

use super::error::Result;
use super::ledger;
use super::message::{Finding, JobReport};
use super::peers::Proposed;
use super::peers::state::{LINKS_AT, PAGES_AT, places};
use super::state::EngineState;
use crate::outbound::{self, Outbound};
use crate::record::PageRecord;

impl EngineState<'_> {
    /// Sends links to the processes that have their hosts. The links must be durable there before the commit which
    /// records that they were sent.
    pub(super) fn send_links(&mut self) -> Result<()> {
        let Some(peer_state) = &mut self.peer_state else { return Ok(()) };
        let session = &mut self.ledger.session;
        let keys = std::mem::take(&mut peer_state.outgoing);
        let links = keys.iter().filter_map(|key| outbound::waits_at(key, session).transpose());
        let links: Vec<Outbound> = links.collect::<store::Result<_>>()?;
        let mut all = peer_state.due_errands(self.frontier.take_errands(), self.clock.now());
        all.extend(self.frontier.take_answers().into_iter().map(|(asker, rules)| Outbound::rules(asker, &rules)));
        all.extend(links.iter().cloned());
        all.append(&mut peer_state.onward);
        if !all.is_empty() {
            peer_state.peers.send(&all)?;
            outbound::taken(&links, &|url| self.frontier.id(url), session)?;
        }
        for group in std::mem::take(&mut peer_state.stale).chunks(Proposed::MOST) {
            peer_state.peers.propose(&group.iter().collect::<Vec<_>>())?;
        }
        if places(session)? != (peer_state.links_at, peer_state.pages_at) {
            session.put(Space::META, LINKS_AT, peer_state.links_at.to_be_bytes());
            session.put(Space::META, PAGES_AT, peer_state.pages_at.to_be_bytes());
        }
        Ok(())
    }

    /// Follows pages that another process judges.
    pub(super) fn follow(&mut self, at: u64, pages: Vec<Proposed>) -> Result<()> {
        let pages = pages.into_iter().enumerate();
        self.follow_all(pages.map(|(place, proposed)| (Proposed::order(at, place), proposed.page)))
    }

    fn follow_all(&mut self, pages: impl IntoIterator<Item = (u64, Proposal)>) -> Result<()> {
        let session = &mut self.ledger.session;
        for page in self.flow.judge_mut().follow(pages, &ledger::url_of, session)? {
            PageRecord::elsewhere(&page).put_elsewhere(page.id(), session);
        }
        Ok(())
    }

    /// Takes a page of this process at its place in the common order.
    pub(super) fn take_in_order(&mut self, report: JobReport, proposed: Proposed, order: u64) -> Result<()> {
        self.ledger.set_order(order);
        self.take(report)?;
        if self.ledger.unset_order() {
            // The page was not judged after all (because its host asked for time, say). But the others have followed
            // it.
            self.follow_all([(order, proposed.page)])?;
        }
        Ok(())
    }
}

impl EngineState<'_> {
    /// The part of a report that other processes must know. `None` if it is no page that the judge compares. If its
    /// links alone fill a message, only this process knows the page, but the page has a place in the common order like
    /// any other. Otherwise the judge would take it and the next page of the group for one page.
    pub(super) fn proposed(&self, report: &mut JobReport) -> Result<Option<Proposed>> {
        let JobReport { job, ended_at, finding: Finding::Page(page), .. } = report else { return Ok(None) };
        if job.is_requisite() || page.redirect.is_some() || page.unchanged {
            return Ok(None);
        }
        let before = self.before(job)?;
        if let Some(before) = &before {
            self.note_known_links(job, before, page)?;
        }
        let case = Case {
            order: 0,
            id: job.page,
            url: &job.url,
            before: before.as_ref().and_then(|before| before.shown.as_ref()),
            judgeable: page.judgeable,
            page: &page.page,
            links: &page.links,
            ahead: None,
        };
        let proposed = Proposal::of(&case, *ended_at).map(|page| Proposed { page });
        Ok(proposed.map(|proposed| {
            if proposed.bytes() <= Proposed::MOST_BYTES {
                return proposed;
            }
            tracing::warn!(
                "{}: its links fill more than a message, so other workers do not hear of this page",
                job.url
            );
            Proposed { page: Proposal::of_place() }
        }))
    }
}
