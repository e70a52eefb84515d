//! The status of a crawl: what each worker does, who holds which share, which brokers are well, and the counters of
//! all.

use std::fmt;

use serde::Serialize;

use super::Result;
use super::board::{Board, Versioned};
use super::connect::{Broker, BrokerArgs, BrokerConnection};
use super::operate::open;
use super::record::{Control, Lease, WantedState, Worker, keys};
use super::shares::{Assignment, Share, Stay};
use super::total::Total;
use super::watch::last_link;
use super::worker::crawl;
use crate::clock::Clock;
use crate::engine::{PeerProgress, Phase, Stats, StopReason};
use crate::estimate::Lost;

/// The status of a crawl.
#[derive(Debug, Serialize)]
pub struct CrawlStatus {
    /// The order of the operator.
    pub wish: WantedState,
    /// Whether the hosts are shared among the workers.
    pub settled: bool,
    /// The length of a lease, in milliseconds.
    pub lease: u64,
    /// The number of pages that all workers may fetch together; 0: any number.
    pub max_pages: u64,
    /// The brokers whose monitoring addresses are known.
    pub brokers: Vec<Broker>,
    /// The workers, in the order of their shares.
    pub workers: Vec<OfWorker>,
}

/// The status of a worker.
#[derive(Debug, Serialize)]
pub struct OfWorker {
    /// The number of its share, from 1.
    pub share: usize,
    /// The number of its partitions.
    pub partitions: u32,
    /// Whether its share stays, gives away its hosts, or has left.
    pub stay: Stay,
    /// Its machine.
    pub host: String,
    /// Its directory on that machine.
    pub dir: String,
    /// The phase of its engine.
    pub phase: Phase,
    /// Seconds since it last told its progress, by the clocks of this machine and of a broker.
    pub silent: i64,
    /// The lease on the share.
    pub held: LeaseState,
    /// Whether links for it have arrived that it has not taken.
    pub links_wait: bool,
    /// The number of URLs that are queued.
    pub queued: u64,
    /// The number of open jobs.
    pub open: usize,
    /// The counters.
    pub stats: Stats,
    /// The reason why the worker has stopped, if it has.
    pub stop_reason: Option<StopReason>,
    /// Its estimate of the unique pages among the URLs held back.
    pub lost: Option<Lost>,
}

/// The state of the lease on a share, as far as the board tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum LeaseState {
    /// No worker has held it yet.
    Never,
    /// A worker holds it.
    Yes {
        /// Seconds since the worker renewed its lease.
        renewed: i64,
    },
    /// The lease has not been renewed in time, so the worker may send no request. Another worker may take its place
    /// soon.
    Late {
        /// Seconds since the lease was renewed.
        renewed: i64,
        /// Seconds until another worker may take the share; 0 if it may now.
        free_in: i64,
    },
    /// The worker has given it back.
    Released,
}

/// The seconds without a renewal after which a lease is late. It is renewed every sixth of its length (in
/// milliseconds).
pub(super) fn late_after(length: u64) -> i64 {
    (length / 3_000) as i64 + 1
}

impl LeaseState {
    /// The state of a lease, and the seconds since it was renewed. `length` is its length in milliseconds.
    pub(super) fn of(lease: Option<(&Lease, i64)>, length: u64) -> Self {
        let late = late_after(length);
        let length = (length / 1_000) as i64;
        match lease {
            None => Self::Never,
            Some((Lease { released: true, .. }, _)) => Self::Released,
            Some((_, renewed)) if renewed <= late => Self::Yes { renewed },
            Some((_, renewed)) => Self::Late { renewed, free_in: (length - renewed).max(0) },
        }
    }
}

/// The status of a crawl. This connects to the brokers.
pub async fn status(access: &BrokerArgs) -> Result<CrawlStatus> {
    let (cluster, board) = open(access).await?;
    look(access, &cluster, &board).await
}

