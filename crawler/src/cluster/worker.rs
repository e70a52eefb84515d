//! A worker: a process that crawls a share of the hosts of a crawl in its crawl directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread::JoinHandle;
use std::time::Duration;

use config::Settings;
use crossbeam_channel::{Receiver, Sender};
use dedup_stage::signature;
use dedup_stage::store::Session;
use tokio::sync::{Mutex, watch};

use super::ask::{self, OpenState};
use super::block_on::Wait;
use super::board::{Board, Versioned};
use super::commits::{self, CommitWriter};
use super::connect::BrokerConnection;
use super::health::Health;
use super::holder::ShareHolder;
use super::joining::{Seeker, WorkerShare};
use super::known_shares::KnownShares;
use super::lease::HeldLease;
use super::logged;
use super::moves::Arranged;
use super::patience::patiently;
use super::record::{Crawl, FORMAT, Worker, keys, random};
use super::run::Run;
use super::shares::Assignment;
use super::snapshots::{self, Folder, Maker, Taken};
use super::task::{Begun, Snapshots, WorkEnded, WorkerError, WorkerTask};
use super::watch::Why;
use super::{ClusterError, Result};
use crate::clock::Clock;
use crate::crawl::{CrawlDir, DirIdentity};
use crate::engine::{Control, EngineError, Observer, StopReason, places};

/// The interval at which a worker that has no share yet looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(100);

/// Works until the crawl is over, or until somebody stops this worker or the crawl. Returns `None` if it found no share
/// to work on. `begins` makes the observer of the engine.
pub fn work<O: Observer>(
    task: &WorkerTask,
    control: (Sender<Control>, Receiver<Control>),
    begins: impl FnOnce(&Begun) -> anyhow::Result<O>,
) -> std::result::Result<Option<(WorkEnded, O)>, WorkerError> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    // One thread is enough, and two would wake each other for each message. No task blocks this thread: answers, which
    // do, have threads of their own.
    let runtime = runtime.worker_threads(1).thread_name("cluster").enable_all().build().map_err(ClusterError::from)?;
    let orders = &control.1;
    let stopped = async {
        while orders.is_empty() {
            tokio::time::sleep(LOOK).await;
        }
    };
    let entered = runtime.wait_for(async {
        tokio::select! {
            entered = seek(task) => entered,
            () = stopped => Err(WorkerError::Stopped),
        }
    });
    let Entered { cluster, board, versioned, member, found, _lock } = entered?;
    let Some((place, held)) = found else { return Ok(None) };
    let (life, deadline, held) = (held.life().to_owned(), held.deadline.clone(), Arc::new(Mutex::new(held)));
    let (lost_in, lost) = watch::channel(None);
    let keeping = runtime.spawn(keep(Arc::clone(&held), lost_in, task.without.fence));
    let known_shares = KnownShares::default();
    let holder =
        ShareHolder { task, runtime: &runtime, cluster, board, known_shares, member, place, life, deadline, lost };
    let worked = holder.work(&control, versioned, begins);
    keeping.abort();
    // The lease is given back even after an error: another worker can have the share.
    runtime.wait_for(async { held.lock().await.release().await });
    runtime.shutdown_timeout(Duration::from_secs(1));
    worked.map(Some)
}

/// A worker that has looked for a share.
struct Entered {
    cluster: BrokerConnection,
    board: Board,
    versioned: Versioned<Crawl>,
    member: DirIdentity,
    /// The share and its lease; `None` if no share is left.
    found: Option<(WorkerShare, HeldLease)>,
    /// The lock of the directory.
    _lock: std::fs::File,
}

/// Connects to the brokers, and looks for a share. If the brokers fail, it waits until they are well again.
async fn seek(task: &WorkerTask) -> std::result::Result<Entered, WorkerError> {
    let never = || false;
    let cluster = patiently(never, async || task.access.connect().await).await?;
    let (board, versioned) = patiently(never, async || {
        let board = Board::open(&cluster).await?;
        let versioned = crawl(&board).await?;
        Ok::<_, ClusterError>((board, versioned))
    })
    .await?;
    let member = enter(task, &versioned.record)?;
    let lock = lock(task)?;
    let dir = std::fs::canonicalize(&task.dir).map_err(ClusterError::from)?.display().to_string();
    let worker = Worker { id: member.worker.clone(), host: machine(), dir };
    let (bound, is_spare, has_snapshots) = (member.share, task.is_spare, task.snapshots.is_some());
    let (cluster_of, crawl) = (&cluster, &versioned.record);
    let (version, place) = (versioned.revision, place_of(&lock)?);
    let board_of = &board;
    let seeker =
        Seeker { cluster: cluster_of, board: board_of, crawl, version, worker, place, bound, is_spare, has_snapshots };
    let found = patiently(never, async || seeker.find().await).await?;
    Ok(Entered { cluster, board, versioned, member, found, _lock: lock })
}

