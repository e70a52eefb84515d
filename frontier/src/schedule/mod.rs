//! Decides which host has its turn. Hosts wait for their time, or are ready. The best ready host comes first. If
//! several are equal, the one that has waited longest comes first. While this machine is behind with reading answers,
//! registrable domains take turns by what their pages cost (`turns`), and the best host of the domain whose turn it is
//! comes first.

#[cfg(test)]
mod tests;
mod turns;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::BuildHasherDefault;

use xxhash_rust::xxh3::Xxh3Default;

use crate::job::{AnswerCost, JobKind};
use crate::numbers::{HostId, Millis, PhaseNumber, Rank};
use crate::process::{Line, PlaceInLine, Shares};
use turns::{DomainTurn, DomainTurns};

/// The place of a host in the schedule. A host has exactly one phase at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostPhase {
    /// No URL is queued, or every queued URL waits for an open job.
    Idle(PhaseNumber),
    /// The host waits until this time.
    Waiting(Millis, PhaseNumber),
    /// The host may have a job now. Its registrable domain, named by its hash, takes turns with others.
    Ready(u64, Rank, PhaseNumber),
    /// The host is due, but its address is not. It stands in the line of this address.
    Parked(PlaceInLine),
    /// The host is ready, but a share of the slots that counts for it is used up. It stands in the line of this share.
    Benched(Line, u64, Rank, PhaseNumber),
    /// The host has an open job.
    Fetching,
}

impl HostPhase {
    /// The phase of a host that has just come into memory.
    pub const NEW: HostPhase = HostPhase::Idle(0);
}

/// The waiting, the ready and the idle hosts, in their orders.
///
/// # Complexity
///
/// O(log hosts) for each change of phase. A host that becomes due is moved once.
#[derive(Debug, Default)]
pub struct Schedule {
    waiting: BTreeSet<(Millis, PhaseNumber, HostId)>,
    ready: BTreeSet<(Rank, PhaseNumber, HostId)>,
    /// The ready hosts of each registrable domain.
    of_domains: BTreeSet<(u64, Rank, PhaseNumber, HostId)>,
    /// The first ready host of each domain, and whether the domain is a newcomer.
    heads: HashMap<u64, (Head, bool), BuildHasherDefault<Xxh3Default>>,
    /// The first ready hosts of the domains that are not newcomers, in the order in which they come.
    order: BTreeSet<Head>,
    /// The first ready hosts of newcomers, which have one turn together. (The turn in the head of a newcomer is 0.)
    newcomers: BTreeSet<Head>,
    turns: DomainTurns,
    /// Ready hosts that wait for their shares of the slots, each with its domain. No line is empty.
    lines: BTreeMap<Line, BTreeSet<(Rank, PhaseNumber, HostId, u64)>>,
    idle: BTreeSet<(PhaseNumber, HostId)>,
    /// Hosts for which hosts with worse URLs wait.
    awaited: BTreeSet<(Rank, HostId)>,
    number: PhaseNumber,
    fetching: u64,
}

/// The first ready host of a domain.
type Head = (DomainTurn, Rank, PhaseNumber, HostId);

/// Which slots a host may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Only the slots of its shares.
    Own,
    /// Also the slots for which no other host is ready.
    Spare,
}

impl Schedule {
    /// At most this many lines, because each job looks at each of them.
    const LINES: usize = 64;

    /// The host waits until `due`.
    pub fn wait(&mut self, host: HostId, phase: &mut HostPhase, due: Millis) {
        self.leave(host, *phase);
        self.number += 1;
        self.waiting.insert((due, self.number, host));
        *phase = HostPhase::Waiting(due, self.number);
    }

    /// The host is ready. If it was ready before, it keeps its turn. `domain` is the hash of its registrable domain.
    pub fn make_ready(&mut self, host: HostId, phase: &mut HostPhase, domain: u64, rank: Rank) {
        let number = match *phase {
            HostPhase::Waiting(_, number) | HostPhase::Ready(.., number) | HostPhase::Benched(.., number) => number,
            HostPhase::Idle(_) | HostPhase::Parked(..) | HostPhase::Fetching => {
                self.number += 1;
                self.number
            }
        };
        self.leave(host, *phase);
        self.ready.insert((rank, number, host));
        self.of_domains.insert((domain, rank, number, host));
        self.put_in_order(domain, None);
        *phase = HostPhase::Ready(domain, rank, number);
    }

    /// The first ready host of a domain may have changed. The domain keeps its turn unless it gets another `turn`.
    fn put_in_order(&mut self, domain: u64, turn: Option<DomainTurn>) {
        let first = self.of_domains.range((domain, 0, 0, 0)..).next().filter(|(of, ..)| *of == domain);
        let before = self.heads.get(&domain).copied();
        let is_new = self.turns.is_new(domain);
        let turn = match turn.or(before.map(|((turn, ..), _)| turn)) {
            _ if is_new => 0,
            Some(turn) => turn,
            None => self.turns.of(domain),
        };
        let head = first.map(|(_, rank, number, host)| ((turn, *rank, *number, *host), is_new));
        if head != before {
            before.map(|(before, was_new)| self.order_of(was_new).remove(&before));
            match head {
                Some((head, is_new)) => {
                    if is_new && self.newcomers.is_empty() {
                        self.turns.newcomers_come();
                    }
                    self.order_of(is_new).insert(head);
                    self.heads.insert(domain, (head, is_new));
                }
                None => _ = self.heads.remove(&domain),
            }
        }
        self.turns.share_with(self.order.len());
    }

