//! Trusted copies: which of them are checked, and when a copy leaves its cluster.
//!
//! A copy is not visited. The scheduler assumes that it shows what the representative of its cluster shows. This is
//! sometimes wrong: a mirror is given up, or its pages change on their own (they *diverge*). So copies are checked:
//! right after a visit to the representative, a copy is fetched and compared with it.
//!
//! The number of checks follows from their price. A check costs a fetch. A copy that has diverged, and was not checked,
//! is not fresh. Let `h` be the chance that a copy diverges within a day, `v` the value of a day in which it is fresh,
//! and `p` the price of a fetch. Then `k` checks a day cost `k p + h v / 2k`. The least cost is at `k = sqrt(h v /
//! 2p)`. The chance is learned for each pair of hosts (or rule) from the results of its checks. It starts from the
//! results of all pairs.
//!
//! After three copies of a pair have diverged, the other copies of the pair are checked within two of their median
//! change periods. If that costs more than it brings, these copies leave their clusters, and are visited as pages of
//! their own.
//!
//! # References
//!
//! - Fetterly, Manasse, Najork: On the evolution of clusters of near-duplicate web pages. 2003: copies stay copies for
//!   weeks.

use std::f32::consts::LN_2;

use serde::{Deserialize, Serialize};

use super::belief::Belief;
use super::time::{Seconds, days};

/// A copy. Its record is stored with that of its representative.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Copy {
    /// When it was last seen to show what its representative shows.
    pub checked: Seconds,
    /// The pair of hosts, or the rule, by which it is a copy.
    pub pair: PairId,
    /// Its own priority, which is part of its cluster's weight.
    pub priority: f32,
    /// A check is in the queue.
    pub pending: bool,
}

/// Names a pair of hosts (that of the representative, that of the copy) or a rule. It is any hash of these.
pub type PairId = u32;

/// What checks have shown of a pair of hosts or a rule. It is stored with the host of the representatives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Days in which copies were still copies, summed over all copies.
    pub agreed: f32,
    /// Copies that diverged.
    pub diverged: u16,
}

/// What all pairs have shown together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pairs {
    agreed: f32,
    diverged: f32,
    /// Checks that are allowed now. Each fetch adds a share of a check, and each check takes one.
    allowed: f32,
}

impl Default for Pairs {
    fn default() -> Self {
        // The estimate starts as if one copy had diverged in this many days.
        Self { agreed: 2_000.0, diverged: 1.0, allowed: 0.0 }
    }
}

/// What is to be done with a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// Trust it.
    Trust,
    /// Fetch it now, and compare it with its representative.
    Check,
    /// From now on it is visited as a page of its own.
    Leave,
}

/// Checks may take this share of all fetches. It is below a tenth, because a check that finds a difference costs a
/// second fetch: all together, checks must stay within a tenth.
const SHARE: f32 = 0.08;
/// Checks that were allowed and not made are kept for later, up to this number.
const SAVED: f32 = 100.0;
/// The weight of the results of all pairs in the estimate for one pair, as a number of copies that diverged.
const WEIGHT: f32 = 0.1;
/// After this many copies of a pair have diverged, the pair is watched.
const WATCHED: u16 = 3;
/// A copy of a watched pair is checked within this share of two median change periods.
const MARGIN: f32 = 0.7;

/// What [`Pairs::care`] needs to know of the cluster of a copy.
#[derive(Clone, Copy, Debug)]
pub struct Cared<'a> {
    /// The estimate of its change rate.
    pub belief: &'a Belief,
    /// Days until its next visit.
    pub interval: f32,
}

impl Copy {
    /// Length of the encoding.
    pub const BYTES: usize = 13;

    /// As bytes.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&self.checked.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.pair.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.priority.to_le_bytes());
        bytes[12] = u8::from(self.pending);
        bytes
    }

    /// From [`Self::to_bytes`].
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, pending] = bytes;
        Self {
            checked: u32::from_le_bytes([a, b, c, d]),
            pair: u32::from_le_bytes([e, f, g, h]),
            priority: f32::from_le_bytes([i, j, k, l]),
            pending: pending != 0,
        }
    }
}

impl Pair {
    /// The chance that a copy diverges within a day.
    pub fn chance(&self, all: &Pairs) -> f32 {
        let common = all.diverged / all.agreed;
        (f32::from(self.diverged) + WEIGHT) / (self.agreed + WEIGHT / common)
    }

    /// Whether the pair is watched, because many of its copies have diverged.
    pub fn is_watched(&self) -> bool {
        self.diverged >= WATCHED
    }
}

impl Pairs {
    /// A page was fetched.
    pub fn fetched(&mut self) {
        self.allowed = (self.allowed + SHARE).min(SAVED);
    }

    /// A copy was fetched to be checked, or its representative because of it.
    pub fn spent(&mut self) {
        self.allowed -= 1.0;
    }

    /// A copy was compared with its representative, and shows the same.
    pub fn agreed(&mut self, copy: &mut Copy, pair: &mut Pair, at: Seconds) {
        self.checked(pair, days(copy.checked, at), true);
        copy.checked = at;
        copy.pending = false;
    }

    /// A copy was compared twice, and does not show the same.
    pub fn diverged(&mut self, copy: &Copy, pair: &mut Pair, at: Seconds) {
        self.checked(pair, days(copy.checked, at), false);
    }

    /// A copy was compared, `days` days after the last time. `agreed`: it is still a copy.
    pub fn checked(&mut self, pair: &mut Pair, days: f32, agreed: bool) {
        // Nobody knows when it diverged. On average, that was in the middle of the time.
        let for_days = if agreed { days } else { days / 2.0 };
        pair.agreed += for_days;
        self.agreed += for_days;
        if !agreed {
            pair.diverged = pair.diverged.saturating_add(1);
            self.diverged += 1.0;
        }
    }

    /// What to do with a copy whose representative was just visited. A fetch of the copy costs `price`.
    pub fn care(&self, of: Cared, copy: &Copy, pair: &Pair, price: f32, now: Seconds) -> Care {
        if copy.pending {
            return Care::Trust;
        }
        let fresh = if of.interval.is_finite() { of.belief.fresh(of.interval) } else { 0.0 };
        let value = copy.priority * fresh;
        let alone = copy.priority * of.belief.surplus(price / copy.priority);
        let chance = pair.chance(self);
        let mut checks = (chance * alone / (2.0 * price)).sqrt();
        if pair.is_watched() {
            checks = checks.max(of.belief.median_rate() / (2.0 * LN_2 * MARGIN));
            let costs = checks * price + chance * alone / (2.0 * checks);
            // A copy is checked after a visit to its representative, so it cannot be checked more often than that.
            if of.interval * checks > 1.0 || value - costs < alone || self.allowed < 1.0 {
                return Care::Leave;
            }
        }
        // The next chance for a check comes one interval later. Take the nearer of the two.
        let due = days(copy.checked, now) + of.interval / 2.0 >= 1.0 / checks;
        if due && value > 0.0 && self.allowed >= 1.0 { Care::Check } else { Care::Trust }
    }
}