/// The status of a crawl, over an open connection.
pub(super) async fn look(access: &BrokerArgs, cluster: &BrokerConnection, board: &Board) -> Result<CrawlStatus> {
    let Versioned { record: crawl, revision: version, .. } = crawl(board).await?;
    let max_pages = crawl.settings().map_or(0, |settings| settings.limits.max_pages);
    let lease = crawl.lease;
    let wish = board.get::<Control>(keys::CONTROL).await?.map_or(WantedState::Run, |message| message.record.wish);
    let assignment = board.get::<Assignment>(keys::ASSIGNMENT).await?.map(|message| message.record).unwrap_or_default();
    let now = (Clock::System.now() / 1_000) as i64;
    let mut workers = Vec::new();
    for (share, Share { worker: Worker { host, dir, .. }, partitions, stay, .. }) in
        assignment.shares.into_iter().enumerate()
    {
        let partitions = partitions.count();
        let told = board.get::<PeerProgress>(&keys::progress(share)).await?;
        let (progress, silent) =
            told.map_or((PeerProgress::default(), 0), |told| (told.record, (now - told.written).max(0)));
        let must_start = progress.phase == Phase::Ended && !progress.is_done(version) && stay != Stay::Left;
        let PeerProgress { mut phase, links_at, queued, open, mut stats, mut stop_reason, lost, .. } = progress;
        if must_start {
            // It has ended with other seeds or limits, so its work is not done.
            (phase, stop_reason, stats.complete) = (Phase::Stopped, Some(StopReason::Stopped), false);
        }
        let held = board.get::<Lease>(&keys::lease(share)).await?;
        let held = LeaseState::of(held.as_ref().map(|lease| (&lease.record, (now - lease.written).max(0))), lease);
        let links_wait = last_link(cluster, share).await? > links_at;
        let share = share + 1;
        workers.push(OfWorker {
            share,
            partitions,
            stay,
            host,
            dir,
            phase,
            silent,
            held,
            links_wait,
            queued,
            open,
            stats,
            stop_reason,
            lost,
        });
    }
    Ok(CrawlStatus { wish, settled: assignment.settled, lease, max_pages, brokers: access.brokers().await, workers })
}

impl CrawlStatus {
    /// Whether every share has come to its end.
    pub fn is_over(&self) -> bool {
        self.settled && !self.workers.is_empty() && self.workers.iter().all(|worker| worker.phase == Phase::Ended)
    }

    /// The workers of which nothing was heard lately, though they have not ended: their shares, and the seconds since
    /// the lease was renewed.
    pub fn silent(&self) -> impl Iterator<Item = (usize, i64)> {
        let is_running = |worker: &&OfWorker| !matches!(worker.phase, Phase::Ended | Phase::Stopped);
        self.workers.iter().filter(is_running).filter_map(|worker| match worker.held {
            LeaseState::Late { renewed, .. } => Some((worker.share, renewed)),
            _ => None,
        })
    }

    /// The counters of all workers together.
    pub fn total(&self) -> Total {
        self.workers.iter().map(|worker| (&worker.stats, worker.phase, worker.stop_reason, worker.lost)).collect()
    }

    /// The number of workers that do nothing although they should, in words for users.
    fn away(&self) -> String {
        if self.wish == WantedState::Stop {
            return String::new();
        }
        let stopped = self.workers.iter().filter(|worker| worker.phase == Phase::Stopped).count();
        let counts = [(stopped, "stopped"), (self.silent().count(), "silent")];
        let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        let counts = counts.collect::<Vec<_>>().join(", ");
        if counts.is_empty() { counts } else { format!(" ({counts})") }
    }

    /// The machine of a worker. If it has several workers, the folder of this one, too.
    fn machine_of(&self, worker: &OfWorker) -> String {
        let is_shared = self.workers.iter().filter(|other| other.host == worker.host).count() > 1;
        match std::path::Path::new(&worker.dir).file_name() {
            Some(folder) if is_shared => format!("{} {}", worker.host, folder.display()),
            _ => worker.host.clone(),
        }
    }

    /// The number of brokers that are well, in words for users.
    fn well(&self) -> String {
        let well = self.brokers.iter().filter(|broker| broker.is_well).count();
        match self.brokers.len() {
            0 => "brokers: not asked (no --monitor)".into(),
            all => format!("{well} of {all} brokers are well"),
        }
    }
}

impl fmt::Display for LeaseState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never => write!(f, "nobody has it yet"),
            Self::Yes { renewed } => write!(f, "renewed {renewed} s ago"),
            Self::Late { renewed, free_in: 0 } => {
                write!(
                    f,
                    "not renewed for {renewed} s: its worker is gone, or was cut off from the brokers; if it does not \
                     come back, start it again, or start another"
                )
            }
            Self::Late { renewed, free_in } => {
                write!(
                    f,
                    "not renewed for {renewed} s: its worker is gone or cut off; another may have it in {free_in} s"
                )
            }
            Self::Released => write!(f, "given back"),
        }
    }
}

