//! The owners of hosts: finds the worker that has a host, and asks it.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use dedup_stage::url::{Canonicalizer, KeyHasher, Keys};
use tokio::time::sleep;
use url::Url;

use super::ask::{Question, ask, nobody};
use super::board::Board;
use super::connect::{BrokerArgs, BrokerConnection};
use super::operate::open;
use super::record::{Crawl, Worker, keys};
use super::shares::{Assignment, Share};
use super::worker::{crawl, machine};
use super::{ClusterError, Result};
use crate::crawl::CrawlDir;

/// The longest wait for hosts that are on their way from one worker to another.
const MOVES: Duration = Duration::from_secs(20);

/// The shares of a crawl and their workers, for questions about hosts.
#[derive(Debug)]
pub struct Owners {
    cluster: BrokerConnection,
    board: Board,
    crawl: Crawl,
    assignment: Assignment,
}

impl Owners {
    /// Reads the shares of a crawl.
    ///
    /// # Errors
    ///
    /// [`ClusterError::Usage`] if the hosts are not shared yet.
    pub async fn of(access: &BrokerArgs) -> Result<Self> {
        let (cluster, board) = open(access).await?;
        let crawl = crawl(&board).await?.record;
        let begin = Instant::now();
        let assignment = loop {
            let assignment =
                board.get::<Assignment>(keys::ASSIGNMENT).await?.map(|message| message.record).unwrap_or_default();
            // While hosts move, no worker can answer for them.
            if assignment.moves.is_empty() || begin.elapsed() >= MOVES {
                break assignment;
            }
            sleep(Duration::from_millis(100)).await;
        };
        if !assignment.settled {
            return Err(ClusterError::Usage("the hosts are not shared yet: the crawl waits for its workers".into()));
        }
        Ok(Self { cluster, board, crawl, assignment })
    }

    /// The number of shares.
    pub fn shares(&self) -> usize {
        self.assignment.shares.len()
    }

    /// The share that has the host of a URL.
    pub fn share_of(&self, url: &Url) -> Result<usize> {
        let damaged = || ClusterError::Damaged("the crawl".into());
        let settings = self.crawl.settings().map_err(|_| damaged())?;
        let secret = self.crawl.secret().and_then(|secret| secret.try_into().ok()).ok_or_else(damaged)?;
        let keys = Keys { canonicalizer: Canonicalizer::new(&settings.urls), hasher: KeyHasher::new(secret) };
        let partition = keys.site(url).part(self.crawl.partitions);
        self.assignment.share_of(partition).ok_or_else(damaged)
    }

    /// Asks the worker that has a share, and writes its answer to `out`. If the worker does not run, but its directory
    /// is on this machine, returns the directory instead; in that case nothing was written.
    ///
    /// # Errors
    ///
    /// [`ClusterError::Usage`] if neither is available. `command` is the command that the user should run where the
    /// directory is.
    pub async fn ask(
        &self,
        share: usize,
        question: &Question,
        command: &str,
        out: &mut dyn Write,
    ) -> Result<Option<CrawlDir>> {
        if ask(&self.cluster, share, question, out).await? {
            return Ok(None);
        }
        // Another worker may have taken the share in the meantime.
        let assignment = self.board.need::<Assignment>(keys::ASSIGNMENT).await?.record;
        let share_now = assignment.shares.get(share).or(self.assignment.shares.get(share));
        let Share { worker: Worker { id, host, dir }, .. } = share_now.cloned().unwrap_or_default();
        let here = (host == machine()).then(|| CrawlDir::reading(&PathBuf::from(&dir)).ok()).flatten();
        let is_its = |dir: &CrawlDir| {
            let member = dir.member().ok().flatten();
            member.is_some_and(|member| (member.crawl, member.worker) == (self.crawl.id.clone(), id.clone()))
        };
        match here.filter(is_its) {
            Some(dir) => Ok(Some(dir)),
            None => Err(nobody(share, &host, &dir, &command.replace("DIR", &dir))),
        }
    }
}
