//! The engine: one thread that owns frontier, judge, state, outputs and counters, and so decides everything without a lock.
//!
//! It hands out jobs while it has credits (`jobs`), takes back one report for each, judges pages in the order in which they
//! were fetched and lets their links pass or not (`desk`), and commits what changed in groups (`ledger`). Fetchers and page
//! workers know nothing of it.

mod alike;
mod batch;
mod close;
mod desk;
mod fetchers;
mod jobs;
mod ledger;
mod line;
mod links;
mod message;
mod page;
mod reading;
mod rescue;
mod scores;
mod stats;
mod trouble;
mod under_way;
mod usage;
mod worker;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use config::Settings;
use crossbeam_channel::{Receiver, never, select_biased};
use dedup_stage::flow::Flow;
use dedup_stage::store::{self, Session};
use frontier::{Frontier, Millis, Next};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::access::{Access, AccessError, LoginError};
use crate::clock::Clock;
use crate::fetch::Fetch;
use crate::fetch::budget::Budget;
use crate::fetch::pressure::Pressure;
use crate::sink::Sink;

use desk::Desk;
use fetchers::Fetchers;
use jobs::Jobs;
use ledger::Ledger;
use message::{Fetched, Report};
pub use rescue::lost;
use scores::Scores;
pub use stats::{Nobody, Observer, Snapshot, Stats, StopReason, TICK};
pub use trouble::WorstHost;
use under_way::UnderWay;
use usage::Usage;
pub use worker::Context;

/// What the owner of a crawl may ask of it while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// End soon, with the state saved.
    Stop,
    /// Hand out nothing until resumed.
    Pause,
    /// Go on.
    Resume,
}

/// Why a crawl cannot go on. What was committed stays; the next start continues from there.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The state failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// An output failed: most often a full disk.
    #[error("output: {0}")]
    Output(#[from] std::io::Error),
    /// A request could not be given its header fields.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// Nobody could be logged in.
    #[error(transparent)]
    Login(#[from] LoginError),
    /// A thread ended that should not have.
    #[error("internal: {0}")]
    Internal(&'static str),
}

type Result<T> = std::result::Result<T, EngineError>;

/// The parts of a crawl before it runs.
pub struct Parts<'a> {
    /// All settings.
    pub settings: &'a Settings,
    /// The crawl directory.
    pub dir: PathBuf,
    /// The state.
    pub session: Session,
    /// What to fetch next.
    pub frontier: Frontier,
    /// The judge and the gate.
    pub flow: Flow,
    /// Who the crawl is to a site.
    pub access: Access,
    /// Outputs; the first is `pages.jsonl`, whose offsets page records name.
    pub sinks: Vec<Box<dyn Sink>>,
    /// Counters so far.
    pub stats: Stats,
    /// What workers know.
    pub context: Arc<Context>,
    /// What time it is.
    pub clock: Clock,
    /// Wishes of the owner.
    pub control: Receiver<Control>,
}

/// How long a stopping crawl waits for open jobs before it leaves them to the next run.
const GRACE: Millis = 5_000;

/// Does the logins that are not done; blocks meanwhile. A login is rare, and without it every answer would be the wrong one.
type LogIn<'a> = Box<dyn FnMut(&mut Desk<'_>) -> Result<()> + 'a>;

/// A running crawl.
struct Engine<'a> {
    desk: Desk<'a>,
    jobs: Jobs,
    dir: PathBuf,
    control: Receiver<Control>,
    observer: &'a mut dyn Observer,
    /// Does the logins that are not done.
    log_in: LogIn<'a>,
    /// When the frontier has something again. `None`: only a report can change that.
    due: Option<Millis>,
    /// Whether the frontier has more to do in the background.
    more: bool,
    last_tick: Millis,
    paused: bool,
    /// Set once the crawl is to end, with the time after which open jobs are left behind.
    stopping: Option<(StopReason, Millis)>,
}

