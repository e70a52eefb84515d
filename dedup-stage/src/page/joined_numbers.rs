//! Numbers in short passages of prose that are more than digits: `23ms`, `0.12s`, `1,024`, `10:15:02`, `8f3a-77bc`. In
//! prose, a number may change while the passage says the same ("This page was made in 23ms"). Cut into words, `23ms` is
//! no number, and `1,024` is two. Here each of them is one number.

use std::borrow::Cow;

use super::outline::Block;
use crate::words::{WordHash, Words};

/// In a longer passage, a few words more or less are no difference.
const MOST_WORDS: usize = 24;
/// A longer passage of few words has no sentences. (The last passage of a text that was cut has few words, too, but all
/// of its text is still there.)
const MOST_BYTES: usize = 1 << 10;
/// The signs that join the parts of a number.
const JOINS: [char; 6] = ['.', ',', ':', '/', '-', '\''];

/// Reads words with joined numbers. It keeps only scratch memory.
#[derive(Debug, Default)]
pub(super) struct JoinedNumbers {
    joined: String,
    hasher: Words,
}

impl JoinedNumbers {
    /// The words of a block of `text`. In short prose, each word with a digit is the number of its digits, and numbers
    /// that are joined are one.
    pub(super) fn words<'w>(&mut self, block: &Block, text: &str, words: &'w [WordHash]) -> Cow<'w, [WordHash]> {
        let text = &text[block.range()];
        let is_short = words.len() <= MOST_WORDS && text.len() <= MOST_BYTES;
        if !is_short || !block.is_prose() || block.is_list() || !has_joined_number(text) {
            return Cow::Borrowed(words);
        }
        self.joined.clear();
        join(text, &mut self.joined);
        let mut words = Vec::with_capacity(words.len());
        self.hasher.hashes(&self.joined, &mut words);
        Cow::Owned(words)
    }
}

/// Whether a text has a word of digits and letters, or digits that are joined.
fn has_joined_number(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Most texts have no digit. This loop has no branch, so it reads many bytes at once.
    if !bytes.iter().fold(false, |any, byte| any | byte.is_ascii_digit()) {
        return false;
    }
    let at_digit = |at: usize| {
        let [before, after] = [at.checked_sub(1), Some(at + 1)].map(|at| at.and_then(|at| bytes.get(at)));
        let is_letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphabetic);
        let is_joined = after.is_some_and(|byte| JOINS.contains(&char::from(*byte)));
        is_letter(before) || is_letter(after) || is_joined && bytes.get(at + 2).is_some_and(u8::is_ascii_digit)
    };
    bytes.iter().enumerate().any(|(at, byte)| byte.is_ascii_digit() && at_digit(at))
}

/// Appends a text, with joined numbers.
fn join(text: &str, joined: &mut String) {
    let is_of_word = |character: char| character.is_alphanumeric() || character == '_';
    let (mut rest, mut is_after_number) = (text, false);
    while !rest.is_empty() {
        let between = rest.find(is_of_word).unwrap_or(rest.len());
        let (gap, from) = rest.split_at(between);
        let end = from.find(|character| !is_of_word(character)).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        let is_number = word.is_ascii() && word.bytes().any(|byte| byte.is_ascii_digit());
        let mut signs = gap.chars();
        let is_join = matches!((signs.next(), signs.next()), (Some(sign), None) if JOINS.contains(&sign));
        if !(is_number && is_after_number && is_join) {
            joined.push_str(gap);
        }
        match is_number {
            true => joined.extend(word.chars().filter(char::is_ascii_digit)),
            false => joined.push_str(word),
        }
        (rest, is_after_number) = (after, is_number);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;

    #[test]
    fn words_with_digits_are_numbers_and_what_is_joined_is_one() {
        let rows = [
            ("made in 23ms", "made in 23"),
            ("made in 0.123s.", "made in 0123."),
            ("1,024 visitors, 17 online", "1024 visitors, 17 online"),
            ("at 10:15:02, 3rd of May", "at 101502, 3 of May"),
            ("request 8f3a-77bc-e1 failed", "request 83771 failed"),
            ("covid-19, F-16 and x86_64", "covid-19, F-16 and 8664"),
            ("on 5 3 2031", "on 5 3 2031"),
            ("3月5日", "3月5日"),
            ("", ""),
        ];
        for (text, expected) in rows {
            let mut joined = String::new();
            join(text, &mut joined);
            assert_eq!(joined, expected);
            assert!(has_joined_number(text) || text == expected, "{text}");
        }
    }

    /// Catches a passage whose text is read again beyond the cap on the text of a page.
    #[test]
    fn a_long_text_of_few_words_is_left_alone() {
        let block = |bytes: u32| Block { end: bytes, ink: bytes, ..Block::default() };
        let is_joined = |text: &str| {
            matches!(JoinedNumbers::default().words(&block(text.len() as u32), text, &[1, 2]), Cow::Owned(_))
        };
        assert!(is_joined("in 23ms"));
        assert!(!is_joined(&"in 23ms ".repeat(MOST_BYTES / 8 + 1)));
    }

    #[test]
    fn a_time_or_a_counter_is_no_change_and_a_word_is_one() {
        let short = |text: &str| {
            let page = read(&format!("<title>Photo</title><p>A photo.</p><p>{text}</p>"));
            assert!(page.signature.is_none());
            page.odd.unwrap()
        };
        assert_eq!(short("This page was made in 23ms"), short("This page was made in 0.4s"));
        assert_eq!(short("Seen by 999 people"), short("Seen by 1,000 people"));
        assert_ne!(short("This page was made in 23ms"), short("This page was lost in 23ms"));
        let cell = |text: &str| read(&format!("<p>A photo.</p><table><td>{text}</table>")).odd.unwrap();
        assert_ne!(cell("5.3"), cell("5.4"), "a cell of a table says its numbers");
        let prose: String = ["robin", "finch", "heron", "crane", "eagle", "raven"]
            .map(|bird| format!("The {bird} sings in the old garden behind our house. "))
            .concat();
        let long = |text: &str| read(&format!("<h1>Birds</h1><p>{prose}</p><p>{text}</p>")).odd.unwrap();
        assert_eq!(long("Made for you in 23ms"), long("Made for you in 171ms"));
    }
}
