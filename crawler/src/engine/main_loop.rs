//! The loop of the engine: it hands out jobs, takes their reports, and waits for whatever comes next.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, never, select_biased};
use frontier::{Millis, Next};

use super::error::PeersError;
use super::error::{EngineError, Result};
use super::jobs::Jobs;
use super::ledger::Ledger;
use super::login::LogIn;
use super::parts::Control;
use super::rescue::found;
use super::state::EngineState;
use super::stats::{Observer, Snapshot, StopReason, TICK};
use crate::access::LoggedIn;

/// A stopping crawl waits so long for open jobs, and leaves the others to the next run.
pub(super) const GRACE: Millis = 5_000;

/// A running crawl.
pub(super) struct Engine<'a> {
    pub(super) state: EngineState<'a>,
    pub(super) jobs: Jobs,
    pub(super) dir: PathBuf,
    pub(super) control: Receiver<Control>,
    pub(super) observer: &'a mut dyn Observer,
    /// Begins the logins that are not done.
    pub(super) log_in: LogIn,
    /// Brings the results of the logins.
    pub(super) logged_in: Receiver<LoggedIn>,
    /// The time at which the frontier has the next job. `None` if it has none before a report comes.
    pub(super) due: Option<Millis>,
    /// Whether the frontier has more work in the background.
    pub(super) more: bool,
    pub(super) last_tick: Millis,
    pub(super) paused: bool,
    /// Set when the crawl must end: the reason, and the time after which open jobs are left to the next run.
    pub(super) stopping: Option<(StopReason, Millis)>,
}

