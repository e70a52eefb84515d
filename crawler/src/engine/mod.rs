//! The engine: one thread that owns frontier, judge, state, outputs and counters, and so decides everything without a lock.
//!
//! It hands out jobs while it has credits, takes back one report for each, judges pages in the order in which they were
//! fetched, lets their links pass or not, and commits what changed in groups. Fetchers and page workers know nothing of it.

mod audit;
mod batch;
mod fetchers;
mod hold;
mod message;
mod order;
mod page;
mod stats;
mod worker;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use config::{OnDuplicate, Settings};
use crossbeam_channel::{Receiver, never, select_biased};
use dedup_stage::judge::{Judge, Row};
use dedup_stage::store::{self, Session, Space};
use dedup_stage::url::KeySet;
use frontier::{Frontier, JobKind, Millis, Next, Outcome};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::fetch::Fetch;
use crate::fetch::budget::Budget;
use crate::fetch::pressure::Pressure;
use crate::focus::Focus;
use crate::priority::{InLinks, Scoring};
use crate::sink::{Lengths, Sink};

pub use audit::lost;
use fetchers::Fetchers;
pub use hold::{HeldLink, skip_key};
use message::{Fetched, Finding, Order, Report};
use order::Reorder;
pub use stats::{Nobody, Observer, Snapshot, Stats, StopReason, TICK};
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
    #[error("output")]
    Output(#[from] std::io::Error),
    /// A thread ended that should not have.
    #[error("internal: {0}")]
    Internal(&'static str),
}

type Result<T> = std::result::Result<T, EngineError>;

/// The parts of a crawl before it runs.
pub struct Parts<'a> {
    /// All settings.
    pub settings: &'a Settings,
    /// The state.
    pub session: Session,
    /// What to fetch next.
    pub frontier: Frontier,
    /// What was accepted.
    pub judge: Judge,
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

/// Commit after so many pages …
const COMMIT_PAGES: u32 = 500;
/// … or so many milliseconds, whichever comes first.
const COMMIT_INTERVAL: Millis = 1_000;
/// … but at once after a host asked for time, if the last commit was so long ago.
const PROMISE_INTERVAL: Millis = 50;
/// How long a stopping crawl waits for open jobs before it leaves them to the next run.
const GRACE: Millis = 5_000;

/// A running crawl.
struct Engine<'a> {
    settings: &'a Settings,
    session: Session,
    frontier: Frontier,
    judge: Judge,
    sinks: Vec<Box<dyn Sink>>,
    stats: Stats,
    clock: Clock,
    control: Receiver<Control>,
    observer: &'a mut dyn Observer,
    /// To the fetchers; has a slot for every credit.
    orders: mpsc::Sender<Order>,
    /// From the workers; has a slot for every credit.
    reports: Receiver<Vec<Report>>,
    /// Jobs that may still be opened.
    credits: usize,
    in_flight: usize,
    /// Page jobs among them, so that `--max-pages` is not overshot.
    pages_in_flight: u64,
    reorder: Reorder<Report>,
    scoring: Scoring,
    /// In a focused crawl.
    focus: Option<Focus>,
    /// Where they are counted.
    in_links: Option<InLinks>,
    /// Hashes of (URL, reason) in `skipped.jsonl`.
    skips: KeySet,
    /// Why hosts could last not be asked for their robots.txt, or be found: by name.
    troubles: HashMap<String, String>,
    next_row: Row,
    /// When the frontier has something again; `None`: only a report can change that.
    due: Option<Millis>,
    started: Millis,
    elapsed_before: u64,
    last_commit: Millis,
    /// The next commit.
    commit_at: Millis,
    pages_since_commit: u32,
    last_tick: Millis,
    paused: bool,
    /// URLs that are fetched for the estimate of what was lost, by the hashes of their keys.
    audits: HashMap<u64, audit::Mark>,
    /// How often everything queued was done.
    drains: u32,
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
    let abandon = CancellationToken::new();

    let fetchers = Fetchers {
        fetch,
        clock: parts.clock.clone(),
        budget: Budget::new(settings.fetch.body_budget.0),
        keep_wire: settings.output.warc,
        pressure: Pressure::default(),
        fetched: fetched_in,
    };
    let fetchers = fetchers.start(orders_out, abandon.clone())?;
    let threads = match settings.dedup.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let workers = worker::start(threads, &parts.context, &fetched, &reports_in)?;
    drop((fetched, reports_in));

    let now = parts.clock.now();
    let mut engine = Engine {
        settings,
        next_row: next_row(&parts.session)?,
        skips: hold::skips(&parts.session)?,
        troubles: HashMap::new(),
        audits: audit::marked(&parts.session)?,
        focus: match &parts.context.topic {
            Some(topic) => Some(Focus::open(Arc::clone(topic), settings.focus.relevant_from, &parts.session)?),
            None => None,
        },
        scoring: Scoring::new(&settings.priority),
        in_links: counts_in_links(settings).then(InLinks::default),
        session: parts.session,
        frontier: parts.frontier,
        judge: parts.judge,
        sinks: parts.sinks,
        elapsed_before: parts.stats.elapsed_ms,
        stats: parts.stats,
        clock: parts.clock,
        control: parts.control,
        observer,
        orders,
        reports,
        credits,
        in_flight: 0,
        pages_in_flight: 0,
        reorder: Reorder::default(),
        due: None,
        started: now,
        last_commit: now,
        commit_at: now + COMMIT_INTERVAL,
        pages_since_commit: 0,
        last_tick: now,
        paused: false,
        drains: 0,
        stopping: None,
    };
    let result = engine.run();
    let stats = engine.stats.clone();
    abandon.cancel();
    drop(engine);
    for thread in workers.into_iter().chain([fetchers]) {
        thread.join().map_err(|_| EngineError::Internal("a thread panicked"))?;
    }
    result.map(|reason| (reason, stats))
}