    fn order_of(&mut self, newcomers: bool) -> &mut BTreeSet<Head> {
        if newcomers { &mut self.newcomers } else { &mut self.order }
    }

    /// The host has nothing to do now.
    pub fn rest(&mut self, host: HostId, phase: &mut HostPhase) {
        self.leave(host, *phase);
        self.number += 1;
        self.idle.insert((self.number, host));
        *phase = HostPhase::Idle(self.number);
    }

    /// The host stands in the line of an address.
    pub fn park(&mut self, host: HostId, phase: &mut HostPhase, place: PlaceInLine) {
        self.leave(host, *phase);
        *phase = HostPhase::Parked(place);
    }

    /// The host of a domain has a job of this kind.
    pub fn fetch(&mut self, host: HostId, phase: &mut HostPhase, domain: u64, kind: JobKind) {
        self.leave(host, *phase);
        self.fetching += 1;
        *phase = HostPhase::Fetching;
        self.turns.begin(domain, kind);
        self.put_in_order(domain, Some(self.turns.of(domain)));
    }

    /// The answer to a job was taken. `scarce`: whether processor time is scarce.
    pub fn taken(&mut self, taken: &AnswerCost, scarce: bool) {
        let AnswerCost { site, kind, answered, micros, .. } = *taken;
        let were_by_cost = self.turns.are_by_cost();
        self.turns.end(site.domain, kind, answered, micros, scarce);
        if were_by_cost && !scarce {
            let domains: Vec<u64> = self.heads.keys().copied().collect();
            domains.into_iter().for_each(|domain| self.put_in_order(domain, Some(0)));
        }
        if let Some(((turn, ..), _)) = self.heads.get(&site.domain) {
            self.put_in_order(site.domain, Some(self.turns.after_had(site.domain).max(*turn)));
        }
    }

    /// A domain has cost this much processor time, in microseconds, besides its answers.
    pub fn charge(&mut self, domain: u64, micros: u64) {
        self.turns.charge(domain, micros);
    }

    /// The processor time that a page of any domain usually costs, in microseconds.
    pub fn usual_cost(&self) -> u64 {
        self.turns.usual
    }

    /// Whether the cost of the pages of a domain is known.
    pub fn is_known(&self, domain: u64) -> bool {
        self.turns.is_known(domain)
    }

    /// Whether a domain is a newcomer, and the files and first pages of newcomers cost more than the pages of others.
    pub fn is_costly_newcomer(&self, domain: u64) -> bool {
        self.turns.is_new(domain) && self.turns.newcomers_cost_much()
    }

    /// Whether a job for a domain may cost as much as others do.
    pub fn is_costly(&self, domain: u64, kind: JobKind) -> bool {
        self.turns.is_costly(domain, kind)
    }

    /// Whether pages of a domain cost much less than others.
    pub fn is_light(&self, domain: u64) -> bool {
        self.turns.is_light(domain)
    }

    /// The next host to become due, if it is due at `now`.
    pub fn due(&self, now: Millis) -> Option<HostId> {
        self.waiting.first().filter(|(due, ..)| *due <= now).map(|(.., host)| *host)
    }

    /// When the next host becomes due.
    pub fn next_due(&self) -> Option<Millis> {
        self.waiting.first().map(|(due, ..)| *due)
    }

    /// The best ready host of the domain whose turn it is, if its shares have room, as far as is known. Otherwise, a
    /// host that waits for a share, if that share may be exceeded while no other host is ready. `behind`: hosts in
    /// lines come only if pages of their domains cost little. Returns the host, and which slots it may take.
    pub fn best(&self, shares: &Shares, behind: bool) -> Option<(HostId, Room)> {
        let heads = || {
            let heads = self.lines.iter().filter_map(|(line, hosts)| Some((*line, *hosts.first()?)));
            heads.filter(|(_, (.., domain))| !behind || self.is_light(*domain))
        };
        let with_room = heads().filter(|(line, _)| !shares.is_full(*line));
        // While turns go by cost, newcomers come after others that have the same turn.
        let by_cost = self.turns.are_by_cost();
        let is_after = |domain| by_cost && self.turns.is_new(domain);
        let with_room = with_room.map(|(line, (rank, number, host, domain))| {
            (self.turns.first(domain), is_after(domain), rank, shares.had_last_slot(line), number, host)
        });
        let known = self.order.first().map(|(turn, rank, number, host)| (*turn, false, *rank, false, *number, *host));
        let new = self.newcomers.first();
        let new = new.map(|(_, rank, number, host)| (self.turns.of_newcomers(), by_cost, *rank, false, *number, *host));
        if let Some((.., host)) = known.into_iter().chain(new).chain(with_room).min() {
            return Some((host, Room::Own));
        }
        let lenient = heads().filter(|(line, _)| !shares.is_strict(*line)).map(|(_, head)| head);
        lenient.min().map(|(_, _, host, _)| (host, Room::Spare))
    }

