//! Sketches for the second look. A sketch has 64 bytes. It tells near-duplicates from pages that only use the same
//! words, and copies from the pages of a list.

use serde::{Deserialize, Serialize};

use super::bins::{Bins, common};
use crate::words::{WordHash, fold_multiply};

/// Words of a shingle.
const SHINGLE: usize = 5;
/// Bins of the sketch of the text.
const TEXT: usize = 352;
/// Bins of the sketch of the links.
const LINKS: usize = 32;
/// Bits that are kept of a bin of the links. The pages of a list have about ten links, so the bins hold at most ten
/// values. With one bit for each bin, one in 70 pairs of pages without a common link seemed to have half of its links
/// in common.
const LINK_BITS: usize = 4;
/// The positions of the parts in the stored form.
const TEXT_END: usize = TEXT / 8;
const LINKS_END: usize = TEXT_END + LINKS * LINK_BITS / 8;

/// A sketch of the 5-word shingles of the text, a sketch of the relative out-links, and the numbers of words and links:
/// 64 bytes.
///
/// The sketches are min-wise (Broder, CPM 2000, section 2). They use one permutation that is cut into bins (Li, Owen,
/// Zhang, "One Permutation Hashing", NIPS 2012). Empty bins are filled from others (Shrivastava, "Optimal
/// Densification", ICML 2017). One bit of each bin is kept for the text, and four bits for the links (Li, König, "b-Bit
/// Minwise Hashing", WWW 2010). The resemblance of two texts is estimated from 352 bits. If it is 0.7, the standard
/// deviation is 0.04.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[[u8; 32]; 2]", into = "[[u8; 32]; 2]")]
pub struct Sketch([u8; Sketch::BYTES]);

impl From<[[u8; 32]; 2]> for Sketch {
    fn from(halves: [[u8; 32]; 2]) -> Self {
        let mut bytes = [0; Sketch::BYTES];
        bytes.as_chunks_mut().0.copy_from_slice(&halves);
        Self(bytes)
    }
}

impl From<Sketch> for [[u8; 32]; 2] {
    fn from(sketch: Sketch) -> Self {
        let (halves, _) = sketch.0.as_chunks();
        [halves[0], halves[1]]
    }
}

/// The first bits of the sketch of a text: a part of a [`Sketch`] that is small enough to be kept in memory for each
/// page.
pub type Glance = [u8; Sketch::GLANCE];

/// How two pages compare at the second look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SecondLook {
    /// Estimated resemblance of the texts, 0..1.
    pub resemblance: f32,
    /// Whether the texts are alike enough for near-duplicates, by their resemblance and their lengths.
    pub alike: bool,
    /// Estimated share of out-links (relative to the page) that both pages have, 0..1. It is 1 if neither has any.
    pub links: f32,
    /// Whether the links seem to be others although the texts are alike: there are many links for the length of the
    /// text, and few are common to both pages.
    pub other_links: bool,
    /// Whether only one of the two has links.
    pub one_has_links: bool,
}

impl SecondLook {
    /// Whether the two pages are duplicates, as far as sketches tell. This is for callers that have only the sketches.
    /// The judge compares the links themselves.
    pub fn is_duplicate(&self) -> bool {
        self.alike && !self.other_links
    }

    /// Whether two documents of corpora are duplicates. Many documents are plain text: that one has no links says
    /// nothing of the other.
    pub fn is_duplicate_document(&self) -> bool {
        self.alike && (self.one_has_links || !self.other_links)
    }
}

impl Sketch {
    /// Size of the stored form.
    pub const BYTES: usize = 64;
    /// Bytes of a [`Glance`]. Two unrelated texts differ in half of its bits, 72 on average; that is enough to rule out
    /// 99.9 % of them.
    pub const GLANCE: usize = 18;
    /// The number of pieces by which candidates are found.
    pub const PIECES: usize = 2;
    /// Candidates differ in at most this many of the 64 bits of a piece. If the resemblance is 0.8, six bits differ on
    /// average, and one of the two pieces is near in 96 of 100 pairs. Of two billion pairs of unrelated texts, one is a
    /// candidate.
    pub const PIECE_DISTANCE: u32 = 8;
    /// Resemblance from which two texts are duplicates.
    pub const RESEMBLANCE: f32 = 0.71;
    /// If more bits of two texts differ than these, the resemblance is below [`Sketch::RESEMBLANCE`].
    const DIFFERING: u32 = 51;
    /// If the shorter text has less than this share of the words of the longer one, the two are no duplicates, whatever
    /// the bits say.
    const LENGTHS: f32 = 0.5;
    /// Pages with equal texts are different pages if their links are others: the pages have less than this share of
    /// links in common, and the next two bounds hold, too.
    const COMMON_LINKS: f32 = 0.5;
    /// Other links count only if one of the pages has at least this many links.
    const FEW_LINKS: u32 = 4;
    /// Other links count only if the pages have fewer words than this for each link. A page with more text is not about
    /// its links.
    const WORDS_PER_LINK: u32 = 25;
    /// If the pages have less than this share of links in common, there may be more words for each link (the next
    /// bound).
    const OTHER_LINKS: f32 = 0.2;
    const WORDS_PER_OTHER_LINK: u32 = 60;