/// Runs a crawl to its end.
pub fn run<F: Fetch>(parts: Parts<'_>, fetch: F, observer: &mut dyn Observer) -> Result<(StopReason, Stats)> {
    let settings = parts.settings;
    let credits = settings.fetch.concurrency.max(1);
    let (orders, orders_out) = mpsc::channel(credits);
    let (fetched_in, fetched) = crossbeam_channel::bounded::<Fetched>(credits);
    let (reports_in, reports) = crossbeam_channel::bounded::<Vec<Report>>(credits);
    let (abandon, pressure) = (CancellationToken::new(), Pressure::new(credits));

    let fetch = Arc::new(fetch);
    let log_in = log_in(Arc::clone(&fetch), settings);
    let fetchers = Fetchers {
        fetch,
        clock: parts.clock.clone(),
        budget: Budget::for_slots(settings.fetch.body_budget.0, credits),
        keep_wire: settings.output.warc,
        pressure: pressure.clone(),
        fetched: fetched_in,
    };
    let fetchers = fetchers.start(orders_out, abandon.clone())?;
    let threads = match settings.dedup.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let under_way = UnderWay::default();
    let workers = worker::start(threads, &parts.context, &under_way, &fetched, &reports_in)?;
    drop((fetched, reports_in));

    let now = parts.clock.now();
    let scores = Scores::open(settings, parts.context.topic.as_ref(), &parts.session)?;
    let rescue = rescue::Rescue::open(&parts.session)?;
    let ledger = Ledger::open(parts.session, parts.sinks, parts.stats, now)?;
    let Parts { frontier, flow, access, clock, .. } = parts;
    let (local, hosts, alike) = Default::default();
    let usage = Usage::new(&settings.fetch.user_agent, &settings.access.purpose);
    let desk = Desk { settings, frontier, flow, access, usage, scores, ledger, rescue, local, hosts, alike, clock };
    let mut engine = Engine {
        desk,
        jobs: Jobs::new(credits, orders, reports, pressure, under_way),
        dir: parts.dir,
        control: parts.control,
        observer,
        log_in,
        due: None,
        more: true,
        last_tick: now,
        paused: false,
        stopping: None,
    };
    let result = engine.run();
    let stats = engine.desk.ledger.stats.clone();
    abandon.cancel();
    drop(engine);
    for thread in workers.into_iter().chain([fetchers]) {
        thread.join().map_err(|_| EngineError::Internal("a thread panicked"))?;
    }
    result.map(|reason| (reason, stats))
}

/// A runtime of its own for each login, whose connections end with it.
fn log_in<'a, F: Fetch>(fetch: Arc<F>, settings: &'a Settings) -> LogIn<'a> {
    Box::new(move |desk| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let Desk { access, ledger, clock, .. } = desk;
        Ok(runtime.block_on(access.log_in(&*fetch, settings, clock, &mut ledger.session))?)
    })
}

