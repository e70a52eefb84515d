//! The state of the rescue, so that a crawl that was killed continues it.

use std::collections::BTreeMap;

use dedup_stage::store::{Result, Session, Space, codec};
use frontier::UrlSet;
use serde::{Deserialize, Serialize};

/// The key in [`Space::META`].
const STATE: &[u8] = b"rescue-4";
/// The keys under which earlier versions stored the state.
const EARLIER: [&[u8]; 3] = [b"rescue-3", b"rescue-2", b"rescue"];

/// The state of the rescue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RescueState {
    /// The number of the current round, from 1; 0 before the first.
    pub number: u32,
    /// Whether it is the last round, from which the estimate is made.
    pub last: bool,
    /// The number of URLs drawn so far, in all rounds.
    pub spent: u64,
    /// The number of URLs that were held or stopped when the last estimate was made, or when the round was drawn.
    pub held_back: u64,
    /// The estimate of the pages that were lost, and the lower and upper end of its 95 % interval. `None` until the
    /// last round is done.
    pub lost: Option<[f64; 3]>,
    /// The number of URLs from which the sample of the last round was drawn.
    pub population: u64,
    /// Whether lots have fallen since the round was drawn. What they led to is tried once, even if the budget of the
    /// rounds is spent.
    pub retest: bool,
    /// Lots whose earlier trials do not decide any more whether they fall.
    pub excused: BTreeMap<UrlSet, Excused>,
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

/// The state as versions before wrote it: without the last two fields.
type Before = (u32, bool, u64, u64, Option<[f64; 3]>, u64);

impl From<Before> for RescueState {
    fn from((number, last, spent, held_back, lost, population): Before) -> Self {
        Self { number, last, spent, held_back, lost, population, ..Self::default() }
    }
}

impl RescueState {
    /// The state on record, also as earlier versions wrote it.
    pub fn read(session: &Session) -> Result<Self> {
        if let Some(bytes) = session.get(Space::META, STATE)? {
            return codec::decode(&bytes, "the rescue");
        }
        if let Some(bytes) = session.get(Space::META, EARLIER[0])? {
            return codec::decode(&bytes, "the rescue").map(|before: Before| before.into());
        }
        if let Some(bytes) = session.get(Space::META, EARLIER[1])? {
            return codec::decode(&bytes, "the rescue").map(|(before, _): (Before, f64)| before.into());
        }
        let Some(bytes) = session.get(Space::META, EARLIER[2])? else { return Ok(Self::default()) };
        type Earlier = (u32, bool, u64, u64, bool, Option<[f64; 3]>);
        let (earlier, population): (Earlier, Option<u64>) = codec::decode(&bytes, "the rescue")
            .map(|(earlier, population)| (earlier, Some(population)))
            .or_else(|_| codec::decode(&bytes, "the rescue").map(|earlier| (earlier, None)))?;
        let (number, last, spent, held, _, lost) = earlier;
        Ok(Self {
            number,
            last,
            spent,
            held_back: held,
            lost,
            population: population.unwrap_or(held),
            ..Self::default()
        })
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
        let lost = Some([1.0, 0.0, 4.0]);
        let before: Before = (3, true, 40, 200, lost, 230);
        let expected: RescueState = before.into();
        for (key, bytes) in [
            (EARLIER[0], codec::encode(&before)),
            (EARLIER[1], codec::encode(&(before, 0.5_f64))),
            (EARLIER[2], codec::encode(&((3u32, true, 40u64, 200u64, false, lost), 230u64))),
        ] {
            let mut session = Session::new(Box::new(Memory::default()));
            session.put(Space::META, key, bytes);
            assert_eq!(RescueState::read(&session).unwrap(), expected);
            let now =
                RescueState { retest: true, excused: [(UrlSet(7), Excused::default())].into(), ..expected.clone() };
            now.put(&mut session);
            assert_eq!(RescueState::read(&session).unwrap(), now);
        }
    }
}
