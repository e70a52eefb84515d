//! Marks of the words of a page in order, for a caller that looks for words that no earlier page of the host has. A long
//! text that is the same on many pages (a preamble, terms of sale) makes the pages near-duplicates. But each of them may
//! have a few words of its own: a paragraph of a law, an item of a list.

use std::borrow::Cow;

use ::url::Url;

use super::Reader;
use super::filling::Filling;
use crate::words::WordHash;

/// A mark of a word: a part of its hash. [`FILLING`] and [`BORDER`] are no words.
pub type WordMark = u32;

/// Stands for words that say nothing.
pub const FILLING: WordMark = 0;
/// Stands between two blocks.
pub const BORDER: WordMark = 2;

impl Reader {
    /// A page with more words than this is not looked at.
    const MOST_MARKS: usize = 1 << 14;

    /// The words of the content of the page that was read last, from `url`. Words with digits (numbers, identifiers of
    /// requests and sessions), names of months and days, and words of the URL say nothing, because an endless site can
    /// put them into its pages. So each row of such words is one [`FILLING`]. Empty if the page has very many words.
    pub fn word_marks(&mut self, url: &Url) -> Vec<WordMark> {
        let count = self.content_words().take(Self::MOST_MARKS + 1).count();
        if count > Self::MOST_MARKS {
            return Vec::new();
        }
        let filling = Filling::of(url, &mut self.words);
        let mut marks: Vec<WordMark> = Vec::with_capacity(count + self.content.len());
        let mut words: Vec<WordHash> = Vec::new();
        for passage in &self.content {
            words.clear();
            let text = &self.outline.text[self.outline.blocks[passage.block].range()];
            self.words.hashes(&without_digits(text), &mut words);
            if !marks.is_empty() {
                marks.push(BORDER);
            }
            for word in &words {
                let mark = if filling.has(*word) { FILLING } else { (word >> 32) as WordMark | 1 };
                if mark != FILLING || marks.last() != Some(&FILLING) {
                    marks.push(mark);
                }
            }
        }
        marks
    }
}

/// A text with a number in place of each word that has a digit.
fn without_digits(text: &str) -> Cow<'_, str> {
    let has_digit = |word: &str| word.bytes().any(|byte| byte.is_ascii_digit());
    if !has_digit(text) {
        return text.into();
    }
    let words = text.split_whitespace().map(|word| if has_digit(word) { "0" } else { word });
    words.collect::<Vec<_>>().join(" ").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Input;

    fn of(path: &str, body: &str) -> Vec<WordMark> {
        let url = Url::parse("http://a.test").unwrap().join(path).unwrap();
        let mut reader = Reader::default();
        reader.read(&Input { url: &url, status: 200, content_type: Some("text/html"), body: body.as_bytes() });
        reader.word_marks(&url)
    }

    #[test]
    fn numbers_dates_and_words_of_the_url_say_nothing() {
        let month = |path, month| of(path, &format!("<p>No events in {month} at all"));
        assert_eq!(month("/cal/2031/5", "May 2031"), month("/cal/2031/6", "June 2031"));
        assert_eq!(of("/red-ant", "<p>The page red ant is not here"), of("/bee", "<p>The page bee is not here"));
        assert_ne!(of("/1", "<p>The ant is here"), of("/1", "<p>The bee is here"));
    }

    #[test]
    fn words_with_digits_say_nothing_and_blocks_have_borders() {
        let of_id = |id| of("/1", &format!("<p>The request {id} has failed"));
        assert_eq!(of_id("8f3a-77bc-e1"), of_id("47"));
        let words = of("/1", "<p>an ant<p>a bee");
        assert_eq!(words.iter().map(|word| *word == BORDER).collect::<Vec<_>>(), [false, false, true, false, false]);
    }

    #[test]
    fn words_keep_their_order() {
        let (one, other) = (of("/1", "<p>ant bee cat"), of("/1", "<p>cat bee ant"));
        assert_eq!(one.iter().rev().collect::<Vec<_>>(), other.iter().collect::<Vec<_>>());
        assert_eq!(one.len(), 3);
    }

    #[test]
    fn a_page_with_very_many_words_is_not_looked_at() {
        let page = |words: usize| of("/1", &format!("<p>{}", "ant ".repeat(words))).len();
        assert_eq!((page(Reader::MOST_MARKS), page(Reader::MOST_MARKS + 1)), (Reader::MOST_MARKS, 0));
    }
}
