//! What the visits to a page have shown of its change rate, in 15 bytes.
//!
//! A visit tells one bit: the page has changed since the last visit, or it has not. For the times without a change,
//! their sum is enough. For a time with a change, its length matters: "changed within ten minutes" says much about the
//! rate, and "changed within a month" says little. So these lengths are stored as a histogram.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::grid::{RATES, Row, grid};
use super::time::{DAY, Seconds};

/// Bars of the histogram.
const BARS: usize = 11;
/// Length of the first bar, days: 15 seconds. Each bar is four times as long as the one before; the last is half a
/// year.
const FIRST: f64 = 15.0 / 86_400.0;
/// A change counts for this many units, which are divided between the two nearest bars.
const UNITS: f32 = 4.0;
/// If a bar would exceed this, all counts are halved. So old visits count less than new ones.
const FULL: u8 = 240;

/// Visits with and without a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeHistory {
    /// Seconds between visits that showed no change.
    quiet: Seconds,
    /// Visits that showed a change, by the time since the visit before. Each counts for four units.
    changed: [u8; BARS],
}

/// What is known of the time of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dated {
    /// The page changed within this many seconds …
    pub within: Seconds,
    /// … and did not change in this many others.
    pub quiet: Seconds,
}

/// The bars in which a change after this many seconds counts, and how much in each.
fn bars(seconds: Seconds) -> [(usize, u8); 2] {
    let at = (f64::from(seconds.max(1)) / f64::from(DAY) / FIRST).log(4.0).clamp(0.0, (BARS - 1) as f64);
    let second = (at.fract() * f64::from(UNITS)).round() as u8;
    [(at as usize, UNITS as u8 - second), ((at as usize + 1).min(BARS - 1), second)]
}

/// The logarithm of the probability of a change, for each bar and rate.
static CHANGED: LazyLock<[Row; BARS]> = LazyLock::new(|| {
    std::array::from_fn(|bar| {
        let days = (FIRST * 4f64.powi(bar as i32)) as f32;
        grid().rate.map(|rate| (-(-rate * days).exp_m1()).ln().max(-40.0))
    })
});

impl ChangeHistory {
    /// Length of the encoding.
    pub const BYTES: usize = 4 + BARS;

    /// A visit after this many seconds showed no change.
    pub fn unchanged(&mut self, seconds: Seconds) {
        if self.quiet > u32::MAX - seconds {
            self.halve();
        }
        self.quiet = self.quiet.saturating_add(seconds);
    }

    /// A visit after this many seconds showed a change.
    pub fn change(&mut self, seconds: Seconds) {
        if self.changed.iter().any(|&units| units >= FULL) {
            self.halve();
        }
        for (bar, units) in bars(seconds) {
            self.changed[bar] += units;
        }
    }

    /// A visit after this many seconds was counted as a change, and was none.
    pub fn take_back(&mut self, seconds: Seconds) {
        for (bar, units) in bars(seconds) {
            self.changed[bar] = self.changed[bar].saturating_sub(units);
        }
        self.unchanged(seconds);
    }

    /// A visit showed a change of which more is known.
    pub fn change_dated(&mut self, dated: Dated) {
        self.change(dated.within);
        self.unchanged(dated.quiet);
    }

    /// Halves the weight of all visits so far.
    pub fn halve(&mut self) {
        self.quiet /= 2;
        self.changed = self.changed.map(|units| units / 2);
    }

    /// Whether no visit was counted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Multiplies a row of weights by the likelihood of the history, up to a common factor.
    pub fn apply(&self, weights: &mut Row) {
        if self.is_empty() {
            return;
        }
        let quiet = self.quiet as f32 / DAY;
        let mut log: Row = grid().rate.map(|rate| -rate * quiet);
        for (bar, &units) in self.changed.iter().enumerate().filter(|(_, units)| **units > 0) {
            let times = f32::from(units) / UNITS;
            for k in 0..RATES {
                log[k] += times * CHANGED[bar][k];
            }
        }
        let top = log.iter().copied().fold(f32::MIN, f32::max);
        for k in 0..RATES {
            weights[k] *= (log[k] - top).exp();
        }
    }

    /// As bytes.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&self.quiet.to_le_bytes());
        bytes[4..].copy_from_slice(&self.changed);
        bytes
    }

    /// From [`Self::to_bytes`].
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let [a, b, c, d, changed @ ..] = bytes;
        Self { quiet: u32::from_le_bytes([a, b, c, d]), changed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refresh::belief::Belief;

    const HOUR: Seconds = 3_600;

    fn rate(history: &ChangeHistory) -> f32 {
        let mut weights = [1.0; RATES];
        history.apply(&mut weights);
        Belief::new(weights).median_rate()
    }

    #[test]
    fn a_rate_is_found_from_visits_at_any_interval() {
        // One change in two days, seen by visits every six hours, every day and every three days.
        let mut random = fastrand(7);
        for hours in [6, 24, 72] {
            let mut history = ChangeHistory::default();
            for _ in 0..600 {
                let chance = 1.0 - (-0.5 * f64::from(hours) / 24.0).exp();
                if random() < chance { history.change(hours * HOUR) } else { history.unchanged(hours * HOUR) }
            }
            let found = rate(&history);
            assert!((0.35..0.7).contains(&found), "every {hours} hours: {found}");
        }
    }

    #[test]
    fn what_is_taken_back_was_no_change() {
        let (mut history, mut quiet) = (ChangeHistory::default(), ChangeHistory::default());
        history.change(HOUR);
        history.take_back(HOUR);
        quiet.unchanged(HOUR);
        assert_eq!(history, quiet);
    }

    #[test]
    fn evidence_never_overflows_and_comes_back_from_its_bytes() {
        let mut history = ChangeHistory::default();
        for _ in 0..10_000 {
            history.change(HOUR);
            history.unchanged(u32::MAX / 3);
        }
        assert_eq!(ChangeHistory::from_bytes(history.to_bytes()), history);
        assert!(rate(&history).is_finite());
    }

    /// Numbers in 0..1 that are the same at each run: a linear congruential generator (Knuth, MMIX).
    fn fastrand(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        }
    }
}