/// Whether links are counted: where they bear on more than the order of arrival.
fn counts_in_links(settings: &Settings) -> bool {
    let scored = settings.dedup.on_duplicate == OnDuplicate::Demote || settings.focus.is_on();
    scored && settings.priority.in_links_weight > 0.0
}

/// The number after that of the last page in the state.
fn next_row(session: &Session) -> Result<Row> {
    let next = session.get(Space::META, b"next-row")?;
    Ok(next.and_then(|bytes| bytes.try_into().ok()).map_or(0, Row::from_be_bytes))
}

impl Engine<'_> {
    fn run(&mut self) -> Result<StopReason> {
        loop {
            if self.stopping.is_none() {
                self.check_limits();
            }
            if self.stopping.is_none() && !self.paused {
                self.hand_out()?;
            }
            if let Some(reason) = self.ended() {
                if reason == StopReason::Done && (self.drain()? || self.audit()?) {
                    continue;
                }
                if reason != StopReason::Stopped {
                    self.skip_held()?;
                }
                let name = serde_json::to_vec(reason.name()).map_err(std::io::Error::from)?;
                self.session.put(Space::META, *b"stop-reason", name);
                self.commit()?;
                for sink in &mut self.sinks {
                    sink.finish()?;
                }
                self.tick(Some(reason));
                return Ok(reason);
            }
            self.wait()?;
            self.commit_if_due()?;
            if self.clock.now() >= self.last_tick + TICK {
                self.tick(None);
            }
        }
    }

    /// Opens as many jobs as there are credits and things due.
    fn hand_out(&mut self) -> Result<()> {
        self.due = None;
        let mut skipped = Vec::new();
        while self.credits > 0 {
            let limit = self.settings.limits.max_pages;
            if limit > 0 && self.stats.pages + self.pages_in_flight >= limit {
                break;
            }
            let now = self.clock.now();
            let next = self.frontier.next(now, &mut self.session, &mut |job, reason| {
                skipped.push((job.clone(), reason));
            })?;
            match next {
                Next::Job(job) => {
                    self.credits -= 1;
                    self.in_flight += 1;
                    self.pages_in_flight += u64::from(job.kind == JobKind::Page);
                    let validators = self.validators(&job)?;
                    let sent = self.orders.try_send(Order { job, validators });
                    sent.map_err(|_| EngineError::Internal("the fetchers are gone"))?;
                }
                Next::Wait(due) => {
                    self.due = Some(due);
                    break;
                }
                Next::Idle => break,
            }
        }
        for (job, reason) in skipped {
            self.hold_stopped(&job, reason)?;
        }
        Ok(())
    }

    /// Whether the crawl has ended, and why.
    fn ended(&self) -> Option<StopReason> {
        if let Some((reason, grace)) = self.stopping {
            return (self.in_flight == 0 || self.clock.now() >= grace).then_some(reason);
        }
        if self.in_flight > 0 || self.paused {
            return None;
        }
        match self.due {
            None if self.frontier.counts().queued == 0 => Some(StopReason::Done),
            None => Some(StopReason::Waiting),
            Some(due) if due > self.clock.now() + self.settings.limits.patience.0 => Some(StopReason::Waiting),
            Some(_) => None,
        }
    }

    fn check_limits(&mut self) {
        let now = self.clock.now();
        let limits = &self.settings.limits;
        if limits.max_pages > 0 && self.stats.pages >= limits.max_pages {
            self.stopping = Some((StopReason::PageLimit, now + GRACE));
        } else if limits.time_limit.0 > 0 && now >= self.started + limits.time_limit.0 {
            self.stopping = Some((StopReason::TimeLimit, now + GRACE));
        }
    }

    /// The one wait: until a report, a wish of the owner, or the next thing that is due.
    fn wait(&mut self) -> Result<()> {
        let now = self.clock.now();
        let mut deadline = (self.last_tick + TICK).min(self.commit_at);
        if let Some((_, grace)) = self.stopping {
            deadline = deadline.min(grace);
        } else if self.credits > 0
            && let Some(due) = self.due
        {
            if self.in_flight == 0 && self.clock.skip_to(due) {
                return Ok(());
            }
            deadline = deadline.min(due);
        }
        let until = Instant::now() + Duration::from_millis(deadline.saturating_sub(now));
        let reports = self.reports.clone();
        let control = self.control.clone();
        select_biased! {
            recv(control) -> wish => match wish {
                Ok(Control::Stop) => {
                    if self.stopping.is_none() {
                        self.stopping = Some((StopReason::Stopped, self.clock.now() + GRACE));
                    }
                }
                Ok(Control::Pause) => self.paused = true,
                Ok(Control::Resume) => self.paused = false,
                Err(_) => self.control = never(),
            },
            recv(reports) -> some => {
                self.arrive(some.map_err(|_| EngineError::Internal("the page workers are gone"))?)?;
                // What else has come is taken in one go: waking up once for each would cost more than the work.
                while let Ok(some) = self.reports.try_recv() {
                    self.arrive(some)?;
                }
            },
            default(until.saturating_duration_since(Instant::now())) => {},
        }
        Ok(())
    }

    /// Reports have come; those that are next in order are taken.
    fn arrive(&mut self, reports: Vec<Report>) -> Result<()> {
        for report in reports {
            self.reorder.push(report.sequence, report);
        }
        while let Some(report) = self.reorder.pop() {
            self.credits += 1;
            self.in_flight -= 1;
            self.pages_in_flight -= u64::from(report.job.kind == JobKind::Page);
            self.take(report)?;
        }
        Ok(())
    }

    /// What one report changes.
    fn take(&mut self, report: Report) -> Result<()> {
        let Report { job, ended_at, finding, .. } = report;
        let outcome = match finding {
            Finding::Page(page) => return self.take_page(job, ended_at, *page),
            Finding::Sitemap(sitemap) => return self.take_sitemap(job, ended_at, *sitemap),
            Finding::Addresses(addresses) => Outcome::Resolved(addresses),
            Finding::Robots(rules) => {
                if rules.crawl_delay().is_some() || rules.retry_after().is_some() {
                    self.commit_soon();
                }
                let politeness = &self.settings.politeness;
                let most = politeness.max_crawl_delay.max(politeness.delay);
                if let Some(delay) = rules.crawl_delay().filter(|delay| *delay > most) {
                    tracing::warn!(
                        "{} asks for a Crawl-delay of {delay}; clamped to {most} (--max-crawl-delay)",
                        job.url
                    );
                }
                Outcome::Robots(rules)
            }
            Finding::RobotsMoved(target) => Outcome::RobotsMoved(target),
            Finding::Failed { error, line } => return self.take_failure(job, ended_at, error, line),
        };
        self.frontier.report(&job, outcome, ended_at, &mut self.session)?;
        Ok(())
    }

    fn commit_if_due(&mut self) -> Result<()> {
        let due = self.pages_since_commit >= COMMIT_PAGES || self.clock.now() >= self.commit_at;
        if due { self.commit() } else { Ok(()) }
    }

    /// A host asked to be left alone for a while: not even a crash may make us forget that.
    fn commit_soon(&mut self) {
        let soon = self.clock.now().max(self.last_commit + PROMISE_INTERVAL);
        self.commit_at = self.commit_at.min(soon);
    }

    /// Makes everything since the last commit durable: first the outputs, then the batch that names their lengths.
    fn commit(&mut self) -> Result<()> {
        let now = self.clock.now();
        self.last_commit = now;
        self.commit_at = now + COMMIT_INTERVAL;
        self.pages_since_commit = 0;
        if self.session.pending() == 0 {
            return Ok(());
        }
        let mut lengths = Lengths::new();
        for sink in &mut self.sinks {
            sink.sync(&mut lengths)?;
        }
        self.frontier.save_rules(&mut self.session);
        let counts = self.frontier.counts();
        (self.stats.urls_seen, self.stats.frontier) = (counts.seen, counts.queued);
        self.stats.commits += 1;
        self.stats.elapsed_ms = self.elapsed_before + now.saturating_sub(self.started);
        let stats = serde_json::to_vec(&self.stats).map_err(std::io::Error::from)?;
        let lengths = serde_json::to_vec(&lengths).map_err(std::io::Error::from)?;
        self.session.put(Space::META, *b"stats", stats);
        self.session.put(Space::META, *b"outputs", lengths);
        if let Some(focus) = &self.focus {
            focus.save(&mut self.session)?;
        }
        self.session.put(Space::META, *b"next-row", self.next_row.to_be_bytes());
        self.session.commit()?;
        Ok(())
    }

    fn tick(&mut self, stopped: Option<StopReason>) {
        let now = self.clock.now();
        self.last_tick = now;
        self.stats.elapsed_ms = self.elapsed_before + now.saturating_sub(self.started);
        self.observer.tick(&Snapshot {
            stats: &self.stats,
            counts: self.frontier.counts(),
            frontier: &self.frontier,
            in_flight: self.in_flight,
            lost: lost(&self.session).ok().flatten(),
            harvest: self.stats.harvest(),
            now,
            stopped,
        });
    }
}
