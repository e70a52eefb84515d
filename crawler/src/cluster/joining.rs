//! The start of a worker: how it comes to a share. When all expected workers have come, the hosts are shared among
//! them. A worker that comes later takes the place of one that is gone. If none is gone, it joins: it gets a new share,
//! and the others give it a part of their hosts ([`super::moves`]).

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::board::{Board, Versioned};
use super::connect::BrokerConnection;
use super::lease::{Claim, HeldLease, LeaseSeen};
use super::record::{Control, Crawl, WantedState, Worker, keys};
use super::shares::{Assignment, Share, Stay};
use super::{Result, snapshots};
use crate::engine::{PeerProgress, Phase};

/// The time without a new worker after which the hosts are shared, if the number of workers was not given.
const NOBODY: Duration = Duration::from_secs(5);
/// The interval at which the board is read in the meantime.
const LOOK: Duration = Duration::from_millis(100);

/// The share of a worker, among all shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerShare {
    /// The number of the share, from 0.
    pub share: usize,
    /// The number of shares.
    pub shares: usize,
}

/// A worker that looks for a share.
#[derive(Clone, Debug)]
pub struct Seeker<'a> {
    /// The brokers.
    pub cluster: &'a BrokerConnection,
    /// The board.
    pub board: &'a Board,
    /// The settings of the crawl.
    pub crawl: &'a Crawl,
    /// The version of these settings.
    pub version: u64,
    /// The identity of the worker.
    pub worker: Worker,
    /// The identity of the file that locks the directory ([`Claim::place`]).
    pub place: String,
    /// The share whose commits the directory has; `None` if it has none.
    pub bound: Option<usize>,
    /// Whether the worker only takes the place of one that is gone, and never gets a new share (`--spare`).
    pub is_spare: bool,
    /// Whether the worker can read snapshots.
    pub has_snapshots: bool,
}

impl Seeker<'_> {
    /// Registers the worker, waits until the hosts are shared, and takes a share: the worker's own, one that another
    /// worker has abandoned, or a new one. Returns `None` if no share is left, because the crawl is over or stopped.
    pub async fn find(&self) -> Result<Option<(WorkerShare, HeldLease)>> {
        let mut assignment = self.join().await?;
        let length = Duration::from_millis(self.crawl.lease);
        let (mut seen, mut told) = (Vec::new(), None);
        loop {
            let shares = assignment.shares.len();
            seen.resize(shares, None);
            let named = assignment.shares.iter().position(|share| share.worker.id == self.worker.id);
            let wanted: Vec<usize> = named.or(self.bound).map_or_else(|| (0..shares).collect(), |share| vec![share]);
            let (mut done, mut kept) = (0, 0);
            for share in wanted.iter().copied() {
                let progress = self.board.get::<PeerProgress>(&keys::progress(share)).await?;
                let is_done = progress.as_ref().is_some_and(|progress| progress.record.is_done(self.version));
                let has_ended = progress.is_some_and(|progress| progress.record.phase == Phase::Ended);
                let has_left = has_ended && assignment.shares[share].stay == Stay::Left;
                let is_done = is_done || has_left;
                let (worker, is_named) = (self.worker.id.as_str(), named.is_some());
                let claim = Claim { worker, place: &self.place, is_named, is_done };
                if !has_left
                    && let Some(held) = HeldLease::take(self.board, share, claim, length, &mut seen[share]).await?
                {
                    self.name(share, held.life()).await?;
                    return Ok(Some((WorkerShare { share, shares }, held)));
                }
                done += usize::from(is_done);
                kept += usize::from(!is_done && seen[share].is_some_and(|seen: LeaseSeen| seen.is_kept(length)));
            }
            let control = self.board.get::<Control>(keys::CONTROL).await?;
            if done == wanted.len() || control.is_some_and(|control| control.record.wish == WantedState::Stop) {
                return Ok(None);
            }
            let has_no_place = named.is_none() && self.bound.is_none();
            if has_no_place && !self.is_spare && done + kept == wanted.len() {
                // Every other worker is well, so there is no place to take.
                if !self.has_snapshots && snapshots::is_cut(self.cluster, 0).await? {
                    return Err(snapshots::nameless());
                }
                assignment = self
                    .board
                    .change(keys::ASSIGNMENT, |assignment: &mut Assignment| Ok(assignment.join(&self.worker)))
                    .await?;
                continue;
            }
            if told.as_ref() != Some(&wanted) && seen.iter().flatten().any(|seen: &LeaseSeen| seen.is_kept(length)) {
                match named.or(self.bound) {
                    Some(share) => tracing::warn!(
                        "another process works on share {}, to which this directory belongs: this one waits until that \
                         one has ended. To join with a new share, name an empty --dir",
                        share + 1
                    ),
                    None => tracing::warn!("all shares have workers: this one waits until one of them is gone"),
                }
                told = Some(wanted.clone());
            }
            sleep(length / 20).await;
            assignment = self.board.need(keys::ASSIGNMENT).await?.record;
        }
    }

    /// Registers the worker on the list of shares, and waits until the hosts are shared.
    async fn join(&self) -> Result<Assignment> {
        let Self { board, crawl, worker, .. } = self;
        let mut assignment: Assignment =
            board.change(keys::ASSIGNMENT, |assignment: &mut Assignment| Ok(assignment.add(worker, crawl))).await?;
        let (mut count, mut since) = (0, Instant::now());
        while !assignment.settled {
            if assignment.shares.len() != count {
                (count, since) = (assignment.shares.len(), Instant::now());
            }
            if crawl.workers == 0 && since.elapsed() >= NOBODY {
                // Another worker may do this at the same time. A worker that comes at the last moment is counted, too.
                let settle = |assignment: &mut Assignment| {
                    let changes = !assignment.settled && assignment.shares.len() == count;
                    if changes {
                        assignment.settle(crawl.partitions);
                    }
                    Ok(changes)
                };
                assignment = board.change(keys::ASSIGNMENT, settle).await?;
                continue;
            }
            sleep(LOOK).await;
            if let Some(Versioned { record, .. }) = board.get(keys::ASSIGNMENT).await? {
                assignment = record;
            }
        }
        Ok(assignment)
    }

    /// Writes this worker and its process into the entry of a share.
    async fn name(&self, share: usize, life: &str) -> Result<()> {
        let name = |assignment: &mut Assignment| {
            let share = &mut assignment.shares[share];
            share.worker.clone_from(&self.worker);
            share.life = life.to_owned();
            Ok(true)
        };
        self.board.change(keys::ASSIGNMENT, name).await.map(|_| ())
    }
}

