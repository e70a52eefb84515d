//! Assigns the words of a text to its parts, while the whole text is read in one go.

use std::ops::Range;

/// The parts of a text, in order. Each reaches from its start to the start of the next.
#[derive(Debug)]
pub struct Parts<'t> {
    /// The starts of the parts that are not reached yet.
    starts: &'t [usize],
    /// The first of these starts; the largest number if there is none.
    next: usize,
    /// The ranges of the words of the parts, among all words.
    spans: &'t mut Vec<Range<usize>>,
}

impl<'t> Parts<'t> {
    /// Parts that begin at these bytes. `spans` is empty, and gets a range for each part.
    pub fn new(starts: &'t [usize], spans: &'t mut Vec<Range<usize>>) -> Self {
        Self { starts, next: starts.first().copied().unwrap_or(usize::MAX), spans }
    }

    /// A word begins at the byte `at`. There are `words` words before it.
    #[inline(always)]
    pub fn reach(&mut self, at: usize, words: usize) {
        while at >= self.next {
            self.begin(words);
        }
    }

    /// The text has ended.
    pub fn finish(&mut self, words: usize) {
        while !self.starts.is_empty() {
            self.begin(words);
        }
        if let Some(last) = self.spans.last_mut() {
            last.end = words;
        }
    }

    #[inline(never)]
    fn begin(&mut self, words: usize) {
        if let Some(last) = self.spans.last_mut() {
            last.end = words;
        }
        self.spans.push(words..words);
        self.starts = &self.starts[1..];
        self.next = self.starts.first().copied().unwrap_or(usize::MAX);
    }
}
