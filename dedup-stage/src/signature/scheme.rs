//! All signatures behind one interface, so that one harness can compare them.

use std::fmt;
use std::str::FromStr;

use super::Signature;
use super::features::Features;
use super::lexicon::{Lexicon, is_drawn};
use super::minhash::{Bottom, Minima};
use super::oracles::{bucket_checksums, cosine, edit_similarity};
use super::shingles::{Set, character_shingles, modulo, shingles, winnow};
use super::simhash::{Counter, Votes};
use crate::page::words::{WordHash, is_number};

/// What is compared: a page or text after reading.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Its content.
    pub text: String,
    /// The hashes of the words of its content, in order.
    pub words: Vec<WordHash>,
    /// The product's own signature, if it has one.
    pub signature: Option<Signature>,
}

/// Features of a simhash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Words.
    Words,
    /// Runs of so many words.
    Shingles(usize),
    /// Runs of so many characters.
    Characters(usize),
}

/// Weights of the features of a simhash; n is how often a feature stands in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// 1.
    One,
    /// n.
    Count,
    /// 1 + ln n.
    Log,
    /// √n.
    Root,
    /// n times the inverse document frequency; of a shingle, the mean of its words'; of characters, n.
    Idf,
}

/// A way to tell whether two documents are near-duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// The product: simhash of weighted content words, then the second look at the sketch. Threshold: distance.
    Cascade,
    /// Simhash (Charikar 2002; Manku, Jain, Das Sarma 2007), of 64 or 32 bits. Threshold: distance.
    Simhash(Feature, Weight, u32),
    /// Simhashes by so many random lexicons, each without a third of the words; the least distance counts.
    MultiSimhash(u64),
    /// Exact resemblance of shingles of so many words (Broder 1997).
    Resemblance(usize),
    /// Exact containment of shingles of so many words (Broder 1997).
    Containment(usize),
    /// Cosine of word counts.
    Cosine,
    /// Edit distance in words.
    Edit,
    /// Min-wise sketch: so many permutations of 5-word shingles (Broder 2000).
    Minima(usize),
    /// Min-wise sketch: so many least values of one permutation.
    Bottom(usize),
    /// Min-wise sketch of so many permutations, so many bits of each (Li, König 2010).
    Bits(usize, u32),
    /// Six features of fourteen minima of 5-word shingles (Broder 2000). Threshold: equal features.
    Features,
    /// Two equal features, then the distance of simhashes (Henzinger 2006). Threshold: distance.
    Combined,
    /// Resemblance of the 5-word shingles that are 0 modulo so much (Broder 1997).
    Modulo(u64),
    /// Resemblance of winnowed 5-word shingles with such a window (Schleimer, Wilkerson, Aiken 2003).
    Winnowing(usize),
    /// I-Match (Chowdhury et al. 2002), with so many random lexicons besides (Kołcz et al. 2004). Threshold: equal hashes.
    IMatch(u64),
    /// Share of equal checksums of so many buckets of words (Pugh, Henzinger 2003).
    Buckets(usize),
}

/// What a scheme keeps of a document.
#[derive(Clone, Debug)]
pub enum Fingerprint {
    /// Nothing: too little text. Never near anything.
    None,
    /// The product's signature.
    Signature(Signature),
    /// Values compared place by place.
    Hashes(Vec<u64>),
    /// A set.
    Set(Set),
    /// Minima.
    Minima(Minima),
    /// Least values.
    Bottom(Bottom),
    /// Features and a simhash.
    Features(Features, u64),
}

