//! Which signs of chrome are believed on a page.
//!
//! A sign is plausible where little running text stands under it. What holds most of the page's text is content,
//! whatever its element or its class says: some sites wrap whole articles in `<header>` or in `class="sidebar"`.

use std::ops::Range;

use super::outline::Block;
use super::signs::Signs;

/// Words of running text from which a sign may be implausible …
const MANY: usize = 100;
/// … if it is so many times the text that all other signs leave.
const TIMES: usize = 3;
/// Words from which a block is running text, and no entry of a menu.
const RUNNING: usize = 16;
/// Link text, in bytes of 100 that are no white space, from which a block is no running text.
const LINK_PERCENT: u32 = 25;

/// The signs that are believed on a page of these blocks; `spans[i]` is where the words of block `i` stand.
///
/// While one sign has most of the running text, it is not believed; the one with most text falls first, and what it
/// marked is content when the next one is looked at.
pub fn believed(blocks: &[Block], spans: &[Range<usize>]) -> Signs {
    let mut words = [0usize; 128];
    for (block, span) in blocks.iter().zip(spans) {
        if span.len() >= RUNNING && block.links_below(LINK_PERCENT) {
            block.signs.each().for_each(|sign| words[sign] += span.len());
        }
    }
    let mut believed = Signs::ALL;
    loop {
        let most = believed.each().max_by_key(|sign| words[*sign]).unwrap_or(0);
        if words[most] < MANY {
            return believed;
        }
        let text = blocks.iter().zip(spans).filter(|(block, _)| !block.signs.meet(believed) && !block.is_list());
        if words[most] < TIMES * text.map(|(_, span)| span.len()).sum::<usize>() {
            return believed;
        }
        believed = believed.without(most);
    }
}
