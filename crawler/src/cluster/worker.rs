//! A worker: a crawl directory that has a share of the hosts of a crawl, and the process that crawls them.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use config::{Layers, Settings};
use crossbeam_channel::{Receiver, Sender};
use dedup_stage::signature;
use dedup_stage::url::Sites;
use tokio::runtime::Runtime;
use tokio::sync::Mutex;

use super::board::{Board, Message};
use super::connect::{Access, Cluster};
use super::exchange::{Exchange, Start};
use super::fetch::Leased;
use super::lease::{self, Held};
use super::muster::{self, Place};
use super::record::{Crawl, FORMAT, Worker, keys, random};
use super::watch::{Watch, Why};
use super::{ClusterError, Result};
use crate::clock::Clock;
use crate::crawl::{CrawlDir, Member, OpenError};
use crate::engine::{self, Control, EngineError, Event, Observer, Stats, StopReason};
use crate::fetch::http::HttpFetch;

/// How long the last word of an engine may take to the board.
const LAST_WORD: Duration = Duration::from_secs(10);

/// What a worker is to do.
pub struct Task {
    /// The brokers, and the crawl.
    pub access: Access,
    /// Its crawl directory.
    pub dir: PathBuf,
    /// Address of its live page; empty for none.
    pub dashboard: String,
    /// For tests: do without one of the safeguards.
    pub without: Without,
}

/// The safeguards that tests switch off, to see that they are needed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Without {
    /// Judge pages before their place in the common order is known.
    pub barrier: bool,
    /// Send requests though the lease was not renewed.
    pub deadline: bool,
}

/// How a worker ended.
#[derive(Debug)]
pub struct Ended {
    /// Why.
    pub reason: StopReason,
    /// Counters of its share.
    pub stats: Stats,
    /// Its settings.
    pub settings: Settings,
}

/// Why a worker cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The cluster.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The crawl directory.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Settings.
    #[error(transparent)]
    Settings(#[from] config::ConfigError),
    /// The fetcher.
    #[error("{0:#}")]
    Fetch(anyhow::Error),
}

/// Works until the crawl is over, or until somebody stops this worker or the crawl. `begins` is told of the settings of
/// the crawl, and makes what watches.
pub fn work<O: Observer>(
    task: &Task,
    control: (Sender<Control>, Receiver<Control>),
    begins: impl FnOnce(&Settings, &Place) -> anyhow::Result<O>,
) -> std::result::Result<(Ended, O), WorkerError> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).thread_name("cluster").enable_all().build().map_err(ClusterError::from)?;
    let cluster = runtime.block_on(task.access.connect())?;
    let board = runtime.block_on(Board::open(&cluster))?;
    let mut message = runtime.block_on(crawl(&board))?;
    let worker = enter(task, &message.record)?;
    let place = runtime.block_on(muster::join(&board, &message.record, &worker))?;
    settle(task, &message.record, place)?;
    let length = Duration::from_millis(message.record.lease);
    let held = runtime.block_on(Held::take(&board, place.share, &worker.id, length))?;
    let (life, deadline, held) = (held.life().to_owned(), held.deadline.clone(), Arc::new(Mutex::new(held)));
    let mut settings = settings(task, &message.record)?;
    let mut observer = begins(&settings, &place).map_err(WorkerError::Fetch)?;
    let sent = Arc::<AtomicU64>::default();
    let ended = loop {
        let run = Run { runtime: &runtime, cluster: &cluster, board: &board, place, message: &message, held: &held };
        let more = More { task, control: &control, life: &life, deadline: &deadline, sent: &sent };
        match run.engine(&more, &settings, &mut observer) {
            Ok((_, _, Why::Seeds)) => {
                message = runtime.block_on(crawl(&board))?;
                settings = self::settings(task, &message.record)?;
            }
            Ok((reason, stats, _)) => break Ok(Ended { reason, stats, settings }),
            Err(error) => break Err(error),
        }
    };
    runtime.block_on(async { held.lock().await.release().await });
    runtime.shutdown_timeout(Duration::from_secs(1));
    ended.map(|ended| (ended, observer))
}

/// The crawl, if this program can work on it.
pub(super) async fn crawl(board: &Board) -> Result<Message<Crawl>> {
    let message = board.need::<Crawl>(keys::CRAWL).await?;
    if message.record.format != FORMAT || message.record.recipe != signature::RECIPE {
        let (format, recipe) = (message.record.format, &message.record.recipe);
        let what = format!(
            "the crawl is of format {format} and recipe {recipe:?}; this program has {FORMAT} and {:?}",
            signature::RECIPE
        );
        return Err(ClusterError::Usage(what));
    }
    Ok(message)
}

