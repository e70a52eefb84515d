//! Hosts share the slots. A slot is what one job holds while it is open; a crawl has `concurrency` of them.
//!
//! Hosts that answer slowly hold their slots long. Without a rule, a few of them would hold all slots. The rules
//! follow max-min fairness: apart from the limit for sitemaps, a host is limited only while other hosts have work.
//!
//! - Hosts that have answered with a page and were not slow lately (*proven* hosts) find slots that only they may take:
//!   one slot for each proven host that has work, up to a quarter of the slots.
//! - Hosts that lately lost a slot because they were slow hold at most a quarter of the slots together while proven
//!   hosts have work.
//! - The hosts of a registrable domain, and the hosts at an address, hold at most a quarter while other hosts are
//!   ready.
//! - Few sitemaps are open at once, unless they are read in time. One sitemap can name 50,000 hosts. While proven hosts
//!   have work, sitemaps have at most a quarter of the places, because they come before pages. (A sitemap that a
//!   server sends slowly gives its place to another one: `frontier/sitemap_places.rs`.)
//! - A domain that has many hosts in memory takes turns with all other hosts whose URLs are as good. Otherwise it would
//!   have nearly all turns of a crawl that lacks processor time and not slots.
//!
//! A ready host that would exceed a share waits in the *line* of that share until the share has room.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Load;
use crate::failure::Failure;
use crate::numbers::AddressId;

/// A group of hosts that has a share of the slots. A host can belong to several groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Line {
    /// Hosts that were slow lately.
    Slow,
    /// Hosts that have not answered yet, and hosts that were slow lately.
    Unproven,
    /// The hosts of a registrable domain, named by its hash.
    Domain(u64),
    /// The hosts at an address.
    Address(AddressId),
    /// The hosts whose next job is a sitemap.
    Sitemaps,
}

impl Line {
    /// Whether hosts wait in this line also while this machine is behind with reading answers. Then domains take turns
    /// by what they cost, and slots are not scarce, because few costly jobs are open.
    pub fn counts_behind(self) -> bool {
        matches!(self, Line::Slow | Line::Sitemaps)
    }
}

/// How a host has used its slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    answered: bool,
    /// The number of good answers that it still owes for the slots that it held for nothing.
    slow: u8,
    /// The number of slots that it ever held for nothing.
    lost: u32,
    /// The reason for the last of these.
    why: Option<Failure>,
}

impl Progress {
    /// The good answers that a host owes for each slot that it held for nothing. While it owes any, it is not proven.
    /// Otherwise a host that holds a slot for nothing once in six answers would be proven between two such answers, and
    /// a hundred such hosts would hold all slots.
    const DEBT: u8 = 64;
    /// After this many good answers, a host that lost one slot does not count as slow any more.
    const FORGIVEN: u8 = 4;

    /// The host answered with a page, in time.
    pub fn answered(&mut self) {
        self.answered = true;
        self.slow = self.slow.saturating_sub(1);
    }

    /// The host held a slot for nothing, for this reason.
    pub fn was_slow(&mut self, why: Failure) {
        self.slow = self.slow.saturating_add(Self::DEBT);
        self.lost = self.lost.saturating_add(1);
        self.why = Some(why);
    }

    /// The number of slots that the host held for nothing, and the last reason; `None` if there were none.
    pub fn lost(self) -> Option<(u32, Failure)> {
        self.why.map(|why| (self.lost, why))
    }

    /// Whether the host has answered, and was not slow lately.
    pub fn is_proven(self) -> bool {
        self.answered && self.slow == 0
    }

    /// The lines in which a host may have to wait because of its progress.
    fn lines(self) -> impl Iterator<Item = Line> {
        let slow = (self.slow > Self::DEBT - Self::FORGIVEN).then_some(Line::Slow);
        slow.into_iter().chain((!self.is_proven()).then_some(Line::Unproven))
    }
}

/// The number of slots that each group of hosts holds.
#[derive(Debug, Default)]
pub struct Shares {
    slots: usize,
    held: BTreeMap<Line, usize>,
    /// The number of proven hosts that have work.
    proven: usize,
    /// The domain that had the last slot.
    last: Option<Line>,
    /// The load of this machine.
    pub load: Load,
}

impl Shares {
    /// The shares of this many slots, all of which are free.
    pub fn new(slots: usize) -> Self {
        Self { slots, load: Load::new(slots), ..Self::default() }
    }

    /// The shares from which a job of a host takes its slot.
    pub fn of(progress: Progress, domain: u64, addresses: &[AddressId]) -> Box<[Line]> {
        let addresses = addresses.iter().map(|id| Line::Address(*id));
        progress.lines().chain([Line::Domain(domain)]).chain(addresses).collect()
    }

    /// Whether a share has no slot left.
    pub fn is_full(&self, line: Line) -> bool {
        let quarter = self.slots / 4;
        let most = match line {
            Line::Unproven => self.slots - self.proven.min(quarter),
            Line::Slow | Line::Domain(_) | Line::Address(_) => quarter.max(1),
            // While proven hosts have work, pages may wait for slots.
            Line::Sitemaps if self.proven > 0 => self.load.sitemaps().min(quarter.max(1)),
            Line::Sitemaps => self.load.sitemaps(),
        };
        self.held.get(&line).is_some_and(|held| *held >= most)
    }

