//! `--max-pages` over all workers. One record of the board says how many pages each share may fetch. A worker takes
//! pages in blocks, by compare-and-set, and gives back those that it does not need.
//!
//! The record holds the number of pages that a share may fetch in all, counted from its first page. The state of the
//! share holds the number that it has fetched. So no page of the limit is lost when a worker dies: the next worker of
//! the share writes into the record what the share has fetched, and all workers may take the difference. While the
//! limit stays the same, the sum over all shares is never above it. If it becomes lower, pages that were fetched before
//! may be more.

use std::time::Duration;

use crossbeam_channel::Sender;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::board::Board;
use super::lease::Deadline;
use super::record::keys;
use super::{ClusterError, Result};
use crate::engine::{Event, QuotaRequest};

/// The interval at which a worker that got no pages asks again.
const LOOK: Duration = Duration::from_millis(250);

/// The pages that each share may fetch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quota {
    shares: Vec<Grant>,
}

/// The pages that one share may fetch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Grant {
    /// The process that has the share.
    life: String,
    /// The number of pages, in all.
    pages: u64,
}

impl Quota {
    /// A worker takes at most an equal part of the pages that are left, divided by this number.
    const PART: u64 = 2;

    /// The number of pages that no share has yet. `most` is the limit of all shares.
    pub fn left(&self, most: u64) -> u64 {
        most.saturating_sub(self.shares.iter().map(|grant| grant.pages).sum())
    }

    /// Whether every page that may be fetched was fetched. `fetched` has the number of each share. (It is larger than
    /// the number granted if the share has left a crawl that had no limit then.)
    pub fn is_spent(&self, most: u64, fetched: &[u64]) -> bool {
        let granted = self.shares.iter().map(|grant| grant.pages).chain(std::iter::repeat(0));
        self.left(most) == 0 && fetched.iter().zip(granted).all(|(fetched, granted)| *fetched >= granted)
    }

    fn of(&mut self, share: usize) -> &mut Grant {
        if self.shares.len() <= share {
            self.shares.resize(share + 1, Grant::default());
        }
        &mut self.shares[share]
    }
}

/// The part of one share in the quota, while a process has the share.
#[derive(Clone, Debug)]
pub struct Keeper {
    /// The board.
    pub board: Board,
    /// The share.
    pub share: usize,
    /// The number of shares.
    pub shares: usize,
    /// The name of the process.
    pub life: String,
    /// The limit of the pages of all shares together.
    pub most: u64,
    /// For tests: whether it takes pages as if no other share had any.
    pub careless: bool,
}

impl Keeper {
    /// Makes this process the only one that changes the entry of the share. The share has fetched this many pages, and
    /// may fetch no more at first: pages that it was given are given back, because the limit may be lower now. Pages
    /// that it has fetched without a limit count, too. Returns the number of pages that the share may fetch.
    pub async fn claim(&self, fetched: u64) -> Result<u64> {
        let claim = |quota: &mut Quota| {
            *quota.of(self.share) = Grant { life: self.life.clone(), pages: fetched };
            Ok(true)
        };
        self.board.change(keys::QUOTA, claim).await.map(|_| fetched)
    }

    /// Takes about `wanted` pages more than `before`. Returns the number that the share may fetch then: `before` if no
    /// page is left.
    async fn take(&self, before: u64, wanted: u64) -> Result<u64> {
        let take = |quota: &mut Quota| {
            let left = if self.careless { self.most.saturating_sub(before) } else { quota.left(self.most) };
            let grant = self.own(quota)?;
            // The pages were taken already, but the answer was lost.
            if grant.pages > before {
                return Ok(false);
            }
            let block = wanted.min(left / (Quota::PART * self.shares as u64)).max(left.min(1));
            grant.pages += block;
            Ok(block > 0)
        };
        Ok(self.board.change(keys::QUOTA, take).await?.of(self.share).pages)
    }

    /// Gives back the pages above `to`.
    pub async fn give_back(&self, to: u64) -> Result<()> {
        let give = |quota: &mut Quota| {
            let grant = self.own(quota)?;
            let changes = grant.pages > to;
            grant.pages = grant.pages.min(to);
            Ok(changes)
        };
        self.board.change(keys::QUOTA, give).await.map(|_| ())
    }

    fn own<'a>(&self, quota: &'a mut Quota) -> Result<&'a mut Grant> {
        let grant = quota.of(self.share);
        if grant.life != self.life {
            return Err(ClusterError::Lost("another worker has taken these hosts, and their pages".into()));
        }
        Ok(grant)
    }

    /// Fulfils the requests of the engine in order, until the engine is gone. `pages` is the number that it may fetch
    /// at first.
    pub async fn run(
        self,
        mut pages: u64,
        mut requests: mpsc::UnboundedReceiver<QuotaRequest>,
        events: Sender<Event>,
        deadline: Deadline,
    ) {
        let mut wanted: Option<(u64, u64)> = None;
        let mut told = false;
        while !deadline.is_over() {
            let next = if wanted.is_none() { Ok(requests.recv().await) } else { timeout(LOOK, requests.recv()).await };
            match next {
                Ok(None) => return,
                Ok(Some(QuotaRequest::More { number, pages })) => (wanted, told) = (Some((number, pages)), false),
                Ok(Some(QuotaRequest::Back { to })) => {
                    (wanted, pages) = (None, to);
                    while let Err(error) = self.give_back(to).await {
                        tracing::warn!("pages were not given back: {error}");
                        if deadline.is_over() || matches!(error, ClusterError::Lost(_)) {
                            return;
                        }
                        sleep(LOOK).await;
                    }
                }
                Err(_) => {}
            }
            let Some((number, more)) = wanted else { continue };
            match self.take(pages, more).await {
                Ok(now) => {
                    if now > pages {
                        wanted = None;
                    }
                    if now > pages || !std::mem::replace(&mut told, true) {
                        // If this fails, the engine has ended.
                        let _ = events.send(Event::Pages { number, pages: now });
                    }
                    pages = now;
                }
                Err(ClusterError::Lost(why)) => {
                    let _ = events.send(Event::Lost(why));
                    return;
                }
                Err(error) => tracing::warn!("no pages were taken: {error}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_spent_when_every_page_is_given_and_fetched() {
        let mut quota = Quota::default();
        quota.of(2).pages = 6;
        quota.of(0).pages = 3;
        assert_eq!((quota.left(10), quota.left(9), quota.left(5)), (1, 0, 0));
        assert!(quota.is_spent(9, &[3, 0, 6]));
        assert!(quota.is_spent(9, &[3, 0, 6, 0]), "a share that never asked");
        assert!(!quota.is_spent(9, &[3, 0, 5]), "one page may still be fetched");
        assert!(quota.is_spent(9, &[3, 40, 6]), "a share that fetched without a limit");
        assert!(quota.is_spent(5, &[3, 0, 6]), "the limit is lower now");
        assert!(!quota.is_spent(10, &[3, 0, 6]), "one was given to nobody");
    }
}
