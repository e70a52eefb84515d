//! The turns of registrable domains while this machine is behind with reading answers (see `process/load.rs`).
//!
//! Then processor time is scarce, and domains share it. For each domain, the time is computed at which its next page
//! would be done if all domains had equal shares. The domain with the earliest time comes first. A domain with cheap pages has many turns for one turn of a domain with costly ones. A domain with more hosts has no
//! more turns than a domain with few. While the machine keeps up, all turns are equal, and the best URL comes first.
//!
//! One page can link to thousands of new domains. If each of them had its own share, they would leave nothing to the
//! others. So *newcomers*, the domains of which no page was read yet, have one share together. It is as large as that
//! of all other domains that are ready together: new domains get half of the time if the others can use the other half.
//!
//! # References
//!
//! Goyal, Vin and Cheng, "Start-time Fair Queuing: A Scheduling Algorithm for Integrated Services Packet Switching
//! Networks" (1996).

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use xxhash_rust::xxh3::Xxh3Default;

use crate::job::JobKind;

/// The turn of a domain. Lower ones come first.
pub type DomainTurn = u64;

/// What the pages of each registrable domain cost. Times are in microseconds.
#[derive(Debug, Default)]
pub struct DomainTurns {
    domains: HashMap<u64, Costs, BuildHasherDefault<Xxh3Default>>,
    newcomers: Newcomers,
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
    /// The usual cost of the robots.txt files of its hosts; 0 if it is not known.
    robots: u64,
    /// The number of its pages that were read, up to [`DomainTurns::ENOUGH`].
    read: u8,
}

/// The domains of which no page was read yet.
#[derive(Debug, Default)]
struct Newcomers {
    /// The time up to which they have had their share.
    until: u64,
    /// The usual cost of their robots.txt files and first pages.
    usual: u64,
    /// The share of all of them, in shares of one other domain.
    share: u64,
}

impl DomainTurns {
    /// At most this many domains are remembered.
    const MOST: usize = config::bounds::HOSTS;
    /// Turns that differ by less than this are equal, and the better URL comes first.
    const STEP: u64 = 4_096;
    /// The usual cost of the pages of a domain is known after this many of them.
    const ENOUGH: u8 = 2;

    /// The next turn of a domain. A domain that waits should keep the turn that it was given first, unless it is a
    /// newcomer.
    pub fn of(&self, domain: u64) -> DomainTurn {
        if self.is_new(domain) { self.of_newcomers() } else { self.turn(self.begins(domain) + self.expected(domain)) }
    }

    /// Gives the newcomers as much time together as `others` domains have, the other domains that are ready.
    pub fn share_with(&mut self, others: usize) {
        self.newcomers.share = others.max(1) as u64;
    }

    /// The next turn of any newcomer.
    pub fn of_newcomers(&self) -> DomainTurn {
        self.turn(self.newcomers.until + self.expected_of_newcomers() / self.newcomers.share.max(1))
    }

    /// A newcomer is ready and none was ready before, or newcomers wait while turns begin to go by cost. They do not
    /// get the time that they did not use before.
    pub fn newcomers_come(&mut self) {
        self.newcomers.until = self.newcomers.until.max(self.now);
    }

    /// The earliest turn that a waiting domain may have, by its own past turns alone. ([`DomainTurns::of`] also counts
    /// those of others.)
    pub fn after_had(&self, domain: u64) -> DomainTurn {
        let had = self.domains.get(&domain).map_or(0, |costs| costs.until);
        self.turn(had + self.expected(domain))
    }

    /// The first turn that a domain may have now.
    pub fn first(&self, domain: u64) -> DomainTurn {
        self.turn(self.begins(domain))
    }

    fn turn(&self, time: u64) -> DomainTurn {
        if self.scarce { time / Self::STEP } else { 0 }
    }

    /// Whether domains take turns by cost now.
    pub fn are_by_cost(&self) -> bool {
        self.scarce
    }

    /// Whether no page of a domain was read yet, as far as is remembered.
    pub fn is_new(&self, domain: u64) -> bool {
        self.domains.get(&domain).is_none_or(|costs| costs.read == 0)
    }

    /// The time at which the next turn of a domain begins.
    fn begins(&self, domain: u64) -> u64 {
        match self.domains.get(&domain) {
            Some(costs) if costs.read > 0 => costs.until.max(self.now),
            // They keep the turn that they had when the first of them became ready.
            _ => self.newcomers.until,
        }
    }

