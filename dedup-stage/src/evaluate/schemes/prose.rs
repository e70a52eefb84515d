//! What a scheme may do to the words of a text before it makes a fingerprint: leave out stop words, stem words, replace
//! numbers, join words to phrases.

use super::porter::stem;
use super::shingles::shingles;
use crate::words::{WordHash, Words, is_number};

/// The changes to the words of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prose {
    /// Frequent English words are left out.
    pub stop: bool,
    /// English words are stemmed (Porter 1980).
    pub stem: bool,
    /// Numbers count by the number of their digits. Otherwise they are left out.
    pub digits: bool,
}

impl Prose {
    /// The hashes of the words of `text`.
    pub fn words(self, text: &str) -> Vec<WordHash> {
        let mut kept = String::with_capacity(text.len());
        for (word, between) in runs(text) {
            let plain = !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric());
            if plain && word.bytes().all(|b| b.is_ascii_digit()) {
                if self.digits {
                    // This must not be the hash of a number, because numbers have no vote.
                    kept.push_str("digits_");
                    kept.push_str(&word.len().to_string());
                }
            } else if plain && (self.stop || self.stem) {
                let lower = word.to_ascii_lowercase();
                if !(self.stop && is_stop_word(&lower)) {
                    kept.push_str(&if self.stem { stem(&lower) } else { lower });
                }
            } else {
                kept.push_str(word);
            }
            kept.push_str(between);
        }
        let mut hashes = Vec::new();
        Words::default().hashes(&kept, &mut hashes);
        hashes.retain(|word| !is_number(*word));
        hashes
    }

    /// The hashes of the phrases of `text`. A phrase is a maximal run of words without a stop word or a mark between
    /// them (Rose, Engel, Cramer, Cowley, "Automatic Keyword Extraction from Individual Documents", 2010).
    pub fn phrases(self, text: &str) -> Vec<WordHash> {
        let mut phrases = Vec::new();
        let mut phrase = String::new();
        let mut end = |phrase: &mut String| {
            let words = self.words(phrase);
            phrases.extend(shingles(&words, words.len().max(1)));
            phrase.clear();
        };
        for (word, between) in runs(text) {
            if is_stop_word(&word.to_lowercase()) {
                end(&mut phrase);
            } else {
                phrase.push_str(word);
            }
            if between.contains(|c: char| !c.is_whitespace()) || between.matches('\n').count() > 1 {
                end(&mut phrase);
            } else {
                phrase.push(' ');
            }
        }
        end(&mut phrase);
        phrases
    }
}

/// The words of a text, each with the characters between it and the next word. The first word may be empty.
fn runs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || !c.is_ascii() && !c.is_whitespace() && !is_mark(c);
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (word, after) = rest.split_at(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
        let (between, next) = after.split_at(after.find(is_word).unwrap_or(after.len()));
        rest = next;
        Some((word, between))
    })
}

/// Punctuation beyond ASCII that ends a phrase.
fn is_mark(c: char) -> bool {
    matches!(c as u32, 0xA1..=0xBF | 0x2010..=0x205E | 0x3001..=0x3003 | 0x3008..=0x301F | 0xFF00..=0xFF0F | 0xFF1A..=0xFF1F)
        || matches!(c, '،' | '؛' | '؟' | '۔' | '।' | '॥')
}

/// Whether this is a frequent English word, in lower case.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Frequent English words, sorted.
const STOP_WORDS: [&str; 98] = [
    "a", "about", "after", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been", "before", "but", "by",
    "can", "could", "did", "do", "down", "for", "from", "had", "has", "have", "he", "her", "him", "his", "how", "i",
    "if", "in", "into", "is", "it", "its", "like", "little", "made", "may", "me", "more", "much", "must", "my", "no",
    "not", "now", "of", "on", "one", "only", "or", "other", "our", "out", "over", "s", "said", "see", "she", "should",
    "so", "some", "such", "t", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "to",
    "up", "upon", "us", "very", "was", "we", "were", "what", "when", "where", "which", "who", "will", "with", "would",
    "yet", "you", "your", "yours",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Vec<WordHash> {
        Prose { digits: true, ..Prose::default() }.words(text)
    }

    #[test]
    fn words_are_left_out_stemmed_and_folded() {
        assert!(STOP_WORDS.is_sorted());
        let all = Prose { stop: true, stem: true, digits: true };
        assert_eq!(all.words("The ponies, and a stable of 12 HORSES"), plain("poni stabl 99 hors"));
        assert_eq!(Prose::default().words("Straße 12 漢字語 the"), plain("straße 漢字語 THE"));
        assert_ne!(plain("12"), plain("123"));
        assert_eq!(all.words("наши дома"), plain("наши дома"), "no English");
    }

    #[test]
    fn phrases_end_at_stop_words_and_marks() {
        let phrases = |text| Prose::default().phrases(text);
        assert_eq!(phrases("deep blue sea"), phrases("the Deep\nBlue  sea."));
        assert_eq!(phrases("deep blue, sea and sky").len(), 3);
        assert_eq!(phrases("").len(), 0);
        assert_eq!(phrases("这条河发源于高山，流经三个湖泊。").len(), 2);
    }
}
