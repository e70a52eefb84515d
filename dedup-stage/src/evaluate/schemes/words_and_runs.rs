//! Tells versions of one page from other pages. It compares which words the texts have, and in which order. The sketch
//! of a text has 64 bytes.
//!
//! Shingles of five words tell copies. They are little help for a page that was rewritten here and there. One changed
//! word changes five shingles. If a page has grown, its resemblance to the shorter version is low, although it has all
//! the words of the shorter version. So this measure
//!
//! - compares the words first, and their order second;
//! - draws words by how rare they are, because frequent words tell little about a page;
//! - leaves numbers out, because versions, dates and counters change while the page stays the same;
//! - takes into account how much of the shorter text the longer one has, and how alike both are.

use super::lexicon::Lexicon;
use super::shingles::{Set, shingles};
use crate::signature::bins::{Bins, common};
use crate::words::{WordHash, fold_multiply, is_number};

/// Words of a run.
const RUN: usize = 3;
/// Bins of the sketch of the words, and bits that are kept of each. With more bits, fewer different words agree by
/// chance. This matters for texts that have little in common.
const WORDS: usize = 80;
const WORD_BITS: usize = 4;
/// Bins of the sketch of the runs, and bits that are kept of each.
const RUNS: usize = 40;
const RUN_BITS: usize = 4;
/// The positions of the parts.
const WORDS_END: usize = WORDS * WORD_BITS / 8;
const RUNS_END: usize = WORDS_END + RUNS * RUN_BITS / 8;

/// A sketch of the distinct words of a text that are drawn, and a sketch of its distinct 3-word runs, both without
/// numbers. Also the number of these words and of these runs.
///
/// A word is drawn with the probability idf / ln(1 + N). Here idf is its inverse document frequency, and ln(1 + N) is
/// that of a word that none of the N documents of the lexicon has. The hash of the word decides, so a word is drawn in
/// all texts or in none.
///
/// The resemblance of two sets (Broder 1997) and their sizes give the containment of the smaller set in the larger one.
/// The geometric mean of resemblance and containment is the likeness of the sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordsAndRuns([u8; WordsAndRuns::BYTES]);

impl WordsAndRuns {
    /// Its size.
    pub const BYTES: usize = 64;
    /// The weight of the likeness of the runs. The words have the rest of the weight.
    const OF_RUNS: f64 = 0.3;

    /// The sketch of a text with these words. With an empty lexicon all words are drawn.
    pub fn new(words: &[WordHash], lexicon: &Lexicon) -> Self {
        let mut words: Vec<WordHash> = words.iter().copied().filter(|word| !is_number(*word)).collect();
        let mut bytes = [0; Self::BYTES];
        let runs = sketch::<RUNS, RUN_BITS>(shingles(&words, RUN), &mut bytes[WORDS_END..RUNS_END]);
        let most = f64::from(lexicon.documents()).ln_1p();
        words.retain(|word| die(*word) * most <= lexicon.idf(*word));
        let words = sketch::<WORDS, WORD_BITS>(words, &mut bytes[..WORDS_END]);
        for (place, count) in bytes[RUNS_END..].chunks_exact_mut(2).zip([words, runs]) {
            place.copy_from_slice(&u16::try_from(count).unwrap_or(u16::MAX).to_le_bytes());
        }
        Self(bytes)
    }

    /// How likely it is that two texts are versions of one page, 0..1.
    pub fn likeness(&self, other: &Self) -> f64 {
        let words = common::<WORD_BITS>(&self.0[..WORDS_END], &other.0[..WORDS_END]);
        let runs = common::<RUN_BITS>(&self.0[WORDS_END..RUNS_END], &other.0[WORDS_END..RUNS_END]);
        let counts = |part: usize| [self, other].map(|sketch| sketch.count(part));
        likeness(words, counts(0)) * (1.0 - Self::OF_RUNS) + likeness(runs, counts(1)) * Self::OF_RUNS
    }

    /// The number of distinct words that were drawn (part 0), or of distinct runs (part 1), at most 65,535.
    fn count(&self, part: usize) -> f64 {
        let at = RUNS_END + 2 * part;
        f64::from(u16::from_le_bytes([self.0[at], self.0[at + 1]]))
    }
}

/// A number in 0..=1 that depends only on the word.
fn die(word: WordHash) -> f64 {
    fold_multiply(word ^ 0x4D5A_2DA5_1DE1_AA47, 0xE703_7ED1_A0B4_28DB) as f64 / u64::MAX as f64
}