    /// The expected cost of the next page of a domain. The front page of a domain alone says little, but more than
    /// nothing.
    fn expected(&self, domain: u64) -> u64 {
        let costs = self.domains.get(&domain).copied().unwrap_or_default();
        match costs.read {
            0 => self.expected_of_newcomers(),
            read if read < Self::ENOUGH => costs.usual.max(self.usual / 4),
            _ => costs.usual,
        }
    }

    fn expected_of_newcomers(&self) -> u64 {
        if self.newcomers.usual == 0 { self.usual / 2 } else { self.newcomers.usual }
    }

    /// The expected cost of a job for a domain.
    fn expected_of(&self, domain: u64, kind: JobKind) -> u64 {
        match kind {
            JobKind::Page | JobKind::Sitemap => self.expected(domain),
            JobKind::Robots => match self.domains.get(&domain).map_or(0, |costs| costs.robots) {
                0 => self.newcomers.usual,
                known => known,
            },
            JobKind::Resolve => 0,
        }
    }

    /// Whether the cost of the pages of a domain is known.
    pub fn is_known(&self, domain: u64) -> bool {
        self.domains.get(&domain).is_some_and(|costs| costs.read >= Self::ENOUGH)
    }

    /// Whether pages of a domain cost much less than others, as far as is known.
    pub fn is_light(&self, domain: u64) -> bool {
        let costs = self.domains.get(&domain);
        costs.is_some_and(|costs| costs.read >= Self::ENOUGH && self.is_little(costs.usual))
    }

    fn is_little(&self, cost: u64) -> bool {
        2 * cost <= self.usual.max(self.newcomers.usual)
    }

    /// Whether a job for a domain may cost as much as others do. The cost of the pages of a new domain is not known, so
    /// it may be high.
    pub fn is_costly(&self, domain: u64, kind: JobKind) -> bool {
        match kind {
            JobKind::Page | JobKind::Sitemap => !self.is_light(domain),
            JobKind::Robots => !self.is_little(self.expected_of(domain, kind)),
            JobKind::Resolve => false,
        }
    }

    /// Whether the files and first pages of newcomers cost more than the pages of others.
    pub fn newcomers_cost_much(&self) -> bool {
        self.newcomers.usual > self.usual
    }

    /// A domain has its turn for a job of this kind.
    pub fn begin(&mut self, domain: u64, kind: JobKind) {
        if self.scarce {
            self.now = self.begins(domain).max(self.now);
            self.pay(domain, self.expected_of(domain, kind), 0);
        }
    }

    /// A domain has cost this much time besides its turns.
    pub fn charge(&mut self, domain: u64, micros: u64) {
        if self.scarce && micros > 0 {
            self.pay(domain, micros, 0);
        }
    }

    /// A domain, or the newcomers if it is one of them, has used this much time, and gets back `paid`. (That is
    /// what a turn would cost now, which is about what it has paid.)
    fn pay(&mut self, domain: u64, micros: u64, paid: u64) {
        let begins = self.begins(domain);
        if self.is_new(domain) {
            let share = self.newcomers.share.max(1);
            self.newcomers.until = (begins + micros / share).saturating_sub(paid / share);
        } else {
            self.costs(domain).until = (begins + micros).saturating_sub(paid);
        }
    }

    /// A job for a domain has cost this much time. `answered`: an answer came. `scarce`: whether processor time is
    /// scarce now.
    pub fn end(&mut self, domain: u64, kind: JobKind, answered: bool, micros: u64, scarce: bool) {
        if scarce && !self.scarce {
            // Until now, turns were not paid for.
            self.newcomers_come();
        }
        self.scarce = scarce;
        if scarce {
            self.pay(domain, micros, self.expected_of(domain, kind));
        }
        if !answered || kind == JobKind::Resolve {
            return;
        }
        let was_new = self.is_new(domain);
        if was_new {
            self.newcomers.usual = average(self.newcomers.usual, micros, 8);
        }
        if !kind.is_read() {
            if !was_new {
                let costs = self.costs(domain);
                costs.robots = average(costs.robots, micros, 4).max(1);
            }
            return;
        }
        let now = self.now;
        let costs = self.costs(domain);
        if was_new {
            costs.until = now;
        }
        costs.usual = if costs.read == 0 { micros } else { average(costs.usual, micros, 4) };
        costs.read = (costs.read + 1).min(Self::ENOUGH);
        self.usual = average(self.usual, micros, 32);
    }