impl Engine<'_> {
    pub(super) fn run(&mut self) -> Result<StopReason> {
        loop {
            // An order that has come before the run, or meanwhile, holds for the jobs that would begin now.
            while let Ok(order) = self.control.try_recv() {
                self.obey(order);
            }
            if self.stopping.is_none() {
                self.check_limits();
            }
            if self.stopping.is_none() && !self.paused && !self.is_quiet() {
                self.more = self.state.step()?;
                self.more |= self.state.go_on_with_sitemap()?;
                self.state.feed_visits()?;
                self.seek_pages();
                self.hand_out()?;
                // If a visit was refused when its turn came, the next visit of its host can be queued.
                self.more |= self.state.feed_visits()?;
            }
            if let Some(reason) = self.ended() {
                let over = self.stopping.is_none() && matches!(reason, StopReason::Done | StopReason::Waiting);
                if self.stopping.is_none() && self.state.peer_state.is_some() {
                    self.be_quiet(reason)?;
                } else if over && self.state.drain()? {
                    self.more = true;
                    continue;
                } else if !(over && self.state.continuous.is_some()) {
                    return self.finish(reason);
                }
            }
            if let Some(reason) = self.wait()? {
                return self.finish(reason);
            }
            self.take_late_reports()?;
            if self.state.ledger.is_due(self.now()) {
                self.state.commit()?;
            }
            if self.now() >= self.last_tick + TICK {
                self.tick(None);
            }
        }
    }

    pub(super) fn now(&self) -> Millis {
        self.state.clock.now()
    }

    /// Hands out jobs while there are credits and the frontier has a job that is due.
    fn hand_out(&mut self) -> Result<()> {
        if self.state.access.must_log_in() {
            self.logged_in = (self.log_in)(self.state.access.leave())?;
        }
        let now = self.now();
        self.due = self.state.local.pause(now);
        if self.due.is_some() {
            return Ok(());
        }
        while self.jobs.has_credit() {
            let is_full = self.is_full();
            if is_full && self.state.requisites == 0 {
                if self.hand_out_errand()? {
                    continue;
                }
                break;
            }
            if !is_full && let Some(job) = self.state.waited() {
                if let Some(order) = self.state.order(job)? {
                    self.jobs.start(order)?;
                }
                continue;
            }
            match self.state.frontier.next(self.now(), &mut self.state.ledger.session)? {
                // Requisites come first on each host, so the host of this job has no more of them, and the job waits.
                Next::Job(job) if is_full && !self.state.is_for_requisites(&job) => self.state.waiting.push_back(job),
                Next::Job(job) => {
                    if let Some(order) = self.state.order(job)? {
                        self.jobs.start(order)?;
                    }
                }
                Next::Wait(due) => {
                    self.due = Some(due);
                    break;
                }
                Next::Idle => break,
            }
        }
        self.jobs.set_pressure(self.state.frontier.is_crowded(self.now(), self.jobs.credits()));
        Ok(())
    }

    /// The reason for which the crawl has ended; `None` if it has not.
    fn ended(&self) -> Option<StopReason> {
        let (now, is_full) = (self.now(), self.is_full());
        if let Some((reason, grace)) = self.stopping {
            return (self.jobs.open() == 0 || now >= grace).then_some(reason);
        }
        // If nothing was answered in this run, trouble of this machine makes the crawl wait no longer than its patience.
        let (local, patience) = (&self.state.local, self.state.settings.limits.patience.0);
        let pauses = local.pause(now).is_some() && !local.lasts(patience, now);
        let waits = pauses || self.paused || self.more || self.state.access.is_away();
        let waits = waits || self.state.peer_state.as_ref().is_some_and(|peer_state| peer_state.waits(is_full));
        if self.jobs.open() > 0 || waits || !(is_full || self.state.waiting.is_empty()) {
            return None;
        }
        let waits_long = local.lasts(patience, now) || self.due.is_none_or(|due| due > now + patience);
        match self.due {
            _ if waits_long && is_full => Some(StopReason::PageLimit),
            None if self.state.frontier.counts().queued == 0 => Some(StopReason::Done),
            _ if waits_long => Some(StopReason::Waiting),
            _ => None,
        }
    }

    /// Writes everything down at the end of the run.
    fn finish(&mut self, reason: StopReason) -> Result<StopReason> {
        self.state.end_round(reason)?;
        self.state.close(reason, self.due.filter(|_| reason == StopReason::Waiting), &self.dir)?;
        self.state.commit()?;
        self.state.ledger.finish()?;
        self.tick(Some(reason));
        Ok(reason)
    }

    fn obey(&mut self, order: Control) {
        match order {
            Control::Stop => {
                let grace = self.now() + GRACE;
                self.stopping.get_or_insert((StopReason::Stopped, grace));
            }
            Control::Pause => self.paused = true,
            Control::Resume => self.paused = false,
        }
    }

    /// The time at which the next visit is due.
    fn visits_due(&mut self) -> Option<Millis> {
        if self.paused { None } else { self.state.visits_due() }
    }

    /// Waits for a report, an order, the end of a login, or the time at which something is due. The engine waits
    /// nowhere else. Returns why the run ends, if other processes have decided that it does.
    fn wait(&mut self) -> Result<Option<StopReason>> {
        let now = self.now();
        let mut deadline = (self.last_tick + TICK).min(self.state.ledger.commit_at());
        if let Some((_, grace)) = self.stopping {
            deadline = deadline.min(grace);
        } else if self.more && !self.paused {
            deadline = now;
        } else if !self.paused
            && self.jobs.has_credit()
            && let Some(due) = [self.due, self.visits_due()].into_iter().flatten().min()
        {
            if self.jobs.open() == 0 && !self.state.access.is_away() && self.state.clock.skip_to(due) {
                return Ok(None);
            }
            deadline = deadline.min(due);
        }
        let events = match &self.state.peer_state {
            Some(peer_state) => {
                deadline = deadline.min(peer_state.barrier.due().unwrap_or(deadline));
                peer_state.peers.events().clone()
            }
            None => never(),
        };
        let until = Instant::now() + Duration::from_millis(deadline.saturating_sub(now));
        let (reports, control, logged_in) = (self.wakes(), self.control.clone(), self.logged_in.clone());
        select_biased! {
            recv(control) -> order => match order {
                Ok(order) => self.obey(order),
                Err(_) => self.control = never(),
            },
            recv(logged_in) -> done => {
                self.logged_in = never();
                let done = done.map_err(|_| EngineError::Internal("a login panicked"))?;
                done.requests().iter().for_each(|request| self.state.log.note_login(request));
                if let Err(error) = self.state.access.come_back(done, &mut self.state.ledger.session) {
                    self.state.commit()?;
                    return Err(error.into());
                }
            },
            recv(events) -> event => {
                let event = event.map_err(|_| PeersError("its thread ended".into()))?;
                let ended = self.hear_all(event, &events)?;
                if ended.is_some() { return Ok(ended); }
            },
            recv(reports) -> some => {
                self.jobs.arrived(some.map_err(|_| EngineError::Internal("the page workers are gone"))?);
                // Takes all reports that have come, because waking up once for each would cost more than the work.
                while let Ok(some) = self.jobs.reports.try_recv() {
                    self.jobs.arrived(some);
                }
                self.take_reports()?;
            },
            default(until.saturating_duration_since(Instant::now())) => {},
        }
        Ok(None)
    }

    fn tick(&mut self, stopped: Option<StopReason>) {
        self.last_tick = self.now();
        let counts = self.state.frontier.counts();
        if stopped.is_none() {
            // The last figures are those that the state has.
            self.state.ledger.update(self.last_tick, &self.state.frontier, self.state.flow.judge());
        }
        self.state.log.flush();
        self.tell(stopped);
        let Ledger { stats, session, .. } = &self.state.ledger;
        self.observer.tick(&Snapshot {
            stats,
            counts,
            frontier: &self.state.frontier,
            in_flight: self.jobs.open(),
            lost: stats.lost(found(session).ok().flatten()),
            harvest: stats.harvest(),
            trouble: self.state.local.what(),
            now: self.last_tick,
            stopped,
        });
    }
}
