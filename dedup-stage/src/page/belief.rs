//! Decides which signs of chrome are believed on a page.
//!
//! A sign is plausible if little running text stands under it. The part with most of the page's text is content,
//! whatever its element or its class says: some sites wrap whole articles in `<header>` or in `class="sidebar"`.

use std::ops::Range;

use super::content::is_running;
use super::outline::Block;
use super::signs::Signs;

/// A sign with fewer words of running text than this is always believed.
const MANY: usize = 100;
/// A sign is not believed if its running text has at least this many times the words of the text under no believed
/// sign.
const TIMES: usize = 3;

/// The signs that are believed on a page with these blocks. `spans[i]` is the range of the words of block `i`.
///
/// If one sign has most of the running text, it is not believed. The sign with the most text is dropped first. What it
/// marked counts as content when the next sign is looked at.
pub fn believed(blocks: &[Block], spans: &[Range<usize>]) -> Signs {
    let mut words = [0usize; 128];
    for (block, span) in blocks.iter().zip(spans) {
        if is_running(block, span.len()) {
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
