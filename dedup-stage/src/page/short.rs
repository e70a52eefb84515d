//! The odd sketch of a page that has too little text for a fingerprint. With it the page is compared with itself at the
//! next visit.
//!
//! In so little text each word matters, so the two sketches must be equal, and all blocks outside chrome count. Dates
//! (also names of months and of days) and numbers of prose do not count. The title says as much as the text, so it
//! counts as one more passage. Chrome does not count: otherwise a date in the footer would change such a page at each
//! visit. (Two pages are compared by their statements, in which chrome counts.)

use super::Reader;
use super::filling::is_date_word;
use super::joined_numbers::JoinedNumbers;
use super::link_texts::in_sketch;
use super::numbering::numbers;
use super::repeats::tell_apart;
use crate::signature::Passage;
use crate::signature::{Numbers, OddSketch};
use crate::words::WordHash;

impl Reader {
    /// The sketch of the page that was read last; `None` if it has no words outside chrome.
    pub(super) fn odd_of_short(&mut self, title: &str) -> Option<OddSketch> {
        let mut of_title = Vec::new();
        self.words.hashes(title, &mut of_title);
        let blocks = &self.outline.blocks;
        let shown = blocks.iter().zip(&self.spans).enumerate();
        let shown = shown.filter(|(_, (block, span))| !block.signs.meet(self.believed) && !span.is_empty());
        let shown: Vec<Passage> =
            shown.map(|(block, (_, words))| Passage { block, words: words.clone(), eighths: 1 }).collect();
        let mut joined_numbers = JoinedNumbers::default();
        let passages = in_sketch(&shown, blocks).map(|(passage, block)| {
            let (text, words) = (&self.outline.text, &self.hashes[passage.words.clone()]);
            let (words, numbers) = (joined_numbers.words(block, text, words), numbers(block, text));
            (if numbers == Numbers::All { without_dates(&words) } else { words.into_owned() }, numbers)
        });
        let mut passages: Vec<(Vec<WordHash>, Numbers)> = passages.collect();
        if !passages.is_empty() {
            passages.push((without_dates(&of_title), Numbers::All));
        }
        tell_apart(&mut passages);
        OddSketch::of(passages.iter().map(|(words, numbers)| (&words[..], *numbers)))
    }
}

/// These words, with a number in place of each name of a month or a day.
fn without_dates(words: &[WordHash]) -> Vec<WordHash> {
    words.iter().map(|word| if is_date_word(*word) { WordHash::MAX } else { *word }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;

    #[test]
    fn each_word_of_text_and_title_counts_but_no_date_number_or_chrome() {
        let page = |title: &str, text: &str, footer: &str| {
            let html = format!(
                "<title>{title}</title><h1>The mill</h1><p>{text}</p><div class=footer>Seen by {footer} people</div>"
            );
            let page = read(&html);
            assert!(page.signature.is_none() && page.statement.is_some());
            page.odd.unwrap()
        };
        let text = "It is open on Monday, 5 March 2026.";
        let mill = page("Mill 3.1", text, "four");
        assert_eq!(page("Mill 3.20", "It is open on Friday, 17 April 2027.", "nine"), mill);
        for other in [
            page("Mill of the town", text, "four"),
            page("Mill 3.1", "It is shut on Monday, 5 March 2026.", "four"),
            page("Mill 3.1", "It is open on Monday, 5 March 2026, again.", "four"),
        ] {
            assert_ne!(other, mill);
        }
    }

    #[test]
    fn a_table_says_its_numbers_and_media_alone_have_no_sketch() {
        let price = |price: u32| read(&format!("<p>Tea for the day</p><table><td>{price}</table>")).odd.unwrap();
        assert_ne!(price(3), price(4));
        let photo = read("<title>A photo</title><img src=/a.jpg>");
        assert!(photo.odd.is_none() && photo.statement.is_some());
    }
}
