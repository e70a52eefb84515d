//! A worker: a crawl directory that has a share of the hosts of a crawl, and the process that crawls them.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use config::Settings;
use crossbeam_channel::{Receiver, Sender};
use dedup_stage::signature;
use dedup_stage::store::{self, Disk, Session};
use dedup_stage::url::Sites;
use tokio::runtime::Runtime;
use tokio::sync::{Mutex, watch};

use super::ask::{self, Answers, Open};
use super::board::{Board, Message};
use super::commits::{self, Writer};
use super::connect::{Access, Cluster};
use super::exchange::{Exchange, Start};
use super::fetch::Leased;
use super::health::Health;
use super::lease::{Deadline, Held};
use super::logged::{self, Logged};
use super::muster::{Place, Seeker};
use super::quota::Keeper;
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
    /// What answers questions about its directory.
    pub answers: Arc<dyn Answers>,
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
    /// Commit whoever has taken the share, and do not notice that the lease is lost.
    pub fence: bool,
    /// Take pages of `--max-pages` as if no other worker had any.
    pub quota: bool,
}

/// How a worker begins.
#[derive(Debug)]
pub struct Begun {
    /// The settings of the crawl, with what is the worker's own.
    pub settings: Settings,
    /// Its share.
    pub place: Place,
    /// How many commits of it were not on this disk.
    pub replayed: u64,
    /// How it is.
    pub health: Arc<Health>,
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

/// Works until the crawl is over, or until somebody stops this worker or the crawl. `None` where it found no share to work
/// on. `begins` makes what watches.
pub fn work<O: Observer>(
    task: &Task,
    control: (Sender<Control>, Receiver<Control>),
    begins: impl FnOnce(&Begun) -> anyhow::Result<O>,
) -> std::result::Result<Option<(Ended, O)>, WorkerError> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).thread_name("cluster").enable_all().build().map_err(ClusterError::from)?;
    let cluster = runtime.block_on(task.access.connect())?;
    let board = runtime.block_on(Board::open(&cluster))?;
    let mut message = runtime.block_on(crawl(&board))?;
    let member = enter(task, &message.record)?;
    let _lock = lock(task)?;
    let dir = std::fs::canonicalize(&task.dir).map_err(ClusterError::from)?.display().to_string();
    let worker = Worker { id: member.worker.clone(), host: machine(), dir };
    let seeker = Seeker { board: &board, crawl: &message.record, worker, bound: member.share };
    let Some((place, held)) = runtime.block_on(seeker.find())? else { return Ok(None) };
    let (life, deadline, held) = (held.life().to_owned(), held.deadline.clone(), Arc::new(Mutex::new(held)));
    let (lost_in, lost) = watch::channel(None);
    let keeping = runtime.spawn(keep(Arc::clone(&held), lost_in, task.without.fence));
    let fence = runtime.block_on(commits::fence(&cluster, place.share, &life))?;
    let writer = Writer {
        cluster: cluster.clone(),
        runtime: runtime.handle().clone(),
        share: place.share,
        fence: (!task.without.fence).then_some(fence),
        life: life.clone(),
        number: Arc::default(),
        deadline: deadline.clone(),
    };
    settle(task, &message.record, &member, place)?;
    let replay = async {
        let mut disk = CrawlDir::open_disk(&task.dir)?;
        Ok::<_, WorkerError>(logged::replay(&cluster, place.share, &mut disk, &task.dir).await?)
    };
    let replayed = runtime.block_on(replay)?;
    let health = Arc::new(Health::new(deadline.clone(), Arc::clone(&cluster.traffic)));
    let begun = Begun { settings: settings(task, &message.record)?, place, replayed, health };
    let mut observer = begins(&begun).map_err(WorkerError::Fetch)?;
    let sent = Arc::<AtomicU64>::default();
    let open = Open::default();
    runtime.spawn(
        ask::Responder {
            cluster: cluster.clone(),
            share: place.share,
            dir: task.dir.clone(),
            open: open.clone(),
            deadline: deadline.clone(),
            answers: Arc::clone(&task.answers),
        }
        .serve(),
    );
    let ended = loop {
        let settings = settings(task, &message.record)?;
        let run = Run {
            task,
            control: &control,
            runtime: &runtime,
            cluster: &cluster,
            board: &board,
            place,
            message: &message,
            life: &life,
            deadline: &deadline,
            writer: &writer,
            lost: &lost,
            sent: &sent,
            open: &open,
        };
        match run.engine(&settings, &mut observer) {
            Ok((_, _, Why::Seeds)) => message = runtime.block_on(crawl(&board))?,
            Ok((reason, stats, _)) => break Ok(Ended { reason, stats, settings }),
            Err(error) => break Err(error),
        }
    };
    keeping.abort();
    runtime.block_on(async { held.lock().await.release().await });
    runtime.shutdown_timeout(Duration::from_secs(1));
    ended.map(|ended| Some((ended, observer)))
}

