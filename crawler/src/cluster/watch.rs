//! The part of a worker that talks with the board while the engine runs. It reports the progress, reads the orders of
//! the operator, and finds out when all workers are quiet.
//!
//! # When all are quiet
//!
//! Each worker writes on the board that it is quiet, and up to which place it has taken links. Suppose that a worker
//! reads all these records, and *after that* finds that no share has been sent a link behind its place. Then there was
//! a moment at which all workers were quiet and no link was on its way. The reason: a quiet worker sends nothing, and
//! only a link can make it busy. If a link had made one busy, the worker that looks would have found this link. So the
//! answer is right although the records were read at different moments.

use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::Sender;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::board::Board;
use super::connect::BrokerConnection;
use super::joining::WorkerShare;
use super::known_shares::KnownShares;
use super::lease::Deadline;
use super::quota::Quota;
use super::record::{Control, Crawl, WantedState, keys};
use super::shares::{Assignment, Stay};
use super::tail::last;
use super::{Result, broker, links};
use crate::engine::{All, Control as ToEngine, Event, PeerProgress, Phase};

/// The interval at which the board is read.
const LOOK: Duration = Duration::from_millis(250);
/// The interval at which a worker reports its progress, and reads the board while it is not quiet.
const TELL: Duration = Duration::from_secs(1);

/// The data that watching needs.
pub struct Watch {
    /// The brokers.
    pub cluster: BrokerConnection,
    /// The board.
    pub board: Board,
    /// The share of this worker.
    pub place: WorkerShare,
    /// The deadline of the lease: whether this worker still has the share.
    pub deadline: Deadline,
    /// The number of pages that all workers may fetch together; 0: no limit.
    pub most: u64,
    /// The revision of the crawl's record with which the engine was started. A later revision has other seeds or
    /// limits.
    pub revision: u64,
    /// The order of the operator that the engine has got.
    pub wish: WantedState,
    /// The list of shares, for the engine.
    pub known_shares: KnownShares,
    /// The channel of events to the engine.
    pub events: Sender<Event>,
    /// The channel of orders to the engine.
    pub control: Sender<ToEngine>,
}

/// The reason why the engine ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The engine was stopped by the user of this process, or it came to its end.
    Itself,
    /// The engine must start again, because the crawl's record has changed (seeds or limits).
    Seeds,
    /// Hosts must be given away or taken. After that, the engine starts again.
    Shares,
    /// The operator stopped the crawl.
    Operator,
}

