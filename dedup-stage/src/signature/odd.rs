//! Odd sketches: they tell how many words of a page differ between two visits.

use serde::{Deserialize, Serialize};

use crate::words::{WordHash, fold_multiply, is_number};

/// Bits of a sketch.
const BITS: usize = 192;
/// This hash stands before the first word of a passage.
const START: WordHash = 0x6C62_272E_07BB_0142;
/// This hash stands for each number that counts as the same number as others ([`Numbers`]).
const NUMBER: WordHash = 0x27D4_EB2F_1656_67C5;

/// An odd sketch (Mitzenmacher, Pagh, Pham, "Efficient Estimation for High Similarities using Odd Sketches", WWW 2014)
/// of the pairs of neighbouring words in the content of a page, and the number of these pairs: 26 bytes.
///
/// Each pair flips one bit. So the exclusive or of two sketches is the sketch of the pairs that only one of the two
/// texts has. The number of its bits tells how many pairs these are. The [second look](super::Sketch) estimates the
/// share that two texts have in common, with an error of some percent. With such an error, a change of 30 words among
/// 600 cannot be seen. The error of the odd sketch is a few pairs, whatever the length of the text.
///
/// The two words of a pair belong to one passage. So if a passage is added, removed or moved, no pair of another
/// passage changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OddSketch {
    bits: [u8; BITS / 8],
    pairs: u16,
}

/// The numbers of a passage that all count as the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// All numbers.
    All,
    /// Those at its start, or after its first word.
    First,
    /// None of them.
    None,
}

impl OddSketch {
    /// This many pairs make a difference in any page. A sentence that is replaced takes away one pair
    /// for each of its words, and the new sentence adds one for each of its words.
    const MANY: f32 = 22.0;
    /// If a known difference is taken out of another one, this many of its pairs may remain, because it may have had
    /// other dates.
    pub const PART: f32 = 6.0;
    /// Up to about so many pairs, the estimate of a difference is wrong by some ten pairs at most.
    const COUNTED: f32 = 90.0;
    /// In a short page, this share of the pairs of both texts makes a difference.
    const SHARE: f32 = 0.08;

    /// The sketch of some passages, each with the numbers that count as one; `None` if they have no words.
    pub fn of(passages: impl Iterator<Item = (impl AsRef<[WordHash]>, Numbers)>) -> Option<Self> {
        let (mut flips, mut pairs) = (Flips([0; 256]), 0usize);
        for (words, numbers) in passages {
            let words = words.as_ref();
            pairs += words.len();
            Self::flips(words, numbers, |bit| flips.flip(bit));
        }
        (pairs > 0).then(|| Self { bits: flips.bits(), pairs: u16::try_from(pairs).unwrap_or(u16::MAX) })
    }

    /// Calls `flip` with the bit that each pair of a passage flips.
    #[inline]
    pub fn flips(words: &[WordHash], numbers: Numbers, flip: impl FnMut(u8)) {
        match numbers {
            Numbers::All => flips(words, |_, word| if is_number(word) { NUMBER } else { word }, flip),
            Numbers::First => {
                let first = numbers_at_start(words);
                flips(words, |at, word| if at < first && is_number(word) { NUMBER } else { word }, flip);
            }
            Numbers::None => flips(words, |_, word| word, flip),
        }
    }

    /// The odd sketch of the difference between two texts.
    pub fn difference(&self, other: &Self) -> Difference {
        let grew = i32::from(self.pairs) - i32::from(other.pairs);
        Difference { bits: std::array::from_fn(|at| self.bits[at] ^ other.bits[at]), grew, slack: 0 }
    }

    /// Whether two texts say the same.
    pub fn is_same(&self, other: &Self) -> bool {
        self.difference(other).is_less_than(self.most(other))
    }

    /// About how many pairs of this text the other text has as well. 0 if that cannot be told, because the texts differ
    /// too much.
    pub fn kept(&self, other: &Self) -> f32 {
        let differing = self.difference(other).pairs();
        if differing > Self::COUNTED { 0.0 } else { (f32::from(self.pairs) + f32::from(other.pairs) - differing) / 2.0 }
    }

