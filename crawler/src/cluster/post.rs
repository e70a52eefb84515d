//! A worker that has a share: what its runs, its moves and its snapshots have in common.

use tokio::runtime::Runtime;
use tokio::sync::watch;

use super::board::Board;
use super::connect::BrokerConnection;
use super::lease::Deadline;
use super::muster::WorkerShare;
use super::roster::Roster;
use super::task::WorkerTask;
use crate::crawl::Member;

/// A worker that has a share.
pub struct Post<'a> {
    /// What it is to do.
    pub task: &'a WorkerTask,
    /// Where its tasks run.
    pub runtime: &'a Runtime,
    /// The brokers.
    pub cluster: BrokerConnection,
    /// The board.
    pub board: Board,
    /// Who has which hosts.
    pub roster: Roster,
    /// Whose directory it is.
    pub member: Member,
    /// The share.
    pub place: WorkerShare,
    /// The name of this process.
    pub life: String,
    /// Until when it may ask the hosts of the share.
    pub deadline: Deadline,
    /// Says when the lease is lost.
    pub lost: watch::Receiver<Option<String>>,
}