impl Engine<'_> {
    fn run(&mut self) -> Result<StopReason> {
        loop {
            if self.stopping.is_none() {
                self.check_limits();
            }
            if self.stopping.is_none() && !self.paused {
                self.more = self.desk.step()?;
                self.hand_out()?;
            }
            if let Some(reason) = self.ended() {
                let over = matches!(reason, StopReason::Done | StopReason::Waiting);
                if over && self.desk.drain()? {
                    self.more = true;
                    continue;
                }
                return self.finish(reason);
            }
            self.wait()?;
            let now = self.now();
            if self.desk.ledger.is_due(now) {
                self.desk.commit()?;
            }
            if now >= self.last_tick + TICK {
                self.tick(None);
            }
        }
    }

    fn now(&self) -> Millis {
        self.desk.clock.now()
    }

    /// Opens as many jobs as there are credits and things due.
    fn hand_out(&mut self) -> Result<()> {
        if self.desk.access.must_log_in() {
            (self.log_in)(&mut self.desk)?;
        }
        let now = self.now();
        self.due = self.desk.local.pause(now);
        if self.due.is_some() {
            return Ok(());
        }
        let limit = self.desk.settings.limits.max_pages;
        while self.jobs.has_credit() {
            if limit > 0 && self.desk.ledger.stats.pages + self.jobs.open_pages() >= limit {
                break;
            }
            match self.desk.frontier.next(self.now(), &mut self.desk.ledger.session)? {
                Next::Job(job) => {
                    if let Some(order) = self.desk.order(job)? {
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
        self.jobs.set_pressure(self.desk.frontier.is_crowded(self.now(), self.jobs.credits()));
        Ok(())
    }

    /// Whether the crawl has ended, and why.
    fn ended(&self) -> Option<StopReason> {
        let now = self.now();
        if let Some((reason, grace)) = self.stopping {
            return (self.jobs.open() == 0 || now >= grace).then_some(reason);
        }
        if self.jobs.open() > 0 || self.paused || self.more || self.desk.local.pause(now).is_some() {
            return None;
        }
        match self.due {
            None if self.desk.frontier.counts().queued == 0 => Some(StopReason::Done),
            None => Some(StopReason::Waiting),
            Some(due) if due > now + self.desk.settings.limits.patience.0 => Some(StopReason::Waiting),
            Some(_) => None,
        }
    }

    /// The run ends: everything is written down.
    fn finish(&mut self, reason: StopReason) -> Result<StopReason> {
        self.desk.close(reason, &self.dir)?;
        self.desk.commit()?;
        self.desk.ledger.finish()?;
        self.tick(Some(reason));
        Ok(reason)
    }

    fn check_limits(&mut self) {
        let (now, limits) = (self.now(), &self.desk.settings.limits);
        if limits.max_pages > 0 && self.desk.ledger.stats.pages >= limits.max_pages {
            self.stopping = Some((StopReason::PageLimit, now + GRACE));
        } else if limits.time_limit.0 > 0 && now >= self.desk.ledger.started() + limits.time_limit.0 {
            self.stopping = Some((StopReason::TimeLimit, now + GRACE));
        }
    }

    /// The one wait: until a report, a wish of the owner, or the next thing that is due.
    fn wait(&mut self) -> Result<()> {
        let now = self.now();
        let mut deadline = (self.last_tick + TICK).min(self.desk.ledger.commit_at());
        if let Some((_, grace)) = self.stopping {
            deadline = deadline.min(grace);
        } else if self.more && !self.paused {
            deadline = now;
        } else if self.jobs.has_credit()
            && let Some(due) = self.due
        {
            if self.jobs.open() == 0 && self.desk.clock.skip_to(due) {
                return Ok(());
            }
            deadline = deadline.min(due);
        }
        let until = Instant::now() + Duration::from_millis(deadline.saturating_sub(now));
        let (reports, control) = (self.jobs.reports.clone(), self.control.clone());
        select_biased! {
            recv(control) -> wish => match wish {
                Ok(Control::Stop) => {
                    let grace = self.now() + GRACE;
                    self.stopping.get_or_insert((StopReason::Stopped, grace));
                }
                Ok(Control::Pause) => self.paused = true,
                Ok(Control::Resume) => self.paused = false,
                Err(_) => self.control = never(),
            },
            recv(reports) -> some => {
                self.jobs.arrived(some.map_err(|_| EngineError::Internal("the page workers are gone"))?);
                // What else has come is taken in one go: waking up once for each would cost more than the work.
                while let Ok(some) = self.jobs.reports.try_recv() {
                    self.jobs.arrived(some);
                }
                while let Some(report) = self.jobs.next_report() {
                    self.desk.take(report)?;
                    if self.desk.ledger.is_full() {
                        self.desk.commit()?;
                    }
                }
            },
            default(until.saturating_duration_since(Instant::now())) => {},
        }
        Ok(())
    }

    fn tick(&mut self, stopped: Option<StopReason>) {
        let now = self.now();
        self.last_tick = now;
        let counts = self.desk.frontier.counts();
        self.desk.ledger.update(now, &counts);
        let Ledger { stats, session, .. } = &self.desk.ledger;
        self.observer.tick(&Snapshot {
            stats,
            counts,
            frontier: &self.desk.frontier,
            in_flight: self.jobs.open(),
            lost: lost(session).ok().flatten(),
            harvest: stats.harvest(),
            trouble: self.desk.local.what(),
            now,
            stopped,
        });
    }
}
