//! A crawl on many machines, tried on one machine. Three brokers and some workers run on loopback, in the same
//! processes as on many machines.
//!
//! The directory holds `broker-N/`, `broker-N.conf` and `broker-N.log` of each broker, and `worker-N/` and
//! `worker-N.log` of each worker. The brokers keep the crawl, so another run in the same directory continues it.

mod brokers;
pub mod child;
mod server;

use super::block_on::Wait;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use config::Settings;
use tokio::runtime::Runtime;
use url::Url;

use super::board::Board;
use super::connect::{BrokerArgs, BrokerConnection};
use super::operate::{self, ClusterShape};
use super::record::WantedState;
use super::status::{CrawlStatus, look};
use super::worker::crawl;
use super::{ClusterError, Result, broker};
use brokers::Brokers;
use child::{Child, Program};

/// The file whose existence says that the crawl was made.
const MADE: &str = "try.made";
/// The time that brokers have after their start to choose a leader.
const LEADER: Duration = Duration::from_secs(60);
/// The time that workers have to save their state when they are stopped.
const SAVE: Duration = Duration::from_secs(15);
/// The time that brokers have to end when they are stopped.
const END: Duration = Duration::from_secs(5);

/// The settings of a trial crawl on loopback.
#[derive(Debug)]
pub struct LoopbackSettings {
    /// The directory for all files.
    pub dir: PathBuf,
    /// The settings of the crawl, if it must be made.
    pub settings: Settings,
    /// The seeds of the crawl.
    pub seeds: Vec<Url>,
    /// The number of workers.
    pub workers: usize,
    /// The length of the workers' leases.
    pub lease: config::Duration,
    /// The file of `nats-server`, if the user named one.
    pub server: Option<PathBuf>,
}

/// Brokers and workers on loopback. They end when this is dropped.
#[derive(Debug)]
pub struct Loopback {
    /// The arguments for a connection to the brokers.
    pub access: BrokerArgs,
    // Fields are dropped in their order, so the workers end before the brokers.
    workers: Vec<Child>,
    brokers: Brokers,
    runtime: Runtime,
    cluster: BrokerConnection,
    board: Board,
    _lock: File,
}

impl Loopback {
    /// Starts the brokers, makes the crawl or continues the one in the directory, and starts the workers. `say` gets
    /// messages for the user.
    ///
    /// # Errors
    ///
    /// [`ClusterError::Usage`] if the arguments make no sense.
    pub fn start(wanted: LoopbackSettings, say: &mut dyn FnMut(String)) -> Result<Self> {
        let LoopbackSettings { dir, settings, seeds, workers, lease, server } = wanted;
        let is_made = Self::is_made(&dir);
        if !is_made && seeds.is_empty() {
            let what = "no seeds: give at least one URL to start from, as in: crawler cluster try https://some.site/";
            return Err(ClusterError::Usage(what.into()));
        }
        let lock = claim(&dir)?;
        let server = server::find(server.as_deref(), say)?;
        let brokers = Brokers::start(&server, &dir)?;
        let access = BrokerArgs::new(brokers.address.clone(), brokers.monitor.clone());
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        runtime.wait_for(ready(&access))?;
        let cluster = runtime.wait_for(access.connect())?;
        let board = runtime.wait_for(Board::open(&cluster))?;
        let workers = match is_made {
            true => {
                runtime.wait_for(awake(&cluster))?;
                let begun = runtime.wait_for(crawl(&board))?.record;
                if let Some(other) = seeds.iter().find(|seed| !begun.seeds.contains(seed)) {
                    let what = format!("{other} is no seed of the crawl in {}", dir.display());
                    return Err(ClusterError::Usage(format!("{what}; name another directory with --dir")));
                }
                runtime.wait_for(operate::want(&access, WantedState::Run, None))?;
                say(format!(
                    "going on with the crawl in {}, with the settings and workers of its beginning",
                    dir.display()
                ));
                begun.workers
            }
            false => {
                runtime.wait_for(operate::create(&access, &ClusterShape::of(workers, lease), settings, seeds, say))?;
                File::create(dir.join(MADE))?;
                workers
            }
        };
        let mut loopback = Self { access, workers: Vec::new(), brokers, runtime, cluster, board, _lock: lock };
        // If the crawl has come to its end, there is nothing for workers to do.
        let count = if loopback.status()?.is_over() { 0 } else { workers };
        for number in 1..=count {
            loopback.workers.push(Child::start(loopback.worker(&dir, number)?)?);
        }
        Ok(loopback)
    }

