//! The workers of a crawl as those who answer for its hosts.

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
use super::shares::{Muster, Share};
use super::worker::{crawl, machine};
use super::{ClusterError, Result};
use crate::crawl::CrawlDir;

/// How long hosts that are on their way from one worker to another are waited for.
const MOVES: Duration = Duration::from_secs(20);

/// Who has which hosts.
#[derive(Debug)]
pub struct Owners {
    cluster: BrokerConnection,
    board: Board,
    crawl: Crawl,
    muster: Muster,
}

impl Owners {
    /// Of a crawl whose hosts are shared.
    ///
    /// # Errors
    ///
    /// [`ClusterError::Usage`] where they are not shared yet.
    pub async fn of(access: &BrokerArgs) -> Result<Self> {
        let (cluster, board) = open(access).await?;
        let crawl = crawl(&board).await?.record;
        let begin = Instant::now();
        let muster = loop {
            let muster = board.get::<Muster>(keys::MUSTER).await?.map(|message| message.record).unwrap_or_default();
            // Nobody can answer for hosts that are on their way.
            if muster.moves.is_empty() || begin.elapsed() >= MOVES {
                break muster;
            }
            sleep(Duration::from_millis(100)).await;
        };
        if !muster.settled {
            return Err(ClusterError::Usage("the hosts are not shared yet: the crawl waits for its workers".into()));
        }
        Ok(Self { cluster, board, crawl, muster })
    }

    /// How many shares there are.
    pub fn shares(&self) -> usize {
        self.muster.shares.len()
    }

    /// The share that has the host of a URL.
    pub fn share_of(&self, url: &Url) -> Result<usize> {
        let damaged = || ClusterError::Damaged("the crawl".into());
        let settings = self.crawl.settings().map_err(|_| damaged())?;
        let secret = self.crawl.secret().and_then(|secret| secret.try_into().ok()).ok_or_else(damaged)?;
        let keys = Keys { canonicalizer: Canonicalizer::new(&settings.urls), hasher: KeyHasher::new(secret) };
        let partition = keys.site(url).part(self.crawl.partitions);
        self.muster.share_of(partition).ok_or_else(damaged)
    }

    /// Asks the worker that has a share, and writes its answer. Where it does not run and its directory is on this machine, that
    /// is returned, and nothing was written.
    ///
    /// # Errors
    ///
    /// [`ClusterError::Usage`] where neither is to be had; `command` is what should be run where the directory is.
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
        // Somebody else may have taken the share since.
        let muster = self.board.need::<Muster>(keys::MUSTER).await?.record;
        let share_now = muster.shares.get(share).or(self.muster.shares.get(share));
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
