//! All signatures of the literature and that of this program, behind one interface. So one harness can compare them.

pub mod document;
pub mod features;
pub mod lexicon;
pub mod minhash;
mod names;
pub mod oracles;
pub mod porter;
pub mod prose;
pub mod shingles;
#[cfg(test)]
mod tests;
mod weighted;
pub mod words_and_runs;

pub use weighted::{Feature, Weight, Weighted};

use crate::signature::{Signature, Sketch};
use document::{Document, Part};
use features::Features;
use lexicon::Lexicon;
use minhash::{Bottom, Minima};
use oracles::{bucket_checksums, cosine, edit_similarity};
use prose::Prose;
use shingles::{Set, modulo, shingles, winnow};
use words_and_runs::WordsAndRuns;

/// A way to tell whether two documents are near-duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// The signature of this program: equal bytes; otherwise the simhash of weighted content words, and then the second
    /// look at the sketch. Threshold: distance.
    Cascade,
    /// Simhash (Charikar, STOC 2002; Manku, Jain, Das Sarma, WWW 2007). Threshold: distance.
    Simhash(Weighted),
    /// Several simhashes: of all words, and without each of this many random lexicons, which leave out a third of the
    /// words each. The least distance counts (the multi-fingerprint paper, after Kołcz, Chowdhury, Alspector, KDD
    /// 2004).
    MultiSimhash(u64),
    /// Exact resemblance of shingles of this many words (Broder 1997).
    Resemblance(usize),
    /// Exact containment of shingles of this many words (Broder 1997).
    Containment(usize),
    /// Cosine of word counts (Salton, Wong, Yang, "A Vector Space Model for Automatic Indexing", CACM 1975).
    Cosine,
    /// Edit distance in words (Levenshtein 1966).
    Edit,
    /// Min-wise sketch: this many permutations of 5-word shingles (Broder, CPM 2000).
    Minima(usize),
    /// Min-wise sketch: this many least values of one permutation (Broder 1997).
    Bottom(usize),
    /// Min-wise sketch: the number of permutations, and the number of bits kept of each (Li, König, WWW 2010).
    Bits(usize, u32),
    /// Six features of fourteen minima of 5-word shingles (Broder, CPM 2000). Threshold: equal features.
    Features,
    /// Equal super-features, one for each choice of two features (Broder, CPM 2000, section 4). Sorting finds them.
    /// Threshold: equal super-features.
    SuperFeatures,
    /// Two equal features, then the distance of simhashes (Henzinger, SIGIR 2006). Threshold: distance.
    Combined,
    /// Resemblance of the 5-word shingles that are 0 modulo this number (Broder 1997).
    Modulo(u64),
    /// Resemblance of 5-word shingles that were winnowed with this window (Schleimer, Wilkerson, Aiken, SIGMOD 2003).
    Winnowing(usize),
    /// I-Match (Chowdhury et al., TOIS 2002), besides with this many random lexicons (Kołcz et al., KDD 2004).
    /// Threshold: equal hashes.
    IMatch(u64),
    /// The share of equal checksums of this many buckets of words (Pugh, Henzinger, US patent 6,658,423, 2003).
    Buckets(usize),
    /// Versions of one page, recognised by their words and the order of these: see [`WordsAndRuns`].
    WordsAndRuns,
}

/// The values that a scheme keeps of a document.
#[derive(Clone, Debug)]
pub enum Fingerprint {
    /// Nothing, because the document has too little text. It is near no other document.
    None,
    /// The digest, and the signature of this program.
    Cascade([u8; 32], Option<Signature>),
    /// Values that are compared place by place.
    Hashes(Vec<u64>),
    /// A set.
    Set(Set),
    /// Minima.
    Minima(Minima),
    /// Least values.
    Bottom(Bottom),
    /// Features and a simhash.
    Features(Features, u64),
    /// Sketches of words and of runs.
    WordsAndRuns(WordsAndRuns),
}

