//! How often a URL that is held or stopped is tried: at first every one, then fewer and fewer, but never less than one in a
//! hundred.
//!
//! A *ladder* is the record of the trials for one reason to hold or stop URLs, in one place. The place of a rule is a folder. The
//! place of a hold across domains is a pair of hosts: that of the links, and that of their counterparts.
//!
//! After `a` trials that agreed, [`Ladder::gap`] URLs are held or stopped before the next trial. Trials without a result yet
//! count as agreeing, so that a page with many links does not cause a trial for each. A trial that differs makes the ladder
//! *fall*: nothing more is held or stopped for this reason in this place, and what was held or stopped is released.
//!
//! A trial needs something to compare with. While the counterpart or representative is not fetched, the URL waits undecided. At
//! most `4 (1 + a)²` URLs wait for one rule, so that a slow host cannot hold back much of another host.

use dedup_stage::store::{Result, Session, codec};
use dedup_stage::url::SiteId;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::rules::RuleId;
use crate::spaces;

/// Names a ladder: a reason to hold or stop URLs of a host, and the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rung {
    /// The host whose URLs are held or stopped.
    pub site: SiteId,
    /// The reason and the place.
    pub cause: Cause,
}

/// See [`Rung`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Links are held for counterparts on this host, which is of another domain.
    Pair(SiteId),
    /// A rule stops URLs in the folder with this hash.
    Rule(RuleId, u64),
}

/// How strictly a reason is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// The URL and its counterpart or representative are of one host, so they have one author.
    SameHost,
    /// They are of one registrable domain.
    SameDomain,
    /// They are of two registrable domains: what one site publishes must not stop the pages of another.
    Foreign,
}

/// What the trials have shown so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ladder {
    /// Trials that agreed, and pairs that proved the rule.
    agreed: u32,
    /// Trials that have no result yet.
    out: u32,
    /// Held or stopped since the last trial.
    since: u32,
    /// Stopped and waiting for something to compare with.
    undecided: u32,
    /// Counterparts that were not there, or were never answered well.
    missing: u32,
    /// A trial differed, or most counterparts are missing.
    fell: bool,
}

/// What is to be done with one more URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Hold or stop it.
    Stay,
    /// Stop it, and decide later.
    Wait,
    /// Fetch it, and compare.
    Try,
    /// Do not hold or stop it.
    Let,
}

impl Strictness {
    /// That between two hosts.
    pub fn between(one: SiteId, other: SiteId) -> Self {
        if one == other {
            Strictness::SameHost
        } else if one.domain == other.domain {
            Strictness::SameDomain
        } else {
            Strictness::Foreign
        }
    }
}

impl Ladder {
    /// Never fewer trials than one in so many.
    const RAREST: u32 = 100;
    /// Across domains the first URLs are all tried, this many.
    const FIRST: u32 = 4;
    /// More counterparts than this must be missing, and more than have agreed, before the ladder falls by that: a site that
    /// copies a few pages of another, and only names the rest, is no mirror.
    const MISSING: u32 = 4;

    /// A ladder on which so many pairs have agreed already.
    pub fn proven(agreed: u32) -> Self {
        Self { agreed, ..Self::default() }
    }

    /// URLs that are held or stopped between two trials.
    fn gap(&self, strictness: Strictness) -> u32 {
        let steps = self.agreed.saturating_add(self.out);
        let square = steps.saturating_mul(steps);
        let gap = match strictness {
            Strictness::SameHost => square.saturating_mul(10),
            Strictness::SameDomain => square / 4,
            Strictness::Foreign if steps < Self::FIRST => 0,
            Strictness::Foreign => square / 4,
        };
        gap.min(Self::RAREST - 1)
    }

    /// What to do with one more URL, whose counterpart or representative is fetched. Nothing is changed: [`Ladder::take`] is
    /// to be told when it is done.
    pub fn next(&self, strictness: Strictness) -> Step {
        if self.fell {
            Step::Let
        } else if self.since >= self.gap(strictness) {
            Step::Try
        } else {
            Step::Stay
        }
    }

    /// What to do with one more URL, whose representative is still queued: it is stopped, unless too many wait.
    pub fn next_waiting(&self) -> Step {
        let room = self.agreed.saturating_add(1).saturating_pow(2).saturating_mul(4);
        if self.fell || self.undecided >= room { Step::Let } else { Step::Wait }
    }

    /// This is done with one more URL.
    pub fn take(&mut self, step: Step) {
        match step {
            Step::Stay => self.since += 1,
            Step::Wait => self.undecided += 1,
            Step::Try => {
                self.since = 0;
                self.out += 1;
            }
            Step::Let => {}
        }
    }

