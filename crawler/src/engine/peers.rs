//! Other processes that crawl with this one, each with its own hosts: what an engine asks of them, and what it hears.
//!
//! Nothing here knows how they are reached. [`crate::cluster`] reaches them over a replicated log.

use crossbeam_channel::Receiver;
use dedup_stage::judge::Proposal;
use frontier::Millis;
use serde::{Deserialize, Serialize};

use super::stats::{Stats, StopReason};
use crate::estimate::Lost;
use crate::outbound::Outbound;

/// The other processes, as one engine sees them.
pub trait Peers: Send {
    /// What is heard from them.
    fn events(&self) -> &Receiver<Event>;

    /// Puts pages into the common order, as one group. They come back as [`Event::Mine`], once everything before them has
    /// come. Does not wait.
    fn propose(&mut self, group: Vec<Proposed>) -> Result<(), PeersError>;

    /// Sends links to the processes that have their hosts. When this returns they cannot be lost.
    fn send(&mut self, links: &[Outbound]) -> Result<(), PeersError>;

    /// Pages that this process may fetch in all, as far as is known when it begins; `None` where there is no limit.
    fn pages(&self) -> Option<u64> {
        None
    }

    /// Asks for more pages, or gives some back. The answer comes as [`Event::Pages`].
    fn ask_for_pages(&mut self, _request: QuotaRequest) {}

    /// Says how far this process is.
    fn tell(&mut self, progress: PeerProgress);

    /// Whether a page is judged only when its place in the common order is known. Tests turn that off, to see that it is
    /// needed.
    fn is_ordered(&self) -> bool {
        true
    }

    /// Whether links that come here for hosts of other processes are sent on. Tests turn that off, to see that it is needed.
    fn forwards(&self) -> bool {
        true
    }
}

/// What an engine hears.
#[derive(Debug)]
pub enum Event {
    /// Links to hosts of this process, or of one that has them now; they may have come before.
    Links {
        /// Place in the sequence of links to this process.
        at: u64,
        /// The links.
        links: Vec<Outbound>,
    },
    /// Pages that another process judges (or that this one proposed in a life that a crash ended).
    Theirs {
        /// Place in the common order.
        at: u64,
        /// The pages.
        pages: Vec<Proposed>,
    },
    /// The oldest group that this process has proposed and not heard of.
    Mine {
        /// Place in the common order.
        at: u64,
    },
    /// The answer to [`QuotaRequest::More`]. Where there was nothing to give, another answer comes as soon as there is.
    Pages {
        /// The number of the request.
        number: u64,
        /// Pages that this process may fetch in all.
        pages: u64,
    },
    /// Every process was quiet at one time, this one in the round that is named.
    AllQuiet {
        /// As in [`PeerProgress::round`].
        round: u64,
        /// What follows from that.
        all: All,
    },
    /// The crawl cannot go on here.
    Lost(String),
}

/// A process asks for pages to fetch, or gives back those that it does not need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotaRequest {
    /// It asks for so many more.
    More {
        /// Names the request.
        number: u64,
        /// How many.
        pages: u64,
    },
    /// It needs no more than these in all, and asks for nothing.
    Back {
        /// Pages that it may fetch in all from now on.
        to: u64,
    },
}

/// What it means that all processes were quiet at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum All {
    /// What is held back to the end may be released.
    Quiet,
    /// Every process has released what it held back: the crawl is over.
    Over,
    /// All pages that the crawl may fetch are fetched: it is over.
    Spent,
}

/// A page on its way through the common order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proposed {
    /// What its verdict depends on.
    pub page: Proposal,
    /// When it was fetched.
    pub fetched_at: Millis,
}

impl Proposed {
    /// Pages of one group, at most.
    pub const MOST: usize = 1 << 10;
    /// Bytes of one group, at most, as [`Proposed::bytes`] counts them: a group is one message, and brokers take 1 MiB.
    pub const MOST_BYTES: usize = 640 << 10;

    /// Bytes of the page in a message, before it is compressed: about so many, and hardly ever more.
    pub fn bytes(&self) -> usize {
        // A link has its length, whether it stands in the content, and a hash; so does a picture.
        let links: usize = self.page.links.iter().map(|(url, _)| url.len() + 16).sum();
        512 + self.page.url.len() + links + 8 * self.page.candidate.links.media.members().len()
    }

    /// The place of a page in the order of judging, by the place of its group and its place there.
    pub fn order(at: u64, place: usize) -> u64 {
        at * Self::MOST as u64 + place as u64
    }
}

/// How far one process is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PeerProgress {
    /// What it does.
    pub phase: Phase,
    /// Grows with each change of the phase.
    pub round: u64,
    /// Place of the last links that were taken.
    pub links_at: u64,
    /// Place of the last pages that were judged or followed.
    pub pages_at: u64,
    /// URLs queued.
    pub queued: u64,
    /// Jobs open.
    pub open: usize,
    /// Counters.
    pub stats: Stats,
    /// Why it has ended, if it has.
    #[serde(default)]
    pub stop_reason: Option<StopReason>,
    /// Its estimate of the unique pages among the URLs held back, if there is one.
    #[serde(default)]
    pub lost: Option<Lost>,
}

/// What a process does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// It fetches, or waits for a host.
    #[default]
    Busy,
    /// It has nothing to do until links come, or until all are quiet and what is held back may be released.
    Idle,
    /// It has nothing to do until links come, and has released what it held back.
    Drained,
    /// It has URLs queued, and all pages that the crawl may fetch are taken. It does what others wait for.
    Full,
    /// It was stopped before its work was done.
    Stopped,
    /// It has ended.
    Ended,
}

impl Phase {
    /// The phase that a process leaves behind.
    pub fn after(reason: StopReason) -> Self {
        if reason == StopReason::Stopped { Phase::Stopped } else { Phase::Ended }
    }

    /// Whether only links can make such a process work again, or the leave to release what it holds back, or to fetch more
    /// pages.
    pub fn is_quiet(self) -> bool {
        matches!(self, Phase::Idle | Phase::Drained | Phase::Full | Phase::Ended)
    }
}

/// Why the other processes cannot be reached, or do not want this one any more.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PeersError(pub String);