    /// The stored form.
    pub fn to_bytes(&self) -> [u8; Sketch::BYTES] {
        self.0
    }

    /// Makes a sketch from the stored form. Any bytes give some sketch.
    pub fn from_bytes(bytes: [u8; Sketch::BYTES]) -> Self {
        Self(bytes)
    }

    /// Compares two pages whose simhashes are near.
    pub fn compare(&self, other: &Sketch) -> SecondLook {
        let resemblance = common::<1>(&self.0[..TEXT_END], &other.0[..TEXT_END]);
        let (fewer, more) = ordered(self.links(), other.links());
        let links = match fewer {
            0 if more == 0 => 1.0,
            0 => 0.0,
            _ => common::<LINK_BITS>(&self.0[TEXT_END..LINKS_END], &other.0[TEXT_END..LINKS_END]),
        };
        let (shorter, longer) = ordered(self.words(), other.words());
        let words_per_link = match links {
            ..Self::OTHER_LINKS => Self::WORDS_PER_OTHER_LINK,
            ..Self::COMMON_LINKS => Self::WORDS_PER_LINK,
            _ => 0,
        };
        let other_links = more >= Self::FEW_LINKS && longer < more.saturating_mul(words_per_link);
        let alike = resemblance >= Self::RESEMBLANCE && shorter as f32 >= longer as f32 * Self::LENGTHS;
        SecondLook { resemblance, alike, links, other_links, one_has_links: fewer == 0 && more > 0 }
    }

    /// The part of it that tells most unrelated texts from it ([`Sketch::rules_out`]).
    pub fn glance(&self) -> Glance {
        std::array::from_fn(|at| self.0[at])
    }

    /// Whether a sketch with this glance certainly has other text: [`Sketch::compare`] cannot find the same text.
    pub fn rules_out(&self, glance: &Glance) -> bool {
        let ((own, own_rest), (others, rest)) = (self.0[..Self::GLANCE].as_chunks(), glance.as_chunks());
        let words = own.iter().zip(others).map(|(own, other)| differing(*own, *other));
        let rest = own_rest.iter().zip(rest).map(|(own, other)| (own ^ other).count_ones());
        words.chain(rest).sum::<u32>() > Self::DIFFERING
    }

    /// A piece of the sketch of the text, by which candidates are found. Pieces have no bits in common.
    pub fn piece(&self, which: usize) -> u64 {
        u64::from_le_bytes(self.0.as_chunks().0[which])
    }

    /// Whether this piece of two sketches makes them candidates.
    pub fn is_near_in(&self, other: &Sketch, which: usize) -> bool {
        (self.piece(which) ^ other.piece(which)).count_ones() <= Self::PIECE_DISTANCE
    }

    /// Whether any piece of two sketches makes them candidates.
    pub fn has_near_piece(&self, other: &Sketch) -> bool {
        (0..Self::PIECES).any(|which| self.is_near_in(other, which))
    }

    /// Words of content, up to 65,535.
    pub fn words(&self) -> u32 {
        u32::from(u16::from_le_bytes([self.0[LINKS_END], self.0[LINKS_END + 1]]))
    }

    /// Number of links outside chrome, at most 65,535.
    pub fn links(&self) -> u32 {
        u32::from(u16::from_le_bytes([self.0[LINKS_END + 2], self.0[LINKS_END + 3]]))
    }
}

/// The number of bits in which two words differ.
fn differing(a: [u8; 8], b: [u8; 8]) -> u32 {
    (u64::from_ne_bytes(a) ^ u64::from_ne_bytes(b)).count_ones()
}

fn ordered(a: u32, b: u32) -> (u32, u32) {
    (a.min(b), a.max(b))
}

/// Makes sketches.
#[derive(Debug, Default)]
pub struct Maker {
    text: Bins<TEXT>,
    links: Bins<LINKS>,
    /// The number of words so far, the rolling hash, and the last words, the oldest first.
    words: usize,
    rolling: u64,
    last: [WordHash; SHINGLE],
    link_count: usize,
}

