//! The words of a text, as hashes. A word is a maximal run of letters, digits, marks and underscores (`\w+` of UTS
//! #18), folded to lower case. Scripts that are written without spaces give the bigrams of their characters.
//!
//! The text is read in strips. For each strip, the positions at which words begin and end are found first. So the main
//! loop runs over words and not over bytes. Runs with characters beyond ASCII are then read character by character.

mod fast;
mod hash;
mod letters;
mod mark;
mod parts;
#[cfg(test)]
pub(crate) mod tests;
mod unicode;

use std::ops::Range;

pub use hash::fold_multiply;
use hash::{long_hash, short_hash};
use parts::Parts;

/// The hash of a word. [`is_number`] tells the hashes of words of ASCII digits from others.
pub type WordHash = u64;

/// The highest bits of the hash of a number. All of them are set. In other hashes at least one of them is not set.
const NUMBER: u64 = 0xFFFF << 48;

/// Whether this is the hash of a word that consists of digits.
#[inline]
pub fn is_number(hash: WordHash) -> bool {
    hash >= NUMBER
}

/// Whether this is the hash of a number of four digits or more: a year, a counter, an identifier.
#[inline]
pub fn is_long_number(hash: WordHash) -> bool {
    is_number(hash) && hash >> 44 & 0xF >= 4
}

/// Cuts text into words. It keeps only scratch memory.
#[derive(Debug, Default)]
pub struct Words {
    /// The last bytes of the previous strip, then the strip with ASCII capitals folded, then room to load a word as
    /// sixteen bytes.
    lower: Vec<u8>,
    /// The positions at which words begin and end in the strip, in turn.
    turns: Vec<u16>,
}

/// A text that is being read.
struct Reading<'t> {
    text: &'t str,
    /// The position of the strip.
    at: usize,
    /// The start of a word that began in an earlier strip and reaches into this one.
    open: Option<usize>,
    /// 1 if the byte before the strip is part of a word.
    inside: u64,
    parts: Parts<'t>,
}

impl Words {
    /// Bytes of a strip.
    const STRIP: usize = 4096;
    /// This many bytes of the previous strip are kept.
    const LEAD: usize = 16;

    /// Appends the hashes of the words of `text` to `out`.
    pub fn hashes(&mut self, text: &str, out: &mut Vec<WordHash>) {
        self.read(text, Parts::new(&[], &mut Vec::new()), out, fast::strip);
    }

    /// Appends the hashes of the words of `text` to `out`. For each part, appends the range of the part's words to
    /// `spans`. A part reaches from one of `starts` to the next. No word reaches across a start, or comes before the
    /// first.
    pub fn hashes_of_parts(
        &mut self,
        text: &str,
        starts: &[usize],
        out: &mut Vec<WordHash>,
        spans: &mut Vec<Range<usize>>,
    ) {
        self.read(text, Parts::new(starts, spans), out, fast::strip);
    }

    fn read<'t>(
        &mut self,
        text: &'t str,
        parts: Parts<'t>,
        out: &mut Vec<WordHash>,
        strip: impl Fn(&mut Self, &mut Reading, &mut Vec<WordHash>),
    ) {
        self.lower.resize(Self::LEAD + Self::STRIP + mark::BLOCK + Self::LEAD, 0);
        self.turns.resize(Self::STRIP + mark::BLOCK, 0);
        let mut reading = Reading { text, at: 0, open: None, inside: 0, parts };
        while reading.at < text.len() {
            strip(self, &mut reading, out);
            reading.at += Self::STRIP;
        }
        if let Some(start) = reading.open {
            reading.at -= Self::STRIP;
            self.word(&mut reading, start, text.len(), out);
        }
        reading.parts.finish(out.len());
    }

    /// Reads a strip, except for a word that reaches beyond it.
    #[inline(always)]
    fn strip(&mut self, reading: &mut Reading<'_>, out: &mut Vec<WordHash>) {
        let bytes = reading.text.as_bytes();
        let strip = &bytes[reading.at..bytes.len().min(reading.at + Self::STRIP)];
        if reading.at > 0 {
            self.lower.copy_within(Self::STRIP..Self::STRIP + Self::LEAD, 0);
        }
        let count = mark::turns(strip, &mut self.lower[Self::LEAD..], &mut reading.inside, &mut self.turns);
        let mut turns = &self.turns[..count];
        out.reserve(count / 2 + 1);
        if let Some(start) = reading.open
            && let Some((end, rest)) = turns.split_first()
        {
            self.word(reading, start, reading.at + usize::from(*end), out);
            turns = rest;
            reading.open = None;
        }
        let (words, last) = turns.as_chunks::<2>();
        for [start, end] in words {
            self.word(reading, reading.at + usize::from(*start), reading.at + usize::from(*end), out);
        }
        if let [start] = last {
            reading.open = Some(reading.at + usize::from(*start));
        }
    }

    /// Reads the run of word bytes `start..end`, which ends in the strip.
    #[inline(always)]
    fn word(&self, reading: &mut Reading<'_>, start: usize, end: usize, out: &mut Vec<WordHash>) {
        const HIGH: u64 = 0x8080_8080_8080_8080;
        reading.parts.reach(start, out.len());
        let length = end - start;
        if length > 16 {
            return long_word(&reading.text[start..end], out);
        }
        let (low, high) = self.load(start + Self::LEAD - reading.at, length);
        if (low | high) & HIGH != 0 {
            unicode::unicode(&reading.text[start..end], out);
        } else {
            out.push(short_hash(low, high, length));
        }
    }

    /// Up to sixteen folded bytes of a word, and zeros behind the word.
    #[inline(always)]
    fn load(&self, start: usize, length: usize) -> (u64, u64) {
        const MASKS: [u128; 17] = {
            let mut masks = [0; 17];
            let mut length = 1;
            while length <= 16 {
                masks[length] = u128::MAX >> (128 - 8 * length);
                length += 1;
            }
            masks
        };
        let bytes = self.lower[start..].first_chunk::<16>().expect("padded");
        let word = u128::from_le_bytes(*bytes) & MASKS[length];
        (word as u64, (word >> 64) as u64)
    }
}

#[cold]
fn long_word(word: &str, out: &mut Vec<WordHash>) {
    if word.is_ascii() {
        out.push(long_hash(&word.as_bytes().to_ascii_lowercase()));
    } else {
        unicode::unicode(word, out);
    }
}