impl Scheme {
    /// Every scheme, with the parameters that the papers or the practice use.
    pub fn all() -> Vec<Scheme> {
        use Weight::{Count, Idf, Log, One, Root};
        let mut all = vec![Scheme::Cascade];
        let mut add = |recipe: Weighted| all.push(Scheme::Simhash(recipe));
        for feature in [Feature::Words, Feature::Shingles(2), Feature::Shingles(3), Feature::Shingles(4)] {
            [One, Count, Log, Root, Idf].into_iter().for_each(|weight| add(Weighted::new(feature, weight)));
        }
        for feature in [Feature::Shingles(5), Feature::Characters(5), Feature::Phrases] {
            [One, Count, Log, Root].into_iter().for_each(|weight| add(Weighted::new(feature, weight)));
        }
        for weight in [Count, Root, Idf] {
            add(Weighted { bits: 32, ..Weighted::new(Feature::Words, weight) });
        }
        let words = Weighted::new(Feature::Words, Root);
        for (stop, stem, digits) in
            [(true, false, false), (false, true, false), (true, true, false), (false, false, true)]
        {
            add(Weighted { prose: Prose { stop, stem, digits }, ..words });
        }
        for (part, _) in Part::ALL {
            add(Weighted { parts: Part::ALL.map(|(other, _)| other == part), ..words });
        }
        all.extend([
            Scheme::MultiSimhash(5),
            Scheme::Resemblance(3),
            Scheme::Resemblance(5),
            Scheme::Containment(5),
            Scheme::Cosine,
            Scheme::Edit,
            Scheme::Minima(84),
            Scheme::Bottom(84),
            Scheme::Bits(352, 1),
            Scheme::Features,
            Scheme::SuperFeatures,
            Scheme::Combined,
            Scheme::Modulo(16),
            Scheme::Winnowing(8),
            Scheme::IMatch(0),
            Scheme::IMatch(10),
            Scheme::Buckets(16),
            Scheme::WordsAndRuns,
        ]);
        all
    }

    /// The bytes that are kept of a page; `None` if the number depends on the page.
    pub fn bytes(&self) -> Option<usize> {
        const HASH: usize = size_of::<u64>();
        match *self {
            Scheme::Cascade => Some(32 + HASH + Sketch::BYTES),
            Scheme::Simhash(recipe) => Some(recipe.bits as usize / 8),
            Scheme::MultiSimhash(lexicons) | Scheme::IMatch(lexicons) => Some(HASH * (lexicons as usize + 1)),
            Scheme::Minima(t) | Scheme::Bottom(t) | Scheme::Buckets(t) => Some(HASH * t),
            Scheme::Bits(t, bits) => Some((t * bits as usize).div_ceil(8)),
            Scheme::Features => Some(HASH * Features::GROUPS),
            Scheme::SuperFeatures => Some(HASH * Features::GROUPS * (Features::GROUPS - 1) / 2),
            Scheme::Combined => Some(HASH * (Features::GROUPS + 1)),
            Scheme::WordsAndRuns => Some(WordsAndRuns::BYTES),
            Scheme::Resemblance(_)
            | Scheme::Containment(_)
            | Scheme::Cosine
            | Scheme::Edit
            | Scheme::Modulo(_)
            | Scheme::Winnowing(_) => None,
        }
    }

    /// Whether a smaller score means that documents are nearer.
    pub fn by_distance(&self) -> bool {
        matches!(self, Scheme::Cascade | Scheme::Simhash(..) | Scheme::MultiSimhash(_) | Scheme::Combined)
    }

    /// Whether two documents with this score are near at this threshold.
    pub fn is_near(&self, score: f64, threshold: f64) -> bool {
        if self.by_distance() { score <= threshold } else { score >= threshold }
    }

    /// The thresholds that are worth trying.
    pub fn thresholds(&self) -> Vec<f64> {
        match *self {
            _ if self.by_distance() => (0..=16).map(f64::from).collect(),
            Scheme::Features => (1..=Features::GROUPS).map(|equal| equal as f64).collect(),
            Scheme::SuperFeatures => [1, 3, 6, 10, 15].map(f64::from).to_vec(),
            Scheme::IMatch(lexicons) => (1..=lexicons + 1).map(|equal| equal as f64).collect(),
            _ => (1..40).map(|step| f64::from(step) / 40.0).collect(),
        }
    }