/// The name of this machine.
pub(super) fn machine() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned()
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
fn enter(task: &Task, crawl: &Crawl) -> std::result::Result<Member, WorkerError> {
    let mut dir = CrawlDir::open(&task.dir)?;
    match dir.member()? {
        Some(member) if member.crawl == crawl.id => Ok(member),
        Some(_) => Err(ClusterError::Usage(foreign(task, "belongs to another crawl")).into()),
        None => {
            let worker = random::<8>().map_err(ClusterError::from)?;
            let member = Member { crawl: crawl.id.clone(), worker, share: None };
            if !dir.enter(&member)? {
                return Err(ClusterError::Usage(foreign(task, "holds a crawl of its own")).into());
            }
            Ok(member)
        }
    }
}

/// Makes this process the only one that works in the directory. Ends with the file.
fn lock(task: &Task) -> Result<std::fs::File> {
    let file = std::fs::File::create(task.dir.join("worker.lock"))?;
    file.try_lock().map_err(|_| ClusterError::Usage(foreign(task, "is another worker's, which runs")))?;
    Ok(file)
}

fn foreign(task: &Task, what: &str) -> String {
    format!("{} {what}: name an empty directory with --dir", task.dir.display())
}

/// Gives the directory its hosts.
fn settle(task: &Task, crawl: &Crawl, member: &Member, place: Place) -> std::result::Result<(), WorkerError> {
    let secret = crawl.secret().ok_or_else(|| ClusterError::Damaged("the secret".into()))?;
    let sites = Sites::parts(crawl.partitions_of(place.share, place.shares), crawl.partitions);
    let member = Member { share: Some(place.share), ..member.clone() };
    Ok(CrawlDir::open(&task.dir)?.settle(&member, &secret, &sites)?)
}

/// The settings of the crawl, with what is this worker's own.
fn settings(task: &Task, crawl: &Crawl) -> std::result::Result<Settings, WorkerError> {
    let mut settings = crawl.settings()?;
    settings.output.dashboard.clone_from(&task.dashboard);
    let limit = &mut settings.limits.time_limit.0;
    if *limit > 0 {
        // The limit is that of the crawl, not of this process.
        *limit = (crawl.created + *limit).saturating_sub(Clock::System.now()).max(1);
    }
    Ok(settings)
}

/// One run of the engine: what it needs.
struct Run<'a> {
    task: &'a Task,
    control: &'a (Sender<Control>, Receiver<Control>),
    runtime: &'a Runtime,
    cluster: &'a Cluster,
    board: &'a Board,
    place: Place,
    message: &'a Message<Crawl>,
    life: &'a str,
    deadline: &'a Deadline,
    writer: &'a Writer,
    /// Says when the lease is lost.
    lost: &'a watch::Receiver<Option<String>>,
    /// Batches of links sent so far.
    sent: &'a Arc<AtomicU64>,
    /// The state, for those who ask after it.
    open: &'a Open,
}

