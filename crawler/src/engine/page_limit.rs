//! The part of the engine that obeys the limits of a run, above all `--max-pages`.

use frontier::{JobKind, Next, Outcome};

use super::error::Result;
use super::main_loop::{Engine, GRACE};
use super::stats::StopReason;

impl Engine<'_> {
    /// Begins to end the run if it has come to a limit.
    pub(super) fn check_limits(&mut self) {
        let (now, limits) = (self.now(), &self.state.settings.limits);
        // If several processes crawl, the limit is that of all of them.
        let is_alone = self.state.peer_state.is_none();
        let is_full = is_alone && limits.max_pages > 0 && self.state.ledger.stats.pages >= limits.max_pages;
        if is_full && self.state.requisites == 0 {
            self.stopping = Some((StopReason::PageLimit, now + GRACE));
        } else if limits.time_limit.0 > 0 && now >= self.state.ledger.started() + limits.time_limit.0 {
            self.stopping = Some((StopReason::TimeLimit, now + GRACE));
        } else if self.state.round_is_over() {
            self.stopping = Some((StopReason::Done, now + GRACE));
        }
    }

    /// Whether `--max-pages` allows no more page jobs than are open now.
    pub(super) fn is_full(&self) -> bool {
        let (limit, pages, open) =
            (self.state.settings.limits.max_pages, self.state.ledger.stats.pages, self.jobs.open_pages());
        match &self.state.peer_state {
            Some(peer_state) => peer_state.allowance.as_ref().is_some_and(|allowance| allowance.is_full(pages, open)),
            None => limit > 0 && pages + open >= limit,
        }
    }

    /// Asks for more pages, if those that may be fetched here are soon used up.
    pub(super) fn seek_pages(&mut self) {
        let (fetched, open) = (self.state.ledger.stats.pages, self.jobs.open_pages());
        let Some(peer_state) = &mut self.state.peer_state else { return };
        let request = peer_state.allowance.as_mut().and_then(|allowance| allowance.ask(fetched, open));
        if let Some(request) = request {
            peer_state.peers.ask_for_pages(request);
        }
    }

    /// Hands out a job that another process waits for, while no page may be fetched. Returns false if there is none.
    pub(super) fn hand_out_errand(&mut self) -> Result<bool> {
        if self.state.peer_state.is_none() {
            return Ok(false);
        }
        let now = self.now();
        // While a job waits, its host gets no other job. So the page jobs that wait are given back first.
        let job = match self.state.waited() {
            Some(job) if job.kind == JobKind::Page => {
                let back = Outcome::Returned { requested: false };
                self.state.frontier.report(&job, back, now, &mut self.state.ledger.session)?;
                return Ok(true);
            }
            Some(job) => job,
            None => match self.state.frontier.next_errand(now, &mut self.state.ledger.session)? {
                Next::Job(job) => job,
                Next::Wait(due) => {
                    self.due = Some(due);
                    return Ok(false);
                }
                Next::Idle => return Ok(false),
            },
        };
        if let Some(order) = self.state.order(job)? {
            self.jobs.start(order)?;
        }
        Ok(true)
    }
}
