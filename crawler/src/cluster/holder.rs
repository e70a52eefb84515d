//! The data of a worker that has a share. Its runs, its moves and its snapshots need this data.

use tokio::runtime::Runtime;
use tokio::sync::watch;

use super::board::Board;
use super::connect::BrokerConnection;
use super::joining::WorkerShare;
use super::known_shares::KnownShares;
use super::lease::Deadline;
use super::task::WorkerTask;
use crate::crawl::DirIdentity;

/// A worker that has a share.
pub struct ShareHolder<'a> {
    /// The task of the worker.
    pub task: &'a WorkerTask,
    /// The runtime of its tasks.
    pub runtime: &'a Runtime,
    /// The brokers.
    pub cluster: BrokerConnection,
    /// The board.
    pub board: Board,
    /// The list of shares.
    pub known_shares: KnownShares,
    /// The identity of the worker and of its directory.
    pub member: DirIdentity,
    /// The share.
    pub place: WorkerShare,
    /// The name of this process.
    pub life: String,
    /// The time until which it may send requests to the hosts of the share.
    pub deadline: Deadline,
    /// Tells the reason when the lease is lost.
    pub lost: watch::Receiver<Option<String>>,
}