    /// Whether the limit of a share holds even if no other host is ready, so that proven hosts whose time comes find a
    /// slot at once.
    pub fn is_strict(&self, line: Line) -> bool {
        line == Line::Sitemaps || matches!(line, Line::Slow | Line::Unproven) && self.proven > 0
    }

    /// Whether proven hosts have work, and as many costly jobs are open as the load allows. `costly` is the number of
    /// these jobs.
    pub fn is_behind(&self, costly: usize) -> bool {
        self.proven > 0 && self.load.is_behind() && costly >= self.load.window()
    }

    /// Whether so many costly jobs are open that hosts whose domains are not known yet must wait, too.
    pub fn is_far_behind(&self, costly: usize) -> bool {
        self.is_behind(costly) && costly >= self.load.window_of_unknown()
    }

    /// Whether this is the share of the domain that had the last slot.
    pub fn had_last_slot(&self, line: Line) -> bool {
        self.last == Some(line)
    }

    /// Whether at most a quarter of the slots is free while this many jobs are open.
    pub fn are_scarce(&self, open: usize) -> bool {
        4 * self.slots.saturating_sub(open) <= self.slots
    }

    /// A job takes a slot.
    pub fn take(&mut self, lines: &[Line]) {
        self.last = lines.iter().copied().find(|line| matches!(line, Line::Domain(_)));
        for line in lines {
            *self.held.entry(*line).or_default() += 1;
        }
    }

    /// A job gives its slot back.
    pub fn give_back(&mut self, lines: &[Line]) {
        for line in lines {
            if let Some(held) = self.held.get_mut(line) {
                *held -= 1;
                if *held == 0 {
                    self.held.remove(line);
                }
            }
        }
    }

    /// The number of proven hosts in memory that have work.
    pub fn proven(&self) -> usize {
        self.proven
    }

    /// Counts a host as a proven host with work, or stops counting it. `counted` is whether it was counted so far, and
    /// is updated.
    pub fn count(&mut self, counted: &mut bool, proven: bool) {
        self.proven += usize::from(proven);
        self.proven -= usize::from(*counted);
        *counted = proven;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proven_hosts_find_slots_that_others_may_not_take() {
        let mut shares = Shares::new(64);
        let (mut counted, mut slow) = ([false; 12], Progress::default());
        slow.was_slow(Failure::Slow);
        let lines = Shares::of(slow, 1, &[]);
        assert_eq!(*lines, [Line::Slow, Line::Unproven, Line::Domain(1)]);
        for _ in 0..60 {
            shares.take(&[Line::Unproven]);
        }
        assert!(!shares.is_full(Line::Unproven) && !shares.is_strict(Line::Unproven), "nobody is proven");
        counted.iter_mut().for_each(|counted| shares.count(counted, true));
        assert!(shares.is_full(Line::Unproven) && shares.is_strict(Line::Unproven));
        (0..9).for_each(|_| shares.give_back(&[Line::Unproven]));
        assert!(!shares.is_full(Line::Unproven), "12 slots are kept for 12 proven hosts");
        counted.iter_mut().for_each(|counted| shares.count(counted, false));
        assert!(!shares.is_strict(Line::Unproven));
    }

    #[test]
    fn a_quarter_is_the_share_of_a_domain_and_never_less_than_a_slot() {
        for (slots, share) in [(1, 1), (2, 1), (3, 1), (64, 16)] {
            let mut shares = Shares::new(slots);
            for held in 0..share {
                assert!(!shares.is_full(Line::Domain(7)), "{held} of {slots}");
                shares.take(&[Line::Domain(7), Line::Address(3)]);
            }
            assert!(shares.is_full(Line::Domain(7)) && shares.is_full(Line::Address(3)));
            assert!(!shares.is_full(Line::Domain(8)) && !shares.is_strict(Line::Domain(7)));
            shares.give_back(&[Line::Domain(7)]);
            assert!(!shares.is_full(Line::Domain(7)));
        }
    }

    #[test]
    fn a_host_that_was_slow_is_proven_again_after_good_answers() {
        let mut progress = Progress::default();
        let is_slow = |progress: Progress| progress.lines().any(|line| line == Line::Slow);
        assert!(!progress.is_proven(), "it never answered");
        progress.answered();
        assert!(progress.is_proven());
        assert_eq!(progress.lost(), None);
        progress.was_slow(Failure::Timeout);
        for _ in 0..Progress::FORGIVEN {
            assert!(is_slow(progress) && !progress.is_proven());
            progress.answered();
        }
        assert!(
            !is_slow(progress) && !progress.is_proven(),
            "it may have more slots, and none that are kept for others"
        );
        (Progress::FORGIVEN..Progress::DEBT).for_each(|_| progress.answered());
        assert!(progress.is_proven());
        assert_eq!(progress.lost(), Some((1, Failure::Timeout)), "what it cost is not forgotten");
    }

    #[test]
    fn a_host_that_holds_a_slot_again_and_again_stays_slow() {
        let mut progress = Progress::default();
        for round in 0..20 {
            (0..5).for_each(|_| progress.answered());
            assert_eq!(progress.is_proven(), round == 0, "round {round}");
            assert_eq!(progress.lines().any(|line| line == Line::Slow), round > 1, "round {round}");
            progress.was_slow(Failure::Slow);
        }
        (0..u8::MAX).for_each(|_| progress.answered());
        assert!(progress.is_proven(), "its debt has a bound");
    }
}
