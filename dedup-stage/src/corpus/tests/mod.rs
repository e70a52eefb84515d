//! Signature files, joins, groups and known corpora, each against a naive oracle. Here are the texts that all of these
//! tests use, and the oracle.

mod build;
mod cluster;
mod crowd;
mod files;
mod join;
mod known;
mod recall;
#[cfg(feature = "arrow")]
mod tables;

use std::path::Path;

use super::cluster::Forest;
use super::input::Date;
use super::join::NearCriterion;
use super::output::write;
use super::*;
use crate::signature::Sketch;

const RULE: NearCriterion = NearCriterion { distance: 7, look: true, pieces: true };
const BY_FINGERPRINT: NearCriterion = NearCriterion { pieces: false, ..RULE };

/// Texts of 120 words, most of them edited copies of an earlier one, some exact copies, some too short to be judged.
fn texts(n: u64, seed: u64) -> Vec<String> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut texts: Vec<Vec<String>> = Vec::new();
    for _ in 0..n {
        let fresh = |random: &mut fastrand::Rng, n: usize| -> Vec<String> {
            (0..n).map(|_| format!("w{}", random.u32(..5000))).collect()
        };
        let text = match random.u32(..10) {
            0..3 => fresh(&mut random, 120),
            3 => vec![["a", "b c", "d"][random.usize(..3)].to_string()],
            // A copy of an earlier text, if there is one.
            4..6 if !texts.is_empty() => texts[random.usize(..texts.len())].clone(),
            _ => {
                let mut text = texts.get(random.usize(..texts.len().max(1))).cloned().unwrap_or_default();
                text.resize(120.max(text.len()), "x".into());
                for _ in 0..random.u32(1..8) {
                    let at = random.usize(..text.len());
                    text[at] = format!("e{}", random.u32(..5000));
                }
                text
            }
        };
        texts.push(text);
    }
    texts.into_iter().map(|words| words.join(" ")).collect()
}

fn records(texts: &[String]) -> Vec<Record> {
    let mut signing = Signing::default();
    let sign = |(index, text): (u64, &String)| {
        let document = Document {
            index,
            id: index.to_string().into(),
            url: "",
            date: Date::Absent,
            content_type: Some("text/plain; charset=utf-8"),
            body: text.as_bytes(),
        };
        signing.sign(&document).expect("text")
    };
    (0..).zip(texts).map(sign).collect()
}

fn signatures(n: u64, seed: u64) -> Signatures {
    Signatures::of(records(&texts(n, seed))).expect("memory")
}

fn rows(signatures: &Signatures) -> Vec<Row<'_>> {
    (0..signatures.rows()).map(|row| signatures.row(row).expect("undamaged")).collect()
}

/// Writes a signature file and opens it.
fn file(path: &Path, records: Vec<Record>) -> Signatures {
    let whole = Signatures::of(records).expect("memory");
    let mut all = [(0, whole)];
    write(path, |file| Ok(merge(&mut all, file, &|_| {})?.1)).expect("a temporary file");
    Signatures::open(path).expect("just written")
}

/// Whether two rows are near-duplicates, by the plainest comparison.
fn alike(a: &Row<'_>, b: &Row<'_>, criterion: NearCriterion) -> bool {
    match (a.signature, b.signature) {
        (Some((f, x)), Some((g, y))) => {
            let (x, y) = (Sketch::from_bytes(*x), Sketch::from_bytes(*y));
            criterion.is_candidate((f ^ g).count_ones(), &x, &y)
                && (!criterion.look || x.compare(&y).is_duplicate_document())
        }
        (None, None) => a.digest == b.digest,
        _ => false,
    }
}

/// The components of all pairs of near-duplicates, as the least node of each.
fn components(files: &[&Signatures], criterion: NearCriterion) -> Vec<u64> {
    let all: Vec<Row<'_>> = files.iter().flat_map(|file| rows(file)).collect();
    let mut forest = Forest::new(all.len() as u64);
    for (i, a) in all.iter().enumerate() {
        for (j, b) in all.iter().enumerate().take(i) {
            if alike(a, b, criterion) {
                forest.join(i as u64, j as u64);
            }
        }
    }
    (0..forest.len()).map(|node| forest.root(node)).collect()
}
