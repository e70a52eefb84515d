//! Chooses the next visit: of all hosts that may be asked now, the visit that is due first.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::queue::{Entries, Queue};
use super::time::{Seconds, UrlHash};

/// The number of a host, in the order in which hosts were added.
pub type HostNumber = u32;

/// A visit to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VisitTurn {
    /// The page's host.
    pub host: HostNumber,
    /// The page.
    pub page: UrlHash,
    /// When the visit is due; 0 if it is urgent.
    pub due: Seconds,
}

/// The queues of all hosts.
///
/// # Complexity
///
/// O(log n) to choose and to push, over the pages of a host and over the hosts.
#[derive(Clone, Debug, Default)]
pub struct VisitTurns {
    hosts: Vec<Lane>,
    /// Hosts that may be asked, by the time at which their first visit is due.
    ready: BTreeSet<(Seconds, HostNumber)>,
    /// Hosts that may not be asked before a time.
    resting: BinaryHeap<Reverse<(Seconds, HostNumber)>>,
}

/// A host's queue.
#[derive(Clone, Debug, Default)]
struct Lane {
    queue: Queue,
    /// The time under which the host stands in the ready set.
    stands: Option<Seconds>,
    /// Whether it has an open fetch.
    busy: bool,
    /// Whether it rests only because none of its pages is due.
    deferred: bool,
    /// Its visits are chosen as if they were due this much sooner.
    lead: Seconds,
    /// Until when it rests. Entries of the resting heap with another time are ignored.
    rests: Option<Seconds>,
}

impl VisitTurns {
    /// Adds a host. It may be asked at once.
    pub fn add_host(&mut self) -> HostNumber {
        self.hosts.push(Lane::default());
        (self.hosts.len() - 1) as HostNumber
    }

    /// Adds a visit: the page is due at this time.
    pub fn push(&mut self, host: HostNumber, due: Seconds, page: UrlHash) {
        let lane = &mut self.hosts[host as usize];
        if lane.deferred && lane.queue.peek().is_none_or(|(first, _)| due < first) {
            (lane.deferred, lane.rests) = (false, None);
        }
        lane.queue.push(due, page);
        self.place(host);
    }

    /// Replaces all entries of a host.
    pub fn replace(&mut self, host: HostNumber, entries: Entries) {
        let lane = &mut self.hosts[host as usize];
        if lane.deferred {
            (lane.deferred, lane.rests) = (false, None);
        }
        lane.queue.replace(entries);
        self.place(host);
    }

    /// The visit that is due first, of those whose hosts may be asked at `now`. It may be due later than `now`.
    pub fn peek(&mut self, now: Seconds) -> Option<VisitTurn> {
        while let Some(&Reverse((until, host))) = self.resting.peek().filter(|Reverse((until, _))| *until <= now) {
            self.resting.pop();
            let lane = &mut self.hosts[host as usize];
            if lane.rests == Some(until) {
                (lane.deferred, lane.rests) = (false, None);
                self.place(host);
            }
        }
        let &(_, host) = self.ready.first()?;
        let (due, page) = self.hosts[host as usize].queue.peek()?;
        Some(VisitTurn { host, page, due })
    }

    /// The next due time, of the hosts that have no open fetch. A host that rests counts with the end of its rest.
    pub fn next_due(&mut self, now: Seconds) -> Option<Seconds> {
        let first = self.peek(now).map(|turn| turn.due);
        let rested = self.resting.peek().map(|Reverse((until, _))| *until);
        [first, rested].into_iter().flatten().min()
    }

    /// Takes the visit that [`Self::peek`] names out of the queue. Its host is busy until [`Self::rest`].
    pub fn take(&mut self, turn: VisitTurn) {
        self.drop_first(turn.host);
        self.hosts[turn.host as usize].busy = true;
        self.place(turn.host);
    }

    /// Lets a host wait until [`Self::rest`], although none of its visits was taken.
    pub fn hold(&mut self, host: HostNumber) {
        self.hosts[host as usize].busy = true;
        self.place(host);
    }

    /// Drops the first entry of a host without a visit.
    pub fn drop_first(&mut self, host: HostNumber) {
        self.hosts[host as usize].queue.pop();
        self.place(host);
    }

    /// The host's fetch has ended, and it may be asked from this time on.
    pub fn rest(&mut self, host: HostNumber, until: Seconds) {
        self.hosts[host as usize].busy = false;
        self.rest_until(host, until);
    }

    /// The host is not asked before this time, unless one of its pages is due sooner.
    pub fn defer(&mut self, host: HostNumber, until: Seconds) {
        self.hosts[host as usize].deferred = true;
        self.rest_until(host, until);
    }

    fn rest_until(&mut self, host: HostNumber, until: Seconds) {
        self.hosts[host as usize].rests = Some(until);
        self.resting.push(Reverse((until, host)));
        self.place(host);
    }

    /// From now on, visits of this host are chosen as if they were due this much sooner.
    pub fn lead(&mut self, host: HostNumber, lead: Seconds) {
        self.hosts[host as usize].lead = lead;
        self.place(host);
    }

    /// The first entry of this host.
    pub fn first(&self, host: HostNumber) -> Option<(Seconds, UrlHash)> {
        self.hosts[host as usize].queue.peek()
    }

    /// Entries of all queues.
    pub fn len(&self) -> usize {
        self.hosts.iter().map(|lane| lane.queue.len()).sum()
    }

    /// Whether no queue has an entry.
    pub fn is_empty(&self) -> bool {
        self.hosts.iter().all(|lane| lane.queue.is_empty())
    }

    /// Bytes that the queues take.
    pub fn allocated(&self) -> usize {
        self.hosts.iter().map(|lane| lane.queue.allocated()).sum::<usize>()
            + self.hosts.capacity() * size_of::<Lane>()
            + (self.ready.len() + self.resting.len()) * 16
    }

    /// Puts the host into the ready set, under the time at which its first visit is due, or takes it out.
    fn place(&mut self, host: HostNumber) {
        let lane = &mut self.hosts[host as usize];
        let first = lane.queue.peek().map(|(due, _)| due.saturating_sub(lane.lead));
        let stands = first.filter(|_| !lane.busy && lane.rests.is_none());
        if stands != lane.stands {
            lane.stands.map(|due| self.ready.remove(&(due, host)));
            stands.map(|due| self.ready.insert((due, host)));
            lane.stands = stands;
        }
    }
}
