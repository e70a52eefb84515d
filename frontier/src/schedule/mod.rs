//! Whose turn it is: hosts that wait for their time, and hosts that are ready, the best first and in turn among equals.

use crate::numbers::{AddressId, HostId, Millis};
use std::collections::BTreeSet;

/// Where a host stands; exactly one of these at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Nothing queued, or everything queued waits for an open job.
    Idle(Turn),
    /// Due at this time.
    Waiting(Millis, Turn),
    /// May have a job now.
    Ready(Rank, Turn),
    /// Due, but its address is not: it stands in the line of that address.
    Parked(AddressId, Rank, Turn),
    /// Has a job open.
    Fetching,
}

impl Phase {
    /// That of a host that has just come into memory.
    pub const NEW: Phase = Phase::Idle(0);
}

/// How good a host's best URL is; 0 is best.
pub type Rank = u16;

/// The rank of a score in 0..1.
pub fn rank(score: f32) -> Rank {
    ((1.0 - score.clamp(0.0, 1.0)) * 10_000.0) as Rank
}

/// The score of a rank.
pub fn score(rank: Rank) -> f32 {
    1.0 - f32::from(rank) / 10_000.0
}

/// Counts the changes of phase: among equals, who came first goes first.
pub type Turn = u64;

/// The waiting, the ready and the idle hosts.
///
/// # Complexity
///
/// O(log hosts) for each change of phase; a host that becomes due is moved once.
#[derive(Debug, Default)]
pub struct Schedule {
    waiting: BTreeSet<(Millis, Turn, HostId)>,
    ready: BTreeSet<(Rank, Turn, HostId)>,
    idle: BTreeSet<(Turn, HostId)>,
    /// Hosts that worse ones wait for.
    standing: BTreeSet<(Rank, HostId)>,
    turn: Turn,
    fetching: u64,
}

impl Schedule {
    /// The host waits until `due`.
    pub fn wait(&mut self, host: HostId, phase: &mut Phase, due: Millis) {
        self.leave(host, *phase);
        self.turn += 1;
        self.waiting.insert((due, self.turn, host));
        *phase = Phase::Waiting(due, self.turn);
    }

    /// The host is ready. Where it was ready before, it keeps its turn.
    pub fn make_ready(&mut self, host: HostId, phase: &mut Phase, rank: Rank) {
        let turn = match *phase {
            Phase::Waiting(_, turn) | Phase::Ready(_, turn) => turn,
            Phase::Idle(_) | Phase::Parked(..) | Phase::Fetching => {
                self.turn += 1;
                self.turn
            }
        };
        self.leave(host, *phase);
        self.ready.insert((rank, turn, host));
        *phase = Phase::Ready(rank, turn);
    }

    /// The host has nothing to do now.
    pub fn rest(&mut self, host: HostId, phase: &mut Phase) {
        self.leave(host, *phase);
        self.turn += 1;
        self.idle.insert((self.turn, host));
        *phase = Phase::Idle(self.turn);
    }

    /// The host stands in the line of an address.
    pub fn park(&mut self, host: HostId, phase: &mut Phase, at: (AddressId, Rank, Turn)) {
        self.leave(host, *phase);
        *phase = Phase::Parked(at.0, at.1, at.2);
    }

    /// The host has a job.
    pub fn fetch(&mut self, host: HostId, phase: &mut Phase) {
        self.leave(host, *phase);
        self.fetching += 1;
        *phase = Phase::Fetching;
    }

    /// The next host to become due, if it is due at `now`.
    pub fn due(&self, now: Millis) -> Option<HostId> {
        self.waiting.first().filter(|(due, ..)| *due <= now).map(|(.., host)| *host)
    }

    /// When the next host becomes due.
    pub fn next_due(&self) -> Option<Millis> {
        self.waiting.first().map(|(due, ..)| *due)
    }

    /// The best ready host.
    pub fn best(&self) -> Option<HostId> {
        self.ready.first().map(|(.., host)| *host)
    }

    /// Hosts that can best leave memory: first those that have been idle longest, then those that are due last, then those
    /// with the worst rank among the ready ones.
    pub fn least(&self) -> impl Iterator<Item = HostId> + '_ {
        let idle = self.idle.iter().map(|(_, host)| *host);
        let waiting = self.waiting.iter().rev().map(|(.., host)| *host);
        let ready = self.ready.iter().rev().map(|(.., host)| *host);
        idle.chain(waiting).chain(ready)
    }

    /// The host has something of this rank, or nothing that others should wait for.
    pub fn stands(&mut self, host: HostId, standing: &mut Option<Rank>, rank: Option<Rank>) {
        if *standing != rank {
            standing.map(|before| self.standing.remove(&(before, host)));
            rank.map(|rank| self.standing.insert((rank, host)));
            *standing = rank;
        }
    }

    /// The host, where it stands anywhere, has something of this rank.
    pub fn stands_better(&mut self, host: HostId, standing: &mut Option<Rank>, rank: Rank) {
        if standing.is_none_or(|before| rank < before) {
            self.stands(host, standing, Some(rank));
        }
    }

    /// The best rank that hosts have something of.
    pub fn best_standing(&self) -> Option<Rank> {
        self.standing.first().map(|(rank, _)| *rank)
    }

    /// Hosts with an open job.
    pub fn fetching(&self) -> u64 {
        self.fetching
    }

    /// Hosts that wait or are ready.
    pub fn waiting(&self) -> u64 {
        (self.waiting.len() + self.ready.len()) as u64
    }

    /// The host is nowhere any more: it leaves memory, or is about to stand elsewhere.
    pub fn leave(&mut self, host: HostId, phase: Phase) {
        match phase {
            Phase::Idle(turn) => _ = self.idle.remove(&(turn, host)),
            Phase::Waiting(due, turn) => _ = self.waiting.remove(&(due, turn, host)),
            Phase::Ready(rank, turn) => _ = self.ready.remove(&(rank, turn, host)),
            Phase::Fetching => self.fetching -= 1,
            Phase::Parked(..) => {}
        }
    }
}