impl Scheme {
    /// Every scheme, with the parameters that the papers or the practice use.
    pub fn all() -> Vec<Scheme> {
        use Weight::{Count, Idf, Log, One, Root};
        let mut all = vec![Scheme::Cascade];
        for feature in [Feature::Words, Feature::Shingles(2), Feature::Shingles(3)] {
            all.extend([One, Count, Log, Root, Idf].map(|weight| Scheme::Simhash(feature, weight, 64)));
        }
        all.extend([One, Count, Log, Root].map(|weight| Scheme::Simhash(Feature::Characters(5), weight, 64)));
        all.extend([Feature::Shingles(4), Feature::Shingles(5)].map(|feature| Scheme::Simhash(feature, Count, 64)));
        all.extend([Count, Root, Idf].map(|weight| Scheme::Simhash(Feature::Words, weight, 32)));
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
            Scheme::Combined,
            Scheme::Modulo(16),
            Scheme::Winnowing(8),
            Scheme::IMatch(0),
            Scheme::IMatch(10),
            Scheme::Buckets(16),
        ]);
        all
    }

    /// Whether smaller scores are nearer.
    pub fn by_distance(&self) -> bool {
        matches!(self, Scheme::Cascade | Scheme::Simhash(..) | Scheme::MultiSimhash(_) | Scheme::Combined)
    }

    /// Whether a pair with this score is near at this threshold.
    pub fn is_near(&self, score: f64, threshold: f64) -> bool {
        if self.by_distance() { score <= threshold } else { score >= threshold }
    }

    /// The thresholds worth trying.
    pub fn thresholds(&self) -> Vec<f64> {
        match *self {
            _ if self.by_distance() => (0..=16).map(f64::from).collect(),
            Scheme::Features => (1..=Features::GROUPS).map(|equal| equal as f64).collect(),
            Scheme::IMatch(lexicons) => (1..=lexicons + 1).map(|equal| equal as f64).collect(),
            _ => (1..20).map(|step| f64::from(step) / 20.0).collect(),
        }
    }

    /// What is kept of a document.
    pub fn fingerprint(&self, document: &Document, lexicon: &Lexicon) -> Fingerprint {
        let words = &document.words;
        if words.is_empty() {
            return Fingerprint::None;
        }
        let five = || shingles(words, 5);
        match *self {
            Scheme::Cascade => document.signature.clone().map_or(Fingerprint::None, Fingerprint::Signature),
            Scheme::Simhash(feature, weight, bits) => {
                let hash = simhash(document, feature, weight, lexicon, 0);
                Fingerprint::Hashes(vec![if bits == 64 { hash } else { hash & ((1 << bits) - 1) }])
            }
            Scheme::MultiSimhash(lexicons) => Fingerprint::Hashes(
                (0..=lexicons).map(|i| simhash(document, Feature::Words, Weight::Root, lexicon, i)).collect(),
            ),
            Scheme::Resemblance(width) | Scheme::Containment(width) => {
                Fingerprint::Set(shingles(words, width).into_iter().collect())
            }
            Scheme::Cosine | Scheme::Edit => Fingerprint::Hashes(words.clone()),
            Scheme::Minima(t) | Scheme::Bits(t, _) => Fingerprint::Minima(Minima::new(&five(), t)),
            Scheme::Bottom(t) => Fingerprint::Bottom(Bottom::new(&five(), t)),
            Scheme::Features | Scheme::Combined => Fingerprint::Features(
                Features::new(&five(), Features::GROUPS, Features::EACH),
                simhash(document, Feature::Words, Weight::Count, lexicon, 0),
            ),
            Scheme::Modulo(p) => Fingerprint::Set(modulo(&five(), p)),
            Scheme::Winnowing(window) => Fingerprint::Set(winnow(&five(), window)),
            Scheme::IMatch(lexicons) => {
                Fingerprint::Hashes((0..=lexicons).map(|i| lexicon.imatch(words, i).unwrap_or(0)).collect())
            }
            Scheme::Buckets(buckets) => Fingerprint::Hashes(bucket_checksums(words, buckets)),
        }
    }

    /// The score of two documents by what was kept of them.
    pub fn compare(&self, a: &Fingerprint, b: &Fingerprint) -> f64 {
        use Fingerprint as F;
        let never = if self.by_distance() { f64::INFINITY } else { 0.0 };
        match (self, a, b) {
            (Scheme::Cascade, F::Signature(a), F::Signature(b)) if a.sketch.compare(&b.sketch).duplicate => {
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
            (Scheme::Combined, F::Features(a, x), F::Features(b, y)) if a.equal(b) >= Features::EQUAL => {
                distance(*x, *y)
            }
            (Scheme::IMatch(_), F::Hashes(a), F::Hashes(b)) => {
                a.iter().zip(b).filter(|(a, b)| a == b && **a != 0).count() as f64
            }
            (Scheme::Buckets(_), F::Hashes(a), F::Hashes(b)) => {
                a.iter().zip(b).filter(|(a, b)| a == b && **a != 0).count() as f64 / a.len() as f64
            }
            _ => never,
        }
    }
}

