//! Running text in chrome, block by block. Authors put notes, explanations and whole texts into asides, side bars and
//! footers. Such a text is no content, because many sites show the same text there on all pages. But where a page has
//! the content of another page, and a text beside it that no other page of its host shows, it says something new.
//! Only the judge can know this ([`crate::judge`]).

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::media::MediumKind;
use super::outline::Block;
use super::signs::Signs;
use super::words::WordHash;
use super::{content, text_hash};

/// A block of running text in chrome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aside {
    /// The hash of its words, with the bits of [`MediumKind::Text`].
    pub hash: u32,
    /// Number of its words.
    pub words: u32,
}

/// Roles, elements and words of classes that name a place on the page. Texts of the page itself may stand there. All
/// other signs say what a text is (an advertisement, a form, a notice), and that is never a text of the page.
const PLACES: [&str; 21] = [
    "aside",
    "banner",
    "bottombar",
    "complementary",
    "contentinfo",
    "footer",
    "header",
    "masthead",
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

/// A page has at most this many.
const MOST: usize = 64;

/// The running texts in chrome, in order. `spans[i]` are the places in `words` of the words of block `i`. `believed` are
/// the signs of chrome that are believed.
pub fn read(blocks: &[Block], spans: &[Range<usize>], words: &[WordHash], believed: Signs) -> Vec<Aside> {
    let places = PLACES.iter().fold(Signs::NONE, |signs, name| signs | Signs::of_role(name));
    let texts = blocks.iter().zip(spans).filter(|(block, span)| {
        block.signs.meet(believed) && block.signs.is_within(places) && content::is_running(block, span.len())
    });
    let aside = |(_, span): (&Block, &Range<usize>)| Aside {
        hash: MediumKind::Text.mark(text_hash(&words[span.clone()])) as u32,
        words: span.len() as u32,
    };
    texts.map(aside).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::outline::Shape;

    #[test]
    fn all_places_are_signs() {
        assert!(PLACES.is_sorted());
        PLACES.iter().for_each(|name| assert!(!Signs::of_role(name).is_empty(), "{name}"));
    }

    #[test]
    fn long_texts_in_places_count_and_advertisements_and_menus_do_not() {
        let words: Vec<WordHash> = (0..100).collect();
        let block = |signs, links| Block { signs, link_ink: links, ink: 100, shape: Shape::Plain, ..Block::default() };
        let of = |block: Block, span: Range<usize>| read(&[block], std::slice::from_ref(&span), &words, Signs::ALL);
        let aside = Signs::of_role("aside");
        assert_eq!(of(block(aside, 10), 0..40)[0].words, 40);
        assert_ne!(of(block(aside, 10), 0..40), of(block(aside, 10), 1..41));
        assert_eq!(of(block(aside, 10), 0..9), [], "too short");
        assert_eq!(of(block(aside, 40), 0..40), [], "a menu");
        assert_eq!(of(block(Signs::NONE, 10), 0..40), [], "content");
        assert_eq!(of(block(aside | Signs::of_role("ad"), 10), 0..40), [], "an advertisement in an aside");
        let not_believed = read(&[block(aside, 10)], std::slice::from_ref(&(0..40)), &words, Signs::NONE);
        assert_eq!(not_believed, [], "a sign that is not believed");
    }
}
