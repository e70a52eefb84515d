//! Lots that have *fallen*: a sample of their URLs brought new pages, so the reason to hold or stop them is wrong. The
//! URLs of a fallen lot that are met later are followed, not held or stopped, as long as enough of their pages are new
//! or lead to new ones.

use std::collections::HashMap;
use std::ops::ControlFlow;

use dedup_stage::store::{Result, Session, codec};
use serde::{Deserialize, Serialize};

use crate::spaces;
use crate::trial::Lot;

/// The results of the URLs of a lot that were followed since it fell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Results {
    /// Pages that are new, or have led to new ones.
    good: u32,
    /// Pages that are not new, and have not led to new ones yet.
    bad: u32,
    /// Whether the lot is a family, or siblings. These may have URLs of many hosts.
    wide: bool,
}

/// The URLs of a lot are followed while at least one page in about this many is good.
const WORTH: u32 = 20;

impl Results {
    fn are_worth_it(self) -> bool {
        self.bad < WORTH * (self.good + 1)
    }
}

/// The lots that have fallen in this crawl.
#[derive(Debug, Default)]
pub struct Fallen {
    lots: HashMap<Lot, Results>,
}

/// First byte of the keys in [`spaces::FRONTIER_OWN`].
const TAG: u8 = b'l';

impl Fallen {
    /// The lots on record.
    pub fn open(session: &Session) -> Result<Self> {
        let (mut lots, mut failure) = (HashMap::new(), None);
        session.scan(spaces::FRONTIER_OWN, &[TAG], &[TAG + 1], &mut |key, value| {
            let lot = key.get(1..).and_then(|lot| lot.try_into().ok()).map_or(0, u64::from_be_bytes);
            match decode(value) {
                Ok(results) => _ = lots.insert(Lot(lot), results),
                Err(error) => failure = Some(error),
            }
            if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        failure.map_or(Ok(Self { lots }), Err)
    }

    /// Whether no lot has fallen.
    pub fn is_empty(&self) -> bool {
        self.lots.is_empty()
    }

    /// Whether a lot has fallen.
    pub fn has(&self, lot: Lot) -> bool {
        self.lots.contains_key(&lot)
    }

    /// Whether the URLs of a lot are followed.
    pub fn are_followed(&self, lot: Lot) -> bool {
        self.lots.get(&lot).is_some_and(|results| results.are_worth_it())
    }

    /// A lot falls. `good` is the number of good pages with which its results begin. `wide`: the lot is a family, or
    /// siblings.
    pub fn add(&mut self, lot: Lot, wide: bool, good: u32, session: &mut Session) {
        self.lots.entry(lot).or_insert(Results { good, bad: 0, wide });
        self.save(lot, session);
    }

    /// Whether a lot that has fallen may have URLs of many hosts.
    pub fn is_wide(&self, lot: Lot) -> bool {
        self.lots.get(&lot).is_some_and(|results| results.wide)
    }

    /// The page of a URL of a lot was fetched. True if the lot is followed again because of it.
    pub fn brought(&mut self, lot: Lot, new: bool, session: &mut Session) -> bool {
        self.change(lot, session, |results| *(if new { &mut results.good } else { &mut results.bad }) += 1)
    }

    /// A page that was not new led to one that is. True if the lot is followed again because of it.
    pub fn led(&mut self, lot: Lot, session: &mut Session) -> bool {
        self.change(lot, session, |results| {
            results.good += 1;
            results.bad = results.bad.saturating_sub(1);
        })
    }

    fn change(&mut self, lot: Lot, session: &mut Session, change: impl FnOnce(&mut Results)) -> bool {
        let Some(results) = self.lots.get_mut(&lot) else { return false };
        let before = results.are_worth_it();
        change(results);
        // A release of a wide lot reads all records. A host must not be able to cause that again and again.
        let may_again = !results.wide || results.good.is_power_of_two();
        let again = !before && results.are_worth_it() && may_again;
        self.save(lot, session);
        again
    }

    fn save(&self, lot: Lot, session: &mut Session) {
        if let Some(results) = self.lots.get(&lot) {
            let key = [&[TAG][..], &lot.0.to_be_bytes()].concat();
            session.put(spaces::FRONTIER_OWN, key, codec::encode(results));
        }
    }
}

/// Decodes the results of a lot. Earlier versions wrote them without `wide`.
fn decode(value: &[u8]) -> Result<Results> {
    codec::decode(value, "a lot that fell").or_else(|error| {
        let (good, bad) = codec::decode(value, "a lot that fell").map_err(|_| error)?;
        Ok(Results { good, bad, wide: false })
    })
}

/// Whether this key of [`spaces::FRONTIER_OWN`] belongs to a lot.
pub fn is_lot(key: &[u8]) -> bool {
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
        let (lot, other) = (Lot(7), Lot(8));
        fallen.brought(lot, true, &mut session);
        assert!(fallen.is_empty() && !fallen.are_followed(lot), "what has not fallen is not followed");
        fallen.add(lot, false, 0, &mut session);
        for _ in 0..19 {
            fallen.brought(lot, false, &mut session);
            assert!(fallen.are_followed(lot) && !fallen.are_followed(other));
        }
        fallen.brought(lot, false, &mut session);
        assert!(fallen.has(lot) && !fallen.are_followed(lot), "twenty pages brought nothing");
        assert!(fallen.led(lot, &mut session), "one of them led to something");
        assert!(fallen.are_followed(lot) && !fallen.led(lot, &mut session), "it is followed again once");
        session.commit().unwrap();
        assert!(Fallen::open(&session).unwrap().are_followed(lot));
    }

    #[test]
    fn a_family_that_wavers_is_released_few_times() {
        let mut session = Session::new(Box::new(Memory::default()));
        let releases = |wide: bool, session: &mut Session| {
            let mut fallen = Fallen::default();
            fallen.add(Lot(7), wide, 0, session);
            (0..21 * 500).filter(|page| fallen.brought(Lot(7), page % 21 == 20, session)).count()
        };
        let (alone, family) = (releases(false, &mut session), releases(true, &mut session));
        assert!(alone > 100 && (1..=10).contains(&family), "{alone}, {family}");
    }
}
