//! Hosts share the slots. A slot is what one job holds while it is open; a crawl has `concurrency` of them.
//!
//! Hosts that answer slowly hold their slots long. Without a rule, a few of them would hold all slots. The rules
//! follow max-min fairness: apart from the limit for sitemaps, a host is limited only while other hosts have work.
//!
//! - Hosts that have answered with a page and were not slow lately (*proven* hosts) find slots that only they may take:
//!   one slot for each proven host that has work, up to a quarter of the slots.
//! - While more hosts have work than there are slots, a host has its equal share of the slots for a part of the time.
//!   A proven host that holds a slot for less than half of this time is *light*. While light hosts have work, all others
//!   leave some slots free. Otherwise many hosts that answer slowly, and never so slowly that they lose a slot, would
//!   hold all slots, and hosts that answer at once would wait most of the time.
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
    /// Hosts that are not light.
    Heavy,
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

/// As what a host is counted while it has work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// As a proven host.
    pub proven: bool,
    /// As a light host.
    pub light: bool,
}

/// The number of slots that each group of hosts holds.
#[derive(Debug, Default)]
pub struct Shares {
    slots: usize,
    held: BTreeMap<Line, usize>,
    /// The number of slots that are held.
    open: usize,
    /// The number of hosts that have work, or have an open job.
    hosts: usize,
    /// The number of proven hosts that have work, and the number of light ones among them.
    proven: usize,
    light: usize,
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

    /// One slot of this many is kept for light hosts.
    const FOR_LIGHT: usize = 16;

    /// The shares from which a job of a host takes its slot. `used` is as for [`Shares::is_light`].
    pub fn of(&self, progress: Progress, used: Option<f32>, domain: u64, addresses: &[AddressId]) -> Box<[Line]> {
        let addresses = addresses.iter().map(|id| Line::Address(*id));
        let heavy = (progress.is_proven() && !self.is_light(progress, used)).then_some(Line::Heavy);
        progress.lines().chain(heavy).chain([Line::Domain(domain)]).chain(addresses).collect()
    }

    /// Sets the number of hosts that have work, or have an open job.
    pub fn set_hosts(&mut self, hosts: usize) {
        self.hosts = hosts;
    }

    /// Whether a host is proven, and holds a slot for less than half of its equal share of the time. `used` is the share
    /// of the time for which it holds a slot, if this is known.
    pub fn is_light(&self, progress: Progress, used: Option<f32>) -> bool {
        let equal = self.slots as f32 / self.hosts.max(1) as f32;
        progress.is_proven() && used.is_some_and(|used| 2.0 * used < equal)
    }

    /// Whether a share has no slot left.
    pub fn is_full(&self, line: Line) -> bool {
        let quarter = self.slots / 4;
        let most = match line {
            Line::Unproven => self.slots - self.proven.min(quarter),
            Line::Heavy => return self.hosts > self.slots && self.open + self.kept_for_light() >= self.slots,
            Line::Slow | Line::Domain(_) | Line::Address(_) => quarter.max(1),
            // While proven hosts have work, pages may wait for slots.
            Line::Sitemaps if self.proven > 0 => self.load.sitemaps().min(quarter.max(1)),
            Line::Sitemaps => self.load.sitemaps(),
        };
        self.held.get(&line).is_some_and(|held| *held >= most)
    }

    /// The number of slots that are kept for light hosts. With few slots, one may be kept if at least three are left.
    fn kept_for_light(&self) -> usize {
        let most = (self.slots / Self::FOR_LIGHT).max(usize::from(self.slots >= 4));
        self.light.min(most)
    }

    /// Whether the limit of a share holds even if no other host is ready, so that proven hosts whose time comes find a
    /// slot at once.
    pub fn is_strict(&self, line: Line) -> bool {
        match line {
            Line::Sitemaps => true,
            Line::Slow | Line::Unproven => self.proven > 0,
            Line::Heavy => self.light > 0,
            Line::Domain(_) | Line::Address(_) => false,
        }
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
            self.open += usize::from(matches!(line, Line::Domain(_)));
            *self.held.entry(*line).or_default() += 1;
        }
    }

    /// A job gives its slot back.
    pub fn give_back(&mut self, lines: &[Line]) {
        for line in lines {
            if let Some(held) = self.held.get_mut(line) {
                *held -= 1;
                self.open -= usize::from(matches!(line, Line::Domain(_)));
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

    /// Counts a host with work, or stops counting it. `counted` is as what it was counted so far, and is updated.
    pub fn count(&mut self, counted: &mut Counted, now: Counted) {
        self.proven = self.proven + usize::from(now.proven) - usize::from(counted.proven);
        self.light = self.light + usize::from(now.light) - usize::from(counted.light);
        *counted = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proven_hosts_find_slots_that_others_may_not_take() {
        let mut shares = Shares::new(64);
        let (mut counted, mut slow) = ([Counted::default(); 12], Progress::default());
        let proven = Counted { proven: true, light: false };
        slow.was_slow(Failure::Slow);
        let lines = shares.of(slow, None, 1, &[]);
        assert_eq!(*lines, [Line::Slow, Line::Unproven, Line::Domain(1)]);
        for _ in 0..60 {
            shares.take(&[Line::Unproven]);
        }
        assert!(!shares.is_full(Line::Unproven) && !shares.is_strict(Line::Unproven), "nobody is proven");
        counted.iter_mut().for_each(|counted| shares.count(counted, proven));
        assert!(shares.is_full(Line::Unproven) && shares.is_strict(Line::Unproven));
        (0..9).for_each(|_| shares.give_back(&[Line::Unproven]));
        assert!(!shares.is_full(Line::Unproven), "12 slots are kept for 12 proven hosts");
        counted.iter_mut().for_each(|counted| shares.count(counted, Counted::default()));
        assert!(!shares.is_strict(Line::Unproven));
    }

    #[test]
    fn light_hosts_find_slots_that_heavy_ones_leave_free() {
        let mut shares = Shares::new(64);
        let mut progress = Progress::default();
        progress.answered();
        for (hosts, used, light) in [(64, 0.49, true), (64, 0.51, false), (640, 0.049, true), (640, 0.051, false)] {
            shares.set_hosts(hosts);
            assert_eq!(shares.is_light(progress, Some(used)), light, "{used} of the time, {hosts} hosts");
            assert_eq!(shares.of(progress, Some(used), 1, &[]).contains(&Line::Heavy), !light);
        }
        assert!(!shares.is_light(progress, None), "it is not known");
        (0..60).for_each(|domain| shares.take(&[Line::Heavy, Line::Domain(domain)]));
        assert!(!shares.is_full(Line::Heavy) && !shares.is_strict(Line::Heavy), "no light host has work");
        let mut counted = [Counted::default(); 5];
        counted.iter_mut().for_each(|counted| shares.count(counted, Counted { proven: true, light: true }));
        assert!(shares.is_full(Line::Heavy) && shares.is_strict(Line::Heavy));
        shares.give_back(&[Line::Heavy, Line::Domain(0)]);
        assert!(!shares.is_full(Line::Heavy), "four slots are kept");
        shares.take(&[Line::Domain(100)]);
        assert!(shares.is_full(Line::Heavy), "light hosts count, too");
        shares.set_hosts(64);
        assert!(!shares.is_full(Line::Heavy), "each host has a slot");
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