/// Who this directory is among the workers. A new one gets a name that it keeps.
fn enter(task: &Task, crawl: &Crawl) -> std::result::Result<Worker, WorkerError> {
    let mut dir = CrawlDir::open(&task.dir)?;
    let id = match dir.member()? {
        Some(member) if member.crawl == crawl.id => member.worker,
        Some(_) => return Err(ClusterError::Usage(foreign(task, "belongs to another crawl")).into()),
        None => {
            let id = random::<8>().map_err(ClusterError::from)?;
            if !dir.enter(&Member { crawl: crawl.id.clone(), worker: id.clone() })? {
                return Err(ClusterError::Usage(foreign(task, "holds a crawl of its own")).into());
            }
            id
        }
    };
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned();
    Ok(Worker { id, host })
}

fn foreign(task: &Task, what: &str) -> String {
    format!("{} {what}: name an empty directory with --dir", task.dir.display())
}

/// Gives the directory its hosts.
fn settle(task: &Task, crawl: &Crawl, place: Place) -> std::result::Result<(), WorkerError> {
    let secret = crawl.secret().ok_or_else(|| ClusterError::Damaged("the secret".into()))?;
    let sites = Sites::parts(crawl.partitions_of(place.share, place.shares), crawl.partitions);
    Ok(CrawlDir::open(&task.dir)?.settle(&secret, &sites)?)
}

/// The settings of the crawl, with what is this worker's own.
fn settings(task: &Task, crawl: &Crawl) -> std::result::Result<Settings, WorkerError> {
    let layers = Layers::new().text(std::path::Path::new("settings of the cluster"), &crawl.settings)?;
    let mut settings = layers.finish()?;
    settings.output.dashboard.clone_from(&task.dashboard);
    let limit = &mut settings.limits.time_limit.0;
    if *limit > 0 {
        // The limit is that of the crawl, not of this process.
        *limit = (crawl.created + *limit).saturating_sub(Clock::System.now()).max(1);
    }
    Ok(settings)
}

/// One run of the engine: what it is about.
struct Run<'a> {
    runtime: &'a Runtime,
    cluster: &'a Cluster,
    board: &'a Board,
    place: Place,
    message: &'a Message<Crawl>,
    held: &'a Arc<Mutex<Held>>,
}

/// What stays the same in all runs of a worker.
struct More<'a> {
    task: &'a Task,
    control: &'a (Sender<Control>, Receiver<Control>),
    life: &'a str,
    deadline: &'a lease::Deadline,
    sent: &'a Arc<AtomicU64>,
}

impl Run<'_> {
    /// Runs the engine.
    fn engine(
        &self,
        more: &More<'_>,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> std::result::Result<(StopReason, Stats, Why), WorkerError> {
        let More { task, control, life, deadline, sent } = more;
        let crawl = Arc::new(self.message.record.clone());
        let mut dir = CrawlDir::open(&task.dir)?;
        let places = engine::places(dir.session()).map_err(EngineError::from)?;
        let parts = dir.start(settings, crawl.seeds.clone(), Clock::System, control.1.clone())?;
        // Groups of each run have names of their own.
        let life = format!("{life}-{}", self.message.revision);
        let start = Start {
            cluster: self.cluster.clone(),
            runtime: self.runtime.handle().clone(),
            crawl,
            place: self.place,
            keys: parts.context.keys.clone(),
            deadline: (*deadline).clone(),
            life,
            places,
            sent: Arc::clone(sent),
            ordered: !task.without.barrier,
        };
        let (exchange, events, standing) = Exchange::start(start)?;
        let watch = Watch {
            cluster: self.cluster.clone(),
            board: self.board.clone(),
            place: self.place,
            revision: self.message.revision,
            events: events.clone(),
            control: control.0.clone(),
        };
        let watching = self.runtime.spawn(watch.run(standing));
        let keeping = self.runtime.spawn(keep(Arc::clone(self.held), events));
        let fetch = HttpFetch::new(settings).map_err(WorkerError::Fetch)?;
        let fetch = Leased::new(fetch, (*deadline).clone(), task.without.deadline);
        let parts = engine::Parts { peers: Some(Box::new(exchange)), ..parts };
        let result = engine::run(parts, fetch, observer);
        let why = self.runtime.block_on(async { tokio::time::timeout(LAST_WORD, watching).await });
        keeping.abort();
        let (reason, stats) = result?;
        Ok((reason, stats, why.ok().and_then(std::result::Result::ok).unwrap_or(Why::Itself)))
    }
}

/// Renews the lease until it is lost, and then tells the engine.
async fn keep(held: Arc<Mutex<Held>>, events: Sender<Event>) {
    loop {
        let pause = held.lock().await.pause();
        tokio::time::sleep(pause).await;
        if let Err(error) = held.lock().await.renew().await {
            // The engine may have ended meanwhile.
            let _ = events.send(Event::Lost(error.to_string()));
            return;
        }
    }
}
