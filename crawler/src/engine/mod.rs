//! The engine: one thread that makes every decision. It owns the frontier, the flow (the judge and the gate) and the
//! ledger (the state, the outputs and the counters), so it needs no locks.
//!
//! The engine hands out jobs while it has credits (`jobs`), and takes one report for each. It judges pages in the order
//! of their fetches (heavy ones in the order of reading, see `line_up`), and queues or holds their links (`state`). It
//! commits the changes in groups (`ledger`). Fetchers and page workers know nothing about these decisions.

mod alike;
mod allowance;
mod archived;
mod attempts;
mod barren;
mod barrier;
mod batch;
mod bounce;
mod close;
mod common_order;
mod error;
mod fetchers;
mod gists;
mod honesty;
mod jobs;
mod ledger;
mod line;
mod line_up;
mod links;
mod links_out;
mod lists;
mod local_trouble;
mod log;
mod login;
mod message;
mod needs;
mod own_words;
mod page;
mod page_limit;
#[cfg(feature = "pdf")]
mod pdfs;
mod peer_state;
mod peers;
mod proposals;
mod reading;
mod rearranged;
mod rescue;
mod round;
mod scores;
mod scoring;
mod sessions;
mod shorter_paths;
mod sitemaps;
mod standing;
mod start;
mod state;
mod stats;
mod stopwatch;
mod stubs;
mod trouble;
mod twin;
mod under_way;
mod unfinished;
mod unread;
mod usage;
mod vanished;
mod visits;
mod worker;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use config::Settings;
use crossbeam_channel::{Receiver, never, select_biased};
use dedup_stage::flow::Flow;
use dedup_stage::store::Session;
use frontier::{Frontier, Millis, Next};

use crate::access::{LoggedIn, SiteAccess};
use crate::clock::Clock;
use crate::outbound::Outbound;
use crate::sink::Sink;

pub use attempts::Attempt;
pub use error::EngineError;
use error::Result;
use jobs::Jobs;
use ledger::Ledger;
pub use log::Log;
use login::LogIn;
pub use peer_state::{PAGES_AT, places};
pub use peers::{All, Event, PeerProgress, Peers, PeersError, Phase, Proposed, QuotaRequest};
pub use rescue::{found, lost};
pub use start::run;
use state::EngineState;
pub use stats::{LongDelays, Memory, Nobody, Observer, Snapshot, Stats, StopReason, TICK};
pub use trouble::WorstHost;
pub use unread::{Unread, causes as unread};
pub use visits::{AGES, Freshness, HostRate, Round};
pub use worker::Context;

/// Orders to a running crawl, from its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// End soon, with the state saved.
    Stop,
    /// Start no new jobs until resumed.
    Pause,
    /// Go on.
    Resume,
}

/// The parts of a crawl before it runs.
pub struct Parts<'a> {
    /// All settings.
    pub settings: &'a Settings,
    /// The crawl directory.
    pub dir: PathBuf,
    /// The state.
    pub session: Session,
    /// The frontier, which decides what to fetch next.
    pub frontier: Frontier,
    /// The judge and the gate.
    pub flow: Flow,
    /// Cookies, accounts and signatures: the identity of the crawl at each site.
    pub access: SiteAccess,
    /// Outputs; the first is `pages.jsonl`, whose offsets page records name.
    pub sinks: Vec<Box<dyn Sink>>,
    /// Counters so far.
    pub stats: Stats,
    /// The settings of the page workers.
    pub context: Arc<Context>,
    /// The program that reads PDF files.
    #[cfg(feature = "pdf")]
    pub pdf: crate::pdf::Program,
    /// The clock.
    pub clock: Clock,
    /// The channel of orders.
    pub control: Receiver<Control>,
    /// Whether the run is only for a round of visits. If so, a crawl that is not finished does not go on afterwards.
    pub only_visits: bool,
    /// The processes that crawl with this one. On one machine there are none.
    pub peers: Option<Box<dyn Peers>>,
}

impl Parts<'_> {
    /// Takes links from another directory of the same crawl. They are durable when this returns. A link that was found
    /// here before changes nothing, so links may arrive twice.
    pub fn arrive(&mut self, links: &[Outbound]) -> Result<()> {
        for link in links {
            link.arrive(&mut self.frontier, self.clock.now(), &mut self.session)?;
        }
        self.stats.take_counts(&self.frontier.counts());
        self.stats.put(&mut self.session)?;
        Ok(self.session.commit()?)
    }
}

/// A stopping crawl waits so long for open jobs, and leaves the others to the next run.
const GRACE: Millis = 5_000;

/// A running crawl.
struct Engine<'a> {
    state: EngineState<'a>,
    jobs: Jobs,
    dir: PathBuf,
    control: Receiver<Control>,
    observer: &'a mut dyn Observer,
    /// Begins the logins that are not done.
    log_in: LogIn,
    /// Brings the results of the logins.
    logged_in: Receiver<LoggedIn>,
    /// The time at which the frontier has the next job. `None` if it has none before a report comes.
    due: Option<Millis>,
    /// Whether the frontier has more work in the background.
    more: bool,
    last_tick: Millis,
    paused: bool,
    /// Set when the crawl must end: the reason, and the time after which open jobs are left to the next run.
    stopping: Option<(StopReason, Millis)>,
}

impl Engine<'_> {
    fn run(&mut self) -> Result<StopReason> {
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

    fn now(&self) -> Millis {
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