impl Run<'_> {
    /// The disk. An answer that is under way may have the state of the last run open, and ends soon.
    fn disk(&self) -> std::result::Result<Disk, OpenError> {
        let begin = Instant::now();
        loop {
            match CrawlDir::open_disk(&self.task.dir) {
                Err(OpenError::Store { error: store::Error::Locked, .. }) if begin.elapsed() < LAST_WORD => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                opened => return opened,
            }
        }
    }

    /// Runs the engine.
    fn engine(
        &self,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> std::result::Result<(StopReason, Stats, Why), WorkerError> {
        let (task, crawl) = (self.task, Arc::new(self.message.record.clone()));
        let disk = self.disk()?;
        self.open.set(Some(disk.reader()));
        let logged = Logged::new(disk, self.writer.clone(), &task.dir);
        let session = Session::new(Box::new(logged.map_err(EngineError::from)?));
        let mut dir = CrawlDir::with_session(&task.dir, session)?;
        let places = engine::places(dir.session()).map_err(EngineError::from)?;
        // Groups of pages, and what is asked of the quota, have a name of their own in each run.
        let life = format!("{}-{}", self.life, self.message.revision);
        let most = settings.limits.max_pages;
        let keeper = Keeper {
            board: self.board.clone(),
            share: self.place.share,
            shares: self.place.shares,
            life: life.clone(),
            most,
            careless: task.without.quota,
        };
        let quota = match most {
            0 => None,
            _ => Some((self.runtime.block_on(keeper.claim())?, keeper)),
        };
        let parts = dir.start(settings, crawl.seeds.clone(), Clock::System, self.control.1.clone())?;
        let start = Start {
            cluster: self.cluster.clone(),
            runtime: self.runtime.handle().clone(),
            crawl,
            place: self.place,
            keys: parts.context.keys.clone(),
            deadline: self.deadline.clone(),
            life,
            places,
            quota,
            sent: Arc::clone(self.sent),
            ordered: !task.without.barrier,
        };
        let (exchange, events, standing) = Exchange::start(start)?;
        let watch = Watch {
            cluster: self.cluster.clone(),
            board: self.board.clone(),
            place: self.place,
            deadline: self.deadline.clone(),
            most,
            revision: self.message.revision,
            events: events.clone(),
            control: self.control.0.clone(),
        };
        let watching = self.runtime.spawn(watch.run(standing));
        let mut lost = self.lost.clone();
        let telling = self.runtime.spawn(async move {
            if let Ok(why) = lost.wait_for(Option::is_some).await {
                // The engine may have ended meanwhile.
                let _ = events.send(Event::Lost(why.clone().unwrap_or_default()));
            }
        });
        let fetch = HttpFetch::new(settings).map_err(WorkerError::Fetch)?;
        let fetch = Leased::new(fetch, self.deadline.clone(), task.without.deadline);
        let parts = engine::Parts { peers: Some(Box::new(exchange)), ..parts };
        let result = engine::run(parts, fetch, observer);
        self.open.set(None);
        let why = self.runtime.block_on(async { tokio::time::timeout(LAST_WORD, watching).await });
        telling.abort();
        let (reason, stats) = result?;
        Ok((reason, stats, why.ok().and_then(std::result::Result::ok).unwrap_or(Why::Itself)))
    }
}

/// Renews the lease until it is lost, and says so; `silent`: for tests, as if nobody noticed.
async fn keep(held: Arc<Mutex<Held>>, lost: watch::Sender<Option<String>>, silent: bool) {
    loop {
        let pause = held.lock().await.pause();
        tokio::time::sleep(pause).await;
        if let Err(error) = held.lock().await.renew().await {
            if silent {
                return std::future::pending().await;
            }
            // Nobody listens when the worker is about to end.
            let _ = lost.send(Some(error.to_string()));
            return;
        }
    }
}
