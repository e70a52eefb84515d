//! The share of near-duplicates that are told, where the truth is the exact resemblance of the texts.

use std::collections::HashSet;

use super::*;
use crate::corpus::join::{Edge, Effort, collect};

const EFFORT: Effort = Effort { threads: 2, block: Effort::BLOCK };

/// Texts in pairs: a text, and a copy in which some words are replaced by one word that comes often. As this word gains
/// many votes at once, some fingerprints lie far apart.
fn pairs_of_texts(pairs: usize, seed: u64) -> Vec<String> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut all = Vec::new();
    for _ in 0..pairs {
        let mut words: Vec<String> = (0..200).map(|_| format!("w{}", random.f32().powi(4) * 4000.0)).collect();
        words.iter_mut().for_each(|word| word.retain(|c| c != '.'));
        let text = words.join(" ");
        let often = format!("o{}", random.u32(..50));
        let at = random.usize(..150);
        (at..at + random.usize(4..24)).for_each(|at| words[at].clone_from(&often));
        all.extend([text, words.join(" ")]);
    }
    all
}

fn resemblance(a: &str, b: &str) -> f64 {
    let shingles = |text: &str| -> HashSet<Vec<String>> {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        words.windows(5).map(<[String]>::to_vec).collect()
    };
    let (a, b) = (shingles(a), shingles(b));
    let common = a.intersection(&b).count();
    common as f64 / (a.len() + b.len() - common) as f64
}

/// The share of the pairs with a resemblance from 0.8 that the edges tell, and the number of pairs.
fn recall(texts: &[String], edges: &[Edge], id: impl Fn(u64) -> usize) -> (f64, usize) {
    let told: HashSet<usize> =
        edges.iter().map(|edge| (id(edge.a), id(edge.b))).filter(|(a, b)| a / 2 == b / 2).map(|(a, _)| a / 2).collect();
    let near: Vec<usize> =
        (0..texts.len() / 2).filter(|pair| resemblance(&texts[2 * pair], &texts[2 * pair + 1]) >= 0.8).collect();
    (near.iter().filter(|pair| told.contains(pair)).count() as f64 / near.len() as f64, near.len())
}

#[test]
fn near_duplicates_with_far_fingerprints_are_told() {
    let texts = pairs_of_texts(600, 21);
    let file = Signatures::of(records(&texts)).unwrap();
    let id = |row: u64| file.id(row).unwrap().parse::<usize>().unwrap();
    let edges = collect(&file, None, NearCriterion::new(None, true), EFFORT, &|_| {});
    let (share, pairs) = recall(&texts, &edges, id);
    assert!(pairs > 200 && share >= 0.98, "{share} of {pairs} pairs");
    let wrong = edges.iter().filter(|edge| resemblance(&texts[id(edge.a)], &texts[id(edge.b)]) < 0.6).count();
    assert!(wrong * 100 <= edges.len(), "{wrong} of {} edges are wrong", edges.len());
    // Candidates by fingerprint alone, as for a distance that was asked for, are not enough for these texts.
    let edges = collect(&file, None, NearCriterion::new(Some(7), true), EFFORT, &|_| {});
    let (share, _) = recall(&texts, &edges, id);
    assert!(share < 0.95, "the test's own texts are too easy: {share}");
}

/// Catches unlike documents that are joined because they are short: their sketches have few bits of their own.
#[test]
fn short_documents_without_a_common_word_are_not_joined() {
    let mut random = fastrand::Rng::with_seed(5);
    let mut word = || (0..6).map(|_| random.char('a'..'t')).collect::<String>();
    let texts: Vec<String> = (0..30_000).map(|_| (0..20).map(|_| word()).collect::<Vec<_>>().join(" ")).collect();
    let file = Signatures::of(records(&texts)).unwrap();
    let edges = collect(&file, None, NearCriterion::new(None, true), EFFORT, &|_| {});
    assert_eq!(edges.len(), 0, "{edges:?}");
}

#[test]
fn pieces_that_many_signatures_share_are_no_square() {
    let record = records(&texts(40, 3)).into_iter().find(|record| record.signature.is_some()).expect("enough words");
    let (_, sketch) = record.signature.expect("it was looked for");
    // Sketches of one text, with fingerprints far apart.
    let copy = |i: u64| {
        let fingerprint = xxhash_rust::xxh3::xxh3_64(&i.to_le_bytes());
        Record { place: i, signature: Some((fingerprint, sketch)), ..record.clone() }
    };
    let file = Signatures::of((0..20_000).map(copy).collect()).unwrap();
    let edges = collect(&file, None, RULE, EFFORT, &|_| {});
    assert!(edges.len() >= 19_999 && edges.len() < 65 * 20_000, "{}", edges.len());
    let mut forest = Forest::new(file.rows());
    edges.iter().for_each(|edge| forest.join(edge.a, edge.b));
    assert!((0..file.rows()).all(|row| forest.root(row) == forest.root(0)), "one group");
}