    /// Whether no host is ready.
    pub fn is_calm(&self) -> bool {
        self.ready.is_empty() && self.lines.is_empty()
    }

    /// Whether a ready host waits for its share of the slots. Hosts in the line of sitemaps do not count: they wait for
    /// other sitemaps, and not for a slot.
    pub fn has_line(&self) -> bool {
        self.lines.keys().any(|line| *line != Line::Sitemaps)
    }

    /// Whether a host waits in this line.
    pub fn has_hosts_in(&self, line: Line) -> bool {
        self.lines.contains_key(&line)
    }

    /// A ready host moves to the line of a share of the slots. False if there are too many lines.
    pub fn bench(&mut self, host: HostId, phase: &mut HostPhase, line: Line) -> bool {
        let (HostPhase::Ready(domain, rank, number) | HostPhase::Benched(_, domain, rank, number)) = *phase else {
            return false;
        };
        if self.lines.len() >= Self::LINES && !self.lines.contains_key(&line) {
            return false;
        }
        self.leave(host, *phase);
        self.lines.entry(line).or_default().insert((rank, number, host, domain));
        *phase = HostPhase::Benched(line, domain, rank, number);
        true
    }

    /// The hosts in the lines that do not count while this machine is behind.
    pub fn in_idle_lines(&self) -> Vec<HostId> {
        let idle = self.lines.iter().filter(|(line, _)| !line.counts_behind());
        idle.flat_map(|(_, hosts)| hosts.iter().map(|(_, _, host, _)| *host)).collect()
    }

    /// The hosts that should leave memory first: those that have been idle longest, then those that are due last, then
    /// the hosts of the lines (one line after the other, each from its worst host on), then the ready ones with the
    /// worst rank. At most `of_each` hosts of each kind.
    pub fn least(&self, of_each: usize) -> impl Iterator<Item = HostId> + '_ {
        let idle = self.idle.iter().map(|(_, host)| *host);
        let waiting = self.waiting.iter().rev().map(|(.., host)| *host);
        let ready = self.ready.iter().rev().map(|(.., host)| *host);
        let benched = self.lines.values().flat_map(|line| line.iter().rev()).map(|(_, _, host, _)| *host);
        let (idle, waiting) = (idle.take(of_each), waiting.take(of_each));
        idle.chain(waiting).chain(benched.take(of_each)).chain(ready.take(of_each))
    }

    /// The best URL of the host, for which others may wait, has this rank now; `None` if others should not wait for the
    /// host.
    pub fn set_awaited(&mut self, host: HostId, awaited: &mut Option<Rank>, rank: Option<Rank>) {
        if *awaited != rank {
            awaited.map(|before| self.awaited.remove(&(before, host)));
            rank.map(|rank| self.awaited.insert((rank, host)));
            *awaited = rank;
        }
    }

    /// The host has got a URL of this rank. It counts only if it is better than the best URL before.
    pub fn raise_awaited(&mut self, host: HostId, awaited: &mut Option<Rank>, rank: Rank) {
        if awaited.is_none_or(|before| rank < before) {
            self.set_awaited(host, awaited, Some(rank));
        }
    }

    /// The best rank of all hosts for which others wait.
    pub fn best_awaited(&self) -> Option<Rank> {
        self.awaited.first().map(|(rank, _)| *rank)
    }

    /// Number of hosts with an open job.
    pub fn fetching(&self) -> u64 {
        self.fetching
    }

    /// Number of hosts that wait or are ready.
    pub fn waiting(&self) -> u64 {
        (self.waiting.len() + self.ready.len() + self.lines.values().map(BTreeSet::len).sum::<usize>()) as u64
    }

    /// The host leaves the schedule: it leaves memory, or it is about to get another phase.
    pub fn leave(&mut self, host: HostId, phase: HostPhase) {
        match phase {
            HostPhase::Idle(number) => _ = self.idle.remove(&(number, host)),
            HostPhase::Waiting(due, number) => _ = self.waiting.remove(&(due, number, host)),
            HostPhase::Ready(domain, rank, number) => {
                self.ready.remove(&(rank, number, host));
                self.of_domains.remove(&(domain, rank, number, host));
                self.put_in_order(domain, None);
            }
            HostPhase::Benched(line, domain, rank, number) => {
                if let Some(hosts) = self.lines.get_mut(&line) {
                    hosts.remove(&(rank, number, host, domain));
                    if hosts.is_empty() {
                        self.lines.remove(&line);
                    }
                }
            }
            HostPhase::Fetching => self.fetching -= 1,
            HostPhase::Parked(..) => {}
        }
    }
}
