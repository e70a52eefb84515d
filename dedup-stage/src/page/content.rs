//! What a page says, told from what its site says on every page, by the statistics of the page's own blocks: the share
//! of link text and the number of words (after Kohlschütter, Fankhauser, Nejdl, "Boilerplate Detection using Shallow
//! Text Features", WSDM 2010), and by the names authors give to the parts of a page.

use std::ops::Range;

use super::outline::Block;

/// Link text of a block, in bytes of 100, from which it is a list of links.
const LINK_PERCENT: u32 = 50;
/// Words below which content is so little that the page is taken as a whole.
const TOO_LITTLE: usize = 25;

/// Chooses the blocks that are content. `words[i]` is where the words of block `i` stand; the chosen ranges go to
/// `chosen`, in order.
pub fn choose(blocks: &[Block], words: &[Range<usize>], chosen: &mut Vec<Range<usize>>) {
    choose_by(blocks, words, chosen, |block| {
        let bytes = block.end - block.start;
        !block.chrome && (block.heading || block.link_bytes * 100 < bytes * LINK_PERCENT)
    });
    if count(chosen) < TOO_LITTLE {
        choose_by(blocks, words, chosen, |block| !block.chrome);
    }
    if count(chosen) < TOO_LITTLE {
        choose_by(blocks, words, chosen, |_| true);
    }
}

fn choose_by(
    blocks: &[Block],
    words: &[Range<usize>],
    chosen: &mut Vec<Range<usize>>,
    is_content: impl Fn(&Block) -> bool,
) {
    chosen.clear();
    for (block, words) in blocks.iter().zip(words) {
        if is_content(block) && !words.is_empty() {
            match chosen.last_mut() {
                Some(last) if last.end == words.start => last.end = words.end,
                _ => chosen.push(words.clone()),
            }
        }
    }
}

fn count(ranges: &[Range<usize>]) -> usize {
    ranges.iter().map(Range::len).sum()
}
