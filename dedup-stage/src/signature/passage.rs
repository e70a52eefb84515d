//! A passage: one block of a page's content, as signatures read it.

use std::ops::Range;

/// A block of content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The number of the block.
    pub block: usize,
    /// The places of its words.
    pub words: Range<usize>,
    /// Weight of each of its words, in eighths, at least one. Short blocks say less about the topic of a page.
    pub eighths: u32,
}