    fn costs(&mut self, domain: u64) -> &mut Costs {
        if self.domains.len() >= Self::MOST && !self.domains.contains_key(&domain) {
            // There are too many domains, so some are forgotten, and their costs are learned again. Domains of which
            // one page was read are forgotten first.
            let now = self.now;
            self.domains.retain(|_, costs| costs.read >= Self::ENOUGH || costs.until > now);
            if self.domains.len() > Self::MOST / 2 {
                self.domains.retain(|_, costs| costs.until > now);
            }
            if self.domains.len() > Self::MOST / 2 {
                self.domains.clear();
            }
        }
        self.domains.entry(domain).or_default()
    }
}

/// A moving average, in which the new value has the weight 1 / `parts`. If `before` is 0, there is no average yet.
fn average(before: u64, value: u64, parts: u64) -> u64 {
    if before == 0 { value } else { ((parts - 1) * before + value) / parts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_go_by_cost_only_while_time_is_scarce() {
        let mut turns = DomainTurns::default();
        let cost = |domain| if domain == 7 { 500 } else { 40_000 };
        for round in 0..DomainTurns::ENOUGH {
            for domain in [7, 1, 2, 3] {
                assert!(!turns.is_light(domain));
                assert_eq!(turns.of(domain), 0);
                turns.end(domain, JobKind::Page, true, cost(domain), round + 1 == DomainTurns::ENOUGH && domain == 3);
            }
        }
        assert!(turns.is_light(7) && !turns.is_light(1) && !turns.is_light(9));
        turns.end(8, JobKind::Page, true, 500, true);
        assert!(!turns.is_known(8) && !turns.is_known(9) && turns.is_known(1));
        let [front, none, costly] = [8, 9, 1].map(|domain| turns.expected(domain));
        assert!(front < none && none < costly, "a light front page says more than none: {front} {none} {costly}");
        let (domains, mut had) = ([7, 1, 2, 3], [0; 4]);
        let mut next = domains.map(|domain| turns.of(domain));
        for _ in 0..1_000 {
            let at = (0..4).min_by_key(|at| (next[*at], had[*at])).unwrap();
            turns.begin(domains[at], JobKind::Page);
            turns.end(domains[at], JobKind::Page, true, cost(domains[at]), true);
            // The others keep their turns.
            next[at] = turns.of(domains[at]);
            had[at] += 1;
        }
        assert!(had[0] > 900 && had[1..].iter().all(|had| *had > 5), "{had:?}: equal shares of the time");
        assert!(domains.iter().any(|domain| turns.of(*domain) > 0));
        turns.end(1, JobKind::Page, true, cost(1), false);
        assert!(domains.iter().all(|domain| (turns.of(*domain), turns.first(*domain)) == (0, 0)), "equal again");
    }

    #[test]
    fn newcomers_have_one_share_together() {
        let mut turns = DomainTurns::default();
        for _ in 0..DomainTurns::ENOUGH {
            turns.end(1, JobKind::Page, true, 10_000, true);
        }
        let (mut next, mut had) = (turns.of(1), [0; 2]);
        turns.share_with(1);
        turns.newcomers_come();
        for newcomer in 100..1_100 {
            if next <= turns.of_newcomers() {
                turns.begin(1, JobKind::Page);
                turns.end(1, JobKind::Page, true, 10_000, true);
                next = turns.of(1);
                had[0] += 1;
            } else {
                turns.begin(newcomer, JobKind::Robots);
                turns.end(newcomer, JobKind::Robots, true, 20_000, true);
                had[1] += 1;
            }
        }
        assert!((600..730).contains(&had[0]), "{had:?}: half of the time, although there are hundreds of newcomers");
        assert!(turns.newcomers_cost_much() && turns.is_costly(2, JobKind::Robots));
    }

    #[test]
    fn the_domains_that_are_remembered_have_a_bound() {
        let mut turns = DomainTurns::default();
        for domain in 0..3 * DomainTurns::MOST as u64 {
            turns.end(domain, JobKind::Page, true, 1_000, true);
        }
        assert!(turns.domains.len() <= DomainTurns::MOST);
    }
}