impl Assignment {
    /// Adds a worker, or updates one that comes back. After the hosts are shared, no worker is added. Returns whether
    /// the assignment has changed.
    fn add(&mut self, worker: &Worker, crawl: &Crawl) -> bool {
        if let Some(known) = self.shares.iter_mut().find(|known| known.worker.id == worker.id) {
            let moved = known.worker != *worker;
            known.worker.clone_from(worker);
            return moved;
        }
        if self.settled {
            return false;
        }
        self.shares.push(Share { worker: worker.clone(), ..Share::default() });
        if self.shares.len() == crawl.workers {
            self.settle(crawl.partitions);
        }
        true
    }

    /// Adds a worker with a new share that has no hosts yet, after the hosts were shared. Returns whether that changed
    /// anything.
    fn join(&mut self, worker: &Worker) -> bool {
        let is_new = self.shares.iter().all(|share| share.worker.id != worker.id);
        if is_new {
            self.shares.push(Share { worker: worker.clone(), ..Share::default() });
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_are_shared_when_all_have_come_and_who_joins_later_begins_with_nothing() {
        let worker = |id: &str| Worker { id: id.into(), host: "here".into(), dir: "/crawl".into() };
        let crawl = |workers| Crawl { workers, partitions: 10, ..Crawl::default() };
        let mut assignment = Assignment::default();
        assert!(assignment.add(&worker("a"), &crawl(2)));
        assert!(!assignment.add(&worker("a"), &crawl(2)), "it has come before");
        assert!(!assignment.settled);
        assert!(assignment.add(&worker("b"), &crawl(2)));
        assert!(assignment.settled);
        assert!(!assignment.add(&worker("c"), &crawl(2)), "it is too late");
        let moved = Worker { host: "there".into(), ..worker("b") };
        assert!(assignment.add(&moved, &crawl(2)));
        let workers =
            |assignment: &Assignment| assignment.shares.iter().map(|share| share.worker.clone()).collect::<Vec<_>>();
        assert_eq!(workers(&assignment), [worker("a"), moved.clone()]);
        assert!(assignment.join(&worker("c")) && !assignment.join(&worker("c")));
        assert_eq!(workers(&assignment), [worker("a"), moved, worker("c")]);
        assert_eq!(assignment.shares.iter().map(|share| share.partitions.count()).collect::<Vec<_>>(), [5, 5, 0]);
        let mut open = Assignment::default();
        assert!(open.add(&worker("a"), &crawl(0)));
        assert!(!open.settled, "nobody has said how many come");
    }
}
