//! The other processes that crawl with this one, each with its own hosts: the questions of an engine to them, and the
//! events that it gets from them.
//!
//! This module does not know how they are reached. [`crate::cluster`] reaches them over a replicated log.

pub(super) mod allowance;
pub(super) mod barrier;
pub(super) mod state;

use crossbeam_channel::Receiver;
use dedup_stage::judge::Proposal;
use serde::{Deserialize, Serialize};

use crate::engine::error::PeersError;
use crate::engine::stats::{Stats, StopReason};
use crate::estimate::Lost;
use crate::outbound::Outbound;

/// The other processes, as one engine sees them.
pub trait Peers: Send {
    /// The events from the other processes.
    fn events(&self) -> &Receiver<Event>;

    /// Puts pages into the common order, as one group. They come back as [`Event::Mine`] after everything before them
    /// has come. This does not wait.
    fn propose(&mut self, group: &[&Proposed]) -> Result<(), PeersError>;

    /// Sends links to the processes that have their hosts. When this returns, the links cannot be lost.
    fn send(&mut self, links: &[Outbound]) -> Result<(), PeersError>;

    /// The number of pages that this process may fetch in all, as far as is known at the start; `None` if there is no
    /// limit.
    fn pages(&self) -> Option<u64> {
        None
    }

    /// Asks for more pages, or gives some back. The answer comes as [`Event::Pages`].
    fn ask_for_pages(&mut self, _request: QuotaRequest) {}

    /// Tells the progress of this process.
    fn tell(&mut self, progress: PeerProgress);

    /// Whether a page is judged only when its place in the common order is known. Tests switch this off to show that it
    /// is needed.
    fn is_ordered(&self) -> bool {
        true
    }

    /// Whether links that arrive here for hosts of other processes are sent on. Tests switch this off to show that it
    /// is needed.
    fn forwards(&self) -> bool {
        true
    }
}

/// An event for the engine.
#[derive(Debug)]
pub enum Event {
    /// Links to hosts that this process has or had. They may have arrived before.
    Links {
        /// The place in the stream of links to this process.
        at: u64,
        /// The links.
        links: Vec<Outbound>,
    },
    /// Pages that another process judges (or that this one proposed before a crash).
    Theirs {
        /// The place in the common order.
        at: u64,
        /// The pages.
        pages: Vec<Proposed>,
    },
    /// The oldest group that this process has proposed and that has not come back before.
    Mine {
        /// The place in the common order.
        at: u64,
    },
    /// The answer to [`QuotaRequest::More`]. If there are no pages to give now, another answer comes as soon as there
    /// are.
    Pages {
        /// The number of the request.
        number: u64,
        /// The number of pages that this process may fetch in all.
        pages: u64,
    },
    /// All processes were quiet at the same time, this one in the given round.
    AllQuiet {
        /// The round, as in [`PeerProgress::round`].
        round: u64,
        /// The next step.
        all: All,
    },
    /// The crawl cannot go on in this process, for this reason.
    Lost(String),
}

/// A request for pages to fetch, or the return of pages that are not needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotaRequest {
    /// The process asks for more pages.
    More {
        /// The number of the request.
        number: u64,
        /// The number of further pages.
        pages: u64,
    },
    /// The process needs no more pages than these in all, and its request is taken back.
    Back {
        /// The number of pages that it may fetch in all from now on.
        to: u64,
    },
}

/// The next step after all processes were quiet at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum All {
    /// URLs that were held back to the end may be released.
    Quiet,
    /// Every process has released the URLs that it held back. The crawl is over.
    Over,
    /// All pages that the crawl may fetch are fetched. The crawl is over.
    Spent,
}

/// A page on its way through the common order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proposed {
    /// The data on which its verdict depends, with the time at which it was fetched.
    pub page: Proposal,
}

impl Proposed {
    /// The most pages of one group.
    pub const MOST: usize = 1 << 10;
    /// The most bytes of one group, as [`Proposed::bytes`] counts them. A group is one message, and brokers take 1 MiB.
    pub const MOST_BYTES: usize = 640 << 10;

    /// The bytes of the page in a message, before compression.
    pub fn bytes(&self) -> usize {
        self.page.bytes()
    }

    /// The place of a page in the order of judging, from the place of its group and its place in the group.
    pub fn order(at: u64, place: usize) -> u64 {
        at * Self::MOST as u64 + place as u64
    }
}

/// The progress of one process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PeerProgress {
    /// The phase.
    pub phase: Phase,
    /// A number that grows with each change of the phase.
    pub round: u64,
    /// The place of the last links that were taken.
    pub links_at: u64,
    /// The place of the last pages that were judged or followed.
    pub pages_at: u64,
    /// The number of URLs queued.
    pub queued: u64,
    /// The number of open jobs.
    pub open: usize,
    /// The counters.
    pub stats: Stats,
    /// The version of the seeds and limits with which it works or has worked. (The engine does not know it; those who
    /// pass the progress on write it.)
    #[serde(default)]
    pub version: u64,
    /// The reason why it has ended, if it has.
    #[serde(default)]
    pub stop_reason: Option<StopReason>,
    /// Its estimate of the unique pages among the URLs held back, if there is one.
    #[serde(default)]
    pub lost: Option<Lost>,
}

impl PeerProgress {
    /// Whether it has ended with these seeds and limits, so that there is nothing left for it to do.
    pub fn is_done(&self, version: u64) -> bool {
        self.phase == Phase::Ended && self.version == version
    }
}

/// The phase of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// It fetches, or waits for a host.
    #[default]
    Busy,
    /// It has nothing to do until links come, or until all are quiet and URLs held back to the end may be released.
    Idle,
    /// It has nothing to do until links come, and has released the URLs that it held back.
    Drained,
    /// It has URLs queued, but all pages that the crawl may fetch are taken. It does jobs that others wait for.
    Full,
    /// It was stopped before its work was done.
    Stopped,
    /// It has ended.
    Ended,
}

impl Phase {
    /// The last phase of a process that ends for this reason.
    pub fn after(reason: StopReason) -> Self {
        if reason == StopReason::Stopped { Phase::Stopped } else { Phase::Ended }
    }

    /// Whether a process in this phase starts to work again only if links come, or if it may release URLs held back, or
    /// fetch more pages.
    pub fn is_quiet(self) -> bool {
        matches!(self, Phase::Idle | Phase::Drained | Phase::Full | Phase::Ended)
    }
}
