//! Running text in chrome, block by block. Authors put notes, explanations and whole texts into asides, side bars and
//! footers. Such a text is no content, because many sites show the same text there on all pages. But where a page has
//! the content of another page, and a text beside it that no other page of its host shows, it says something new.
//! Only the judge can know this ([`crate::judge`]).
//!
//! If a sign of chrome is not believed, because most text of the page stands under it, the text beside it is read in
//! the same way. The sign may mark a long legal notice that all pages of the host show. Then two pages with different
//! short articles beside it have nearly the same content.

use std::ops::Range;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::content;
use super::media::MediumKind;
use super::outline::Block;
use super::signs::Signs;
use crate::words::WordHash;

/// A block of running text in chrome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aside {
    /// Min-hashes of its runs of words (Broder, CPM 2000, section 2), with the bits of `MediumKind::Text`. Two texts
    /// are the same if one of them is equal. So a footer with another date is the same footer.
    pub hashes: [u32; Self::HASHES],
    /// Number of its words.
    pub words: u32,
    /// If it stands beside a sign that is not believed: the number of words of all such texts of the page. 0 if it
    /// stands in chrome.
    pub beside: u32,
}

impl Aside {
    /// The number of min-hashes. Of texts that have three quarters of their runs in common, 98 of 100 are the same.
    pub const HASHES: usize = 3;
    /// The number of words in a run.
    const RUN: usize = 4;

    fn of(words: &[WordHash]) -> Self {
        let mut least = [u64::MAX; Self::HASHES];
        for run in words.windows(Self::RUN) {
            // Both factors are odd, and their bits look random.
            let run =
                run.iter().fold(0u64, |run, word| (run.rotate_left(21) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            for (which, least) in (1..).zip(&mut least) {
                let mixed = (run ^ (run >> 29)).wrapping_add(which).wrapping_mul(0xBF58_476D_1CE4_E5B9);
                *least = (*least).min(mixed ^ (mixed >> 32));
            }
        }
        let hashes = least.map(|least| MediumKind::Text.mark(least >> 16) as u32);
        Self { hashes, words: words.len() as u32, beside: 0 }
    }
}

/// Roles, elements and words of classes that name a place on the page. Texts of the page itself may stand there. All
/// other signs say what a text is (an advertisement, a form, a notice), and that is never a text of the page.
const PLACES: [&str; 22] = [
    "aside",
    "banner",
    "bottombar",
    "complementary",
    "contentinfo",
    "footer",
    "header",
    "masthead",
    "menu",
    "metadata",
    "nav",
    "navbar",
    "navbox",
    "navigation",
    "sidebar",
    "sidemenu",
    "sidenav",
    "sitenav",
    "subnav",
    "toolbar",
    "topbar",
    "topnav",
];

/// The signs of these places.
static OF_PLACES: LazyLock<Signs> =
    LazyLock::new(|| PLACES.iter().fold(Signs::NONE, |signs, name| signs | Signs::of_role(name)));

/// At most this many asides of a page are read.
const MOST: usize = 64;

/// The running texts in chrome, in order, and those beside signs that are not believed. `spans[i]` are the places in `words` of the words of block `i`. `believed`
/// are the signs of chrome that are believed.
pub fn read(blocks: &[Block], spans: &[Range<usize>], words: &[WordHash], believed: Signs) -> Vec<Aside> {
    let places = *OF_PLACES;
    let texts = blocks.iter().zip(spans).filter(|(block, span)| {
        block.signs.meet(believed) && block.signs.is_within(places) && content::is_running(block, span.len())
    });
    let texts = texts.map(|(_, span)| Aside::of(&words[span.clone()])).take(MOST);
    if believed == Signs::ALL {
        return texts.collect();
    }
    let beside = blocks
        .iter()
        .zip(spans)
        .filter(|(block, span)| block.signs.is_empty() && content::is_running(block, span.len()));
    let all = beside.clone().map(|(_, span)| span.len() as u32).sum();
    let beside = beside.map(|(_, span)| Aside { beside: all, ..Aside::of(&words[span.clone()]) });
    texts.chain(beside).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::outline::BlockKind;

    #[test]
    fn all_places_are_signs() {
        assert!(PLACES.is_sorted());
        PLACES.iter().for_each(|name| assert!(!Signs::of_role(name).is_empty(), "{name}"));
    }

    #[test]
    fn long_texts_in_places_count_and_advertisements_and_menus_do_not() {
        let words: Vec<WordHash> = (0..100).collect();
        let block =
            |signs, links| Block { signs, link_ink: links, ink: 100, shape: BlockKind::Plain, ..Block::default() };
        let of = |block: Block, span: Range<usize>| read(&[block], std::slice::from_ref(&span), &words, Signs::ALL);
        let aside = Signs::of_role("aside");
        assert_eq!(of(block(aside, 10), 0..40)[0].words, 40);
        assert_eq!(of(block(aside, 10), 0..9), [], "too short");
        assert_eq!(of(block(aside, 40), 0..40), [], "a menu");
        assert_eq!(of(block(Signs::NONE, 10), 0..40), [], "content");
        assert_eq!(of(block(aside | Signs::of_role("ad"), 10), 0..40), [], "an advertisement in an aside");
        let not_believed = read(&[block(aside, 10)], std::slice::from_ref(&(0..40)), &words, Signs::NONE);
        assert_eq!(not_believed, [], "a sign that is not believed");
    }

    #[test]
    fn texts_with_a_few_other_words_are_the_same_and_other_texts_are_not() {
        let text = |seed| -> Vec<WordHash> {
            let mut random = fastrand::Rng::with_seed(seed);
            (0..75).map(|_| random.u64(..)).collect()
        };
        let is_same = |a: &[WordHash], b: &[WordHash]| {
            let (a, b) = (Aside::of(a), Aside::of(b));
            a.hashes.iter().zip(&b.hashes).any(|(a, b)| a == b)
        };
        let (mut changed, mut others) = (0, 0);
        for seed in 0..400 {
            let mut dated = text(seed);
            (dated[60], dated[61], dated[74]) = (1, 2, 3);
            changed += usize::from(!is_same(&text(seed), &dated));
            others += usize::from(is_same(&text(seed), &text(seed + 1_000)));
        }
        assert!(changed <= 12 && others == 0, "{changed} {others}");
    }
}
