//! Cross-validation: F1 on pairs that had no part in the choice of the threshold.

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use super::pairs::Pair;
use super::tally::{Tally, best_of};
use crate::evaluate::schemes::Scheme;

/// The result of a scheme: each fold is measured at the threshold that is best on all other folds. The counts are
/// summed over the folds.
///
/// A cluster lies in one fold. A pair of two clusters counts only if both lie in the same fold. Then it stands for all
/// pairs of two clusters: it counts with its weight times the number of folds.
#[derive(Clone, Debug, Serialize)]
pub struct HeldOut {
    /// The name of the scheme.
    pub scheme: String,
    /// Bytes that the scheme keeps of a page; absent if it keeps more of a longer page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// The threshold of each fold, which was chosen on the other folds.
    pub held_out_thresholds: Vec<f64>,
    /// See [`Tally::precision`].
    pub precision: f64,
    /// See [`Tally::recall`].
    pub recall: f64,
    /// See [`Tally::f1`].
    pub f1: f64,
    /// The counts.
    #[serde(flatten)]
    pub tally: Tally,
}

/// Cross-validates a scheme that gave the pairs these scores; `None` for fewer than two folds.
pub(super) fn held_out(scheme: Scheme, pairs: &[Pair], scores: &[f64], folds: u32) -> Option<HeldOut> {
    if folds < 2 {
        return None;
    }
    let thresholds = scheme.thresholds();
    // The tally of each fold at each threshold.
    let mut at_each = vec![vec![Tally::default(); thresholds.len()]; folds as usize];
    for (pair, score) in pairs.iter().zip(scores) {
        let Some((fold, weight)) = place(pair, folds) else { continue };
        for (tally, threshold) in at_each[fold].iter_mut().zip(&thresholds) {
            tally.count(scheme.is_near(*score, *threshold), pair.near, weight);
        }
    }
    let (mut held_out_thresholds, mut tally) = (Vec::new(), Tally::default());
    for (fold, own) in at_each.iter().enumerate() {
        let others = |place: usize| {
            let mut sum = Tally::default();
            at_each
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != fold)
                .for_each(|(_, other)| sum.add(&other[place]));
            sum
        };
        let chosen = best_of(&(0..thresholds.len()).map(others).collect::<Vec<_>>());
        held_out_thresholds.push(thresholds[chosen]);
        tally.add(&own[chosen]);
    }
    let [precision, recall, f1] = [tally.precision(), tally.recall(), tally.f1()];
    Some(HeldOut {
        scheme: scheme.to_string(),
        bytes: scheme.bytes(),
        held_out_thresholds,
        precision,
        recall,
        f1,
        tally,
    })
}

/// The fold of a pair, and its weight there; `None` if the pair does not count.
fn place(pair: &Pair, folds: u32) -> Option<(usize, f64)> {
    let fold = |cluster: &str| (xxh3_64(cluster.as_bytes()) % u64::from(folds)) as usize;
    let own = fold(&pair.cluster);
    match &pair.other_cluster {
        Some(other) if *other != pair.cluster => (fold(other) == own).then(|| (own, pair.weight * f64::from(folds))),
        _ => Some((own, pair.weight)),
    }
}
