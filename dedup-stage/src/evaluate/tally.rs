//! Counts of right and wrong decisions, and the measures that follow from them.

use serde::Serialize;

/// Weighted counts of a two-class decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Tally {
    /// Near-duplicates that were found.
    pub true_positives: f64,
    /// Different pairs that were taken for near-duplicates.
    pub false_positives: f64,
    /// Near-duplicates that were missed.
    pub false_negatives: f64,
    /// Different pairs that were left alone.
    pub true_negatives: f64,
}

impl Tally {
    pub(super) fn count(&mut self, found: bool, near: bool, weight: f64) {
        *match (found, near) {
            (true, true) => &mut self.true_positives,
            (true, false) => &mut self.false_positives,
            (false, true) => &mut self.false_negatives,
            (false, false) => &mut self.true_negatives,
        } += weight;
    }

    pub(super) fn add(&mut self, other: &Tally) {
        self.true_positives += other.true_positives;
        self.false_positives += other.false_positives;
        self.false_negatives += other.false_negatives;
        self.true_negatives += other.true_negatives;
    }

    /// Share of the pairs found that are near-duplicates; 1 if none was found.
    pub fn precision(&self) -> f64 {
        share(self.true_positives, self.false_positives)
    }

    /// Share of the near-duplicates that were found; 1 if there are none.
    pub fn recall(&self) -> f64 {
        share(self.true_positives, self.false_negatives)
    }

    /// Harmonic mean of precision and recall.
    pub fn f1(&self) -> f64 {
        share(2.0 * self.true_positives, self.false_positives + self.false_negatives)
    }
}

fn share(part: f64, rest: f64) -> f64 {
    if part + rest == 0.0 { 1.0 } else { part / (part + rest) }
}

/// The place of the tally with the highest F1. If there are several, it is the one in the middle, which is farthest
/// from mistakes.
pub(super) fn best_of(tallies: &[Tally]) -> usize {
    let highest = tallies.iter().map(Tally::f1).fold(f64::MIN, f64::max);
    let best: Vec<usize> = (0..tallies.len()).filter(|place| tallies[*place].f1() == highest).collect();
    best.get(best.len() / 2).copied().unwrap_or(0)
}