    /// The values that the scheme keeps of a document.
    pub fn fingerprint(&self, document: &Document, lexicon: &Lexicon) -> Fingerprint {
        let words = &document.words;
        if words.is_empty() {
            return Fingerprint::None;
        }
        let five = || shingles(words, 5);
        match *self {
            Scheme::Cascade => Fingerprint::Cascade(document.sha256, document.signature.clone()),
            Scheme::Simhash(recipe) => Fingerprint::Hashes(vec![recipe.simhash(document, lexicon, 0)]),
            Scheme::MultiSimhash(lexicons) => {
                let recipe = Weighted::new(Feature::Words, Weight::Root);
                Fingerprint::Hashes((0..=lexicons).map(|draw| recipe.simhash(document, lexicon, draw)).collect())
            }
            Scheme::Resemblance(width) | Scheme::Containment(width) => {
                Fingerprint::Set(shingles(words, width).into_iter().collect())
            }
            Scheme::Cosine | Scheme::Edit => Fingerprint::Hashes(words.clone()),
            Scheme::Minima(t) | Scheme::Bits(t, _) => Fingerprint::Minima(Minima::new(&five(), t)),
            Scheme::Bottom(t) => Fingerprint::Bottom(Bottom::new(&five(), t)),
            Scheme::Features | Scheme::SuperFeatures | Scheme::Combined => Fingerprint::Features(
                Features::new(&five(), Features::GROUPS, Features::EACH),
                Weighted::new(Feature::Words, Weight::Count).simhash(document, lexicon, 0),
            ),
            Scheme::Modulo(p) => Fingerprint::Set(modulo(&five(), p)),
            Scheme::Winnowing(window) => Fingerprint::Set(winnow(&five(), window)),
            Scheme::IMatch(lexicons) => {
                Fingerprint::Hashes((0..=lexicons).map(|i| lexicon.imatch(words, i).unwrap_or(0)).collect())
            }
            Scheme::Buckets(buckets) => Fingerprint::Hashes(bucket_checksums(words, buckets)),
            Scheme::WordsAndRuns => Fingerprint::WordsAndRuns(WordsAndRuns::new(words, lexicon)),
        }
    }

    /// The score of two documents, from the values that were kept of them.
    pub fn compare(&self, a: &Fingerprint, b: &Fingerprint) -> f64 {
        use Fingerprint as F;
        let never = if self.by_distance() { f64::INFINITY } else { 0.0 };
        match (self, a, b) {
            (Scheme::Cascade, F::Cascade(a, _), F::Cascade(b, _)) if a == b => 0.0,
            (Scheme::Cascade, F::Cascade(_, Some(a)), F::Cascade(_, Some(b)))
                if a.sketch.compare(&b.sketch).is_duplicate() =>
            {
                distance(a.simhash, b.simhash)
            }
            (Scheme::Simhash(..) | Scheme::MultiSimhash(_), F::Hashes(a), F::Hashes(b)) => {
                a.iter().zip(b).map(|(a, b)| distance(*a, *b)).fold(f64::INFINITY, f64::min)
            }
            (Scheme::Containment(_), F::Set(a), F::Set(b)) => a.containment(b),
            (_, F::Set(a), F::Set(b)) => a.resemblance(b),
            (Scheme::Cosine, F::Hashes(a), F::Hashes(b)) => cosine(a, b),
            (Scheme::Edit, F::Hashes(a), F::Hashes(b)) => edit_similarity(a, b),
            (Scheme::Bits(_, bits), F::Minima(a), F::Minima(b)) => a.resemblance_of_bits(b, *bits),
            (_, F::Minima(a), F::Minima(b)) => a.resemblance(b),
            (_, F::Bottom(a), F::Bottom(b)) => a.resemblance(b),
            (Scheme::Features, F::Features(a, _), F::Features(b, _)) => a.equal(b) as f64,
            (Scheme::SuperFeatures, F::Features(a, _), F::Features(b, _)) => {
                a.pairs().iter().zip(b.pairs()).filter(|(a, b)| **a == *b).count() as f64
            }
            (Scheme::Combined, F::Features(a, x), F::Features(b, y)) if a.equal(b) >= Features::EQUAL => {
                distance(*x, *y)
            }
            (Scheme::IMatch(_), F::Hashes(a), F::Hashes(b)) => {
                a.iter().zip(b).filter(|(a, b)| a == b && **a != 0).count() as f64
            }
            (Scheme::Buckets(_), F::Hashes(a), F::Hashes(b)) => {
                a.iter().zip(b).filter(|(a, b)| a == b && **a != 0).count() as f64 / a.len() as f64
            }
            (_, F::WordsAndRuns(a), F::WordsAndRuns(b)) => a.likeness(b),
            _ => never,
        }
    }
}

fn distance(a: u64, b: u64) -> f64 {
    f64::from((a ^ b).count_ones())
}
