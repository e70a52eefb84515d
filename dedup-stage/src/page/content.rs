//! Finds the content of a page: what the page says, without what its site says on every page. It looks at the
//! statistics of the page's own blocks (the share of link text and the number of words, after Kohlschütter, Fankhauser,
//! Nejdl, "Boilerplate Detection using Shallow Text Features", WSDM 2010), at their places, and at the names that
//! authors give to the parts of a page.

use std::ops::Range;

use super::outline::{Block, BlockKind};
use super::signs::Signs;
use crate::signature::Passage;
use crate::words::{WordHash, is_long_number};

/// Lists of links belong to the content if they have at least this percentage of the words of the page (a table of
/// contents, an index).
const LIST_PERCENT: usize = 15;
/// The content begins at a heading, or at a block of text with at least this many words.
const TEXT: usize = 10;
/// A line with a long number and at most this many words is a counter, a date or a copyright notice.
const VOLATILE: usize = 12;
/// If links to other sites make up this percentage of a paragraph or more, it is an advertisement. White space does not
/// count.
const AWAY_PERCENT: u64 = 50;
/// A block with at least this many words has full weight.
const FULL: usize = 16;

/// A block with at least this many words is running text, and not an entry of a menu.
const RUNNING: usize = 16;
/// If links make up this percentage of a block's text or more, the block is no running text. White space does not
/// count.
const LINK_PERCENT: u32 = 25;

/// Chooses the content. `spans[i]` are the places in `words` of the hashes of the words of block `i`. `believed` are
/// the signs of chrome that are believed. The chosen blocks are written to `chosen`, in order.
pub fn choose(
    blocks: &[Block],
    spans: &[Range<usize>],
    words: &[WordHash],
    believed: Signs,
    chosen: &mut Vec<Passage>,
) {
    let chrome = |block: &Block| block.signs.meet(believed);
    let numbered = || blocks.iter().zip(spans).enumerate();
    let start = numbered()
        .find(|(_, (block, span))| {
            !chrome(block) && (block.shape == BlockKind::Heading || !block.is_list() && span.len() >= TEXT)
        })
        .map_or(0, |(i, _)| i);
    let (mut all, mut in_lists) = (0, 0);
    for (_, (block, span)) in numbered().skip(start).filter(|(_, (block, _))| !chrome(block)) {
        all += span.len();
        in_lists += if block.is_list() && !is_advertisement(block) { span.len() } else { 0 };
    }
    let with_lists = in_lists * 100 >= all * LIST_PERCENT;
    chosen.clear();
    for (i, (block, span)) in numbered() {
        let out = chrome(block)
            || if block.is_list() {
                !with_lists || i < start || is_advertisement(block)
            } else {
                is_volatile(block, &words[span.clone()])
            };
        if !out && !span.is_empty() {
            chosen.push(Passage { block: i, words: span.clone(), eighths: eighths(block, span.len()) });
        }
    }
}

/// Whether a block with this many words is running text.
pub fn is_running(block: &Block, words: usize) -> bool {
    words >= RUNNING && block.links_below(LINK_PERCENT)
}

/// Whether a block is a paragraph that consists mostly of links to other sites. (Items of lists may lead anywhere.)
fn is_advertisement(block: &Block) -> bool {
    block.shape == BlockKind::Plain && u64::from(block.away_ink) * 100 >= u64::from(block.ink) * AWAY_PERCENT
}

/// Whether a block is a short line with a long number.
fn is_volatile(block: &Block, words: &[WordHash]) -> bool {
    block.shape == BlockKind::Plain && words.len() <= VOLATILE && words.iter().any(|word| is_long_number(*word))
}

fn eighths(block: &Block, words: usize) -> u32 {
    if words >= FULL || block.shape == BlockKind::Heading { 8 } else { (words / 2).max(1) as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::belief::believed;

    /// The indices of the chosen blocks. Each block of the page has a number of words and one of these kinds: `link`,
    /// `away`, `text`, `date`, `item`, `nav`, `ad`, `head`.
    fn chosen(page: &[(&str, usize)]) -> Vec<usize> {
        let (mut blocks, mut spans, mut words) = (Vec::new(), Vec::new(), Vec::new());
        for (kind, count) in page {
            let start = words.len();
            words.resize(start + count, 7u64);
            let year = crate::words::tests::hashes("2026")[0];
            words[start] = if *kind == "date" { year } else { 7 };
            let (from, to) = (start as u32 * 6, words.len() as u32 * 6);
            blocks.push(Block {
                start: from,
                end: to,
                ink: to - from,
                link_ink: if matches!(*kind, "link" | "nav" | "away") { to - from } else { 0 },
                away_ink: if *kind == "away" { to - from } else { 0 },
                signs: Signs::of_role(kind),
                shape: match *kind {
                    "head" => BlockKind::Heading,
                    "item" => BlockKind::Item,
                    _ => BlockKind::Plain,
                },
            });
            spans.push(start..words.len());
        }
        let mut chosen = Vec::new();
        choose(&blocks, &spans, &words, believed(&blocks, &spans), &mut chosen);
        chosen.iter().map(|passage| passage.block).collect()
    }

    #[test]
    fn menus_are_left_out_and_indexes_are_not() {
        assert_eq!(chosen(&[("link", 40), ("head", 4), ("text", 200), ("link", 20), ("nav", 90)]), [1, 2]);
        assert_eq!(chosen(&[("link", 40), ("head", 4), ("text", 60), ("link", 80), ("away", 9)]), [1, 2, 3]);
    }

    #[test]
    fn little_content_is_not_filled_up_with_chrome() {
        assert_eq!(chosen(&[("nav", 40), ("text", 5)]), [1]);
        assert_eq!(chosen(&[("link", 30)]), [0]);
        assert!(chosen(&[]).is_empty());
    }

    #[test]
    fn what_changes_with_every_visit_is_left_out() {
        assert_eq!(chosen(&[("text", 90), ("date", 5), ("ad", 30), ("item", 2)]), [0, 3]);
        assert_eq!(chosen(&[("text", 21), ("ad", 300)]), [0, 1], "a class that names everything names nothing");
    }

    #[test]
    fn short_blocks_weigh_less() {
        let weight = |count| eighths(&Block::default(), count);
        assert_eq!([1, 6, 8, 12, 15, 16, 500].map(weight), [1, 3, 4, 6, 7, 8, 8]);
    }
}
