//! The task that a worker gets when it starts, and what it reports when it begins and ends.

use std::path::PathBuf;
use std::sync::Arc;

use config::Settings;

use super::ClusterError;
use super::ask::Answers;
use super::connect::BrokerArgs;
use super::health::Health;
use super::joining::WorkerShare;
use crate::crawl::{CutError, OpenError};
use crate::engine::{EngineError, Stats, StopReason};

/// The task of a worker.
pub struct WorkerTask {
    /// The addresses of the brokers, and the name of the crawl.
    pub access: BrokerArgs,
    /// Its crawl directory.
    pub dir: PathBuf,
    /// The address of its live page; empty: no live page.
    pub dashboard: String,
    /// The place of the snapshots of its share; `None` if it makes no snapshots.
    pub snapshots: Option<Snapshots>,
    /// The code that answers questions about its directory.
    pub answers: Arc<dyn Answers>,
    /// Whether it only takes the place of a worker that is gone, and does not join (`--spare`).
    pub is_spare: bool,
    /// Whether it leaves the crawl for good when it is stopped (`--leave`).
    pub leaves: bool,
    /// For tests: the safeguards that are switched off.
    pub without: Without,
}

/// The folder of a worker's snapshots, and the interval between them.
#[derive(Clone, Debug)]
pub struct Snapshots {
    /// A folder that all machines see.
    pub folder: PathBuf,
    /// The number of commits between two snapshots.
    pub every: u32,
}

/// Safeguards that tests switch off to show that they are needed.
#[derive(Clone, Debug, Default)]
pub struct Without {
    /// Whether pages are judged before their place in the common order is known.
    pub barrier: bool,
    /// Whether requests are sent even if the lease was not renewed.
    pub deadline: bool,
    /// Whether commits name no fence, and the loss of the lease is not noticed.
    pub fence: bool,
    /// Whether pages of `--max-pages` are taken as if no other worker had any.
    pub quota: bool,
    /// Whether links to hosts that were given away are dropped instead of sent on.
    pub forwarding: bool,
    /// The step of a move at which the process stops for ever, so that a test can kill it there.
    pub halt_at: Option<String>,
}

impl Without {
    /// Stops for ever if this is the step to stop at.
    pub(super) fn halt(&self, at: &str) {
        if self.halt_at.as_deref() == Some(at) {
            tracing::warn!("it stands still: {at}");
            loop {
                std::thread::park();
            }
        }
    }
}

/// The state of a worker when it begins.
#[derive(Debug)]
pub struct Begun {
    /// The settings of the crawl, with those of this worker.
    pub settings: Settings,
    /// Its share.
    pub place: WorkerShare,
    /// The commit as of which its state was made from a snapshot; `None` if it was not.
    pub restored: Option<u64>,
    /// The number of commits of the share that were not on this disk.
    pub replayed: u64,
    /// The health of the worker.
    pub health: Arc<Health>,
}

/// The end of a worker's work.
#[derive(Debug)]
pub struct WorkEnded {
    /// The reason for the end.
    pub reason: StopReason,
    /// The counters of its share.
    pub stats: Stats,
    /// Its settings.
    pub settings: Settings,
    /// Whether it has left the crawl for good.
    pub has_left: bool,
}

/// The reasons why a worker cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// It was stopped before it had a share.
    #[error("stopped before this worker was given any hosts")]
    Stopped,
    /// The cluster failed.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The crawl directory cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Hosts could not be moved from one worker to another.
    #[error(transparent)]
    Cut(#[from] CutError),
    /// The settings cannot be used.
    #[error(transparent)]
    Settings(#[from] config::ConfigError),
    /// The fetcher cannot be made.
    #[error("{0:#}")]
    Fetch(anyhow::Error),
}
