//! Signatures: the small values by which pages are compared.
//!
//! The *fingerprint* of a page is a 64-bit simhash. The Hamming index finds pages with near fingerprints. The *sketch*
//! of a page (64 bytes) tells, at the *second look*, whether two pages with near fingerprints say the same. Both
//! together are the *signature*. A *recipe* is the way in which signatures are made from bytes. An *odd sketch* tells
//! how much a page has changed since the last visit.
//!
//! `simhash`, `sketch`, `outlinks` and `bins` make signatures; `odd` makes odd sketches. The signatures of the
//! literature are in `crate::evaluate::schemes`, which compares them with these.

pub(crate) mod bins;
mod odd;
mod outlinks;
mod passage;
pub mod simhash;
mod sketch;
#[cfg(test)]
mod tests;

use ::url::Url;
use serde::{Deserialize, Serialize};

use crate::words::WordHash;
use outlinks::OutLinks;
use simhash::WordSimhash;

pub use odd::{Difference, Numbers, OddSketch};
pub use passage::Passage;
pub use sketch::{Glance, SecondLook, Sketch};

/// What the judge keeps of an accepted page to compare later pages with: the simhash finds candidates, and the sketch
/// is for the second look.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Signature {
    /// 64-bit simhash (Charikar 2002; Manku, Jain, Das Sarma 2007, section 2) of the recipe's weighted features.
    pub simhash: u64,
    /// The sketch for the second look.
    pub sketch: Sketch,
}

/// The name of the recipe of this program's signatures. Signatures of different recipes are never compared. Every
/// change to a step between bytes and signature must change this name.
pub const RECIPE: &str = "content-words-3";

/// The default Hamming distance within which candidates are searched. It was the best in measurements.
pub const DISTANCE: u32 = 7;

/// Makes signatures; keeps only scratch memory.
#[derive(Debug, Default)]
pub struct Signer {
    simhash: WordSimhash,
    sketch: sketch::Maker,
    links: OutLinks,
}

impl Signer {
    /// A page with fewer words of content has no signature, because many pages say such a short text.
    pub const MIN_WORDS: usize = 20;
    /// A page with fewer distinct words (numbers are not counted) has no signature.
    pub const MIN_DISTINCT: usize = 8;

    /// The signature of a page. `words` has the words, `content` the passages of the content, and `links` the links,
    /// each with whether it stands in the content. `None` if there is too little content.
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
