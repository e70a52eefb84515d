//! Which words belong to which part of a text that is read in one go.

use std::ops::Range;

/// The parts of a text, in order; each reaches from its start to that of the next.
#[derive(Debug)]
pub struct Parts<'t> {
    /// Where the parts begin that are not yet reached.
    starts: &'t [usize],
    /// The first of them, or beyond every text.
    next: usize,
    /// Where the words of the parts stand among all words.
    spans: &'t mut Vec<Range<usize>>,
}

impl<'t> Parts<'t> {
    /// Parts that begin at these bytes; a span for each of them goes to `spans`, which is empty.
    pub fn new(starts: &'t [usize], spans: &'t mut Vec<Range<usize>>) -> Self {
        Self { starts, next: starts.first().copied().unwrap_or(usize::MAX), spans }
    }

    /// Takes note of a word that begins at the byte `at`, before which there are so many words.
    #[inline(always)]
    pub fn reach(&mut self, at: usize, words: usize) {
        while at >= self.next {
            self.begin(words);
        }
    }

    /// Takes the end of the text.
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
