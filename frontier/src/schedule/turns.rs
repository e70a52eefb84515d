//! The turns of registrable domains while this machine is behind with reading answers (see `process/load.rs`).
//!
//! Then processor time is scarce, and domains share it: the domain comes first whose next page would be done first if
//! every domain had its share of the time. A domain with cheap pages has many turns for one turn of a domain with
//! costly ones, and a domain has no more turns because it has more hosts. While the machine keeps up, all turns are
//! equal, and the best URL comes first.
//!
//! # References
//!
//! Goyal, Vin and Cheng, "Start-time Fair Queuing: A Scheduling Algorithm for Integrated Services Packet Switching
//! Networks" (1996).

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use xxhash_rust::xxh3::Xxh3Default;

/// The turn of a domain. Lower ones come first.
pub type Turn = u64;

/// What the pages of each registrable domain cost. Times are in microseconds.
#[derive(Debug, Default)]
pub struct Turns {
    domains: HashMap<u64, Costs, BuildHasherDefault<Xxh3Default>>,
    /// The virtual time: the time at which the turn that was given last begins.
    now: u64,
    /// The usual cost of a page of any domain.
    pub usual: u64,
    /// Whether processor time is scarce.
    scarce: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Costs {
    /// The time up to which the domain has had its share.
    until: u64,
    /// The usual cost of its pages.
    usual: u64,
    /// The number of its pages that were read, up to [`Turns::ENOUGH`].
    read: u8,
}

impl Turns {
    /// At most this many domains are remembered.
    const MOST: usize = config::bounds::HOSTS;
    /// Turns that differ by less than this are equal, and the better URL comes first.
    const STEP: u64 = 4_096;
    /// The usual cost of the pages of a domain is known after so many of them.
    const ENOUGH: u8 = 2;

    /// The next turn of a domain. A domain that waits should keep the turn that it was given first.
    pub fn of(&self, domain: u64) -> Turn {
        if self.scarce { (self.begins(domain) + self.expected(domain)) / Self::STEP } else { 0 }
    }

    /// The earliest turn that a waiting domain may have, by its own past turns alone. ([`Turns::of`] also counts those
    /// of others.)
    pub fn after_had(&self, domain: u64) -> Turn {
        let had = self.domains.get(&domain).map_or(0, |costs| costs.until);
        if self.scarce { (had + self.expected(domain)) / Self::STEP } else { 0 }
    }

    /// The first turn that a domain may have now.
    pub fn first(&self, domain: u64) -> Turn {
        if self.scarce { self.begins(domain) / Self::STEP } else { 0 }
    }

    /// Whether domains take turns by cost now.
    pub fn are_by_cost(&self) -> bool {
        self.scarce
    }

    /// The time at which the next turn of a domain begins.
    fn begins(&self, domain: u64) -> u64 {
        self.domains.get(&domain).map_or(0, |costs| costs.until).max(self.now)
    }

    /// The expected cost of the next page of a domain. A domain whose pages are not known yet comes before domains
    /// whose pages cost as much as others, and after those whose pages cost little. Its front page alone says little,
    /// but more than nothing.
    fn expected(&self, domain: u64) -> u64 {
        let costs = self.domains.get(&domain).copied().unwrap_or_default();
        match costs.read {
            0 => self.usual / 2,
            read if read < Self::ENOUGH => costs.usual.max(self.usual / 4),
            _ => costs.usual,
        }
    }

    /// Whether the cost of the pages of a domain is known.
    pub fn is_known(&self, domain: u64) -> bool {
        self.domains.get(&domain).is_some_and(|costs| costs.read >= Self::ENOUGH)
    }

    /// Whether pages of a domain cost much less than others, as far as is known.
    pub fn is_light(&self, domain: u64) -> bool {
        let costs = self.domains.get(&domain);
        costs.is_some_and(|costs| costs.read >= Self::ENOUGH && 2 * costs.usual <= self.usual)
    }