    /// A URL waits no more: its representative was fetched, or will not be.
    pub fn waited(&mut self) {
        self.undecided = self.undecided.saturating_sub(1);
    }

    /// A trial ended without a result.
    pub fn is_off(&mut self) {
        self.out = self.out.saturating_sub(1);
    }

    /// A trial ended. True if the ladder falls by that.
    pub fn tried(&mut self, agrees: bool) -> bool {
        self.is_off();
        if agrees {
            self.agreed = self.agreed.saturating_add(1);
        }
        let falls = !agrees && !self.fell;
        self.fell |= falls;
        falls
    }

    /// A counterpart turned out to be missing. True if the ladder falls by that.
    pub fn is_missing(&mut self) -> bool {
        self.missing = self.missing.saturating_add(1);
        let falls = self.missing > Self::MISSING.max(self.agreed) && !self.fell;
        self.fell |= falls;
        falls
    }

    /// Whether nothing is held or stopped for this reason any more.
    pub fn fell(&self) -> bool {
        self.fell
    }

    /// What is on record.
    pub fn get(rung: Rung, session: &Session) -> Result<Self> {
        match session.get(spaces::RULES, &rung.key())? {
            Some(bytes) => codec::decode(&bytes, "how trials went"),
            None => Ok(Self::default()),
        }
    }

    /// Puts it on record.
    pub fn put(self, rung: Rung, session: &mut Session) {
        session.put(spaces::RULES, rung.key(), codec::encode(&self));
    }
}

/// Kind of the records of ladders in [`spaces::RULES`].
pub const TAG: u8 = b't';

impl Rung {
    fn key(self) -> Vec<u8> {
        let place = match self.cause {
            Cause::Pair(other) => xxh3_64(&[&b"pair"[..], &other.to_bytes()].concat()),
            Cause::Rule(rule, folder) => xxh3_64(&[&b"rule"[..], &rule.to_be_bytes(), &folder.to_be_bytes()].concat()),
        };
        [&self.site.to_bytes()[..], &[TAG], &place.to_be_bytes()].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trials among so many URLs that all agree.
    fn trials(of: u32, strictness: Strictness) -> u32 {
        let mut ladder = Ladder::default();
        let mut tried = 0;
        for _ in 0..of {
            let step = ladder.next(strictness);
            ladder.take(step);
            if step == Step::Try {
                assert!(!ladder.tried(true));
                tried += 1;
            }
        }
        tried
    }

    #[test]
    fn many_are_tried_at_first_and_never_fewer_than_one_in_a_hundred() {
        use Strictness::{Foreign, SameDomain, SameHost};
        assert_eq!([4, 30, 600].map(|of| trials(of, Foreign)), [4, 7, 19]);
        assert_eq!([4, 30, 600].map(|of| trials(of, SameDomain)), [3, 7, 19]);
        assert_eq!([4, 30, 600].map(|of| trials(of, SameHost)), [1, 2, 8]);
        for strictness in [Foreign, SameDomain, SameHost] {
            assert!(trials(100_000, strictness) >= 1_000);
        }
    }

    #[test]
    fn a_trial_that_differs_ends_it() {
        let mut ladder = Ladder::proven(33);
        assert!(!ladder.tried(true));
        assert!(ladder.tried(false) && !ladder.tried(false), "it falls once");
        assert_eq!((ladder.next(Strictness::SameHost), ladder.next_waiting()), (Step::Let, Step::Let));
    }

    #[test]
    fn a_slow_host_cannot_hold_back_much() {
        let mut ladder = Ladder::default();
        let waiting = |ladder: &mut Ladder| {
            let wait = |ladder: &mut Ladder| {
                let step = ladder.next_waiting();
                ladder.take(step);
                step == Step::Wait
            };
            (0..1_000).filter(|_| wait(ladder)).count()
        };
        assert_eq!(waiting(&mut ladder), 4);
        ladder.waited();
        ladder.tried(true);
        assert_eq!(waiting(&mut ladder), 16 - 3);
    }

    #[test]
    fn a_page_of_many_links_does_not_send_out_a_trial_for_each() {
        let mut ladder = Ladder::default();
        let mut tried = 0;
        for _ in 0..60 {
            let step = ladder.next(Strictness::Foreign);
            ladder.take(step);
            tried += u32::from(step == Step::Try);
        }
        assert_eq!(tried, 9);
        (0..tried).for_each(|_| ladder.is_off());
        assert_eq!(ladder.next(Strictness::Foreign), Step::Try, "without a result nothing is known");
    }
}
