//! The owners of hosts: finds the worker that has a host, and asks it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dedup_stage::url::{Canonicalizer, KeyHasher, Keys};
use tokio::time::sleep;
use url::Url;

use super::ask::Question;
use super::asking::{Answered, Asking, SOON};
use super::board::Board;
use super::connect::{BrokerArgs, BrokerConnection};
use super::operate::open;
use super::record::{Crawl, Worker, keys};
use super::shares::{Assignment, Move};
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

/// The result of a question about a share.
pub enum Asked {
    /// The worker has answered, and the answer was written.
    Told,
    /// The worker does not run. This is its directory, which is on this machine. Nothing was written.
    Directory(Box<CrawlDir>),
    /// The worker has said nothing yet, and was not waited for. Nothing was written.
    Later,
}

impl Owners {
    /// Reads the shares of a crawl. If hosts move, waits for them: for all, or only for the host of a URL. `say` gets a
    /// line for the user if that takes long.
    ///
    /// # Errors
    ///
    /// [`ClusterError::Usage`] if the hosts are not shared yet.
    pub async fn of(access: &BrokerArgs, url: Option<&Url>, say: &mut dyn FnMut(String)) -> Result<Self> {
        let (cluster, board) = open(access).await?;
        let crawl = crawl(&board).await?.record;
        let partition = url.map(|url| partition(&crawl, url)).transpose()?;
        let (begin, mut has_told) = (Instant::now(), false);
        let assignment = loop {
            let assignment =
                board.get::<Assignment>(keys::ASSIGNMENT).await?.map(|message| message.record).unwrap_or_default();
            // While hosts move, no worker can answer for them.
            let concerns = |a: &&Move| partition.is_none_or(|partition| a.partitions.has(partition));
            let Some(Move { to, .. }) = assignment.moves.iter().find(concerns) else { break assignment };
            if begin.elapsed() >= MOVES {
                break assignment;
            }
            if begin.elapsed() >= SOON && !has_told {
                has_told = true;
                let (to, most) = (to + 1, MOVES.as_secs());
                say(format!("hosts move to the worker of share {to}; waiting for them, for at most {most} s"));
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
        self.assignment.share_of(partition(&self.crawl, url)?).ok_or_else(damaged)
    }

    /// Asks the worker that has a share, and writes its answer to `out`. If the worker does not run, but its directory
    /// is on this machine, returns the directory instead. If `may_wait` is false, a worker that says nothing at first
    /// is not waited for. `say` gets a line for the user if this waits.
    ///
    /// # Errors
    ///
    /// [`ClusterError::Usage`] if the worker has ended, and its directory is not on this machine. `command` is the
    /// command that the user should run where the directory is. [`ClusterError::Silent`] if the worker is silent.
    pub async fn ask(
        &self,
        share: usize,
        question: &Question,
        command: &str,
        may_wait: bool,
        out: &mut dyn Write,
        say: &mut dyn FnMut(String),
    ) -> Result<Asked> {
        let mut asking = Asking::new(&self.cluster, &self.board, share, self.worker(share), self.crawl.lease);
        loop {
            match asking.ask(question, may_wait, out, say).await? {
                Answered::Yes => return Ok(Asked::Told),
                Answered::Later => return Ok(Asked::Later),
                Answered::Nobody => {}
            }
            // Another worker may have taken the share in the meantime.
            let assignment = self.board.need::<Assignment>(keys::ASSIGNMENT).await?.record;
            if let Some(now) = assignment.shares.get(share) {
                asking.worker.clone_from(&now.worker);
            }
            if let Some(dir) = self.left_here(&asking.worker) {
                return Ok(Asked::Directory(Box::new(dir)));
            }
            let nobody = |Worker { host, dir, .. }: &Worker| nobody(share, host, dir, &command.replace("DIR", dir));
            if !may_wait {
                return Ok(Asked::Later);
            }
            asking.wait_for_listener(nobody, say).await?;
        }
    }

    fn worker(&self, share: usize) -> Worker {
        self.assignment.shares.get(share).map(|share| share.worker.clone()).unwrap_or_default()
    }

    /// The directory of a worker, if it is on this machine and no worker uses it.
    fn left_here(&self, worker: &Worker) -> Option<CrawlDir> {
        let Worker { id, host, dir } = worker;
        let path = PathBuf::from(dir);
        if *host != machine() || is_used(&path) {
            return None;
        }
        let dir = CrawlDir::reading(&path).ok()?;
        let member = dir.member().ok().flatten()?;
        ((&member.crawl, &member.worker) == (&self.crawl.id, id)).then_some(dir)
    }
}

/// Whether a worker uses a directory. Its state may be incomplete then, and must stay free for it.
fn is_used(dir: &Path) -> bool {
    let lock = std::fs::File::open(super::worker::lock_file(dir));
    lock.is_ok_and(|lock| lock.try_lock_shared().is_err())
}

/// The partition of a URL's host.
fn partition(crawl: &Crawl, url: &Url) -> Result<u32> {
    let settings = crawl.settings().map_err(|_| damaged())?;
    let secret = crawl.secret().and_then(|secret| secret.try_into().ok()).ok_or_else(damaged)?;
    let keys = Keys { canonicalizer: Canonicalizer::new(&settings.urls), hasher: KeyHasher::new(secret) };
    Ok(keys.site(url).part(crawl.partitions))
}

fn damaged() -> ClusterError {
    ClusterError::Damaged("the crawl".into())
}

/// The error for a share whose worker has ended. It tells the user where to ask instead.
fn nobody(share: usize, host: &str, dir: &str, command: &str) -> ClusterError {
    let share = share + 1;
    ClusterError::Usage(format!(
        "no worker has share {share} now. Its directory is {dir} on {host}; if nobody else has taken the share, ask there: {command}"
    ))
}