    /// A domain has its turn. `reads`: for a page or a sitemap.
    pub fn begin(&mut self, domain: u64, reads: bool) {
        if self.scarce {
            self.now = self.begins(domain);
            let until = self.now + if reads { self.expected(domain) } else { 0 };
            self.costs(domain).until = until;
        }
    }

    /// A domain has cost this much time besides its turns.
    pub fn charge(&mut self, domain: u64, micros: u64) {
        if self.scarce && micros > 0 {
            let begins = self.begins(domain);
            self.costs(domain).until = begins + micros;
        }
    }

    /// The turn of a domain has cost this much time. `reads`: it was for a page or a sitemap; `answered`: the page or
    /// the sitemap came. `scarce`: whether processor time is scarce now.
    pub fn end(&mut self, domain: u64, reads: bool, answered: bool, micros: u64, scarce: bool) {
        self.scarce = scarce;
        let expected = if reads { self.expected(domain) } else { 0 };
        let begins = self.begins(domain);
        let costs = self.costs(domain);
        if scarce {
            costs.until = (begins + micros).saturating_sub(expected);
        }
        if reads && answered {
            costs.usual = if costs.read == 0 { micros } else { (3 * costs.usual + micros) / 4 };
            costs.read = (costs.read + 1).min(Self::ENOUGH);
            self.usual = if self.usual == 0 { micros } else { (31 * self.usual + micros) / 32 };
        }
    }

    fn costs(&mut self, domain: u64) -> &mut Costs {
        if self.domains.len() >= Self::MOST && !self.domains.contains_key(&domain) {
            // What the others cost is learned again.
            let now = self.now;
            self.domains.retain(|_, costs| costs.until > now);
            if self.domains.len() > Self::MOST / 2 {
                self.domains.clear();
            }
        }
        self.domains.entry(domain).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_go_by_cost_only_while_time_is_scarce() {
        let mut turns = Turns::default();
        let cost = |domain| if domain == 7 { 500 } else { 40_000 };
        for round in 0..Turns::ENOUGH {
            for domain in [7, 1, 2, 3] {
                assert!(!turns.is_light(domain));
                assert_eq!(turns.of(domain), 0);
                turns.end(domain, true, true, cost(domain), round + 1 == Turns::ENOUGH && domain == 3);
            }
        }
        assert!(turns.is_light(7) && !turns.is_light(1) && !turns.is_light(9));
        turns.end(8, true, true, 500, true);
        assert!(!turns.is_known(8) && !turns.is_known(9) && turns.is_known(1));
        let [front, none, costly] = [8, 9, 1].map(|domain| turns.expected(domain));
        assert!(front < none && none < costly, "a light front page says more than none: {front} {none} {costly}");
        let (domains, mut had) = ([7, 1, 2, 3], [0; 4]);
        let mut next = domains.map(|domain| turns.of(domain));
        for _ in 0..1_000 {
            let at = (0..4).min_by_key(|at| (next[*at], had[*at])).unwrap();
            turns.begin(domains[at], true);
            turns.end(domains[at], true, true, cost(domains[at]), true);
            // The others keep their turns.
            next[at] = turns.of(domains[at]);
            had[at] += 1;
        }
        assert!(had[0] > 900 && had[1..].iter().all(|had| *had > 5), "{had:?}: equal shares of the time");
        assert!(domains.iter().any(|domain| turns.of(*domain) > 0));
        turns.end(1, true, true, cost(1), false);
        assert!(domains.iter().all(|domain| (turns.of(*domain), turns.first(*domain)) == (0, 0)), "equal again");
    }

    #[test]
    fn the_domains_that_are_remembered_have_a_bound() {
        let mut turns = Turns::default();
        for domain in 0..3 * Turns::MOST as u64 {
            turns.end(domain, true, true, 1_000, true);
        }
        assert!(turns.domains.len() <= Turns::MOST);
    }
}
