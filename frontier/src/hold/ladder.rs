//! How often a URL that is held or stopped is tried: at first often, then fewer and fewer, but never less than one in a
//! hundred.
//!
//! A *ladder* is the record of the trials for one reason to hold or stop URLs, in one place. For a rule, the place is
//! one folder of one host. For a hold across domains, the place is a pair of hosts: the host of the links, and the host
//! of their counterparts.
//!
//! After `a` trials that agreed, [`Ladder::gap`] URLs are held or stopped before the next trial. A trial without a
//! result yet counts as one that agreed. Otherwise a page with many links would cause a trial for each of them. A trial
//! that differs *breaks* the ladder: nothing more is held or stopped for this reason in this place, and the URLs
//! that were held or stopped for it are released.
//!
//! A stopped URL cannot be compared before its representative is fetched. Until then it waits. At most `4 (1 + a)²`
//! such URLs wait on one ladder, so that a slow host cannot hold back many URLs of another host.

use dedup_stage::store::{Result, Session, codec};
use dedup_stage::url::SiteId;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::numbers::RuleId;
use crate::spaces;
use crate::url::WaitPlace;

/// The key of a [`Ladder`]: a reason to hold or stop URLs of a host, and the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LadderKey {
    /// The host whose URLs are held or stopped.
    pub site: SiteId,
    /// The reason and the place.
    pub place: LadderPlace,
}

/// The reason and the place in a [`LadderKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LadderPlace {
    /// Links are held for counterparts on this host, which is of another domain.
    Pair(SiteId),
    /// The same, but only links to the folder with this hash. Such a ladder is on record only if it is broken, because
    /// the two hosts show different things in the folder.
    PairIn(SiteId, u64),
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
    OtherDomain,
}

/// The results of the trials so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ladder {
    /// Trials that agreed, and pairs of this place that proved the rule.
    agreed: u32,
    /// Trials without a result yet.
    out: u32,
    /// URLs held or stopped since the last trial.
    since: u32,
    /// Pages that were copies of their counterparts, and that showed something else at a later visit.
    parted: u32,
    /// Counterparts that were never met, failed, or were still queued when nothing else was left to do or their host had
    /// answered nothing for a while (`frontier/overtake.rs`).
    missing: u32,
    /// A trial differed, or too many counterparts are missing.
    is_broken: bool,
    /// Those of `agreed` that are pairs which proved the rule, and not trials.
    pairs: u32,
}

/// The decision about one more URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Hold or stop it.
    Stay,
    /// Fetch it, and compare.
    Try,
    /// Do not hold or stop it.
    Let,
}

impl Strictness {
    /// The strictness for URLs of one host and their counterparts or representatives on the other.
    pub fn between(one: SiteId, other: SiteId) -> Self {
        if one == other {
            Strictness::SameHost
        } else if one.domain == other.domain {
            Strictness::SameDomain
        } else {
            Strictness::OtherDomain
        }
    }
}

impl Ladder {
    /// At least one URL in this many is tried.
    const RAREST: u32 = 100;
    /// Across domains, this many URLs are tried before the first one is held.
    const FIRST: u32 = 4;
    /// Between two hosts, the pairs that proved a rule count as at most this many trials, however many they are. They
    /// were seen before anything was stopped, and perhaps only in a part of the site that both hosts have.
    const PAIRS: u32 = 6;
    /// The ladder breaks if more than this many counterparts are missing, and if these are more than the trials that
    /// agreed. A site that copies a few pages of another site, and only links to the rest, is no mirror.
    const MISSING: u32 = 4;
    /// The ladder of a pair of hosts breaks if this many of its copies have parted.
    const PARTED: u32 = 3;

    /// The ladder of a rule that `agreed` pairs of this place have proved.
    pub fn proven(agreed: u32) -> Self {
        Self { agreed, pairs: agreed, ..Self::default() }
    }

    /// A broken ladder.
    pub fn broken() -> Self {
        Self { is_broken: true, ..Self::default() }
    }

