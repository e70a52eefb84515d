//! What a worker is told when it starts, and what it tells when it begins and ends.

use std::path::PathBuf;
use std::sync::Arc;

use config::Settings;

use super::ClusterError;
use super::ask::Answers;
use super::connect::BrokerArgs;
use super::health::Health;
use super::muster::WorkerShare;
use crate::crawl::{CutError, OpenError};
use crate::engine::{EngineError, Stats, StopReason};

/// What a worker is to do.
pub struct WorkerTask {
    /// The brokers, and the crawl.
    pub access: BrokerArgs,
    /// Its crawl directory.
    pub dir: PathBuf,
    /// Address of its live page; empty for none.
    pub dashboard: String,
    /// Where it keeps snapshots of its share, if anywhere.
    pub snapshots: Option<Snapshots>,
    /// What answers questions about its directory.
    pub answers: Arc<dyn Answers>,
    /// Whether it only takes the place of a worker that is gone, and does not join.
    pub is_spare: bool,
    /// Whether it leaves the crawl for good when its owner stops it.
    pub leaves: bool,
    /// For tests: do without one of the safeguards.
    pub without: Without,
}

/// Where a worker keeps snapshots, and how often it makes one.
#[derive(Clone, Debug)]
pub struct Snapshots {
    /// A folder that all machines see.
    pub folder: PathBuf,
    /// Commits from one to the next.
    pub every: u32,
}

/// The safeguards that tests switch off, to see that they are needed.
#[derive(Clone, Debug, Default)]
pub struct Without {
    /// Judge pages before their place in the common order is known.
    pub barrier: bool,
    /// Send requests though the lease was not renewed.
    pub deadline: bool,
    /// Commit whoever has taken the share, and do not notice that the lease is lost.
    pub fence: bool,
    /// Take pages of `--max-pages` as if no other worker had any.
    pub quota: bool,
    /// Drop links to hosts that were given away, instead of sending them on.
    pub forwarding: bool,
    /// Where to stand still for ever amid a move, so that the process can be killed there.
    pub halt_at: Option<String>,
}

impl Without {
    /// Stands still, if it is to do so here.
    pub(super) fn halt(&self, at: &str) {
        if self.halt_at.as_deref() == Some(at) {
            tracing::warn!("it stands still: {at}");
            loop {
                std::thread::park();
            }
        }
    }
}

/// How a worker begins.
#[derive(Debug)]
pub struct Begun {
    /// The settings of the crawl, with what is the worker's own.
    pub settings: Settings,
    /// Its share.
    pub place: WorkerShare,
    /// The commit as of which its state was made from a snapshot, if it was.
    pub restored: Option<u64>,
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
    /// Whether it has left the crawl for good.
    pub has_left: bool,
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
    /// Hosts on their way from one worker to another.
    #[error(transparent)]
    Cut(#[from] CutError),
    /// Settings.
    #[error(transparent)]
    Settings(#[from] config::ConfigError),
    /// The fetcher.
    #[error("{0:#}")]
    Fetch(anyhow::Error),
}