    /// The number of pairs from which on two texts say different things.
    pub fn most(&self, other: &Self) -> f32 {
        Self::MANY.min(Self::SHARE * (f32::from(self.pairs) + f32::from(other.pairs)))
    }
}

/// The end of the numbers with which a passage begins. At most one other word stands before them.
fn numbers_at_start(words: &[WordHash]) -> usize {
    let before = words.iter().take(1).filter(|word| !is_number(**word)).count();
    before + words[before..].iter().take_while(|word| is_number(**word)).count()
}

/// Calls `flip` with the bit of each pair of a passage. `fold` gets the place of a word and the word, and gives equal
/// hashes to words that count as one.
#[inline]
fn flips(words: &[WordHash], fold: impl Fn(usize, WordHash) -> WordHash, mut flip: impl FnMut(u8)) {
    let mut before = START;
    for (at, &word) in words.iter().enumerate() {
        let word = fold(at, word);
        let hash = fold_multiply(before.rotate_left(23) ^ word, 0x9E37_79B9_7F4A_7C15);
        flip(((u128::from(hash) * BITS as u128) >> 64) as u8);
        before = word;
    }
}

/// How often each bit was flipped, modulo 256. Each bit has a byte of its own. If eight bits shared a byte, a flip
/// would wait for the last flip of the other seven. There are more bytes than [`BITS`], so that an index of eight bits
/// needs no check.
struct Flips([u8; 256]);

impl Flips {
    #[inline]
    fn flip(&mut self, bit: u8) {
        self.0[usize::from(bit)] = self.0[usize::from(bit)].wrapping_add(1);
    }

    /// The bits that were flipped an odd number of times.
    fn bits(&self) -> [u8; BITS / 8] {
        let bit = |place: usize, of: usize| (self.0[8 * place + of] & 1) << of;
        std::array::from_fn(|place| (0..8).map(|of| bit(place, of)).sum())
    }
}

/// The odd sketch of the pairs of words that only one of two texts has, and how many pairs more the first one has.
///
/// The sketch has no direction: the same bits differ if a paragraph comes and if it goes. The growth tells the two
/// cases apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    bits: [u8; BITS / 8],
    /// The number of pairs of the first text, minus that of the second.
    grew: i32,
    /// The growth may be wrong by this much, because a difference that was taken out may have gone in either direction.
    #[serde(skip)]
    slack: u32,
}

impl Difference {
    /// The difference that a passage makes if it comes. `flips` are the bits that its pairs flip
    /// ([`OddSketch::flips`]).
    pub fn of_passage(flips: &[u8]) -> Self {
        let none = Self { bits: [0; BITS / 8], grew: 0, slack: 0 };
        Self { grew: flips.len() as i32, ..none.without_passage(flips) }
    }

    /// This difference without the pairs of another difference.
    pub fn without(&self, other: &Self) -> Self {
        let bits = std::array::from_fn(|at| self.bits[at] ^ other.bits[at]);
        let slack = if other.is_replacement() { 2 * other.grew.unsigned_abs() } else { 0 };
        Self { bits, grew: self.grew - other.grew, slack: self.slack + slack }
    }

    /// This difference without a passage that only the first text has. `flips` are the bits that the pairs of the
    /// passage flip ([`OddSketch::flips`]).
    pub fn without_passage(mut self, flips: &[u8]) -> Self {
        for bit in flips {
            // Flips may come from another process.
            if let Some(byte) = self.bits.get_mut(usize::from(bit / 8)) {
                *byte ^= 1 << (bit % 8);
            }
        }
        Self { grew: self.grew - flips.len() as i32, ..self }
    }

    /// Whether most of it is a text in place of another one. Such texts may take turns (advertisements, for example),
    /// so their difference may be met in both directions. A text that came, or that went, went in one direction only.
    fn is_replacement(&self) -> bool {
        self.grew.unsigned_abs() as f32 <= 0.5 * self.pairs()
    }

