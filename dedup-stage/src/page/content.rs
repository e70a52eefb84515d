//! What a page says, told from what its site says on every page, by the statistics of the page's own blocks: the share
//! of link text and the number of words (after Kohlschütter, Fankhauser, Nejdl, "Boilerplate Detection using Shallow
//! Text Features", WSDM 2010), by place, and by the names authors give to the parts of a page.

use std::ops::Range;

use super::outline::Block;

/// Link text of a block, in bytes of 100, from which it is a list of links.
const LINK_PERCENT: usize = 50;
/// Lists of links are content of a page of which they are at least so many words of 100: a table of contents, an index.
const LIST_PERCENT: usize = 15;
/// Words of a block of text from which the content has begun.
const TEXT: usize = 10;
/// Words below which what was left out is taken in again.
const TOO_LITTLE: usize = 20;

/// Chooses the content. `words[i]` is where the words of block `i` stand; the chosen ranges go to `chosen`, in order.
/// Returns the first byte of the text that may be content: links before it are menus.
pub fn choose(blocks: &[Block], words: &[Range<usize>], chosen: &mut Vec<Range<usize>>) -> u32 {
    let start = blocks
        .iter()
        .zip(words)
        .position(|(block, words)| !block.chrome && (block.heading || !is_list(block) && words.len() >= TEXT))
        .unwrap_or(0);
    let (mut all, mut in_lists) = (0, 0);
    for (block, words) in blocks.iter().zip(words).skip(start).filter(|(block, _)| !block.chrome) {
        all += words.len();
        in_lists += if is_list(block) { words.len() } else { 0 };
    }
    let with_lists = in_lists * 100 >= all * LIST_PERCENT;
    let rules: [&dyn Fn(usize, &Block) -> bool; 3] = [
        &|i, block| !block.chrome && (!is_list(block) || with_lists && i >= start),
        &|_, block| !block.chrome,
        &|_, _| true,
    ];
    for rule in rules {
        chosen.clear();
        for (i, (block, words)) in blocks.iter().zip(words).enumerate() {
            if !words.is_empty() && rule(i, block) {
                match chosen.last_mut() {
                    Some(last) if last.end == words.start => last.end = words.end,
                    _ => chosen.push(words.clone()),
                }
            }
        }
        if chosen.iter().map(Range::len).sum::<usize>() >= TOO_LITTLE {
            break;
        }
    }
    blocks.get(start).map_or(0, |block| block.start)
}

fn is_list(block: &Block) -> bool {
    !block.heading && block.link_bytes as usize * 100 >= block.range().len() * LINK_PERCENT
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of so many words, one of `link`, `text`, `nav` or `head` each, and the indices of those chosen.
    fn chosen(page: &[(&str, usize)]) -> Vec<usize> {
        let (mut blocks, mut words, mut at) = (Vec::new(), Vec::new(), 0);
        for (kind, count) in page {
            let (start, end) = (at as u32 * 6, (at + count) as u32 * 6);
            blocks.push(Block {
                start,
                end,
                link_bytes: if matches!(*kind, "link" | "nav") { end - start } else { 0 },
                chrome: *kind == "nav",
                heading: *kind == "head",
            });
            words.push(at..at + count);
            at += count;
        }
        let mut chosen = Vec::new();
        choose(&blocks, &words, &mut chosen);
        (0..page.len()).filter(|i| chosen.iter().any(|range| range.contains(&words[*i].start))).collect()
    }

    #[test]
    fn menus_are_left_out_and_indexes_are_not() {
        assert_eq!(chosen(&[("link", 40), ("head", 4), ("text", 200), ("link", 20), ("nav", 90)]), [1, 2]);
        assert_eq!(chosen(&[("link", 40), ("head", 4), ("text", 60), ("link", 80)]), [1, 2, 3]);
        assert_eq!(chosen(&[("nav", 40), ("text", 5), ("link", 30)]), [1, 2]);
        assert_eq!(chosen(&[("nav", 40), ("text", 5)]), [0, 1]);
        assert!(chosen(&[]).is_empty());
    }
}