    /// URLs that are held or stopped between two trials.
    fn gap(&self, strictness: Strictness) -> u32 {
        let pairs = if strictness == Strictness::SameHost { self.pairs } else { self.pairs.min(Self::PAIRS) };
        let steps = (self.agreed - self.pairs.min(self.agreed)).saturating_add(pairs).saturating_add(self.out);
        let square = steps.saturating_mul(steps);
        let gap = match strictness {
            Strictness::SameHost => square.saturating_mul(10),
            Strictness::SameDomain => square / 4,
            Strictness::OtherDomain if steps < Self::FIRST => 0,
            Strictness::OtherDomain => square / 4,
        };
        gap.min(Self::RAREST - 1)
    }

    /// Decides about one more URL whose counterpart or representative was fetched. Nothing is changed. The caller tells
    /// [`Ladder::take`] when it has followed the decision.
    pub fn next(&self, strictness: Strictness) -> Step {
        if self.is_broken {
            Step::Let
        } else if self.since >= self.gap(strictness) {
            Step::Try
        } else {
            Step::Stay
        }
    }

    /// Whether one more URL may be stopped although its representative is still queued. `waiting` URLs wait already.
    pub fn may_wait(&self, waiting: u32) -> bool {
        let room = self.agreed.saturating_add(1).saturating_pow(2).saturating_mul(4);
        !self.is_broken && waiting < room
    }

    /// Counts one more URL that was decided about in this way.
    pub fn take(&mut self, step: Step) {
        match step {
            Step::Stay => self.since += 1,
            Step::Try => {
                self.since = 0;
                self.out += 1;
            }
            Step::Let => {}
        }
    }

    /// A trial ended without a result.
    pub fn end_without_result(&mut self) {
        self.out = self.out.saturating_sub(1);
    }

    /// A trial ended with a result. True if the ladder breaks now.
    pub fn tried(&mut self, agrees: bool) -> bool {
        self.end_without_result();
        if agrees {
            self.agreed = self.agreed.saturating_add(1);
        }
        let breaks = !agrees && !self.is_broken;
        self.is_broken |= breaks;
        breaks
    }

    /// A counterpart turned out to be missing. True if the ladder breaks now.
    pub fn count_missing(&mut self) -> bool {
        self.missing = self.missing.saturating_add(1);
        let breaks = self.missing > Self::MISSING.max(self.agreed) && !self.is_broken;
        self.is_broken |= breaks;
        breaks
    }

    /// A copy showed something else at a later visit. True if the ladder breaks now.
    pub fn count_parted(&mut self) -> bool {
        self.parted = self.parted.saturating_add(1);
        let breaks = self.parted >= Self::PARTED && !self.is_broken;
        self.is_broken |= breaks;
        breaks
    }

    /// Whether the ladder is broken: nothing more is held or stopped for this reason in this place.
    pub fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// The ladder that is on record, or an empty one.
    pub fn get(key: LadderKey, session: &Session) -> Result<Self> {
        match session.get(spaces::RULES, &key.bytes())? {
            Some(bytes) => codec::decode(&bytes, "how trials went").or_else(|error| {
                // As earlier versions wrote it.
                let earlier = codec::decode(&bytes, "how trials went").map_err(|_| error)?;
                let (agreed, out, since, parted, missing, is_broken) = earlier;
                Ok(Self { agreed, out, since, parted, missing, is_broken, pairs: 0 })
            }),
            None => Ok(Self::default()),
        }
    }

    /// Puts the ladder on record.
    pub fn put(self, key: LadderKey, session: &mut Session) {
        session.put(spaces::RULES, key.bytes(), codec::encode(&self));
    }
}

/// Kind of the records of ladders in [`spaces::RULES`].
pub const TAG: u8 = b't';

impl LadderKey {
    /// The place at which URLs wait, if this is the ladder of a rule.
    pub fn wait_place(&self) -> Option<WaitPlace> {
        if let LadderPlace::Rule(rule, folder) = self.place { Some(WaitPlace { rule, folder }) } else { None }
    }

