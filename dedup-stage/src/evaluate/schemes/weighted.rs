//! Simhash of chosen features with chosen weights. The paper asks how much this choice matters (Manku, Jain, Das Sarma,
//! WWW 2007, sections 5.3 and 6.E).

use std::collections::HashMap;

use crate::evaluate::schemes::document::{Document, Part};
use crate::evaluate::schemes::lexicon::{Lexicon, is_drawn};
use crate::evaluate::schemes::prose::Prose;
use crate::evaluate::schemes::shingles::{character_shingles, shingles};
use crate::signature::simhash::{Counter, Votes};
use crate::words::{WordHash, is_number};

/// Features of a simhash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Words.
    Words,
    /// Runs of this many words.
    Shingles(usize),
    /// Runs of this many characters.
    Characters(usize),
    /// Runs of words without a stop word or a mark between them; see [`Prose::phrases`].
    Phrases,
}

/// Weights of the features of a simhash; n is how often a feature stands in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// 1.
    One,
    /// n.
    Count,
    /// 1 + ln n; n if n < 1.
    Log,
    /// √n.
    Root,
    /// n times the inverse document frequency. For a shingle, the mean of its words' frequencies counts. For characters
    /// and phrases, the weight is n.
    Idf,
}

/// The recipe of a simhash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weighted {
    /// Features.
    pub feature: Feature,
    /// Their weights.
    pub weight: Weight,
    /// Bits of the simhash: 64 or 32.
    pub bits: u32,
    /// The changes to the words before they are counted. Characters are not changed.
    pub prose: Prose,
    /// Parts of the page that vote besides its content, in the order of [`Part::ALL`].
    pub parts: [bool; Part::ALL.len()],
}

impl Weighted {
    /// Features of the content alone, in 64 bits.
    pub const fn new(feature: Feature, weight: Weight) -> Self {
        let prose = Prose { stop: false, stem: false, digits: false };
        Self { feature, weight, bits: 64, prose, parts: [false; Part::ALL.len()] }
    }

    /// The simhash of a document. The words that random lexicon number `draw` leaves out are not counted (0: none).
    pub fn simhash(&self, document: &Document, lexicon: &Lexicon, draw: u64) -> u64 {
        let mut features = Features { recipe: self, lexicon, draw, counter: Counter::default(), idf: HashMap::new() };
        if self.prose == Prose::default() && !matches!(self.feature, Feature::Characters(_) | Feature::Phrases) {
            features.add_words(document.words.iter().copied().filter(|word| !is_number(*word)).collect(), FULL);
        } else {
            features.add_text(&document.text, FULL);
        }
        for (part, text) in &document.parts {
            let wanted = Part::ALL.iter().zip(self.parts).any(|((own, _), wanted)| own == part && wanted);
            if wanted {
                features.add_text(&text.text, text.sixteenths);
            }
        }
        let hash = features.finish();
        if self.bits == 64 { hash } else { hash & ((1 << self.bits) - 1) }
    }
}

/// The weight of a word of the content, in sixteenths.
const FULL: u32 = 16;

/// The features that are being counted.
struct Features<'a> {
    recipe: &'a Weighted,
    lexicon: &'a Lexicon,
    draw: u64,
    /// In sixteenths.
    counter: Counter,
    idf: HashMap<u64, f64>,
}

impl Features<'_> {
    fn add_text(&mut self, text: &str, sixteenths: u32) {
        match self.recipe.feature {
            Feature::Words | Feature::Shingles(_) => self.add_words(self.recipe.prose.words(text), sixteenths),
            Feature::Characters(width) => self.count(&character_shingles(text, width), sixteenths),
            Feature::Phrases => self.count(&self.recipe.prose.phrases(text), sixteenths),
        }
    }

    fn add_words(&mut self, mut words: Vec<WordHash>, sixteenths: u32) {
        words.retain(|word| self.draw == 0 || !is_drawn(*word, self.draw, 3));
        let width = match self.recipe.feature {
            Feature::Shingles(width) => width,
            _ => 1,
        };
        let features = if width == 1 { words.clone() } else { shingles(&words, width) };
        if self.recipe.weight == Weight::Idf {
            // A text that is shorter than a shingle has one feature: all its words.
            for (feature, run) in features.iter().zip(words.windows(width.min(words.len()).max(1))) {
                let mean = run.iter().map(|word| self.lexicon.idf(*word)).sum::<f64>() / run.len() as f64;
                self.idf.insert((*feature).max(1), mean);
            }
        }
        self.count(&features, sixteenths);
    }

    fn count(&mut self, features: &[u64], sixteenths: u32) {
        features.iter().for_each(|feature| self.counter.add(*feature, sixteenths));
    }

    fn finish(&self) -> u64 {
        let mut votes = Votes::default();
        for (feature, sixteenths) in self.counter.iter() {
            let n = f64::from(sixteenths) / f64::from(FULL);
            let weight = match self.recipe.weight {
                Weight::One => 1.0,
                Weight::Count => n,
                Weight::Log if n < 1.0 => n,
                Weight::Log => 1.0 + n.ln(),
                Weight::Root => n.sqrt(),
                Weight::Idf => n * self.idf.get(&feature).copied().unwrap_or(1.0),
            };
            // The weights are in sixteenths again, so that different fractions stay different.
            votes.add(feature, ((16.0 * weight) as u32).min((1 << Votes::DIGITS) - 1));
        }
        votes.finish()
    }
}
