//! The state of the rescue, so that a crawl that was killed continues it.

use dedup_stage::store::{Result, Session, Space, codec};
use serde::{Deserialize, Serialize};

/// The key in [`Space::META`].
const STATE: &[u8] = b"rescue-3";
/// The keys under which earlier versions stored the state.
const EARLIER: [&[u8]; 2] = [b"rescue-2", b"rescue"];

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
}

impl RescueState {
    /// The state on record, also as earlier versions wrote it.
    pub fn read(session: &Session) -> Result<Self> {
        if let Some(bytes) = session.get(Space::META, STATE)? {
            return codec::decode(&bytes, "the rescue");
        }
        if let Some(bytes) = session.get(Space::META, EARLIER[0])? {
            return codec::decode(&bytes, "the rescue").map(|(state, _): (Self, f64)| state);
        }
        let Some(bytes) = session.get(Space::META, EARLIER[1])? else { return Ok(Self::default()) };
        type Earlier = (u32, bool, u64, u64, bool, Option<[f64; 3]>);
        let (earlier, population): (Earlier, Option<u64>) = codec::decode(&bytes, "the rescue")
            .map(|(earlier, population)| (earlier, Some(population)))
            .or_else(|_| codec::decode(&bytes, "the rescue").map(|earlier| (earlier, None)))?;
        let (number, last, spent, held, _, lost) = earlier;
        Ok(Self { number, last, spent, held_back: held, lost, population: population.unwrap_or(held) })
    }

    /// Puts the state on record.
    pub fn put(&self, session: &mut Session) {
        session.put(Space::META, STATE, codec::encode(self));
    }
}