/// The state of a share, on the disk.
struct Ready {
    restored: Option<u64>,
    replayed: u64,
    /// The channel to the thread that makes snapshots, and the handle of the thread.
    snapshots: Option<(Sender<Taken>, JoinHandle<()>)>,
}

impl ShareHolder<'_> {
    /// Works on the share until the crawl is over, or until somebody stops this worker or the crawl.
    fn work<O: Observer>(
        self,
        control: &(Sender<Control>, Receiver<Control>),
        mut versioned: Versioned<Crawl>,
        begins: impl FnOnce(&Begun) -> anyhow::Result<O>,
    ) -> std::result::Result<(WorkEnded, O), WorkerError> {
        let Self { task, runtime, place, .. } = self;
        let is_over = || self.deadline.is_over();
        let fence = async || commits::fence(&self.cluster, place.share, &self.life).await;
        let fence = runtime.wait_for(patiently(is_over, fence))?;
        let writer = CommitWriter {
            cluster: self.cluster.clone(),
            runtime: runtime.handle().clone(),
            share: place.share,
            fence: (!task.without.fence).then_some(fence),
            life: self.life.clone(),
            number: Arc::default(),
            deadline: self.deadline.clone(),
        };
        let Ready { restored, replayed, snapshots } = self.make_ready(&versioned.record)?;
        let health = Arc::new(Health::new(self.deadline.clone(), Arc::clone(&self.cluster.traffic)));
        let begun = Begun { settings: settings(task, &versioned.record)?, place, restored, replayed, health };
        let mut observer = begins(&begun).map_err(WorkerError::Fetch)?;
        let sent = Arc::<AtomicU64>::default();
        let open = OpenState::default();
        runtime.spawn(
            ask::Responder {
                cluster: self.cluster.clone(),
                share: place.share,
                dir: task.dir.clone(),
                open: open.clone(),
                deadline: self.deadline.clone(),
                answers: Arc::clone(&task.answers),
            }
            .serve(),
        );
        let mut number = 0;
        let ended = loop {
            number += 1;
            let settings = settings(task, &versioned.record)?;
            match self.arrange(&versioned.record, &writer) {
                Ok(Arranged::Ready) => {}
                Ok(Arranged::Left(stats)) => {
                    break Ok(WorkEnded { reason: StopReason::Done, stats: *stats, settings, has_left: true });
                }
                Err(error) => break Err(error),
            }
            let taken = snapshots.as_ref().map(|(taken, _)| taken);
            let (now, writer) = (&versioned, &writer);
            let run = Run { holder: &self, number, control, versioned: now, writer, sent: &sent, open: &open, taken };
            let (reason, stats, why) = match run.engine(&settings, &mut observer) {
                Ok(ended) => ended,
                Err(error) => break Err(error),
            };
            let goes_on = match why {
                Why::Seeds => true,
                Why::Shares => reason == StopReason::Stopped,
                Why::Itself => reason == StopReason::Stopped && task.leaves && self.begin_to_leave()?,
                Why::Operator => false,
            };
            if !goes_on {
                break Ok(WorkEnded { reason, stats, settings, has_left: false });
            }
            versioned = runtime.wait_for(patiently(is_over, async || crawl(&self.board).await))?;
        };
        if let Some((taken, maker)) = snapshots {
            drop(taken);
            // The thread has given up its snapshot, because the engine has ended.
            let _ = maker.join();
        }
        ended.map(|ended| (ended, observer))
    }

    /// Brings the disk up to date with the log: from a snapshot if that is needed, and from the commits after it.
    fn make_ready(&self, crawl: &Crawl) -> std::result::Result<Ready, WorkerError> {
        let Self { task, runtime, cluster, board, member, place, .. } = self;
        let folder_of =
            |share| task.snapshots.as_ref().map(|plan: &Snapshots| Folder::of(&plan.folder, &crawl.id, share));
        let folder = folder_of(place.share);
        let is_over = || self.deadline.is_over();
        let kept = runtime.wait_for(patiently(is_over, async || snapshots::kept(board, place.share).await))?;
        let (last, restored) = snapshots::restore(&kept, folder.as_ref(), &task.dir, member)?;
        let assignment = runtime.wait_for(patiently(is_over, async || self.known_shares.refresh(board).await))?;
        settle(task, crawl, member, place.share, &assignment)?;
        let from = logged::place_of(&CrawlDir::open_disk(&task.dir)?).map_err(EngineError::from)?;
        let mut replayed = 0;
        let replay = async || {
            let mut disk = CrawlDir::open_disk(&task.dir)?;
            replayed += logged::replay(cluster, place.share, &mut disk, &task.dir).await?;
            // A worker that has lost the share may have made a snapshot in the meantime, and cut the stream.
            if snapshots::kept(board, place.share).await?.floor().commits > from {
                let what = "reading the commits: they were cut meanwhile; start this worker again";
                return Err(ClusterError::Lost(what.into()).into());
            }
            let (_, pages) = places(&Session::new(Box::new(disk.reader().snapshot()))).map_err(EngineError::from)?;
            if snapshots::is_cut(cluster, pages).await? {
                snapshots::borrow(board, folder_of, &mut disk).await?;
            }
            Ok::<_, WorkerError>(())
        };
        runtime.wait_for(patiently(is_over, replay))?;
        let maker = folder.map(|folder| Maker {
            cluster: cluster.clone(),
            board: board.clone(),
            runtime: runtime.handle().clone(),
            folder,
            dir: task.dir.clone(),
            share: place.share,
            life: self.life.clone(),
            last,
        });
        let snapshots = maker.map(Maker::start).transpose().map_err(ClusterError::from)?;
        Ok(Ready { restored, replayed, snapshots })
    }
}

