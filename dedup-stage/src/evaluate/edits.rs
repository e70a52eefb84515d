//! The experiment of the multi-fingerprint paper, on any folder of prose. Texts have 4 KB. Queries are texts, and have
//! randomly edited copies. Fingerprints are simhashes of 32 bits, after stop words are removed and words are stemmed.
//! The weight of a shingle is the sum of the inverse document frequencies of its words. The results are by shingle
//! size, and by number of random lexicons.

use std::collections::HashMap;

use serde::Serialize;

use crate::evaluate::schemes::lexicon::{Lexicon, is_drawn};
use crate::evaluate::schemes::prose::Prose;
use crate::evaluate::schemes::shingles::shingles;
use crate::signature::simhash::{Counter, Votes};
use crate::words::{WordHash, fold_multiply};

/// How words are prepared.
const WORDS: Prose = Prose { stop: true, stem: true, digits: false };
/// The most bytes of a text.
const TEXT: usize = 4096;
/// Number of edited copies of a query.
pub const COPIES: usize = 120;
/// The largest share of the words of a copy that is edited.
const EDITED: f64 = 0.2;

/// A row of the result: the measures at the distance with the best F-measure.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Number of words of a shingle.
    pub shingle: usize,
    /// Number of random lexicons.
    pub lexicons: u64,
    /// The distance with the best F-measure.
    pub distance: u32,
    /// Share of the texts found that are copies.
    pub precision: f64,
    /// Share of the copies found.
    pub recall: f64,
    /// Harmonic mean of precision and recall.
    pub f: f64,
}

/// Texts as words, and the lexicon over all of them.
#[derive(Debug, Default)]
pub struct Collection {
    texts: Vec<Vec<WordHash>>,
    lexicon: Lexicon,
}

impl Collection {
    /// Cuts prose into texts.
    pub fn add(&mut self, prose: &str) {
        let mut rest = prose;
        while rest.len() >= TEXT {
            let mut end = TEXT;
            while !rest.is_char_boundary(end) {
                end -= 1;
            }
            let end = rest[..end].rfind(char::is_whitespace).filter(|at| *at > 0).unwrap_or(end);
            let words = WORDS.words(&rest[..end]);
            self.lexicon.add(&words);
            self.texts.push(words);
            rest = &rest[end..];
        }
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Runs the experiment: shingles of one to three words with one lexicon, then pairs of words with one to ten.
    pub fn run(&self, queries: usize) -> Vec<Row> {
        let queries = queries.min(self.texts.len());
        let mut random = 1u64;
        let mut copies = Vec::new();
        for query in 0..queries {
            let original = &self.texts[query * self.texts.len() / queries];
            for copy in 0..COPIES {
                let share = EDITED * (copy + 1) as f64 / COPIES as f64;
                copies.push(self.edited(original, share, &mut random));
            }
        }
        let plans = (1..=3).map(|shingle| (shingle, 1)).chain((2..=10).map(|lexicons| (2, lexicons)));
        plans.map(|(shingle, lexicons)| self.row(shingle, lexicons, queries, &copies)).collect()
    }

    /// A copy of a text. This share of its words is deleted, replaced, or followed by a new word. New words are drawn
    /// from all texts.
    fn edited(&self, original: &[WordHash], share: f64, random: &mut u64) -> Vec<WordHash> {
        let mut draw = |below: usize| {
            *random = random.wrapping_add(0x9E37_79B9_7F4A_7C15);
            (fold_multiply(*random, 0xE703_7ED1_A0B4_28DB) >> 33) as usize % below.max(1)
        };
        let mut copy = Vec::with_capacity(original.len() + 16);
        for &word in original {
            if (draw(1 << 20) as f64) >= share * f64::from(1 << 20) {
                copy.push(word);
                continue;
            }
            let kind = draw(3);
            let text = &self.texts[draw(self.texts.len())];
            let other = text.get(draw(text.len())).copied().unwrap_or(word);
            match kind {
                0 => {}
                1 => copy.push(other),
                _ => copy.extend([word, other]),
            }
        }
        copy
    }

    fn row(&self, shingle: usize, lexicons: u64, queries: usize, copies: &[Vec<WordHash>]) -> Row {
        let hash = |words: &Vec<WordHash>| -> Vec<u32> {
            (0..lexicons).map(|i| self.simhash(words, shingle, if lexicons == 1 { 0 } else { i + 1 })).collect()
        };
        let texts: Vec<Vec<u32>> = self.texts.iter().map(hash).collect();
        let copies: Vec<Vec<u32>> = copies.iter().map(hash).collect();
        let near =
            |a: &[u32], b: &[u32]| a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).min().unwrap_or(32) as usize;
        let (mut right, mut wrong) = ([0u64; 33], [0u64; 33]);
        for query in 0..queries {
            let own = query * texts.len() / queries;
            for (_, text) in texts.iter().enumerate().filter(|(i, _)| *i != own) {
                wrong[near(&texts[own], text)] += 1;
            }
            for (i, copy) in copies.iter().enumerate() {
                let counts = if i / COPIES == query { &mut right } else { &mut wrong };
                counts[near(&texts[own], copy)] += 1;
            }
        }
        let all = (queries * COPIES) as f64;
        let (mut found, mut false_ones) = (0u64, 0u64);
        let mut best = Row { shingle, lexicons, distance: 0, precision: 0.0, recall: 0.0, f: 0.0 };
        for distance in 0..=16u32 {
            found += right[distance as usize];
            false_ones += wrong[distance as usize];
            let precision = found as f64 / (found + false_ones).max(1) as f64;
            let recall = found as f64 / all;
            let f = 2.0 * precision * recall / (precision + recall).max(f64::MIN_POSITIVE);
            if f > best.f {
                best = Row { distance, precision, recall, f, ..best };
            }
        }
        best
    }

    /// The simhash of 32 bits. Lexicon 0 has all words. Each other lexicon leaves out a random third of the words.
    fn simhash(&self, words: &[WordHash], shingle: usize, lexicon: u64) -> u32 {
        let words: Vec<WordHash> =
            words.iter().copied().filter(|word| lexicon == 0 || !is_drawn(*word, lexicon, 3)).collect();
        let mut counter = Counter::default();
        let mut weights: HashMap<u64, f64> = HashMap::new();
        for (hash, run) in shingles(&words, shingle).into_iter().zip(words.windows(shingle)) {
            counter.add(hash, 1);
            weights.entry(hash.max(1)).or_insert_with(|| run.iter().map(|word| self.lexicon.idf(*word)).sum());
        }
        let mut votes = Votes::default();
        for (hash, count) in counter.iter() {
            let weight = 16.0 * f64::from(count) * weights.get(&hash).copied().unwrap_or(1.0);
            votes.add(hash, (weight as u32).min((1 << Votes::DIGITS) - 1));
        }
        votes.finish() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_found() {
        let mut collection = Collection::default();
        let prose: String =
            (0..20_000u64).map(|i| format!("w{} ", fold_multiply(i, 0x9E37_79B9_7F4A_7C15) % 3000)).collect();
        collection.add(&prose);
        assert!(collection.len() > 20);
        let rows = collection.run(3);
        assert_eq!(rows.len(), 12);
        assert!(rows.iter().all(|row| row.f > 0.3), "{rows:?}");
    }
}