impl fmt::Display for CrawlStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wish = match self.wish {
            _ if self.is_over() => "over",
            WantedState::Run => "running",
            WantedState::Pause => "paused",
            WantedState::Stop => "stopped",
        };
        let settled = if self.settled { "" } else { ", waiting for more" };
        let limit = match self.max_pages {
            0 => String::new(),
            most => format!("; {} of {most} pages", self.workers.iter().map(|worker| worker.stats.pages).sum::<u64>()),
        };
        let left = self.workers.iter().filter(|worker| worker.stay == Stay::Left).count();
        let away = self.away();
        writeln!(f, "{wish}; {} workers{settled}{away}{limit}; {}", self.workers.len() - left, self.well())?;
        if self.workers.is_empty() {
            return Ok(());
        }
        let head =
            ["share", "parts", "machine", "phase", "pages", "unique", "queued", "open", "links", "silent", "lease"];
        let mut rows = vec![head.map(str::to_owned)];
        for worker in &self.workers {
            let links = if worker.links_wait { "wait" } else { "-" };
            rows.push([
                worker.share.to_string(),
                worker.partitions.to_string(),
                self.machine_of(worker),
                match worker.stay {
                    Stay::Stays => format!("{:?}", worker.phase).to_lowercase(),
                    Stay::Leaves => "leaves".into(),
                    Stay::Left => "left".into(),
                },
                worker.stats.pages.to_string(),
                worker.stats.unique.to_string(),
                worker.queued.to_string(),
                worker.open.to_string(),
                links.into(),
                format!("{} s", worker.silent),
                match (worker.phase, worker.held) {
                    (Phase::Ended | Phase::Stopped, LeaseState::Late { .. }) => "its worker has ended".into(),
                    (Phase::Stopped, LeaseState::Released) if self.wish == WantedState::Run => {
                        "given back; start its worker again, or start another".into()
                    }
                    (_, held) => held.to_string(),
                },
            ]);
        }
        let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..head.len()).map(width).collect();
        for row in &rows {
            let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            writeln!(f, "{}", cells.join("  ").trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_see_which_workers_do_nothing_and_where_they_are() {
        let worker = |share, phase, held| OfWorker {
            share,
            partitions: 1,
            stay: Stay::Stays,
            host: "m".into(),
            dir: format!("/crawl/worker-{share}"),
            phase,
            silent: 0,
            held,
            links_wait: false,
            queued: 0,
            open: 0,
            stats: Stats::default(),
            stop_reason: None,
            lost: None,
        };
        let late = LeaseState::Late { renewed: 40, free_in: 0 };
        let workers = vec![
            worker(1, Phase::Busy, LeaseState::Yes { renewed: 1 }),
            worker(2, Phase::Stopped, LeaseState::Released),
            worker(3, Phase::Busy, late),
        ];
        let wish = WantedState::Run;
        let mut status = CrawlStatus { wish, settled: true, lease: 30_000, max_pages: 0, brokers: vec![], workers };
        let told = status.to_string();
        assert!(told.starts_with("running; 3 workers (1 stopped, 1 silent); "), "{told}");
        assert!(told.contains("m worker-3") && told.contains("given back; start its worker again"), "{told}");
        status.workers.truncate(1);
        let told = status.to_string();
        assert!(told.starts_with("running; 1 workers; ") && !told.contains("worker-1"), "{told}");
    }

    #[test]
    fn a_lease_is_late_when_two_renewals_are_missing() {
        let lease = |released| Lease { released, ..Lease::default() };
        for (seen, held) in [
            (None::<(Lease, i64)>, LeaseState::Never),
            (Some((lease(true), 900)), LeaseState::Released),
            (Some((lease(false), 5)), LeaseState::Yes { renewed: 5 }),
            (Some((lease(false), 12)), LeaseState::Late { renewed: 12, free_in: 18 }),
            (Some((lease(false), 90)), LeaseState::Late { renewed: 90, free_in: 0 }),
        ] {
            let seen = seen.as_ref().map(|(lease, renewed)| (lease, *renewed));
            assert_eq!(LeaseState::of(seen, 30_000), held);
        }
    }
}