    /// Whether an earlier run has made the crawl in a directory.
    pub fn is_made(dir: &Path) -> bool {
        dir.join(MADE).exists()
    }

    /// The command of a worker.
    fn worker(&self, dir: &Path, number: usize) -> std::io::Result<Program> {
        let dir = std::path::absolute(dir.join(format!("worker-{number}")))?;
        let mut arguments = vec!["worker".into(), "--cluster".into(), self.address().into(), "--monitor".into()];
        arguments.extend([
            self.monitor().into(),
            "--progress".into(),
            "none".into(),
            "--dir".into(),
            dir.clone().into(),
        ]);
        let (name, file, log) = (format!("worker {number}"), std::env::current_exe()?, dir.with_extension("log"));
        Ok(Program { name, file, arguments, log })
    }

    /// The value for `--cluster`.
    pub fn address(&self) -> &str {
        &self.brokers.address
    }

    /// The value for `--monitor`.
    pub fn monitor(&self) -> String {
        self.brokers.monitor.join(",")
    }

    /// The processes of the workers.
    pub fn workers(&mut self) -> &mut [Child] {
        &mut self.workers
    }

    /// The processes of the brokers.
    pub fn brokers(&mut self) -> &mut [Child] {
        &mut self.brokers.children
    }

    /// The status of the crawl.
    pub fn status(&self) -> Result<CrawlStatus> {
        self.runtime.wait_for(look(&self.access, &self.cluster, &self.board))
    }

    /// Tells all workers to save their state and end, including those that were started elsewhere.
    pub fn stop(&self) -> Result<()> {
        self.runtime.wait_for(operate::want(&self.access, WantedState::Stop, None))
    }

    /// Waits until the workers have saved their state and ended, and then ends the brokers. Returns whether the workers
    /// have ended by themselves.
    pub fn end(mut self) -> bool {
        let saved = child::wait(&mut self.workers, SAVE);
        self.brokers.children.iter_mut().for_each(Child::terminate);
        // Brokers that take longer are killed. That does no harm: they sync every write.
        child::wait(&mut self.brokers.children, END);
        saved
    }
}

/// Makes the directory and locks it for this process.
fn claim(dir: &Path) -> Result<File> {
    let usage = |what: &str| ClusterError::Usage(format!("{} {what}", dir.display()));
    std::fs::create_dir_all(dir)?;
    let lock = dir.join("try.lock");
    if !lock.exists() && dir.read_dir()?.next().is_some() {
        return Err(usage("is not empty and was not made by `cluster try`: name an empty one with --dir"));
    }
    let lock = File::create(lock)?;
    lock.try_lock().map_err(|_| usage("is in use: another `cluster try` runs there"))?;
    Ok(lock)
}

/// Waits until brokers that are started again have found their streams.
async fn awake(cluster: &BrokerConnection) -> Result<()> {
    let begin = Instant::now();
    for stream in ["board", "links", "pages", "commits"].map(|what| cluster.stream(what)) {
        while let Err(error) = cluster.context.get_stream(&stream).await {
            if begin.elapsed() > LEADER {
                return Err(broker(&cluster.at("waiting for the brokers"))(error));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    Ok(())
}

/// Waits until all brokers are well.
async fn ready(access: &BrokerArgs) -> Result<()> {
    let begin = Instant::now();
    while !access.brokers().await.iter().all(|broker| broker.is_well) {
        if begin.elapsed() > LEADER {
            let error = "they do not become well; see their logs".into();
            return Err(ClusterError::Broker { what: "starting the brokers".into(), error });
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}
