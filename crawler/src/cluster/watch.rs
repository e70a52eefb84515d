//! What a worker does beside the crawl: it says how far it is, hears what the operator wishes, and finds out when all workers
//! are quiet.
//!
//! # When all are quiet
//!
//! Each worker writes on the board that it is quiet, and up to which place it has taken links. Whoever reads all of these,
//! and *after that* finds that no share has been sent a link behind its place, knows that all were quiet at one time and
//! that no link was on its way: a quiet worker sends nothing, and only a link, which would have been found, could have made
//! one busy. So the answer is right though nothing was read at one moment.

use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::Sender;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::board::Board;
use super::connect::BrokerConnection;
use super::lease::Deadline;
use super::muster::WorkerShare;
use super::quota::Quota;
use super::record::{Control, Crawl, Wish, keys};
use super::roster::Roster;
use super::shares::Muster;
use super::tail::last;
use super::{Result, broker, links};
use crate::engine::{All, Control as ToEngine, Event, PeerProgress, Phase};

/// How often the board is looked at.
const LOOK: Duration = Duration::from_millis(250);
/// How often a worker says how far it is while that says nothing about the end.
const TELL: Duration = Duration::from_secs(1);

/// What has to be watched.
pub struct Watch {
    /// The brokers.
    pub cluster: BrokerConnection,
    /// The board.
    pub board: Board,
    /// The share of this worker.
    pub place: WorkerShare,
    /// Whether it still has the share.
    pub deadline: Deadline,
    /// The pages that all workers may fetch together; 0 where there is no limit.
    pub most: u64,
    /// Revision of the crawl's record with which the engine was started: a later one has other seeds.
    pub revision: u64,
    /// Who has which hosts, for the engine.
    pub roster: Roster,
    /// Tells the engine what is heard.
    pub events: Sender<Event>,
    /// Tells the engine what the operator wishes.
    pub control: Sender<ToEngine>,
}

/// Why the engine is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Its owner stopped it, or it came to its end.
    Itself,
    /// It is to start again: the crawl has more seeds.
    Seeds,
    /// It is to start again, when hosts have been given away or taken.
    Shares,
    /// The operator stopped the crawl.
    Operator,
}

impl Watch {
    /// Watches until the engine has said its last word, which is written too.
    pub async fn run(self, mut progress: watch::Receiver<PeerProgress>) -> Why {
        let (mut told, mut told_at) = (None, Instant::now());
        let mut looked_at: Option<Instant> = None;
        let (mut wish, mut why) = (Wish::Run, Why::Itself);
        loop {
            // The engine is gone when its last word is lost with it.
            let is_gone = matches!(timeout(LOOK, progress.changed()).await, Ok(Err(_)));
            let now = progress.borrow_and_update().clone();
            let is_last = matches!(now.phase, Phase::Stopped | Phase::Ended);
            let is_new = told.as_ref().is_none_or(|(phase, round)| (*phase, *round) != (now.phase, now.round));
            // Who may have lost the share says nothing about it any more.
            if self.deadline.holds() && (is_new || told_at.elapsed() >= TELL) {
                match self.board.set(&keys::progress(self.place.share), &now).await {
                    Ok(_) => (told, told_at) = (Some((now.phase, now.round)), Instant::now()),
                    Err(error) => tracing::warn!("{error}"),
                }
            }
            if is_gone || is_last && (told == Some((now.phase, now.round)) || !self.deadline.holds()) {
                return why;
            }
            if !now.phase.is_quiet() && looked_at.is_some_and(|at| at.elapsed() < TELL) {
                continue;
            }
            looked_at = Some(Instant::now());
            match self.look(&now).await {
                Ok(BoardView { wished, seeds, shares, quiet }) => {
                    if wished != wish {
                        wish = wished;
                        let order = match wish {
                            Wish::Run => ToEngine::Resume,
                            Wish::Pause => ToEngine::Pause,
                            Wish::Stop => ToEngine::Stop,
                        };
                        if wish == Wish::Stop {
                            why = Why::Operator;
                        }
                        let _ = self.control.send(order);
                    }
                    if (seeds || shares) && why == Why::Itself {
                        why = if shares { Why::Shares } else { Why::Seeds };
                        let _ = self.control.send(ToEngine::Stop);
                    }
                    if let Some(all) = quiet {
                        let _ = self.events.send(Event::AllQuiet { round: now.round, all });
                    }
                }
                Err(error) => tracing::warn!("{error}"),
            }
        }
    }

    /// Looks at the board.
    async fn look(&self, own: &PeerProgress) -> Result<BoardView> {
        let wished = self.board.get::<Control>(keys::CONTROL).await?.map_or(Wish::Run, |message| message.record.wish);
        let seeds = self.board.need::<Crawl>(keys::CRAWL).await?.revision != self.revision;
        let muster = self.roster.refresh(&self.board).await?;
        let shares = muster.concerns(self.place.share);
        let quiet = if own.phase.is_quiet() && !shares { self.all_quiet(own, &muster).await? } else { None };
        Ok(BoardView { wished, seeds, shares, quiet })
    }

    /// Whether all workers were quiet at one time, this one in the round that it has told; if so, what follows.
    ///
    /// With `--max-pages`, a worker that was quiet may have taken pages since it said so. But pages that were taken and not
    /// fetched show: then the share may fetch more than it said to have fetched.
    async fn all_quiet(&self, own: &PeerProgress, muster: &Arc<Muster>) -> Result<Option<All>> {
        if !muster.moves.is_empty() {
            return Ok(None);
        }
        let (mut places, mut over, mut is_full, mut fetched) = (Vec::new(), true, false, Vec::new());
        for share in 0..muster.shares.len() {
            let Some(message) = self.board.get::<PeerProgress>(&keys::progress(share)).await? else { return Ok(None) };
            let PeerProgress { phase, round, links_at, stats, .. } = message.record;
            let is_own_past = share == self.place.share && round != own.round;
            if !phase.is_quiet() || is_own_past {
                return Ok(None);
            }
            over &= phase != Phase::Idle;
            is_full |= phase == Phase::Full;
            fetched.push(stats.pages);
            places.push((phase, links_at));
        }
        for (share, (phase, place)) in places.into_iter().enumerate() {
            if phase != Phase::Ended && last_link(&self.cluster, share).await? > place {
                return Ok(None);
            }
        }
        // Hosts that move are with nobody meanwhile, or with somebody who has not said so yet.
        if !Arc::ptr_eq(&self.roster.refresh(&self.board).await?, muster) {
            return Ok(None);
        }
        if self.most > 0 {
            let quota = self.board.get::<Quota>(keys::QUOTA).await?.map(|message| message.record).unwrap_or_default();
            if quota.is_spent(self.most, &fetched) {
                return Ok(Some(All::Spent));
            }
            if is_full {
                // It will take what others have given back.
                return Ok(None);
            }
        }
        Ok(Some(if over { All::Over } else { All::Quiet }))
    }
}

/// What the board says.
struct BoardView {
    wished: Wish,
    /// There are other seeds than those of the start.
    seeds: bool,
    /// Hosts are to be given away or taken.
    shares: bool,
    /// All are quiet, and what follows from that.
    quiet: Option<All>,
}

/// The place of the last links that were sent to a share; 0 where there were none.
pub async fn last_link(cluster: &BrokerConnection, share: usize) -> Result<u64> {
    let stream = cluster.context.get_stream_no_info(links::stream_of(cluster)).await;
    last(&stream.map_err(broker("looking for links"))?, &links::subject_of(cluster, share)).await
}
