//! Who shares the hosts of a crawl. Workers come, and when all have come the hosts are shared among them, once: the state of
//! a share is on the disk of its worker.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::board::{Board, Message};
use super::record::{Crawl, Muster, Worker, keys};
use super::{ClusterError, Result};

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

/// Joins the workers of a crawl, and waits until the hosts are shared.
///
/// # Errors
///
/// [`ClusterError::Usage`] where they are shared among others.
pub async fn join(board: &Board, crawl: &Crawl, worker: &Worker) -> Result<Place> {
    let mut muster: Muster =
        board.change(keys::MUSTER, |muster: &mut Muster| muster.add(worker, crawl.workers)).await?;
    let (mut count, mut since) = (0, Instant::now());
    while !muster.settled {
        if muster.workers.len() != count {
            (count, since) = (muster.workers.len(), Instant::now());
        }
        if crawl.workers == 0 && since.elapsed() >= NOBODY {
            // Another one may do this at the same time; and another may come at the last moment, who then belongs to them.
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
    let share = muster.workers.iter().position(|other| other.id == worker.id);
    let share = share.ok_or_else(|| ClusterError::Lost("this directory was given up".into()))?;
    Ok(Place { share, shares: muster.workers.len() })
}

impl Muster {
    /// One more worker, or one that comes back. True if that changes anything.
    fn add(&mut self, worker: &Worker, wanted: usize) -> Result<bool> {
        if let Some(known) = self.workers.iter_mut().find(|known| known.id == worker.id) {
            let moved = known.host != worker.host;
            known.host.clone_from(&worker.host);
            return Ok(moved);
        }
        if self.settled {
            let shares = self.workers.len();
            let free = self.workers.iter_mut().find(|known| known.id.is_empty());
            let free = free.ok_or_else(|| {
                ClusterError::Usage(format!("the hosts of this crawl are shared among {shares} workers already"))
            })?;
            *free = worker.clone();
            return Ok(true);
        }
        self.workers.push(worker.clone());
        self.settled = self.workers.len() == wanted;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(id: &str) -> Worker {
        Worker { id: id.into(), host: "here".into() }
    }

    #[test]
    fn the_hosts_are_shared_once_and_a_place_that_was_given_up_is_taken_by_another() {
        let mut muster = Muster::default();
        assert!(muster.add(&worker("a"), 2).unwrap());
        assert!(!muster.add(&worker("a"), 2).unwrap(), "it has come before");
        assert!(!muster.settled);
        assert!(muster.add(&worker("b"), 2).unwrap());
        assert!(muster.settled);
        assert!(matches!(muster.add(&worker("c"), 2), Err(ClusterError::Usage(_))));
        muster.workers[0] = Worker::default();
        assert!(muster.add(&worker("c"), 2).unwrap());
        assert_eq!(muster.workers.iter().map(|worker| worker.id.as_str()).collect::<Vec<_>>(), ["c", "b"]);
        let mut open = Muster::default();
        open.add(&worker("a"), 0).unwrap();
        assert!(!open.settled, "nobody has said how many come");
    }
}