fn distance(a: u64, b: u64) -> f64 {
    f64::from((a ^ b).count_ones())
}

/// The simhash of a document without the words that random lexicon number `draw` leaves out (0: none).
fn simhash(document: &Document, feature: Feature, weight: Weight, lexicon: &Lexicon, draw: u64) -> u64 {
    let kept = document.words.iter().copied().filter(|word| draw == 0 || !is_drawn(*word, draw, 3));
    let words: Vec<WordHash> = kept.filter(|word| !is_number(*word)).collect();
    let features = match feature {
        Feature::Words => words.clone(),
        Feature::Shingles(width) => shingles(&words, width),
        Feature::Characters(width) => character_shingles(&document.text, width),
    };
    let mut counter = Counter::default();
    let mut idf = std::collections::HashMap::new();
    for feature in &features {
        counter.add(*feature, 1);
    }
    if weight == Weight::Idf && !matches!(feature, Feature::Characters(_)) {
        let width = words.len() + 1 - features.len().min(words.len());
        for (feature, run) in features.iter().zip(words.windows(width)) {
            let mean = run.iter().map(|word| lexicon.idf(*word)).sum::<f64>() / width as f64;
            idf.insert((*feature).max(1), mean);
        }
    }
    let mut votes = Votes::default();
    for (feature, count) in counter.iter() {
        let n = f64::from(count);
        // Sixteenths, so that a weight of one keeps its fractions apart.
        let weight = 16.0
            * match weight {
                Weight::One => 1.0,
                Weight::Count => n,
                Weight::Log => 1.0 + n.ln(),
                Weight::Root => n.sqrt(),
                Weight::Idf => n * idf.get(&feature).copied().unwrap_or(1.0),
            };
        votes.add(feature, (weight as u32).min((1 << Votes::DIGITS) - 1));
    }
    votes.finish()
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scheme::Cascade => f.write_str("cascade"),
            Scheme::Simhash(feature, weight, bits) => {
                f.write_str(if *bits == 64 { "simhash-" } else { "simhash32-" })?;
                match feature {
                    Feature::Words => f.write_str("words-")?,
                    Feature::Shingles(width) => write!(f, "shingles{width}-")?,
                    Feature::Characters(width) => write!(f, "chars{width}-")?,
                }
                f.write_str(match weight {
                    Weight::One => "one",
                    Weight::Count => "tf",
                    Weight::Log => "log",
                    Weight::Root => "sqrt",
                    Weight::Idf => "idf",
                })
            }
            Scheme::MultiSimhash(lexicons) => write!(f, "multisimhash{lexicons}"),
            Scheme::Resemblance(width) => write!(f, "resemblance{width}"),
            Scheme::Containment(width) => write!(f, "containment{width}"),
            Scheme::Cosine => f.write_str("cosine"),
            Scheme::Edit => f.write_str("edit"),
            Scheme::Minima(t) => write!(f, "minhash{t}"),
            Scheme::Bottom(t) => write!(f, "bottom{t}"),
            Scheme::Bits(t, bits) => write!(f, "minhash{t}-{bits}bit"),
            Scheme::Features => f.write_str("features"),
            Scheme::Combined => f.write_str("features-simhash"),
            Scheme::Modulo(p) => write!(f, "modulo{p}"),
            Scheme::Winnowing(window) => write!(f, "winnowing{window}"),
            Scheme::IMatch(0) => f.write_str("imatch"),
            Scheme::IMatch(lexicons) => write!(f, "imatch{lexicons}"),
            Scheme::Buckets(buckets) => write!(f, "buckets{buckets}"),
        }
    }
}

impl FromStr for Scheme {
    type Err = String;