impl Watch {
    /// Watches until the last progress of the engine is written to the board. Returns why the engine has ended.
    pub async fn run(self, mut progress: watch::Receiver<PeerProgress>) -> Why {
        let (mut told, mut told_at) = (None, Instant::now());
        // Until the engine tells its own progress, that of the share is as it was.
        let known = self.board.get::<PeerProgress>(&keys::progress(self.place.share)).await.ok().flatten();
        let known = known.map(|known| known.record).unwrap_or_default();
        let begins = PeerProgress { phase: Phase::Busy, round: 0, open: 0, stop_reason: None, ..known };
        let mut has_told = false;
        let mut looked_at: Option<Instant> = None;
        let (mut wish, mut why) = (self.wish, Why::Itself);
        loop {
            // The channel may close before the engine has told its last progress. Then the engine has failed.
            let changed = timeout(LOOK, progress.changed()).await;
            let is_gone = matches!(changed, Ok(Err(_)));
            has_told |= matches!(changed, Ok(Ok(())));
            let now = if has_told { progress.borrow_and_update().clone() } else { begins.clone() };
            let is_last = matches!(now.phase, Phase::Stopped | Phase::Ended);
            let is_new = told.as_ref().is_none_or(|(phase, round)| (*phase, *round) != (now.phase, now.round));
            // A worker that may have lost the share says nothing about it any more.
            if self.deadline.holds() && (is_new || told_at.elapsed() >= TELL) {
                let now = PeerProgress { version: self.revision, ..now.clone() };
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
                Ok(BoardView { wanted, seeds, shares, quiet }) => {
                    if wanted != wish {
                        wish = wanted;
                        if wish == WantedState::Stop {
                            why = Why::Operator;
                        }
                        let _ = self.control.send(order_of(wish));
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

    /// Reads the board.
    async fn look(&self, own: &PeerProgress) -> Result<BoardView> {
        let wanted = wish(&self.board).await?;
        let seeds = self.board.need::<Crawl>(keys::CRAWL).await?.revision != self.revision;
        let assignment = self.known_shares.refresh(&self.board).await?;
        let shares = assignment.concerns(self.place.share);
        let quiet = if own.phase.is_quiet() && !shares { self.all_quiet(own, &assignment).await? } else { None };
        Ok(BoardView { wanted, seeds, shares, quiet })
    }

    /// Whether there was a moment at which all workers were quiet, this one in the round that it has reported. If so,
    /// returns what follows from that.
    ///
    /// With `--max-pages`, a quiet worker may have taken pages since it said that it is quiet. But pages that were
    /// taken and not fetched are visible in the quota: the share may fetch more pages than it has fetched by its own
    /// report.
    async fn all_quiet(&self, own: &PeerProgress, assignment: &Arc<Assignment>) -> Result<Option<All>> {
        if !assignment.moves.is_empty() {
            return Ok(None);
        }
        let (mut waiting, mut over, mut is_full, mut fetched) = (Vec::new(), true, false, Vec::new());
        for (share, of) in assignment.shares.iter().enumerate() {
            let Some(message) = self.board.get::<PeerProgress>(&keys::progress(share)).await? else { return Ok(None) };
            let told = message.record;
            // A worker that has ended with other seeds or limits must start again. It may then have much to do.
            let (has_left, is_done) = (of.stay == Stay::Left, told.is_done(self.revision));
            let is_own_past = share == self.place.share && told.round != own.round;
            let must_start = told.phase == Phase::Ended && !is_done && !has_left;
            if !told.phase.is_quiet() || must_start || is_own_past {
                return Ok(None);
            }
            over &= told.phase != Phase::Idle;
            is_full |= told.phase == Phase::Full;
            fetched.push(told.stats.pages);
            if !has_left {
                waiting.push((share, told.links_at));
            }
        }
        let mut links_wait = false;
        for (share, place) in waiting {
            links_wait |= last_link(&self.cluster, share).await? > place;
        }
        // While hosts move, they belong to nobody, or to a worker that has not reported them yet.
        if !Arc::ptr_eq(&self.known_shares.refresh(&self.board).await?, assignment) {
            return Ok(None);
        }
        if self.most > 0 {
            let quota = self.board.get::<Quota>(keys::QUOTA).await?.map(|message| message.record).unwrap_or_default();
            // Links cannot change this any more.
            if quota.is_spent(self.most, &fetched) {
                return Ok(Some(All::Spent));
            }
            if is_full {
                // That worker will take pages that others have given back.
                return Ok(None);
            }
        }
        if links_wait {
            return Ok(None);
        }
        Ok(Some(if over { All::Over } else { All::Quiet }))
    }
}

/// The wish of the operator.
pub async fn wish(board: &Board) -> Result<WantedState> {
    Ok(board.get::<Control>(keys::CONTROL).await?.map_or(WantedState::Run, |message| message.record.wish))
}

/// The order to the engine that the wish of the operator means.
pub fn order_of(wish: WantedState) -> ToEngine {
    match wish {
        WantedState::Run => ToEngine::Resume,
        WantedState::Pause => ToEngine::Pause,
        WantedState::Stop => ToEngine::Stop,
    }
}

/// The contents of the board that concern this worker.
struct BoardView {
    wanted: WantedState,
    /// Whether the crawl's record has changed since the start.
    seeds: bool,
    /// Whether hosts must be given away or taken.
    shares: bool,
    /// The next step if all workers are quiet; `None` if they are not.
    quiet: Option<All>,
}

/// The place of the last message of links that was sent to a share; 0 if there is none.
pub async fn last_link(cluster: &BrokerConnection, share: usize) -> Result<u64> {
    let what = cluster.at(&format!("looking for links in {}", links::stream_of(cluster)));
    let stream = cluster.context.get_stream_no_info(links::stream_of(cluster)).await;
    last(&stream.map_err(broker(&what))?, &links::subject_of(cluster, share), &what).await
}
