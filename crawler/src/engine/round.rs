//! The glue between the desk and a round of visits (`visits`): the round begins and ends here, and the desk tells it
//! about each visit that has ended.

use config::OnDuplicate;
use dedup_stage::judge::{Judgement, Shown};
use dedup_stage::url::PageId;
use frontier::{Job, Millis, State};

use super::Result;
use super::desk::Desk;
use super::stats::StopReason;
use super::visits::{Ended, Round, Visits};
use crate::fetch::Validators;
use crate::record::PageRecord;
use crate::sink::Changed;

impl Ended {
    /// The result of a visit whose answer has this status and judgement.
    pub(super) fn of(status: u16, judgement: &Judgement, before: Option<&PageRecord>) -> Self {
        match status {
            200..300 | 304 => Ended::Showed {
                changed: Changed::of(judgement, before.and_then(|before| before.shown.as_ref())),
                twin: judgement.verdict.twin().map(|twin| twin.url),
            },
            300..400 => Ended::Moved,
            404 | 410 => Ended::Missing,
            _ => Ended::Trouble,
        }
    }
}

impl Desk<'_> {
    /// Begins a round of visits, or goes on with one that was interrupted. `only_visits`: nothing else is wanted.
    pub(super) fn begin_round(&mut self, only_visits: bool) -> Result<()> {
        let now = self.clock.now();
        let last = self.ledger.stats.round.take();
        let mut round = match last {
            Some(round) if !round.done => round,
            last => Round {
                number: last.map_or(1, |last| last.number + 1),
                started: now,
                amid_crawl: only_visits && self.frontier.counts().queued > 0,
                ..Round::default()
            },
        };
        // In `keep`, the user wants every copy as it is now, so no copy is trusted.
        let trusts = self.settings.dedup.on_duplicate != OnDuplicate::Keep;
        let priority = |depth| self.scores.of_depth(depth);
        self.visits = Some(Visits::plan(&mut round, trusts, &priority, now, &self.ledger.session)?);
        self.ledger.stats.round = Some(round);
        Ok(())
    }

    /// Queues the next visits. True if there were any.
    pub(super) fn feed_visits(&mut self) -> Result<bool> {
        let Some(visits) = &mut self.visits else { return Ok(false) };
        Ok(visits.feed(&mut self.frontier, &mut self.ledger.session)?)
    }

    /// Whether the visits are all that this run was to do, and they are done.
    pub(super) fn round_is_over(&self) -> bool {
        let amid_crawl = self.ledger.stats.round.as_ref().is_some_and(|round| round.amid_crawl);
        amid_crawl && self.visits.as_ref().is_some_and(Visits::are_done)
    }

    /// The run ends. A round that was stopped is not done: the next run continues it.
    pub(super) fn end_round(&mut self, reason: StopReason) {
        if self.visits.is_some()
            && let Some(round) = &mut self.ledger.stats.round
        {
            round.done = reason != StopReason::Stopped;
        }
    }

    /// A visit to a page has ended.
    pub(super) fn visit_ended(&mut self, job: &Job, at: Millis, ended: Ended) {
        if let (Some(visits), Some(round)) = (&mut self.visits, &mut self.ledger.stats.round) {
            visits.ended(job.page.url, ended, at, round);
        }
    }

    /// The validators for a conditional request. A copy gets a conditional request only if its original still shows what
    /// the copy was a copy of. Otherwise it gets a full request, because "not modified" compares the copy with its own
    /// past, and not with the original.
    pub(super) fn validators(&self, job: &Job) -> Result<Option<Validators>> {
        let Some(before) = self.before(job)? else { return Ok(None) };
        if let Some(of) = before.shown.as_ref().and_then(|shown| shown.of) {
            let Some(State::Done(visit)) = self.frontier.state(of.url, &self.ledger.session)? else { return Ok(None) };
            let latest = self.ledger.page(PageId { visit: visit.number, ..of })?;
            let shows = latest.and_then(|latest| latest.shown).map(|shown| shown.visit);
            if shows != Some(of.visit) {
                return Ok(None);
            }
        }
        Ok(Some(before.validators).filter(|known| !known.is_empty()))
    }

    /// Whether the judge must forget the content of a URL, so that no later page is a duplicate of it: the URL is gone,
    /// or a copy takes its place.
    pub(super) fn is_to_forget(&self, job: &Job, ended: Ended) -> Result<bool> {
        if job.page.visit < 2 || !matches!(ended, Ended::Missing | Ended::Moved) {
            return Ok(false);
        }
        let is_replaced = self.visits.as_ref().is_some_and(|visits| visits.has_copies(job.page.url));
        let state = self.frontier.state(job.page.url, &self.ledger.session)?;
        Ok(is_replaced || matches!(state, Some(State::Gone(_))))
    }

    /// Makes the judge forget the content of a URL. Returns the record to store for the next visit, which is none.
    pub(super) fn forget(&mut self, job: &Job, shown: Option<Shown>) -> Result<Option<Shown>> {
        if let Some(shown) = shown {
            self.flow.judge_mut().forget(&shown, job.page.url, &mut self.ledger.session)?;
        }
        Ok(None)
    }
}