    /// The scheme of this name; numbers in names may be others than those of [`Scheme::all`].
    fn from_str(name: &str) -> Result<Self, String> {
        let number =
            |prefix: &str| name.strip_prefix(prefix).and_then(|rest| rest.parse::<u32>().ok()).filter(|n| *n > 0);
        let wide = |n: u32| n as usize;
        let simhash = |rest: &str, bits| {
            let (feature, weight) = rest.split_once('-')?;
            let width = |prefix| feature.strip_prefix(prefix).and_then(|n: &str| n.parse().ok()).filter(|n| *n > 0);
            let feature = match feature {
                "words" => Feature::Words,
                _ => width("shingles").map(Feature::Shingles).or_else(|| width("chars").map(Feature::Characters))?,
            };
            let weight = match weight {
                "one" => Weight::One,
                "tf" => Weight::Count,
                "log" => Weight::Log,
                "sqrt" => Weight::Root,
                "idf" => Weight::Idf,
                _ => return None,
            };
            Some(Scheme::Simhash(feature, weight, bits))
        };
        let bits = |rest: &str| {
            let (t, bits) = rest.split_once('-')?;
            let bits = bits.strip_suffix("bit")?.parse().ok().filter(|bits| (1..=16).contains(bits))?;
            Some(Scheme::Bits(t.parse().ok().filter(|t| *t > 0)?, bits))
        };
        let found = match name {
            "cascade" => Some(Scheme::Cascade),
            "cosine" => Some(Scheme::Cosine),
            "edit" => Some(Scheme::Edit),
            "features" => Some(Scheme::Features),
            "features-simhash" => Some(Scheme::Combined),
            "imatch" => Some(Scheme::IMatch(0)),
            _ => (name.strip_prefix("simhash-").and_then(|rest| simhash(rest, 64)))
                .or_else(|| name.strip_prefix("simhash32-").and_then(|rest| simhash(rest, 32)))
                .or_else(|| number("multisimhash").map(|n| Scheme::MultiSimhash(n.into())))
                .or_else(|| number("resemblance").map(|n| Scheme::Resemblance(wide(n))))
                .or_else(|| number("containment").map(|n| Scheme::Containment(wide(n))))
                .or_else(|| number("minhash").map(|n| Scheme::Minima(wide(n))))
                .or_else(|| name.strip_prefix("minhash").and_then(bits))
                .or_else(|| number("bottom").map(|n| Scheme::Bottom(wide(n))))
                .or_else(|| number("modulo").map(|n| Scheme::Modulo(n.into())))
                .or_else(|| number("winnowing").map(|n| Scheme::Winnowing(wide(n))))
                .or_else(|| number("imatch").map(|n| Scheme::IMatch(n.into())))
                .or_else(|| number("buckets").map(|n| Scheme::Buckets(wide(n)))),
        };
        found.ok_or_else(|| {
            let names: Vec<String> = Scheme::all().iter().map(Scheme::to_string).collect();
            format!("unknown scheme {name:?}; there are {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(seed: u64, changed: std::ops::Range<u64>) -> Document {
        let words: Vec<String> = (0..400u64)
            .map(|i| format!("w{}", (i * 7919 + if changed.contains(&i) { seed } else { 1 } * 104_729) % 1201))
            .collect();
        let text = words.join(" ");
        let url = ::url::Url::parse("http://a.example/").unwrap();
        let input =
            crate::page::Input { url: &url, status: 200, content_type: Some("text/plain"), body: text.as_bytes() };
        let mut reader = crate::page::Reader::default();
        let signature = reader.read(&input).signature;
        Document { text, words: reader.content_words().collect(), signature }
    }

    #[test]
    fn names_lead_back() {
        for scheme in Scheme::all() {
            assert_eq!(scheme.to_string().parse(), Ok(scheme));
        }
        assert!("simhash-words-foo".parse::<Scheme>().is_err() && "minhash0".parse::<Scheme>().is_err());
    }

    #[test]
    fn every_scheme_tells_a_copy_from_another_text() {
        let (original, copy, other) = (document(1, 0..0), document(2, 200..203), document(3, 0..400));
        let mut lexicon = Lexicon::default();
        (0..40).for_each(|i| lexicon.add(&document(i, i * 10..400).words));
        for scheme in Scheme::all() {
            let [a, b, c] = [&original, &copy, &other].map(|document| scheme.fingerprint(document, &lexicon));
            let nearer = |x: f64, y: f64| if scheme.by_distance() { x < y } else { x > y };
            assert!(nearer(scheme.compare(&a, &a), scheme.compare(&a, &c)), "{scheme}: itself");
            if scheme != Scheme::IMatch(0) {
                assert!(nearer(scheme.compare(&a, &b), scheme.compare(&a, &c)), "{scheme}: a copy");
            }
            let nothing = scheme.fingerprint(&Document::default(), &lexicon);
            assert!(
                scheme.thresholds().iter().all(|t| !scheme.is_near(scheme.compare(&nothing, &nothing), *t)),
                "{scheme}"
            );
        }
    }
}
