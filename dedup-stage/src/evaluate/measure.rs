//! Precision, recall and F1 of schemes at thresholds, with bootstrap intervals and by strata.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use super::folds::{HeldOut, held_out};
use super::pairs::{Pair, Pairs};
use super::tally::{Tally, best_of};
use crate::evaluate::schemes::Scheme;
use crate::evaluate::schemes::lexicon::Lexicon;
use crate::words::fold_multiply;

/// A 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The 2.5th percentile.
    pub low: f64,
    /// The 97.5th percentile.
    pub high: f64,
}

/// The measures of a scheme at a threshold, on all pairs or a stratum of them.
#[derive(Clone, Debug, Serialize)]
pub struct Measure {
    /// The name of the scheme.
    pub scheme: String,
    /// The threshold: the largest distance, or the least likeness, of near-duplicates.
    pub threshold: f64,
    /// The part of the pairs that was measured; absent if all were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stratum: Option<String>,
    /// See [`Tally::precision`].
    pub precision: f64,
    /// See [`Tally::recall`].
    pub recall: f64,
    /// See [`Tally::f1`].
    pub f1: f64,
    /// The counts.
    #[serde(flatten)]
    pub tally: Tally,
    /// The bootstrap interval of F1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub f1_interval: Option<Interval>,
}

/// All measures of one scheme.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The scheme.
    pub scheme: Scheme,
    /// The measures at each threshold, on all pairs.
    pub measures: Vec<Measure>,
    /// The place in `measures` of the one with the best F1.
    pub best: usize,
    /// The measures at the best threshold, on each stratum.
    pub strata: Vec<Measure>,
    /// The measures at the threshold that is best on one half of the clusters: on that half, and on the other.
    pub halves: [Measure; 2],
    /// The result of the cross-validation; `None` if there was none.
    pub held_out: Option<HeldOut>,
}

/// The work that is done besides the measures.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    /// Number of bootstrap samples for the intervals of F1; 0 = no intervals.
    pub resamples: u32,
    /// Number of folds of the cross-validation; below 2 = none.
    pub folds: u32,
}

/// Measures schemes on pairs, on all cores. Each scheme runs on one thread. `tick` is called after each scheme.
pub fn evaluate(
    pairs: &Pairs,
    schemes: &[Scheme],
    lexicon: &Lexicon,
    effort: Effort,
    tick: impl Fn() + Sync,
) -> Vec<Evaluation> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(scheme) = schemes.get(next.fetch_add(1, Ordering::Relaxed)) {
            let kept: Vec<_> = pairs.documents.iter().map(|document| scheme.fingerprint(document, lexicon)).collect();
            let scores: Vec<f64> = pairs
                .pairs
                .iter()
                .map(|pair| scheme.compare(&kept[pair.documents[0]], &kept[pair.documents[1]]))
                .collect();
            done.push(report(*scheme, &pairs.pairs, &scores, effort));
            tick();
        }
        done
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(schemes.len());
    let mut reports: Vec<Evaluation> = thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().flat_map(|thread| thread.join().expect("no scheme panics")).collect()
    });
    reports.sort_by_key(|report| schemes.iter().position(|scheme| *scheme == report.scheme));
    reports
}

/// The half of the clusters that a pair belongs to, 0 or 1.
fn half(pair: &Pair) -> u64 {
    xxh3_64(pair.cluster.as_bytes()) & 1
}

fn report(scheme: Scheme, pairs: &[Pair], scores: &[f64], effort: Effort) -> Evaluation {
    let tally = |threshold: f64, belongs: &dyn Fn(&Pair) -> bool| {
        let mut tally = Tally::default();
        for (pair, score) in pairs.iter().zip(scores).filter(|(pair, _)| belongs(pair)) {
            tally.count(scheme.is_near(*score, threshold), pair.near, pair.weight);
        }
        tally
    };
    let measure = |threshold: f64, stratum: Option<String>, tally: Tally| Measure {
        scheme: scheme.to_string(),
        threshold,
        stratum,
        precision: tally.precision(),
        recall: tally.recall(),
        f1: tally.f1(),
        tally,
        f1_interval: None,
    };
    let thresholds = scheme.thresholds();
    let at_each = |belongs: &dyn Fn(&Pair) -> bool| -> Vec<Tally> {
        thresholds.iter().map(|threshold| tally(*threshold, belongs)).collect()
    };
    let all = at_each(&|_| true);
    let best = best_of(&all);
    let mut measures: Vec<Measure> =
        thresholds.iter().zip(all).map(|(threshold, tally)| measure(*threshold, None, tally)).collect();
    for measure in &mut measures {
        measure.f1_interval = bootstrap(scheme, measure.threshold, pairs, scores, effort.resamples);
    }
    let mut names: Vec<&String> = pairs.iter().flat_map(|pair| &pair.strata).collect();
    names.sort_unstable_by_key(|name| natural(name));
    names.dedup();
    let threshold = thresholds[best];
    let mut strata: Vec<Measure> = names
        .into_iter()
        .map(|name| {
            measure(threshold, Some(name.clone()), tally(threshold, &|pair| pair.strata.iter().any(|s| s == name)))
        })
        .collect();
    if pairs.iter().any(|pair| pair.weight != 1.0) {
        let mut sample = Tally::default();
        for (pair, score) in pairs.iter().zip(scores) {
            sample.count(scheme.is_near(*score, threshold), pair.near, 1.0);
        }
        strata.push(measure(threshold, Some("sample, unweighted".into()), sample));
    }
    let chosen = thresholds[best_of(&at_each(&|pair| half(pair) == 0))];
    let halves = [(0, "half=chosen on"), (1, "half=other")]
        .map(|(own, name)| measure(chosen, Some(name.into()), tally(chosen, &|pair| half(pair) == own)));
    Evaluation { scheme, measures, best, strata, halves, held_out: held_out(scheme, pairs, scores, effort.folds) }
}

/// The key by which names sort: numbers in names sort as numbers.
fn natural(name: &str) -> (String, u64) {
    let digits = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
    let number: String = name[digits..].chars().take_while(char::is_ascii_digit).collect();
    (name[..digits].to_owned(), number.parse().unwrap_or(0))
}

/// The bootstrap interval of F1. Clusters are drawn with replacement (Efron 1979). `None` without resamples or without
/// pairs.
fn bootstrap(scheme: Scheme, threshold: f64, pairs: &[Pair], scores: &[f64], resamples: u32) -> Option<Interval> {
    if resamples == 0 || pairs.is_empty() {
        return None;
    }
    let mut clusters: BTreeMap<&str, Tally> = BTreeMap::new();
    for (pair, score) in pairs.iter().zip(scores) {
        let tally = clusters.entry(&pair.cluster).or_default();
        tally.count(scheme.is_near(*score, threshold), pair.near, pair.weight);
    }
    let clusters: Vec<Tally> = clusters.into_values().collect();
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut values: Vec<f64> = (0..resamples)
        .map(|_| {
            let mut sum = Tally::default();
            for _ in 0..clusters.len() {
                state = state.wrapping_add(0xA076_1D64_78BD_642F);
                let drawn = ((fold_multiply(state, 0xE703_7ED1_A0B4_28DB) >> 32) as usize * clusters.len()) >> 32;
                sum.add(&clusters[drawn]);
            }
            sum.f1()
        })
        .collect();
    values.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    Some(Interval { low: at(0.025), high: at(0.975) })
}
