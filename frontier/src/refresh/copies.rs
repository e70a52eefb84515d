//! Trusted copies: which of them are checked, and when a copy is to leave its cluster.
//!
//! A copy is not visited. Whatever its cluster's representative shows, the copy is taken to show too. That is sometimes wrong:
//! mirrors are given up, or go their own way. So a copy is checked now and then, right after a visit to its representative:
//! it is fetched, and the two are compared. How often is a matter of price. A check costs a fetch; a copy that has diverged
//! unnoticed costs its freshness. With a chance `h` a day that a copy diverges, of value `v` a day while it is fresh, and a
//! price of `p` for a fetch, `k` checks a day cost `k p + h v / 2k`, which is least at `k = sqrt(h v / 2p)`. The chance is
//! learned for each pair of hosts (or rule) from how its checks end, starting from what all pairs have shown.
//!
//! Where three copies of a pair have diverged, its copies are checked within two of their median change periods. Where that
//! costs more than it brings, they leave their clusters and are visited as pages of their own.
//!
//! # References
//!
//! - Fetterly, Manasse, Najork: On the evolution of clusters of near-duplicate web pages. 2003: copies stay copies for weeks.

use std::f32::consts::LN_2;

use serde::{Deserialize, Serialize};

use super::belief::Belief;
use super::time::{Seconds, days};

/// A copy, kept with its representative's record, under its own name.
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

/// Names a pair of hosts (representative's, copy's) or a rule: any hash of it.
pub type PairId = u32;

/// What is known of a pair of hosts or a rule. Kept with the host of the representatives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Days for which copies were seen to hold, summed over copies.
    pub held: f32,
    /// Copies that diverged.
    pub diverged: u16,
}

/// What all pairs have shown together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pairs {
    held: f32,
    diverged: f32,
    /// Checks that may be made now: each fetch adds a share, each check takes one.
    allowed: f32,
}

impl Default for Pairs {
    fn default() -> Self {
        // As if one copy had diverged in so many days.
        Self { held: 2_000.0, diverged: 1.0, allowed: 0.0 }
    }
}

/// What to do with a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// Trust it.
    Trust,
    /// Fetch it now, and compare it with its representative.
    Check,
    /// It is a page of its own from now on.
    Leave,
}

/// Of all fetches, checks may take this share. The bound is a tenth; a difference costs a second fetch.
const SHARE: f32 = 0.08;
/// At most so many checks are saved up.
const SAVED: f32 = 100.0;
/// So much does what all pairs have shown weigh in what is believed of one, in copies that diverged.
const WEIGHT: f32 = 0.1;
/// A pair with so many copies that diverged is watched.
const WATCHED: u16 = 3;
/// A copy of a watched pair is checked in this share of two median change periods.
const MARGIN: f32 = 0.7;

/// A cluster that was visited, as far as its copies are concerned.
#[derive(Clone, Copy, Debug)]
pub struct Cared<'a> {
    /// What is believed of its change rate.
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
    /// The chance that a copy diverges, a day.
    pub fn chance(&self, all: &Pairs) -> f32 {
        let common = all.diverged / all.held;
        (f32::from(self.diverged) + WEIGHT) / (self.held + WEIGHT / common)
    }

    /// Whether enough copies have diverged for the others to be watched.
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

    /// A copy was compared with its representative, and was the same.
    pub fn held(&mut self, copy: &mut Copy, pair: &mut Pair, at: Seconds) {
        self.checked(pair, days(copy.checked, at), true);
        copy.checked = at;
        copy.pending = false;
    }

    /// A copy was compared, twice, and was not the same.
    pub fn diverged(&mut self, copy: &Copy, pair: &mut Pair, at: Seconds) {
        self.checked(pair, days(copy.checked, at), false);
    }

    /// A copy was compared so many days after it was last known to be one.
    pub fn checked(&mut self, pair: &mut Pair, days: f32, held: bool) {
        // One that has diverged held for half of the time, as far as anybody knows.
        let for_days = if held { days } else { days / 2.0 };
        pair.held += for_days;
        self.held += for_days;
        if !held {
            pair.diverged = pair.diverged.saturating_add(1);
            self.diverged += 1.0;
        }
    }

    /// What to do with a copy whose representative was just visited, where a fetch of the copy costs `price`.
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
            // It can be checked no more often than its representative is visited.
            if of.interval * checks > 1.0 || value - costs < alone || self.allowed < 1.0 {
                return Care::Leave;
            }
        }
        // The next chance comes after the next interval.
        let due = days(copy.checked, now) + of.interval / 2.0 >= 1.0 / checks;
        if due && value > 0.0 && self.allowed >= 1.0 { Care::Check } else { Care::Trust }
    }
}