    fn bytes(self) -> Vec<u8> {
        let place = match self.place {
            LadderPlace::Pair(other) => xxh3_64(&[&b"pair"[..], &other.to_bytes()].concat()),
            LadderPlace::PairIn(other, folder) => {
                xxh3_64(&[&b"pair in"[..], &other.to_bytes(), &folder.to_be_bytes()].concat())
            }
            LadderPlace::Rule(rule, folder) => {
                xxh3_64(&[&b"rule"[..], &rule.to_be_bytes(), &folder.to_be_bytes()].concat())
            }
        };
        [&self.site.to_bytes()[..], &[TAG], &place.to_be_bytes()].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of trials among `of` URLs that all agree.
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
    fn several_copies_that_part_break_it() {
        let mut ladder = Ladder { agreed: 50, ..Ladder::default() };
        assert!((1..Ladder::PARTED).all(|_| !ladder.count_parted()) && !ladder.is_broken());
        assert!(ladder.count_parted() && ladder.is_broken() && !ladder.count_parted(), "it breaks once");
    }

    #[test]
    fn many_are_tried_at_first_and_never_fewer_than_one_in_a_hundred() {
        use Strictness::{OtherDomain, SameDomain, SameHost};
        assert_eq!([4, 30, 600].map(|of| trials(of, OtherDomain)), [4, 7, 19]);
        assert_eq!([4, 30, 600].map(|of| trials(of, SameDomain)), [3, 7, 19]);
        assert_eq!([4, 30, 600].map(|of| trials(of, SameHost)), [1, 2, 8]);
        for strictness in [OtherDomain, SameDomain, SameHost] {
            assert!(trials(100_000, strictness) >= 1_000);
        }
    }

    #[test]
    fn between_hosts_what_a_proven_rule_stops_is_tried_soon() {
        let tried = |strictness| {
            let mut ladder = Ladder::proven(33);
            let step = |ladder: &mut Ladder| {
                let step = ladder.next(strictness);
                ladder.take(step);
                if step == Step::Try {
                    ladder.tried(true);
                }
                step == Step::Try
            };
            (0..70).filter(|_| step(&mut ladder)).count()
        };
        assert_eq!([Strictness::OtherDomain, Strictness::SameDomain, Strictness::SameHost].map(tried), [4, 4, 0]);
    }

    #[test]
    fn a_ladder_of_an_earlier_version_is_read() {
        let mut session = Session::new(Box::new(dedup_stage::store::Memory::default()));
        let key = LadderKey { site: SiteId::default(), place: LadderPlace::Rule(7, 8) };
        session.put(spaces::RULES, key.bytes(), codec::encode(&(33u32, 1u32, 5u32, 2u32, 0u32, true)));
        let ladder = Ladder::get(key, &session).unwrap();
        assert_eq!((ladder.agreed, ladder.pairs, ladder.is_broken), (33, 0, true));
    }

    #[test]
    fn a_trial_that_differs_ends_it() {
        let mut ladder = Ladder::proven(33);
        assert!(!ladder.tried(true));
        assert!(ladder.tried(false) && !ladder.tried(false), "it breaks once");
        assert_eq!((ladder.next(Strictness::SameHost), ladder.may_wait(0)), (Step::Let, false));
    }

    #[test]
    fn a_slow_host_cannot_hold_back_much() {
        let mut ladder = Ladder::default();
        let most = |ladder: &Ladder| (0..1_000).take_while(|waiting| ladder.may_wait(*waiting)).count();
        assert_eq!(most(&ladder), 4);
        ladder.tried(true);
        assert_eq!(most(&ladder), 16);
    }

    #[test]
    fn a_page_of_many_links_does_not_send_out_a_trial_for_each() {
        let mut ladder = Ladder::default();
        let mut tried = 0;
        for _ in 0..60 {
            let step = ladder.next(Strictness::OtherDomain);
            ladder.take(step);
            tried += u32::from(step == Step::Try);
        }
        assert_eq!(tried, 9);
        (0..tried).for_each(|_| ladder.end_without_result());
        assert_eq!(ladder.next(Strictness::OtherDomain), Step::Try, "without a result nothing is known");
    }
}
