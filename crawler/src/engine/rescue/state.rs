//! The state of the rescue, so that a crawl that was killed continues it.

use std::collections::BTreeMap;

use dedup_stage::store::{Result, Session, Space, codec};
use frontier::UrlSet;
use serde::{Deserialize, Serialize};

/// The key in [`Space::META`].
const STATE: &[u8] = b"rescue-5";
/// The keys under which earlier versions stored the state, the latest first.
const EARLIER: [&[u8]; 4] = [b"rescue-4", b"rescue-3", b"rescue-2", b"rescue"];

/// The state of the rescue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RescueState {
    /// The number of the current round, from 1; 0 before the first.
    pub number: u32,
    /// How far the rescue is.
    pub phase: RescuePhase,
    /// The number of URLs drawn so far, in all rounds.
    pub spent: u64,
    /// The number of URLs that were held or stopped when the last estimate was made, or when the round was drawn.
    pub held_back: u64,
    /// The number of URLs from which the sample of the last round was drawn.
    pub population: u64,
    /// Whether lots have fallen since the round was drawn. What they led to is tried once, even if the budget of the
    /// rounds is spent.
    pub retest: bool,
    /// Lots whose earlier trials do not decide any more whether they fall.
    pub excused: BTreeMap<UrlSet, Excused>,
}

/// How far the rescue is. A rescue that is done goes back to its rounds if the crawl has grown a lot, or if its budget
/// was raised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum RescuePhase {
    /// It looks for lots that bring new pages. This is also the phase before the first round.
    #[default]
    Rounds,
    /// The last round was drawn, from which the estimate is made.
    LastRound,
    /// The estimate was made: the number of pages that were lost, and the lower and upper end of its 95 % interval.
    Done([f64; 3]),
}

/// The earlier trials of a lot that is excused ([`super::falls`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Excused {
    /// The number of trials.
    pub trials: u64,
    /// The number of those that gained something.
    pub gained: u64,
    /// The number of links of their pages that were not found before.
    pub opened: u64,
}

/// The state as `rescue-4` had it.
type Version4 = (u32, bool, u64, u64, Option<[f64; 3]>, u64, bool, BTreeMap<UrlSet, Excused>);
/// The state as `rescue-3` had it. `rescue-2` had one number more behind it, which is not needed.
type Version3 = (u32, bool, u64, u64, Option<[f64; 3]>, u64);
/// The state as the first version had it. Behind it stood the population, but not in its very first form.
type Version1 = (u32, bool, u64, u64, bool, Option<[f64; 3]>);

impl From<Version4> for RescueState {
    fn from((number, last, spent, held_back, lost, population, retest, excused): Version4) -> Self {
        let phase = match (lost, last) {
            (Some(lost), _) => RescuePhase::Done(lost),
            (None, true) => RescuePhase::LastRound,
            (None, false) => RescuePhase::Rounds,
        };
        Self { number, phase, spent, held_back, population, retest, excused }
    }
}

impl From<Version3> for RescueState {
    fn from((number, last, spent, held_back, lost, population): Version3) -> Self {
        (number, last, spent, held_back, lost, population, false, BTreeMap::new()).into()
    }
}

impl RescueState {
    /// The estimate of the pages that were lost, if it was made: see [`RescuePhase::Done`].
    pub fn lost(&self) -> Option<[f64; 3]> {
        match self.phase {
            RescuePhase::Done(lost) => Some(lost),
            RescuePhase::Rounds | RescuePhase::LastRound => None,
        }
    }

    /// The state on record, also as earlier versions wrote it.
    pub fn read(session: &Session) -> Result<Self> {
        const NAME: &str = "the rescue";
        let get = |key: &[u8]| session.get(Space::META, key);
        if let Some(bytes) = get(STATE)? {
            return codec::decode(&bytes, NAME);
        }
        if let Some(bytes) = get(EARLIER[0])? {
            return codec::decode(&bytes, NAME).map(|state: Version4| state.into());
        }
        if let Some(bytes) = get(EARLIER[1])? {
            return codec::decode(&bytes, NAME).map(|state: Version3| state.into());
        }
        if let Some(bytes) = get(EARLIER[2])? {
            return codec::decode(&bytes, NAME).map(|(state, _): (Version3, f64)| state.into());
        }
        let Some(bytes) = get(EARLIER[3])? else { return Ok(Self::default()) };
        let (state, population): (Version1, Option<u64>) = codec::decode(&bytes, NAME)
            .map(|(state, population)| (state, Some(population)))
            .or_else(|_| codec::decode(&bytes, NAME).map(|state| (state, None)))?;
        let (number, last, spent, held_back, _, lost) = state;
        Ok((number, last, spent, held_back, lost, population.unwrap_or(held_back)).into())
    }

    /// Puts the state on record, in place of what earlier versions wrote.
    pub fn put(&self, session: &mut Session) {
        EARLIER.iter().for_each(|key| session.delete(Space::META, *key));
        session.put(Space::META, STATE, codec::encode(self));
    }
}

#[cfg(test)]
mod tests {
    use dedup_stage::store::Memory;

    use super::*;

    #[test]
    fn the_state_of_earlier_versions_is_read() {
        let excused: BTreeMap<UrlSet, Excused> = [(UrlSet(7), Excused::default())].into();
        for (last, lost, phase) in [
            (false, None, RescuePhase::Rounds),
            (true, None, RescuePhase::LastRound),
            (true, Some([1.0, 0.0, 4.0]), RescuePhase::Done([1.0, 0.0, 4.0])),
        ] {
            let version3: Version3 = (3, last, 40, 200, lost, 230);
            let version4: Version4 = (3, last, 40, 200, lost, 230, true, excused.clone());
            let expected =
                RescueState { number: 3, phase, spent: 40, held_back: 200, population: 230, ..Default::default() };
            let now = RescueState { retest: true, excused: excused.clone(), ..expected.clone() };
            for (key, bytes, expected) in [
                (EARLIER[0], codec::encode(&version4), &now),
                (EARLIER[1], codec::encode(&version3), &expected),
                (EARLIER[2], codec::encode(&(version3, 0.5_f64)), &expected),
                (EARLIER[3], codec::encode(&((3u32, last, 40u64, 200u64, false, lost), 230u64)), &expected),
            ] {
                let mut session = Session::new(Box::new(Memory::default()));
                session.put(Space::META, key, bytes);
                assert_eq!(RescueState::read(&session).unwrap(), *expected);
                now.put(&mut session);
                assert_eq!(RescueState::read(&session).unwrap(), now);
            }
        }
    }
}
