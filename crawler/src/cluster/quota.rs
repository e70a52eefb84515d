//! `--max-pages` over all workers: how many pages each share may fetch, in one record of the board. A worker takes pages in
//! blocks by compare-and-set, and gives back what it does not need.
//!
//! The record says what a share may fetch in all, from its first page on, and the state of the share says what it has fetched.
//! So nothing is lost when a worker dies: whoever takes the share finds both, and goes on with the difference. The sum over
//! all shares is never above the limit.

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

/// How often a worker that got nothing looks whether there is something.
const LOOK: Duration = Duration::from_millis(250);

/// What each share may fetch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quota {
    shares: Vec<Grant>,
}

/// What one share may fetch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Grant {
    /// The process that has the share.
    life: String,
    /// Pages, in all.
    pages: u64,
}

impl Quota {
    /// A block is at most what each share would get of what is left, divided by this.
    const PART: u64 = 2;

    /// Pages that no share has yet.
    pub fn left(&self, most: u64) -> u64 {
        most.saturating_sub(self.shares.iter().map(|grant| grant.pages).sum())
    }

    /// Whether every page was fetched that may be; `fetched` are those of each share.
    pub fn is_spent(&self, most: u64, fetched: &[u64]) -> bool {
        let granted = self.shares.iter().map(|grant| grant.pages).chain(std::iter::repeat(0));
        self.left(most) == 0 && fetched.iter().zip(granted).all(|(fetched, granted)| *fetched == granted)
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
    /// The process.
    pub life: String,
    /// Pages of all shares together.
    pub most: u64,
    /// For tests: take pages as if nobody else had any.
    pub careless: bool,
}

impl Keeper {
    /// Makes this process the only one that changes what the share may fetch. What that is.
    pub async fn claim(&self) -> Result<u64> {
        let claim = |quota: &mut Quota| {
            quota.of(self.share).life.clone_from(&self.life);
            Ok(true)
        };
        Ok(self.board.change(keys::QUOTA, claim).await?.of(self.share).pages)
    }

    /// Takes more than `before`, about so many. What the share may fetch then: `before` where nothing is left.
    async fn take(&self, before: u64, wanted: u64) -> Result<u64> {
        let take = |quota: &mut Quota| {
            let left = if self.careless { self.most.saturating_sub(before) } else { quota.left(self.most) };
            let grant = self.own(quota)?;
            // It was taken before, though the answer was lost.
            if grant.pages > before {
                return Ok(false);
            }
            let block = wanted.min(left / (Quota::PART * self.shares as u64)).max(left.min(1));
            grant.pages += block;
            Ok(block > 0)
        };
        Ok(self.board.change(keys::QUOTA, take).await?.of(self.share).pages)
    }

    /// Gives back what is above `to`.
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

    /// Does what the engine asks for, in order, until the engine is gone. `pages` is what it may fetch at first.
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
                        // The engine may have ended.
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
        assert!(!quota.is_spent(10, &[3, 0, 6]), "one was given to nobody");
    }
}
