//! Moves hosts from one worker to another, between two runs of their engines.
//!
//! What has to move follows from the list of shares ([`Assignment::due`]). A worker that has too many partitions gives
//! some away:
//!
//! 1. It ends its engine, and notes in its state what it gives away: it will not crawl these hosts again.
//! 2. It publishes what it knows of the hosts as a *gift* with a new name, in the stream of commits.
//! 3. It changes the list of shares: the partitions belong to the other worker now, and the list has the name and place
//!    of the gift.
//! 4. It deletes what it knows of the hosts, and the note.
//!
//! A worker that finds a gift for itself on the list ends its engine, puts the records of the gift into its state
//! together with a note that it has done so, and takes the gift off the list. So the hosts change their owner at one
//! moment, in the third step. After that step, nobody crawls them until the other worker has taken the gift. All steps
//! are in the commits of both shares. So after a crash, the worker that takes the share over goes on with the step that
//! was reached. If the gift is not on the list, it is published again. A gift that was taken already is recognised by
//! its name.
//!
//! The list names the process that has a share. A process that has lost its share without knowing it cannot change the
//! list.
//!
//! Links to these hosts that reach the old owner are sent on ([`super::links`]). The new owner waits one full delay
//! before it sends requests to them, as after every start. It waits longer if a host has asked for that.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dedup_stage::store::{self, Batch, Session, Space, Store, Visitor};
use dedup_stage::url::{Canonicalizer, KeyHasher, Keys};

use super::block_on::Wait;
use super::commits::{self, Commit, CommitWriter};
use super::holder::ShareHolder;
use super::links;
use super::logged::{Commits, Logged};
use super::quota::Keeper;
use super::record::{Crawl, keys, random};
use super::shares::{Assignment, Move, Partitions, Stay};
use super::task::WorkerError;
use super::watch::last_link;
use super::{ClusterError, Result, broker};
use crate::crawl::{CrawlDir, Gift, LateParts};
use crate::engine::{EngineError, PeerProgress, Phase, Stats, StopReason, places};

/// The interval at which the list is read while others are about to give hosts.
const LOOK: Duration = Duration::from_millis(100);

/// The result of moving hosts.
#[derive(Debug)]
pub enum Arranged {
    /// The share has the partitions that it should have.
    Ready,
    /// The share has left the crawl. The value has its counters.
    Left(Box<Stats>),
}

/// A state into which a gift is copied. Each commit becomes messages.
struct Parcel {
    writer: CommitWriter,
    subject: String,
    /// The places of the first and the last message so far.
    places: Arc<Mutex<Option<(u64, u64)>>>,
}

impl Store for Parcel {
    fn get(&self, _: Space, _: &[u8]) -> store::Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn scan(&self, _: Space, _: &[u8], _: &[u8], _: &mut Visitor<'_>) -> store::Result<()> {
        Ok(())
    }

    fn commit(&mut self, batch: &Batch) -> store::Result<()> {
        let written = self.writer.append_to(&self.subject, &Commit::of(batch, &[], false));
        let written = written.map_err(|error| std::io::Error::other(error.to_string()))?;
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        *places = Some((places.map_or(*written.start(), |(first, _)| first), *written.end()));
        Ok(())
    }
}

