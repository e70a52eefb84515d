//! The line of an address: the hosts that are due before their address is.
//!
//! The hosts of a registrable domain have turns together, so a domain with thousands of hosts at the address has no
//! more turns than a domain with one. The turns of a domain are proportional to the score of its best URL. While
//! hosts that have shown pages (*proven* hosts) and other hosts both wait, the others have one of four turns together:
//! one page can name hosts without end.
//!
//! # References
//!
//! Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband Applications" (1994): each waiting domain has a tag,
//! the lowest tag comes first, and the tag that was served last is the time from which new tags count.

use std::collections::{BTreeMap, BTreeSet};

use crate::numbers::{AddressId, HostId};
use crate::numbers::{PhaseNumber, Rank, score};

/// The place of a host in the line of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceInLine {
    /// The address.
    pub address: AddressId,
    /// Whether the host was proven when it came.
    pub proven: bool,
    /// The hash of its registrable domain.
    pub domain: u64,
    /// The rank of its best URL when it came.
    pub rank: Rank,
    /// Of equal hosts of a domain, the one with the lower number comes first.
    pub number: PhaseNumber,
}

/// The hosts that wait for one address.
#[derive(Debug, Default)]
pub struct AddressLine {
    proven: Class,
    others: Class,
    /// The turns of proven hosts since other hosts had one.
    in_a_row: u8,
}

/// The first host of a domain: the tag of the domain, the rank and number of the host, and the domain.
type Head = (u64, Rank, PhaseNumber, u64);

/// The waiting hosts of one class.
#[derive(Debug, Default)]
struct Class {
    hosts: BTreeSet<(u64, Rank, PhaseNumber, HostId)>,
    /// The first host of each domain, by the tag of the domain.
    order: BTreeSet<Head>,
    /// For each domain, the time from which its tag counts, and its place in `order`.
    domains: BTreeMap<u64, (u64, Head)>,
    /// The tag that was served last.
    now: u64,
}

impl AddressLine {
    /// While both wait, proven hosts have this many turns for one turn of the others.
    const PROVEN: u8 = 3;

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of hosts that wait.
    pub fn len(&self) -> usize {
        self.proven.hosts.len() + self.others.hosts.len()
    }

    fn class(&mut self, proven: bool) -> &mut Class {
        if proven { &mut self.proven } else { &mut self.others }
    }

    /// A host comes.
    pub fn enter(&mut self, host: HostId, place: PlaceInLine) {
        let PlaceInLine { domain, rank, number, .. } = place;
        let class = self.class(place.proven);
        class.hosts.insert((domain, rank, number, host));
        class.put_in_order(domain, None);
    }

    /// A host leaves before its turn. False if it was not there.
    pub fn leave(&mut self, host: HostId, place: PlaceInLine) -> bool {
        let PlaceInLine { domain, rank, number, .. } = place;
        let class = self.class(place.proven);
        let was_there = class.hosts.remove(&(domain, rank, number, host));
        class.put_in_order(domain, None);
        was_there
    }

    /// The host whose turn it is leaves the line.
    pub fn pop(&mut self) -> Option<HostId> {
        let both = !self.proven.hosts.is_empty() && !self.others.hosts.is_empty();
        let proven = if both { self.in_a_row < Self::PROVEN } else { self.others.hosts.is_empty() };
        self.in_a_row = if both && proven { self.in_a_row + 1 } else { 0 };
        self.class(proven).pop()
    }

    /// The host that waits longest for its turn: not proven, if there is such a host.
    pub fn last(&self) -> Option<HostId> {
        self.others.last().or_else(|| self.proven.last())
    }
}

impl Class {
    /// The time that a turn takes for a URL with the best score.
    const TURN: u64 = 1 << 16;
    /// A URL with a lower score counts as one with this score.
    const LEAST_SCORE: f32 = 0.05;

