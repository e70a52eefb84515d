//! Sets of URLs that have *fallen*: a sample of their URLs brought new pages, so the reason to hold or stop them is
//! wrong. The URLs of a fallen set that are met later are followed, not held or stopped, as long as enough of their
//! pages are new or lead to new ones.

use std::collections::HashMap;
use std::ops::ControlFlow;

use dedup_stage::store::{Result, Session, codec};
use serde::{Deserialize, Serialize};

use crate::spaces;
use crate::trial::UrlSet;

/// The results of the URLs of a set that were followed since it fell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Results {
    /// Pages that are new, or link to new ones.
    good: u32,
    /// Pages that are not new, and have not led to new ones yet.
    bad: u32,
    /// Whether the set is a family, or siblings. These may have URLs of many hosts.
    wide: bool,
    /// The number of bad pages since the last good one.
    row: u32,
}

impl Results {
    fn are_worth_it(self) -> bool {
        // However many good pages there were, a long row of bad ones ends it.
        self.row < Fallen::MOST_IN_A_ROW && self.bad < Fallen::ONE_GOOD_IN.saturating_mul(self.good.saturating_add(1))
    }

    fn add_good(&mut self) {
        (self.good, self.row) = (self.good.saturating_add(1), 0);
    }
}

/// The sets that have fallen in this crawl.
#[derive(Debug, Default)]
pub struct Fallen {
    sets: HashMap<UrlSet, Results>,
}

/// First byte of the keys in [`spaces::FRONTIER_OWN`].
const TAG: u8 = b'l';

impl Fallen {
    /// The URLs of a set are followed while at least one page in about this many is good.
    pub const ONE_GOOD_IN: u32 = 20;
    /// The URLs of a set are not followed any more after at most this many bad pages in a row.
    const MOST_IN_A_ROW: u32 = 400;