impl Maker {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.text.clear();
        self.links.clear();
        (self.words, self.link_count, self.rolling, self.last) = (0, 0, 0, [0; SHINGLE]);
    }

    /// Adds words. Shingles reach across calls. The rolling hash is a cyclic polynomial (Cohen, "Recursive Hashing
    /// Functions for n-Grams", TOIS 1997).
    pub fn add(&mut self, words: &[WordHash]) {
        const TURN: u32 = 11;
        let (mut rolling, mut last) = (self.rolling, self.last);
        // The first words only begin the first shingle.
        let beginning = (SHINGLE - 1).saturating_sub(self.words).min(words.len());
        for (at, &word) in words.iter().enumerate() {
            let [leaving, second, third, fourth, fifth] = last;
            last = [second, third, fourth, fifth, word];
            rolling = rolling.rotate_left(TURN) ^ word ^ leaving.rotate_left(TURN * SHINGLE as u32 % 64);
            if at >= beginning {
                self.text.add(fold_multiply(rolling ^ 0x9FB2_1C65_1E98_DF25, 0xA076_1D64_78BD_642F));
            }
        }
        (self.rolling, self.last) = (rolling, last);
        self.words += words.len();
    }

    /// Adds a link by its hash.
    pub fn link(&mut self, hash: u64) {
        self.links.add(hash);
        self.link_count += 1;
    }

    /// The sketch.
    pub fn finish(&self) -> Sketch {
        let mut bytes = [0; Sketch::BYTES];
        self.text.write::<1>(&mut bytes[..TEXT_END]);
        self.links.write::<LINK_BITS>(&mut bytes[TEXT_END..LINKS_END]);
        let count = |n: usize| u16::try_from(n).unwrap_or(u16::MAX).to_le_bytes();
        bytes[LINKS_END..LINKS_END + 2].copy_from_slice(&count(self.words));
        bytes[LINKS_END + 2..].copy_from_slice(&count(self.link_count));
        Sketch(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sketch(words: impl Iterator<Item = u64>, links: impl Iterator<Item = u64>) -> Sketch {
        let mut maker = Maker::default();
        maker.add(&words.map(|word| fold_multiply(word ^ 0x1234_5678, 0x9E37_79B9_7F4A_7C15)).collect::<Vec<_>>());
        links.for_each(|link| maker.link(fold_multiply(link ^ 0x8765_4321, 0x9E37_79B9_7F4A_7C15)));
        maker.finish()
    }

    #[test]
    fn resemblance_is_estimated() {
        for (common, each) in [(1000, 0), (900, 50), (700, 150), (400, 300), (0, 500), (60, 5)] {
            let (mut sum, rounds) = (0.0, 40);
            for round in 0..rounds {
                let base = round * 1_000_000;
                let text = |side: u64| (base..base + common).chain(base + side..base + side + each);
                let (a, b) = (sketch(text(100_000), 0..0), sketch(text(200_000), 0..0));
                sum += f64::from(a.compare(&b).resemblance);
            }
            let shared = common.saturating_sub(4);
            let own = common + each - 4 - shared;
            let truth = shared as f64 / (shared + 2 * own).max(1) as f64;
            let mean = sum / rounds as f64;
            assert!((mean - truth).abs() < 0.03, "{common} common, {each} each: {mean} for {truth}");
        }
    }

    #[test]
    fn equal_text_with_other_links_is_no_duplicate() {
        let page = |links: std::ops::Range<u64>| sketch(0..60, links);
        assert!(page(0..10).compare(&page(0..10)).is_duplicate());
        assert!(page(0..10).compare(&page(0..11)).is_duplicate());
        assert!(!page(0..10).compare(&page(10..20)).is_duplicate());
        assert!(!page(0..10).compare(&page(0..0)).is_duplicate());
        assert!(page(0..10).compare(&page(0..0)).is_duplicate_document(), "one may be plain text");
        assert!(!page(0..10).compare(&page(10..20)).is_duplicate_document());
        assert!(page(0..2).compare(&page(2..4)).is_duplicate(), "two links are no list");
        let long = |links: std::ops::Range<u64>| sketch(0..600, links);
        assert!(long(0..10).compare(&long(10..20)).is_duplicate(), "much text, few links");
        assert_eq!(page(0..0).compare(&page(0..0)).links, 1.0);
    }

    #[test]
    fn pages_of_a_list_are_told_apart_and_their_copies_are_not() {
        for links in [10, 20] {
            let page = |page: u64, from: u64| sketch(0..60, page * 1_000 + from..page * 1_000 + links);
            let (mut mixed_up, mut torn_apart, pages) = (0, 0, 4_000);
            for number in 0..pages {
                let one = page(number, 0);
                mixed_up += u32::from(one.compare(&page(number + 1, 0)).is_duplicate());
                // All links but one are the same.
                torn_apart += u32::from(!one.compare(&page(number, 1)).is_duplicate());
            }
            assert!(mixed_up <= 2 && torn_apart <= 40, "{links} links: {mixed_up} and {torn_apart} of {pages}");
        }
    }

    #[test]
    fn a_glance_rules_out_what_has_other_text_and_nothing_else() {
        let one = sketch(0..500, 0..3);
        for differing in 0..8 * Sketch::GLANCE as u32 {
            let mut bytes = one.to_bytes();
            (0..differing).for_each(|bit| bytes[bit as usize / 8] ^= 1 << (bit % 8));
            let other = Sketch::from_bytes(bytes);
            assert_eq!(one.rules_out(&other.glance()), !one.compare(&other).alike, "{differing} bits");
        }
    }

    #[test]
    fn stored_form_is_the_sketch() {
        let sketch = sketch(0..70, 0..3);
        assert_eq!(Sketch::from_bytes(sketch.to_bytes()), sketch);
        assert_eq!((sketch.words(), sketch.links()), (70, 3));
        assert!(Sketch::from_bytes([0xA5; Sketch::BYTES]).compare(&sketch).resemblance < 0.5);
    }
}