    /// Whether it has fewer pairs than `most`, and the texts are about as long.
    pub fn is_less_than(&self, most: f32) -> bool {
        self.pairs() < most && self.grew.unsigned_abs() as f32 <= most + self.slack as f32
    }

    /// The number of bits that are set. It grows with the number of pairs.
    pub fn odd(&self) -> u32 {
        self.bits.iter().map(|byte| byte.count_ones()).sum()
    }

    /// Estimated number of pairs. Infinite if there are more than the sketch can tell (some 150).
    pub fn pairs(&self) -> f32 {
        let odd = self.odd();
        let even = 1.0 - 2.0 * odd as f32 / BITS as f32;
        if even <= 0.0 { f32::INFINITY } else { -0.5 * BITS as f32 * even.ln() }
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    /// The sketch of passages of these words.
    fn sketch(passages: &[Vec<WordHash>]) -> OddSketch {
        OddSketch::of(passages.iter().map(|words| (&words[..], Numbers::All))).unwrap()
    }

    fn draw(random: &mut Rng, count: usize) -> Vec<WordHash> {
        (0..count).map(|_| random.u64(..) >> 1).collect()
    }

    #[test]
    fn the_number_of_differing_pairs_is_estimated() {
        let mut random = Rng::with_seed(1);
        for count in [0, 4, 10, 20, 40] {
            let rounds = 200;
            let sum: f32 = (0..rounds)
                .map(|_| {
                    let text = draw(&mut random, 600);
                    let (here, there) = (draw(&mut random, count), draw(&mut random, count));
                    sketch(&[text.clone(), here]).difference(&sketch(&[there, text])).pairs()
                })
                .sum();
            let (mean, truth) = (sum / rounds as f32, 2.0 * count as f32);
            assert!((mean - truth).abs() <= 0.05 * truth + 0.5, "{mean} for {truth}");
        }
    }

    #[test]
    fn a_paragraph_of_thirty_words_is_a_difference_and_a_date_is_none() {
        let mut random = Rng::with_seed(2);
        let (mut paragraphs, mut dates, rounds) = (0, 0, 2_000);
        for _ in 0..rounds {
            let mut text = draw(&mut random, 600);
            let (paragraph, other) = (draw(&mut random, 30), draw(&mut random, 30));
            let before = sketch(&[text.clone(), paragraph.clone()]);
            let after = sketch(&[text.clone(), other]);
            paragraphs += u32::from(!before.is_same(&after));
            text[300..304].copy_from_slice(&draw(&mut random, 4));
            let after = sketch(&[text, paragraph]);
            dates += u32::from(!before.is_same(&after));
        }
        assert!(paragraphs >= rounds * 999 / 1000 && dates <= rounds / 1000, "{paragraphs} and {dates}");
    }

    #[test]
    fn short_texts_differ_by_less() {
        let mut random = Rng::with_seed(3);
        let text = draw(&mut random, 60);
        let with = |count: usize, random: &mut Rng| {
            let mut text = text.clone();
            text[10..10 + count].copy_from_slice(&draw(random, count));
            sketch(&[text])
        };
        let before = sketch(std::slice::from_ref(&text));
        let is_same = |after: &OddSketch| before.is_same(after);
        assert!(is_same(&with(1, &mut random)) && !is_same(&with(9, &mut random)));
    }

    #[test]
    fn numbers_of_prose_are_one_and_those_of_tables_are_not() {
        let [here, there] = [7, 8].map(|digits| u64::MAX - digits);
        let of = |words: &[WordHash], numbers| OddSketch::of([(words, numbers)].into_iter()).unwrap();
        let is_same = |numbers, one: &[WordHash], other: &[WordHash]| of(one, numbers) == of(other, numbers);
        assert!(is_same(Numbers::All, &[1, 2, here, 3], &[1, 2, there, 3]));
        assert!(!is_same(Numbers::First, &[1, 2, here, 3], &[1, 2, there, 3]));
        assert!(is_same(Numbers::First, &[1, here, here, 3], &[1, there, here, 3]));
        assert!(is_same(Numbers::First, &[here, 3], &[there, 3]) && is_same(Numbers::First, &[here], &[there]));
        assert!(!is_same(Numbers::First, &[here, 3, here], &[here, 3, there]));
        assert!(!is_same(Numbers::None, &[here, 3], &[there, 3]));
    }

    #[test]
    fn differences_of_equal_passages_cancel_out() {
        let mut random = Rng::with_seed(4);
        let (old, new) = (draw(&mut random, 90), draw(&mut random, 90));
        let mut change = || {
            let own = draw(&mut random, 400);
            sketch(&[own.clone(), old.clone()]).difference(&sketch(&[own, new.clone()]))
        };
        let (one, two) = (change(), change());
        assert!(one.pairs() > 100.0 && one.without(&two).pairs() == 0.0);
    }

    #[test]
    fn a_paragraph_that_goes_is_not_one_that_comes_and_texts_may_take_turns() {
        let mut random = Rng::with_seed(6);
        let [paragraph, one, two] = [60, 40, 44].map(|words| draw(&mut random, words));
        let mut pages = |from: &[Vec<WordHash>], to: &[Vec<WordHash>]| {
            let own = vec![draw(&mut random, 300)];
            [from, to].map(|texts| sketch(&[own.clone(), texts.to_vec()].concat()))
        };
        let mut is_explained = |[from, to]: [&[Vec<WordHash>]; 2], by: [&[Vec<WordHash>]; 2]| {
            let [then, now] = pages(from, to);
            let [other_then, other_now] = pages(by[0], by[1]);
            {
                let rest = now.difference(&then).without(&other_now.difference(&other_then));
                rest.is_less_than(now.most(&then) + OddSketch::PART)
            }
        };
        let (none, paragraph, one, two) = (&[][..], &[paragraph][..], &[one][..], &[two][..]);
        assert!(
            is_explained([none, paragraph], [none, paragraph]) && is_explained([paragraph, none], [paragraph, none])
        );
        assert!(!is_explained([none, paragraph], [paragraph, none]));
        assert!(is_explained([one, two], [one, two]) && is_explained([two, one], [one, two]));
    }

    /// A plain implementation of the paper: each pair flips its bit.
    fn plain(passages: &[(Vec<WordHash>, Numbers)]) -> Option<OddSketch> {
        let (mut bits, mut pairs) = ([0u8; BITS / 8], 0);
        for (words, numbers) in passages {
            let mut before = START;
            for (at, word) in words.iter().enumerate() {
                let others = words[..at].iter().filter(|word| !is_number(**word)).count();
                let is_first = others == 0 || others == 1 && !is_number(words[0]);
                let is_one = *numbers == Numbers::All || *numbers == Numbers::First && is_first;
                let word = if is_one && is_number(*word) { NUMBER } else { *word };
                let hash = fold_multiply(before.rotate_left(23) ^ word, 0x9E37_79B9_7F4A_7C15);
                let bit = ((u128::from(hash) * BITS as u128) >> 64) as usize;
                bits[bit / 8] ^= 1 << (bit % 8);
                (before, pairs) = (word, pairs + 1);
            }
        }
        (pairs > 0).then_some(OddSketch { bits, pairs })
    }

    #[test]
    fn flips_are_counted_as_they_are_made() {
        let mut random = Rng::with_seed(5);
        for passages in 0..60 {
            let passages: Vec<(Vec<WordHash>, Numbers)> = (0..passages)
                .map(|_| {
                    let words = random.usize(..400);
                    (
                        (0..words)
                            .map(|_| random.u64(..) | if random.u8(..9) == 0 { 0xFFFF << 48 } else { 0 })
                            .collect(),
                        [Numbers::All, Numbers::First, Numbers::None][random.usize(..3)],
                    )
                })
                .collect();
            let own = OddSketch::of(passages.iter().map(|(words, numbers)| (&words[..], *numbers)));
            assert_eq!(own, plain(&passages));
        }
    }
}