impl ShareHolder<'_> {
    /// Takes the gifts for this share, gives away partitions if it has too many, and waits (not for long) for gifts
    /// that others are about to make. No engine may run in the meantime. If the brokers fail, it goes on when they are
    /// back.
    pub fn arrange(&self, crawl: &Crawl, writer: &CommitWriter) -> std::result::Result<Arranged, WorkerError> {
        loop {
            match self.arrange_once(crawl, writer) {
                Err(WorkerError::Cluster(error @ ClusterError::Broker { .. })) if !self.deadline.is_over() => {
                    tracing::warn!("{error}; trying again");
                    std::thread::sleep(LOOK);
                }
                arranged => return arranged,
            }
        }
    }

    fn arrange_once(&self, crawl: &Crawl, writer: &CommitWriter) -> std::result::Result<Arranged, WorkerError> {
        let (share, begin) = (self.place.share, Instant::now());
        let disk = Logged::for_moves(CrawlDir::open_disk(&self.task.dir)?, writer.clone(), &self.task.dir)
            .map_err(EngineError::from)?;
        let mut dir = CrawlDir::with_session(&self.task.dir, Session::new(Box::new(disk)))?;
        let mut is_told = false;
        loop {
            let assignment = self.runtime.wait_for(self.known_shares.refresh(&self.board))?;
            self.own(&assignment)?;
            let gift = dir.gift().map_err(EngineError::from)?;
            if gift.is_none() && !assignment.concerns(share) {
                let has_nothing = assignment.shares[share].partitions.is_empty();
                if has_nothing && assignment.is_owed(share) && begin.elapsed() < self.deadline.length() {
                    std::thread::sleep(LOOK);
                    continue;
                }
                return Ok(Arranged::Ready);
            }
            if !std::mem::replace(&mut is_told, true) {
                // While hosts are on their way, the others must not believe that this worker is quiet: the crawl could
                // end.
                self.runtime.wait_for(self.tell_busy())?;
            }
            if let Some(gift) = gift {
                self.finish(&mut dir, &gift, writer)?;
            } else if let Some(one) = assignment.moves.iter().find(|one| one.to == share) {
                self.take(&mut dir, crawl, one)?;
            } else if let Some((_, partitions)) = assignment.due(share) {
                self.give(&mut dir, crawl, &partitions, writer)?;
            } else {
                return Ok(Arranged::Left(Box::new(self.leave(&mut dir, crawl)?)));
            }
        }
    }

    /// Returns an error if another process has the share.
    fn own(&self, assignment: &Assignment) -> Result<()> {
        let is_own = assignment.shares.get(self.place.share).is_some_and(|share| share.life == self.life);
        let lost = || ClusterError::Lost("another worker has taken these hosts".into());
        if is_own { Ok(()) } else { Err(lost()) }
    }

    /// Changes the list of shares, if it still names this process. `change` returns false if nothing needs to be
    /// written.
    fn change(&self, change: impl Fn(&mut Assignment) -> bool) -> Result<()> {
        let changed = self.board.change(keys::ASSIGNMENT, |assignment: &mut Assignment| {
            self.own(assignment)?;
            Ok(change(assignment))
        });
        self.runtime.wait_for(changed).map(|_| ())
    }

    /// Tells the others that this share is busy while its engine does not run.
    async fn tell_busy(&self) -> Result<()> {
        let key = keys::progress(self.place.share);
        let told = self.board.get::<PeerProgress>(&key).await?.map(|told| told.record).unwrap_or_default();
        let progress = PeerProgress { phase: Phase::Busy, round: told.round + 1, stop_reason: None, ..told };
        self.board.set(&key, &progress).await.map(|_| ())
    }

    /// Begins to give partitions away.
    fn give(
        &self,
        dir: &mut CrawlDir,
        crawl: &Crawl,
        partitions: &Partitions,
        writer: &CommitWriter,
    ) -> std::result::Result<(), WorkerError> {
        let name = format!("{}-{}", self.place.share, random::<8>().map_err(ClusterError::from)?);
        let ranges = partitions.ranges().to_vec();
        let gift = Gift { name, partitions: ranges, sites: partitions.sites(crawl.partitions) };
        dir.begin_gift(&gift)?;
        self.task.without.halt("noted");
        self.finish(dir, &gift, writer)
    }

    /// Finishes a gift that this process or an earlier one has begun.
    fn finish(&self, dir: &mut CrawlDir, gift: &Gift, writer: &CommitWriter) -> std::result::Result<(), WorkerError> {
        let share = self.place.share;
        let is_given = || -> Result<bool> {
            let assignment = self.runtime.wait_for(self.known_shares.refresh(&self.board))?;
            self.own(&assignment)?;
            Ok(assignment.shares[share].gave == gift.name)
        };
        if !is_given()? {
            let places = self.publish(dir, gift, writer)?;
            self.task.without.halt("sent");
            let partitions = Partitions::of(gift.partitions.iter().copied());
            self.change(|assignment| assignment.hand_over(share, &gift.name, &partitions, places))?;
            self.task.without.halt("handed-over");
        }
        if is_given()? {
            tracing::info!(
                "{} partitions were given away",
                gift.partitions.iter().map(|(from, to)| to - from).sum::<u32>()
            );
            Ok(dir.end_gift(gift)?)
        } else {
            Ok(dir.keep_gift()?)
        }
    }

    /// Publishes the records of the hosts of a gift. Returns the places of the first and the last message.
    fn publish(
        &self,
        dir: &mut CrawlDir,
        gift: &Gift,
        writer: &CommitWriter,
    ) -> std::result::Result<(u64, u64), WorkerError> {
        let subject = commits::gift_of(&self.cluster, &gift.name);
        // An earlier process may have published a part of the gift.
        self.runtime.wait_for(self.drop_messages(&subject))?;
        let places = Arc::<Mutex<Option<(u64, u64)>>>::default();
        let parcel = Parcel { writer: writer.clone(), subject, places: Arc::clone(&places) };
        dir.copy_gift(gift, &mut Session::new(Box::new(parcel)))?;
        let places = *places.lock().unwrap_or_else(PoisonError::into_inner);
        // The gift has at least the format of the frontier.
        Ok(places.ok_or_else(|| ClusterError::Damaged("what is given away".into()))?)
    }

    /// Takes a gift for this share.
    fn take(&self, dir: &mut CrawlDir, crawl: &Crawl, one: &Move) -> std::result::Result<(), WorkerError> {
        let subject = commits::gift_of(&self.cluster, &one.name);
        if !dir.has_taken(&one.name).map_err(EngineError::from)? {
            let (first, last) = one.places;
            let mut commits = Commits::new(&self.cluster, subject.clone(), first - 1..last);
            let mut rest = LateParts::default();
            while let Some((commit, _)) = self.runtime.wait_for(commits.next())? {
                dir.take_part(commit.batch()?, &mut rest)?;
                self.task.without.halt("taken-in-part");
            }
            let assignment = self.known_shares.get();
            let is_named = |name: &str| assignment.moves.iter().any(|one| one.name == name);
            dir.end_taking(&one.name, &one.partitions.sites(crawl.partitions), &rest, is_named)?;
            tracing::info!("{} partitions were taken", one.partitions.count());
            self.task.without.halt("taken");
        }
        // The state has the gift now, and so have the commits.
        self.runtime.wait_for(self.drop_messages(&subject))?;
        let take_off = |assignment: &mut Assignment| {
            let before = assignment.moves.len();
            assignment.moves.retain(|other| other.name != one.name);
            assignment.moves.len() < before
        };
        Ok(self.change(take_off)?)
    }

    async fn drop_messages(&self, subject: &str) -> Result<()> {
        let what = "dropping what was given away";
        let stream = self.cluster.context.get_stream_no_info(commits::stream_of(&self.cluster)).await;
        stream.map_err(broker(what))?.purge().filter(subject).await.map_err(broker(what))?;
        Ok(())
    }

    /// Notes on the list that this share should give away all its hosts. Returns false if there is no other share to
    /// take them.
    pub fn begin_to_leave(&self) -> Result<bool> {
        let share = self.place.share;
        self.change(|assignment| assignment.begin_to_leave(share))?;
        let assignment = self.runtime.wait_for(self.known_shares.refresh(&self.board))?;
        Ok(assignment.shares[share].stay != Stay::Stays)
    }

    /// Leaves the crawl when the share has no hosts any more: sends on the links that have come in the meantime, and
    /// says that it has left.
    fn leave(&self, dir: &mut CrawlDir, crawl: &Crawl) -> std::result::Result<Stats, WorkerError> {
        let share = self.place.share;
        self.change(|assignment| {
            let leaves = assignment.shares[share].stay != Stay::Left;
            assignment.shares[share].stay = Stay::Left;
            leaves
        })?;
        // From now on, every sender of a link finds that this share has left.
        let settings = crawl.settings()?;
        let secret = crawl.secret().and_then(|secret| secret.try_into().ok());
        let secret = secret.ok_or_else(|| ClusterError::Damaged("the secret".into()))?;
        let of_urls = Keys { canonicalizer: Canonicalizer::new(&settings.urls), hasher: KeyHasher::new(secret) };
        let (taken, _) = places(dir.session()).map_err(EngineError::from)?;
        let (cluster, runtime) = (&self.cluster, self.runtime);
        let last = runtime.wait_for(last_link(cluster, share))?;
        let links = runtime.wait_for(links::between(cluster, share, taken..last))?;
        if !links.is_empty() {
            let named = (format!("{}-left", self.life), Default::default());
            let sent = links::send(
                cluster,
                (&self.board, &self.known_shares),
                (&of_urls, crawl.partitions),
                &links,
                (&named.0, &named.1),
                &self.deadline,
            );
            runtime.wait_for(sent)?;
        }
        dir.close_empty()?;
        let (stats, _) = dir.stats()?;
        if settings.limits.max_pages > 0 {
            let (board, life, most) = (self.board.clone(), self.life.clone(), settings.limits.max_pages);
            let keeper = Keeper { board, share, shares: 1, life, most, careless: false };
            runtime.wait_for(keeper.claim(stats.pages))?;
        }
        let (phase, stop_reason) = (Phase::Ended, Some(StopReason::Done));
        let progress =
            PeerProgress { phase, links_at: last, stats: stats.clone(), stop_reason, ..PeerProgress::default() };
        runtime.wait_for(self.board.set(&keys::progress(share), &progress))?;
        Ok(stats)
    }
}
