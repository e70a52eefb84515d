//! Signatures: small values by which pages are compared.

mod bins;
pub mod document;
pub mod features;
pub mod lexicon;
pub mod minhash;
mod odd;
pub mod oracles;
mod outlinks;
pub mod porter;
pub mod prose;
pub mod scheme;
pub mod shingles;
pub mod simhash;
mod sketch;
#[cfg(test)]
mod tests;
pub mod words_and_runs;

use ::url::Url;
use serde::{Deserialize, Serialize};

use crate::page::content::Passage;
use crate::page::words::WordHash;
use outlinks::OutLinks;
use simhash::WordSimhash;

pub use odd::{Difference, OddSketch};
pub use sketch::{Glance, SecondLook, Sketch};

/// What is kept of an accepted page for judging later ones: the simhash that finds candidates, and the sketch that takes
/// the second look.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Signature {
    /// 64-bit simhash (Charikar 2002; Manku, Jain, Das Sarma 2007, section 2) of the recipe's weighted features.
    pub simhash: u64,
    /// For the second look.
    pub sketch: Sketch,
}

/// Name of the recipe by which the product's signatures are made. Signatures of different recipes are never compared;
/// a change to any step between bytes and signature changes this name.
pub const RECIPE: &str = "content-words-2";

/// The Hamming distance within which candidates are looked for unless told otherwise: the best measured.
pub const DISTANCE: u32 = 7;

/// Makes signatures; keeps only scratch memory.
#[derive(Debug, Default)]
pub struct Signer {
    simhash: WordSimhash,
    sketch: sketch::Maker,
    links: OutLinks,
}

impl Signer {
    /// Words of content below which a page has no signature: what little it says is said by many.
    pub const MIN_WORDS: usize = 20;
    /// Distinct words, without numbers, below which it has none.
    pub const MIN_DISTINCT: usize = 8;

    /// The signature of a page with this content, whose words stand in `words`, and these links, each with whether it
    /// stands in the content. `None` where there is too little content.
    pub fn sign<'l>(
        &mut self,
        words: &[WordHash],
        content: &[Passage],
        links: impl Iterator<Item = (&'l Url, bool)>,
    ) -> Option<Signature> {
        if content.iter().map(|passage| passage.words.len()).sum::<usize>() < Self::MIN_WORDS {
            return None;
        }
        self.sketch.clear();
        self.links.clear();
        for passage in content {
            let words = &words[passage.words.clone()];
            self.simhash.add(words, passage.eighths);
            self.sketch.add(words);
        }
        let enough = self.simhash.distinct() >= Self::MIN_DISTINCT;
        let simhash = self.simhash.finish();
        if !enough {
            return None;
        }
        links.for_each(|(link, in_content)| self.links.add(link, in_content));
        self.links.finish(|link| self.sketch.link(link));
        Some(Signature { simhash, sketch: self.sketch.finish() })
    }
}