    /// The sets on record.
    pub fn open(session: &Session) -> Result<Self> {
        let (mut sets, mut failure) = (HashMap::new(), None);
        session.scan(spaces::FRONTIER_OWN, &[TAG], &[TAG + 1], &mut |key, value| {
            let set = key.get(1..).and_then(|set| set.try_into().ok()).map_or(0, u64::from_be_bytes);
            match decode(value) {
                Ok(results) => _ = sets.insert(UrlSet(set), results),
                Err(error) => failure = Some(error),
            }
            if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        failure.map_or(Ok(Self { sets }), Err)
    }

    /// Whether no set has fallen.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Whether a set has fallen.
    pub fn has(&self, set: UrlSet) -> bool {
        self.sets.contains_key(&set)
    }

    /// Whether the URLs of a set are followed.
    pub fn are_followed(&self, set: UrlSet) -> bool {
        self.sets.get(&set).is_some_and(|results| results.are_worth_it())
    }

    /// A set falls. `good` is the number of good pages with which its results begin. `wide`: the set is a family, or
    /// siblings.
    pub fn add(&mut self, set: UrlSet, wide: bool, good: u32, session: &mut Session) {
        self.sets.entry(set).or_insert(Results { good, bad: 0, wide, row: 0 });
        self.save(set, session);
    }

    /// Whether a set that has fallen may have URLs of many hosts.
    pub fn is_wide(&self, set: UrlSet) -> bool {
        self.sets.get(&set).is_some_and(|results| results.wide)
    }

    /// The page of a URL of a set was fetched. True if the URLs of the set that are held are to be released once more,
    /// because the set is followed again. (A wide set is released again only a few times; its held URLs then wait for
    /// the rescue.)
    pub fn brought(&mut self, set: UrlSet, new: bool, session: &mut Session) -> bool {
        self.change(set, session, |results| match new {
            true => results.add_good(),
            false => (results.bad, results.row) = (results.bad + 1, results.row + 1),
        })
    }

    /// The bad pages of all sets.
    pub fn bad(&self) -> u64 {
        self.sets.values().map(|results| u64::from(results.bad)).sum()
    }

    /// A page that was not new led to one that is: by a link (`is_direct`), or through other pages. The result is that
    /// of [`Fallen::brought`].
    pub fn led(&mut self, set: UrlSet, is_direct: bool, session: &mut Session) -> bool {
        self.change(set, session, |results| {
            if is_direct {
                results.add_good();
            }
            results.bad = results.bad.saturating_sub(1);
        })
    }

    fn change(&mut self, set: UrlSet, session: &mut Session, change: impl FnOnce(&mut Results)) -> bool {
        let Some(results) = self.sets.get_mut(&set) else { return false };
        let before = results.are_worth_it();
        change(results);
        // A release of a wide set reads all records. A host must not be able to cause that again and again.
        let may_again = !results.wide || results.good.is_power_of_two();
        let again = !before && results.are_worth_it() && may_again;
        self.save(set, session);
        again
    }

    fn save(&self, set: UrlSet, session: &mut Session) {
        if let Some(results) = self.sets.get(&set) {
            let key = [&[TAG][..], &set.0.to_be_bytes()].concat();
            session.put(spaces::FRONTIER_OWN, key, codec::encode(results));
        }
    }
}

/// Decodes the results of a set. Earlier versions wrote them without `row`, and before without `wide`.
fn decode(value: &[u8]) -> Result<Results> {
    const NAME: &str = "a set that fell";
    codec::decode(value, NAME).or_else(|error| {
        let with_wide = codec::decode(value, NAME);
        let (good, bad, wide) = with_wide
            .or_else(|_| codec::decode(value, NAME).map(|(good, bad)| (good, bad, false)))
            .map_err(|_| error)?;
        Ok(Results { good, bad, wide, row: 0 })
    })
}

/// Whether this key of [`spaces::FRONTIER_OWN`] belongs to a set.
pub fn is_fallen_set(key: &[u8]) -> bool {
    key.first() == Some(&TAG)
}

#[cfg(test)]
mod tests {
    use dedup_stage::store::Memory;

    use super::*;

    #[test]
    fn a_fallen_lot_is_followed_while_it_brings_enough_and_after_a_restart() {
        let mut session = Session::new(Box::new(Memory::default()));
        let mut fallen = Fallen::open(&session).unwrap();
        let (set, other) = (UrlSet(7), UrlSet(8));
        fallen.brought(set, true, &mut session);
        assert!(fallen.is_empty() && !fallen.are_followed(set), "what has not fallen is not followed");
        fallen.add(set, false, 0, &mut session);
        for _ in 0..19 {
            fallen.brought(set, false, &mut session);
            assert!(fallen.are_followed(set) && !fallen.are_followed(other));
        }
        fallen.brought(set, false, &mut session);
        assert!(fallen.has(set) && !fallen.are_followed(set), "twenty pages brought nothing");
        assert!(fallen.led(set, true, &mut session), "one of them led to something");
        assert!(fallen.are_followed(set) && !fallen.led(set, true, &mut session), "it is followed again once");
        session.commit().unwrap();
        assert!(Fallen::open(&session).unwrap().are_followed(set));
    }

    /// Catches an endless chain that is followed because of many good pages before it.
    #[test]
    fn a_long_row_of_pages_in_vain_ends_it() {
        let mut session = Session::new(Box::new(Memory::default()));
        let (mut fallen, set) = (Fallen::default(), UrlSet(7));
        fallen.add(set, false, 0, &mut session);
        (0..1_000).for_each(|_| _ = fallen.brought(set, true, &mut session));
        let in_vain = (0..5_000).take_while(|_| {
            fallen.brought(set, false, &mut session);
            fallen.are_followed(set)
        });
        assert_eq!(in_vain.count() as u32, Fallen::MOST_IN_A_ROW - 1);
        assert_eq!(fallen.bad(), u64::from(Fallen::MOST_IN_A_ROW));
        // A new page far behind it says nothing of the pages between.
        (0..50).for_each(|_| _ = fallen.led(set, false, &mut session));
        assert!(!fallen.are_followed(set) && fallen.led(set, true, &mut session) && fallen.are_followed(set));
        for bytes in [codec::encode(&(3_u32, 5_u32, true)), codec::encode(&(3_u32, 5_u32))] {
            assert_eq!((decode(&bytes).unwrap().good, decode(&bytes).unwrap().bad), (3, 5));
        }
    }

    #[test]
    fn a_family_that_wavers_is_released_few_times() {
        let mut session = Session::new(Box::new(Memory::default()));
        let releases = |wide: bool, session: &mut Session| {
            let mut fallen = Fallen::default();
            fallen.add(UrlSet(7), wide, 0, session);
            (0..21 * 500).filter(|page| fallen.brought(UrlSet(7), page % 21 == 20, session)).count()
        };
        let (alone, family) = (releases(false, &mut session), releases(true, &mut session));
        assert!(alone > 100 && (1..=10).contains(&family), "{alone}, {family}");
    }
}
