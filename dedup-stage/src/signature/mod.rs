//! Signatures: small values by which pages are compared.

mod simhash;
mod sketch;

use std::ops::Range;

use ::url::Url;

use crate::page::Link;
use crate::page::words::WordHash;

pub use sketch::{SecondLook, Sketch};

/// What is kept of an accepted page for judging later ones: the simhash that finds candidates, and the sketch that takes
/// the second look.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// 64-bit simhash (Charikar 2002; Manku, Jain, Das Sarma 2007, section 2) of the recipe's weighted features.
    pub simhash: u64,
    /// For the second look.
    pub sketch: Sketch,
}

/// Name of the recipe by which the product's signatures are made. Signatures of different recipes are never compared;
/// a change to any step between bytes and signature changes this name.
pub const RECIPE: &str = "words-1";

/// The Hamming distance within which candidates are looked for unless told otherwise: the best measured.
pub const DISTANCE: u32 = 3;

/// Makes signatures; keeps only scratch memory.
#[derive(Debug, Default)]
pub struct Signer {
    simhash: simhash::Counter,
    sketch: sketch::Maker,
}

impl Signer {
    /// Words below which a page has no signature: what little it says is said by many.
    pub const MIN_WORDS: usize = 20;

    /// The signature of a page whose content stands at `content` in `words`, fetched from `url`, with these links
    /// (`chrome[i]`: link `i` stands only in chrome). `None` where there is too little content.
    pub fn sign(
        &mut self,
        words: &[WordHash],
        content: &[Range<usize>],
        url: &Url,
        links: &[Link],
        chrome: &[bool],
    ) -> Option<Signature> {
        let count: usize = content.iter().map(Range::len).sum();
        if count < Self::MIN_WORDS {
            return None;
        }
        self.simhash.clear();
        self.sketch.clear();
        for range in content {
            self.simhash.add(&words[range.clone()]);
            self.sketch.add(&words[range.clone()]);
        }
        for (link, chrome) in links.iter().zip(chrome) {
            if !chrome {
                self.sketch.link(url, &link.url);
            }
        }
        Some(Signature { simhash: self.simhash.finish(), sketch: self.sketch.finish() })
    }
}