/// The name of this machine.
pub(super) fn machine() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned()
}

/// The record of the crawl. It is an error if this program cannot work on it.
pub(super) async fn crawl(board: &Board) -> Result<Versioned<Crawl>> {
    let versioned = board.need::<Crawl>(keys::CRAWL).await?;
    if versioned.record.format != FORMAT || versioned.record.recipe != signature::RECIPE {
        let (format, recipe) = (versioned.record.format, &versioned.record.recipe);
        let what = format!(
            "the crawl is of format {format} and recipe {recipe:?}; this program has {FORMAT} and {:?}",
            signature::RECIPE
        );
        return Err(ClusterError::Usage(what));
    }
    Ok(versioned)
}

/// The identity of this directory among the workers. A new directory gets a random name, which it keeps.
fn enter(task: &WorkerTask, crawl: &Crawl) -> std::result::Result<DirIdentity, WorkerError> {
    let mut dir = CrawlDir::open(&task.dir)?;
    match dir.member()? {
        Some(member) if member.crawl == crawl.id => Ok(member),
        Some(_) => Err(ClusterError::Usage(foreign(task, "belongs to another crawl")).into()),
        None => {
            let worker = random::<8>().map_err(ClusterError::from)?;
            let member = DirIdentity { crawl: crawl.id.clone(), worker, share: None };
            if !dir.enter(&member)? {
                return Err(ClusterError::Usage(foreign(task, "holds a crawl of its own")).into());
            }
            Ok(member)
        }
    }
}

/// Makes this process the only worker in the directory. The lock ends when the returned file is dropped.
fn lock(task: &WorkerTask) -> Result<std::fs::File> {
    let file = std::fs::File::create(lock_file(&task.dir))?;
    file.try_lock().map_err(|_| ClusterError::Usage(foreign(task, "is another worker's, which runs")))?;
    Ok(file)
}

/// The file that a worker locks in its directory for as long as it runs.
pub(super) fn lock_file(dir: &Path) -> PathBuf {
    dir.join("worker.lock")
}

/// The identity of the lock of a directory on this machine.
fn place_of(lock: &std::fs::File) -> Result<String> {
    use std::os::unix::fs::MetadataExt;
    let lock = lock.metadata()?;
    Ok(format!("{:x}:{:x}", lock.dev(), lock.ino()))
}

fn foreign(task: &WorkerTask, what: &str) -> String {
    format!("{} {what}: name an empty directory with --dir", task.dir.display())
}

/// Gives the directory the hosts with which its share begins.
fn settle(
    task: &WorkerTask,
    crawl: &Crawl,
    member: &DirIdentity,
    share: usize,
    assignment: &Assignment,
) -> std::result::Result<(), WorkerError> {
    let secret = crawl.secret().ok_or_else(|| ClusterError::Damaged("the secret".into()))?;
    let sites = assignment.at_first(share, crawl.partitions).sites(crawl.partitions);
    let member = DirIdentity { share: Some(share), ..member.clone() };
    Ok(CrawlDir::open(&task.dir)?.settle(&member, &secret, &sites)?)
}

/// The settings of the crawl, with those of this worker.
fn settings(task: &WorkerTask, crawl: &Crawl) -> std::result::Result<Settings, WorkerError> {
    let mut settings = crawl.settings()?;
    settings.output.dashboard.clone_from(&task.dashboard);
    let limit = &mut settings.limits.time_limit.0;
    if *limit > 0 {
        // The limit counts from the start of the crawl, not of this process.
        *limit = (crawl.created + *limit).saturating_sub(Clock::System.now()).max(1);
    }
    Ok(settings)
}

/// Renews the lease until it is lost, and then sends the reason. `silent`: for tests, the loss is not reported.
async fn keep(held: Arc<Mutex<HeldLease>>, lost: watch::Sender<Option<String>>, silent: bool) {
    loop {
        let pause = held.lock().await.pause();
        tokio::time::sleep(pause).await;
        if let Err(error) = held.lock().await.renew().await {
            if silent {
                return std::future::pending().await;
            }
            // If this fails, the worker is about to end.
            let _ = lost.send(Some(error.to_string()));
            return;
        }
    }
}