    /// The first host of a domain may have changed. `since` is the time from which the tag of the domain counts; `None`
    /// if it stays, or is now if the domain was not there.
    fn put_in_order(&mut self, domain: u64, since: Option<u64>) {
        let before = self.domains.remove(&domain);
        before.map(|(_, at)| self.order.remove(&at));
        let first = self.hosts.range((domain, 0, 0, 0)..).next().filter(|(of, ..)| *of == domain);
        if let Some(&(_, rank, number, _)) = first {
            let since = since.or(before.map(|(since, _)| since)).unwrap_or(self.now);
            let turn = (Self::TURN as f32 / score(rank).max(Self::LEAST_SCORE)) as u64;
            let at = (since + turn, rank, number, domain);
            self.order.insert(at);
            self.domains.insert(domain, (since, at));
        }
    }

    fn pop(&mut self) -> Option<HostId> {
        let (tag, .., domain) = *self.order.first()?;
        let first = *self.hosts.range((domain, 0, 0, 0)..).next()?;
        self.hosts.remove(&first);
        self.now = tag;
        self.put_in_order(domain, Some(tag));
        Some(first.3)
    }

    fn last(&self) -> Option<HostId> {
        let (.., domain) = *self.order.last()?;
        let (.., host) = *self.hosts.range(..=(domain, Rank::MAX, PhaseNumber::MAX, HostId::MAX)).next_back()?;
        Some(host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A host of a domain with a URL of this rank.
    fn place(domain: u64, proven: bool, rank: Rank, number: PhaseNumber) -> PlaceInLine {
        PlaceInLine { address: 0, proven, domain, rank, number }
    }

    /// The domains that have the next turns. Each host comes again at once.
    fn turns(line: &mut AddressLine, places: &mut [PlaceInLine], turns: usize) -> Vec<u64> {
        let mut had = Vec::new();
        for turn in 0..turns {
            let host = line.pop().unwrap();
            let place = &mut places[host as usize];
            place.number = 10_000 + turn as u64;
            line.enter(host, *place);
            had.push(place.domain);
        }
        had
    }

    #[test]
    fn a_domain_with_many_hosts_has_the_turns_of_one() {
        let mut line = AddressLine::default();
        let mut places: Vec<_> = (0..100).map(|host| place(if host < 97 { 7 } else { host }, true, 0, host)).collect();
        places.iter().enumerate().for_each(|(host, place)| line.enter(host as HostId, *place));
        let had = turns(&mut line, &mut places, 400);
        for domain in [7, 97, 98, 99] {
            assert_eq!(had.iter().filter(|of| **of == domain).count(), 100, "domain {domain}");
        }
    }

    #[test]
    fn domains_that_come_without_end_leave_a_waiting_domain_its_turn() {
        let mut line = AddressLine::default();
        line.enter(0, place(1, false, 100, 0));
        let served = (1..100).find(|number| {
            line.enter(*number as HostId, place(1_000 + number, false, 0, *number));
            line.pop() == Some(0)
        });
        assert!(served.is_some_and(|turn| turn < 5), "{served:?}");
    }

    #[test]
    fn a_better_url_has_more_turns_and_a_worse_one_has_some() {
        let mut line = AddressLine::default();
        let mut places = [place(1, true, 1_000, 0), place(2, true, 7_000, 1), place(3, true, 10_000, 2)];
        places.iter().enumerate().for_each(|(host, place)| line.enter(host as HostId, *place));
        let had = turns(&mut line, &mut places, 1_000);
        let had = [1, 2, 3].map(|domain| had.iter().filter(|of| **of == domain).count());
        assert!(had[0] > 700 && had[1] > 200 && had[2] > 20, "{had:?}");
    }

    #[test]
    fn unproven_hosts_have_one_of_four_turns_while_proven_ones_wait() {
        let mut line = AddressLine::default();
        let mut places: Vec<_> = (0..40).map(|host| place(host, host < 2, 0, host)).collect();
        places.iter().enumerate().for_each(|(host, place)| line.enter(host as HostId, *place));
        let had = turns(&mut line, &mut places, 100);
        assert_eq!(had.iter().filter(|domain| **domain < 2).count(), 75);
        assert!(line.last().is_some_and(|host| host >= 2));
        (0..2).for_each(|host| assert!(line.leave(host, places[host as usize])));
        assert!(turns(&mut line, &mut places, 100).iter().all(|domain| *domain >= 2));
        assert_eq!(line.len(), 38);
    }
}
