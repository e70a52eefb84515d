//! The texts of links on a page that consists mostly of links, such as an index, a table of contents or a front page.
//! If such a page shows other links than at the last visit, its text is another one, too. So the judge must know which
//! words belong to which link ([`crate::judge`]). [`compared`] makes the sketch and the texts with which the next visit
//! to a page is compared.

use std::ops::Range;

use config::bounds;
use serde::{Deserialize, Serialize};

use super::numbering::numbers;
use super::outline::{Block, Outline};
use super::repeats::distinct;
use crate::signature::OddSketch;
use crate::signature::Passage;
use crate::words::WordHash;

/// The blocks of links in the content of a page that consists mostly of such blocks. Empty for any other page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkTexts {
    /// The links of each block, as numbers in the list of the page's links.
    links: Vec<u32>,
    /// The bits of the odd sketch that the words of each block flip ([`OddSketch::flips`]).
    #[serde(with = "serde_bytes")]
    flips: Vec<u8>,
    /// For each block, the end of its links and the end of its flips.
    ends: Vec<(u32, u32)>,
}

/// The text of one block of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkText<'a> {
    /// Its links, as numbers in the list of the page's links.
    pub links: &'a [u32],
    /// The bits of the odd sketch that its words flip.
    pub flips: &'a [u8],
}

/// The odd sketch of the content, and the texts of the links if the page consists mostly of links.
///
/// If at least half of the content is text, the sketch leaves out lists of links. Their links are compared one by one,
/// and a box of related pages has other links at each visit. `places` are the places of the page's links in its text,
/// in order, each with the number of the link.
pub fn compared(
    content: &[Passage],
    outline: &Outline,
    words: &[WordHash],
    places: &[(u32, u32)],
) -> (Option<OddSketch>, LinkTexts) {
    let Outline { text, blocks, .. } = outline;
    let odd = OddSketch::of(distinct(in_sketch(content, blocks), outline, words));
    let in_lists = words_in_lists(content, blocks);
    let has_texts = consists_of_lists(content, in_lists) && in_lists <= bounds::LINK_WORDS;
    let passages = content.iter().map(|passage| (passage, &blocks[passage.block]));
    (odd, if has_texts { LinkTexts::of(passages, text, words, places) } else { LinkTexts::default() })
}

/// The passages that count in the odd sketch, with their blocks.
pub fn in_sketch<'p>(content: &'p [Passage], blocks: &'p [Block]) -> impl Iterator<Item = (&'p Passage, &'p Block)> {
    let with_lists = consists_of_lists(content, words_in_lists(content, blocks));
    let passages = content.iter().map(|passage| (passage, &blocks[passage.block]));
    passages.filter(move |(_, block)| with_lists || !block.is_list())
}

/// The number of words of the content that stand in lists of links.
fn words_in_lists(content: &[Passage], blocks: &[Block]) -> usize {
    content.iter().filter(|passage| blocks[passage.block].is_list()).map(|passage| passage.words.len()).sum()
}

/// Whether more than half of the words of the content stand in lists of links.
fn consists_of_lists(content: &[Passage], in_lists: usize) -> bool {
    in_lists * 2 > content.iter().map(|passage| passage.words.len()).sum()
}

impl LinkTexts {
    /// The blocks of links among these passages. None if they have too many links.
    fn of<'p>(
        passages: impl Iterator<Item = (&'p Passage, &'p Block)>,
        text: &str,
        words: &[WordHash],
        places: &[(u32, u32)],
    ) -> Self {
        let mut this = Self::default();
        for (passage, block) in passages.filter(|(_, block)| block.is_list()) {
            let Range { start, end } = block.range();
            let first = places.partition_point(|(place, _)| (*place as usize) < start);
            let within = places[first..].iter().take_while(|(place, _)| (*place as usize) < end);
            this.links.extend(within.map(|(_, link)| link));
            OddSketch::flips(&words[passage.words.clone()], numbers(block, text), |bit| this.flips.push(bit));
            this.ends.push((this.links.len() as u32, this.flips.len() as u32));
            if this.links.len() > bounds::LINKS {
                return Self::default();
            }
        }
        this
    }

    /// The bytes of memory that they take.
    pub fn bytes(&self) -> usize {
        4 * self.links.capacity() + self.flips.capacity() + 8 * self.ends.capacity()
    }

    /// The blocks, in the order of the page.
    pub fn iter(&self) -> impl Iterator<Item = LinkText<'_>> {
        let mut from = (0, 0);
        self.ends.iter().filter_map(move |&end| {
            let start = std::mem::replace(&mut from, end);
            Some(LinkText {
                links: self.links.get(start.0 as usize..end.0 as usize)?,
                flips: self.flips.get(start.1 as usize..end.1 as usize)?,
            })
        })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Numbers the links anew: `numbers` has the new number of each link of the page. To be called if links that lead
    /// to one URL are joined.
    pub fn renumber(&mut self, numbers: &[u32]) {
        for link in &mut self.links {
            *link = numbers.get(*link as usize).copied().unwrap_or(u32::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;

    #[test]
    fn a_page_has_link_texts_if_it_consists_mostly_of_links() {
        let prose =
            "<p>This page is about the things that one finds in the old town, and about how one gets there.</p>";
        let list = |count: usize| -> String {
            (0..count).map(|at| format!("<li><a href='/{at}'>The street with number {at}</a></li>")).collect()
        };
        let page = read(&format!("<h1>The old town</h1>{prose}<ul>{}</ul>", list(9)));
        let texts: Vec<LinkText<'_>> = page.link_texts.iter().collect();
        let links: Vec<&[u32]> = texts.iter().map(|text| text.links).collect();
        assert_eq!(links, (0..9).map(|at| [at]).collect::<Vec<_>>());
        assert!(texts.iter().all(|text| text.flips.len() == 5));
        let little = read(&format!("<h1>The old town</h1>{}<ul>{}</ul>", prose.repeat(9), list(9)));
        assert!(little.link_texts.is_empty());
    }

    /// Catches pages of links that fill the memory.
    #[test]
    fn a_page_with_very_many_words_or_links_has_no_link_texts() {
        let list = |count: usize, link: &str| format!("<h1>a</h1><ul>{}</ul>", link.repeat(count));
        let words = |count| read(&list(count, "<li><a href=/>a b c d e f g h</a></li>"));
        assert!(!words(bounds::LINK_WORDS / 8).link_texts.is_empty());
        assert!(words(bounds::LINK_WORDS / 8 + 1).link_texts.is_empty());
        let entry = |count| format!("<li>{}<a href=/>words of a link</a></li>", "<a href=/></a>".repeat(count));
        let links = |count| read(&list(1, &entry(count)));
        assert!(!links(bounds::LINKS - 1).link_texts.is_empty());
        assert!(links(bounds::LINKS).link_texts.is_empty());
    }
}