/// Writes the sketch of a set, and returns the size of the set.
fn sketch<const N: usize, const BITS: usize>(hashes: Vec<u64>, bytes: &mut [u8]) -> usize {
    let set: Set = hashes.into_iter().collect();
    let mut bins = Bins::<N>::default();
    set.hashes().iter().for_each(|hash| bins.add(fold_multiply(*hash ^ 0x9FB2_1C65_1E98_DF25, 0x9E37_79B9_7F4A_7C15)));
    bins.write::<BITS>(bytes);
    set.hashes().len()
}

/// The geometric mean of resemblance and containment of two sets of these sizes.
fn likeness(resemblance: f32, [a, b]: [f64; 2]) -> f64 {
    let (resemblance, smaller) = (f64::from(resemblance), a.min(b));
    if smaller == 0.0 {
        return 0.0;
    }
    let common = resemblance / (1.0 + resemblance) * (a + b);
    (resemblance * (common / smaller).min(1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    fn draw(random: &mut Rng, count: usize) -> Vec<WordHash> {
        (0..count).map(|_| random.u64(..) >> 1).collect()
    }

    fn likeness_of(a: &[WordHash], b: &[WordHash]) -> f64 {
        let lexicon = Lexicon::default();
        WordsAndRuns::new(a, &lexicon).likeness(&WordsAndRuns::new(b, &lexicon))
    }

    /// The mean of 60 draws.
    fn mean(mut of: impl FnMut(&mut Rng) -> f64) -> f64 {
        let mut random = Rng::with_seed(1);
        (0..60).map(|_| of(&mut random)).sum::<f64>() / 60.0
    }

    #[test]
    fn likeness_is_that_of_the_sets() {
        // The shorter text is half of the longer text: resemblance 1/2, containment 1.
        let part = mean(|random| {
            let text = draw(random, 400);
            likeness_of(&text, &text[..200])
        });
        assert!((part - 0.5f64.sqrt()).abs() < 0.03, "{part}");
        // Both texts have half of their words in common: resemblance 1/3, containment 1/2.
        let half = mean(|random| {
            let text = draw(random, 600);
            likeness_of(&text[..400], &text[200..])
        });
        assert!((half - (1.0f64 / 6.0).sqrt()).abs() < 0.03, "{half}");
        let other = mean(|random| likeness_of(&draw(random, 400), &draw(random, 400)));
        assert!(other < 0.15, "{other}");
    }

    #[test]
    fn order_counts_less_than_words_and_numbers_do_not_count() {
        let mut random = Rng::with_seed(2);
        let text = draw(&mut random, 300);
        assert!((likeness_of(&text, &text) - 1.0).abs() < 1e-6);
        let mut shuffled = text.clone();
        random.shuffle(&mut shuffled);
        let likeness = likeness_of(&text, &shuffled);
        assert!((0.69..0.85).contains(&likeness), "{likeness}");
        let numbered: Vec<WordHash> = text.iter().flat_map(|word| [*word, u64::MAX - word % 9]).collect();
        let [plain, numbered] = [&text, &numbered].map(|words| WordsAndRuns::new(words, &Lexicon::default()));
        assert_eq!(plain, numbered);
    }

    #[test]
    fn frequent_words_count_less() {
        let mut random = Rng::with_seed(3);
        let frequent = draw(&mut random, 300);
        let mut lexicon = Lexicon::default();
        (0..100).for_each(|_| lexicon.add(&frequent));
        // Both texts have the same words in different orders, so they have no runs in common.
        let mut text = || {
            let mut words = [frequent.clone(), draw(&mut random, 100)].concat();
            random.shuffle(&mut words);
            words
        };
        let (a, b) = (text(), text());
        let likeness = |lexicon: &Lexicon| WordsAndRuns::new(&a, lexicon).likeness(&WordsAndRuns::new(&b, lexicon));
        let (with, without) = (likeness(&lexicon), likeness(&Lexicon::default()));
        assert!(with < without - 0.15, "{with} and {without}");
    }

    #[test]
    fn texts_without_words_are_like_nothing() {
        let (none, numbers, text) = (&[][..], &[u64::MAX][..], &[1, 2, 3][..]);
        for other in [none, numbers, text] {
            assert_eq!((likeness_of(none, other), likeness_of(numbers, other)), (0.0, 0.0));
        }
        assert!(likeness_of(text, text) > 0.99);
    }
}
