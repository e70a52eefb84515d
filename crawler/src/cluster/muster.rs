//! Who shares the hosts of a crawl. Workers come, and when all have come the hosts are shared among them, once. A worker
//! that comes later waits, and takes the place of one that is gone.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::Result;
use super::board::{Board, Message};
use super::lease::{Claim, Held};
use super::record::{Control, Crawl, Muster, Wish, Worker, keys};
use crate::engine::{Phase, Standing};

/// Where the number of workers was not said: the hosts are shared among those that have come when nobody has come for so
/// long.
const NOBODY: Duration = Duration::from_secs(5);
/// How often the board is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(100);

/// The place of a worker among all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its share.
    pub share: usize,
    /// How many there are.
    pub shares: usize,
}

/// A worker that looks for a share.
#[derive(Clone, Debug)]
pub struct Seeker<'a> {
    /// The board.
    pub board: &'a Board,
    /// The crawl.
    pub crawl: &'a Crawl,
    /// Who it is.
    pub worker: Worker,
    /// The share whose commits its directory has.
    pub bound: Option<usize>,
}

impl Seeker<'_> {
    /// Joins the workers of the crawl, waits until the hosts are shared, and takes a share: its own, or one that its worker
    /// has abandoned. `None` if none is left, because the crawl is over or stopped.
    pub async fn find(&self) -> Result<Option<(Place, Held)>> {
        let muster = self.join().await?;
        let (shares, length) = (muster.workers.len(), Duration::from_millis(self.crawl.lease));
        let named = muster.workers.iter().position(|other| other.id == self.worker.id);
        let wanted: Vec<usize> = named.or(self.bound).map_or_else(|| (0..shares).collect(), |share| vec![share]);
        let mut seen = vec![None; shares];
        loop {
            let mut done = 0;
            for share in wanted.iter().copied() {
                let standing = self.board.get::<Standing>(&keys::standing(share)).await?;
                let is_done = standing.is_some_and(|standing| standing.record.phase == Phase::Ended);
                let claim = Claim { worker: &self.worker.id, is_named: named.is_some(), is_done };
                if let Some(held) = Held::take(self.board, share, claim, length, &mut seen[share]).await? {
                    self.name(share).await?;
                    return Ok(Some((Place { share, shares }, held)));
                }
                done += usize::from(is_done);
            }
            let control = self.board.get::<Control>(keys::CONTROL).await?;
            if done == wanted.len() || control.is_some_and(|control| control.record.wish == Wish::Stop) {
                return Ok(None);
            }
            sleep(length / 20).await;
        }
    }

    /// Joins the workers, and waits until the hosts are shared.
    async fn join(&self) -> Result<Muster> {
        let Self { board, crawl, worker, .. } = self;
        let mut muster: Muster =
            board.change(keys::MUSTER, |muster: &mut Muster| Ok(muster.add(worker, crawl.workers))).await?;
        let (mut count, mut since) = (0, Instant::now());
        while !muster.settled {
            if muster.workers.len() != count {
                (count, since) = (muster.workers.len(), Instant::now());
            }
            if crawl.workers == 0 && since.elapsed() >= NOBODY {
                // Another one may do this at the same time; and one more may come at the last moment, and belongs to them.
                let settle = |muster: &mut Muster| {
                    let changes = !muster.settled && muster.workers.len() == count;
                    muster.settled |= changes;
                    Ok(changes)
                };
                muster = board.change(keys::MUSTER, settle).await?;
                continue;
            }
            sleep(LOOK).await;
            if let Some(Message { record, .. }) = board.get(keys::MUSTER).await? {
                muster = record;
            }
        }
        Ok(muster)
    }

    /// Names this worker as the one of a share.
    async fn name(&self, share: usize) -> Result<()> {
        let name = |muster: &mut Muster| {
            let changes = muster.workers[share] != self.worker;
            muster.workers[share].clone_from(&self.worker);
            Ok(changes)
        };
        self.board.change(keys::MUSTER, name).await.map(|_| ())
    }
}

impl Muster {
    /// One more worker, or one that comes back. Once the hosts are shared, nobody is added. True if that changes anything.
    fn add(&mut self, worker: &Worker, wanted: usize) -> bool {
        if let Some(known) = self.workers.iter_mut().find(|known| known.id == worker.id) {
            let moved = known != worker;
            known.clone_from(worker);
            return moved;
        }
        if self.settled {
            return false;
        }
        self.workers.push(worker.clone());
        self.settled = self.workers.len() == wanted;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_are_shared_once() {
        let worker = |id: &str| Worker { id: id.into(), host: "here".into(), dir: "/crawl".into() };
        let mut muster = Muster::default();
        assert!(muster.add(&worker("a"), 2));
        assert!(!muster.add(&worker("a"), 2), "it has come before");
        assert!(!muster.settled);
        assert!(muster.add(&worker("b"), 2));
        assert!(muster.settled);
        assert!(!muster.add(&worker("c"), 2), "it is too late");
        let moved = Worker { host: "there".into(), ..worker("b") };
        assert!(muster.add(&moved, 2));
        assert_eq!(muster.workers, [worker("a"), moved]);
        let mut open = Muster::default();
        assert!(open.add(&worker("a"), 0));
        assert!(!open.settled, "nobody has said how many come");
    }
}
