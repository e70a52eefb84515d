//! The choice of features: how many minima make a feature, how many features a document has, how many must be equal
//! (Broder, "Identifying and Filtering Near-Duplicate Documents", CPM 2000, sections 3 and 4).

use serde::Serialize;

use super::chart::{Chart, Panel};
use crate::evaluate::schemes::features::{Features, filter};

/// A choice of parameters, and its effects.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// k: the number of minima of a feature.
    pub each: usize,
    /// s: the number of features of a document.
    pub groups: usize,
    /// The number of equal features that makes two documents near-duplicates.
    pub equal: usize,
    /// Number of minima to compute for a document.
    pub minima: usize,
    /// Bytes to keep of a document: eight for each feature.
    pub bytes: usize,
    /// Number of values of a document to sort by: one for each choice of `equal` features.
    pub super_features: usize,
    /// The probability that documents of the resemblance to be kept apart are accepted.
    pub false_positive: f64,
    /// The probability that documents of the resemblance to be found are missed.
    pub false_negative: f64,
    /// The resemblances that are accepted with probability 0.01, 0.5 and 0.99.
    pub quantiles: [f64; 3],
}

/// The requirements for a filter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FilterNeeds {
    /// Documents with at most this resemblance must be kept apart.
    pub reject: f64,
    /// Documents with at least this resemblance must be found.
    pub accept: f64,
    /// The largest probability of a mistake, of either kind.
    pub error: f64,
}

impl Choice {
    /// The effects of these parameters, measured for a wish.
    pub fn new(each: usize, groups: usize, equal: usize, wish: &FilterNeeds) -> Self {
        Self {
            each,
            groups,
            equal,
            minima: each * groups,
            bytes: 8 * groups,
            super_features: (0..equal).fold(1, |product, i| product * (groups - i) / (i + 1)),
            false_positive: filter(each, groups, equal, wish.reject),
            false_negative: 1.0 - filter(each, groups, equal, wish.accept),
            quantiles: [0.01, 0.5, 0.99].map(|share| quantile(each, groups, equal, share)),
        }
    }

    /// The choice of the paper: two of six features of fourteen minima.
    pub fn of_the_paper(wish: &FilterNeeds) -> Self {
        Self::new(Features::EACH, Features::GROUPS, Features::EQUAL, wish)
    }

    /// Whether the choice meets the wish.
    pub fn grants(&self, wish: &FilterNeeds) -> bool {
        self.false_positive <= wish.error && self.false_negative <= wish.error
    }

    /// The probability that documents with this resemblance are accepted.
    pub fn accepts(&self, resemblance: f64) -> f64 {
        filter(self.each, self.groups, self.equal, resemblance)
    }
}

/// The resemblance at which the filter reaches a share. The filter grows with the resemblance, so halving finds it.
fn quantile(each: usize, groups: usize, equal: usize, share: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if filter(each, groups, equal, middle) < share { low = middle } else { high = middle }
    }
    high
}

/// The choices that meet a wish. Those that keep the fewest bytes come first, then those that sort the fewest values,
/// then those with the fewest minima. There is at most one for each number of features and number of equal ones.
pub fn choices(wish: &FilterNeeds) -> Vec<Choice> {
    let mut found = Vec::new();
    for groups in 1..=24 {
        for equal in 1..=groups.min(4) {
            let cheapest =
                (1..=64).map(|each| Choice::new(each, groups, equal, wish)).find(|choice| choice.grants(wish));
            found.extend(cheapest);
        }
    }
    found.sort_by_key(|choice| (choice.bytes, choice.super_features, choice.minima));
    found
}

/// A picture of P(k, s, r) against r: the first choices, and the paper's.
pub fn plot(choices: &[Choice], paper: &Choice) -> String {
    const PANEL: Panel = Panel { place: 0, x: "resemblance r", y: "probability of acceptance", range: (0.5, 1.0) };
    let mut shown = vec![paper];
    shown.extend(choices.iter().filter(|choice| *choice != paper).take(6));
    let mut chart = Chart::new(&[PANEL], shown.len());
    for (i, choice) in shown.into_iter().enumerate() {
        let Choice { each, groups, equal, .. } = choice;
        let paper = if i == 0 { ", the paper's" } else { "" };
        chart.legend(&format!("P({each}, {groups}, r), {equal} equal{paper}"));
        let points: Vec<(f64, f64)> =
            (0..=100).map(|i| 0.5 + f64::from(i) / 200.0).map(|r| (r, choice.accepts(r))).collect();
        chart.line(&PANEL, &points, i > 0);
    }
    chart.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF_THE_PAPER: FilterNeeds = FilterNeeds { reject: 0.77, accept: 0.975, error: 0.0108 };

    #[test]
    fn the_paper_has_its_wish() {
        let paper = Choice::of_the_paper(&OF_THE_PAPER);
        assert!(paper.grants(&OF_THE_PAPER), "{paper:?}");
        assert_eq!((paper.minima, paper.bytes, paper.super_features), (84, 48, 15));
        for (share, resemblance) in [0.01, 0.5, 0.99].into_iter().zip(paper.quantiles) {
            assert!((paper.accepts(resemblance) - share).abs() < 1e-6);
        }
    }

    #[test]
    fn choices_grant_the_wish_and_no_smaller_feature_does() {
        let found = choices(&OF_THE_PAPER);
        assert!(found.iter().any(|choice| (choice.groups, choice.equal) == (6, 2)));
        for choice in &found {
            assert!(choice.grants(&OF_THE_PAPER));
            let smaller = Choice::new((choice.each - 1).max(1), choice.groups, choice.equal, &OF_THE_PAPER);
            assert!(choice.each == 1 || !smaller.grants(&OF_THE_PAPER));
        }
        assert!(found.is_sorted_by_key(|choice| choice.bytes));
        assert!(choices(&FilterNeeds { reject: 0.9, accept: 0.9, error: 0.01 }).is_empty(), "no filter is a step");
    }

    #[test]
    fn pictures_show_the_curves() {
        let paper = Choice::of_the_paper(&OF_THE_PAPER);
        let svg = plot(&choices(&OF_THE_PAPER), &paper);
        assert!(svg.contains("P(14, 6, r), 2 equal, the paper's") && svg.matches("<polyline").count() > 1);
    }
}
