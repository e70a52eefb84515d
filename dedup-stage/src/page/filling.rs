//! The words with which a page of an endless site may fill its text: words of its URL, numbers, and names of months and
//! days. Such a word says nothing that its URL does not say.

use std::sync::LazyLock;

use url::Url;

use super::date_words::NAMES;
use crate::words::{WordHash, Words, is_number};

/// The hashes of the names of months and days.
struct DateWords {
    /// One bit for each value of the lowest 12 bits of a hash: whether a name has it. Most words of a text end here.
    bits: [u64; 64],
    /// Sorted.
    hashes: Vec<WordHash>,
}

static DATES: LazyLock<DateWords> = LazyLock::new(|| {
    let (mut hasher, mut hashes) = (Words::default(), Vec::new());
    NAMES.iter().for_each(|language| hasher.hashes(language, &mut hashes));
    hashes.sort_unstable();
    let mut bits = [0; 64];
    hashes.iter().for_each(|hash| bits[place(*hash).0] |= place(*hash).1);
    DateWords { bits, hashes }
});

/// The element of [`DateWords::bits`] for a word, and its bit there.
fn place(word: WordHash) -> (usize, u64) {
    ((word >> 6) as usize % 64, 1 << (word % 64))
}

/// Whether a word is the name of a month or a day, or a short form of one.
pub(super) fn is_date_word(word: WordHash) -> bool {
    let dates = &*DATES;
    let (at, bit) = place(word);
    dates.bits[at] & bit != 0 && dates.hashes.binary_search(&word).is_ok()
}

/// The words of a page's URL. With numbers, and names of months and days, they are its filling.
pub(super) struct Filling {
    /// The hashes of the words of the URL, sorted. A number is also there as it is written in texts: `05` as `5`, and
    /// `20310501` as `2031`, `5` and `1`.
    of_url: Vec<WordHash>,
}

impl Filling {
    pub(super) fn of(url: &Url, hasher: &mut Words) -> Self {
        let mut of_url = Vec::new();
        let address = format!("{} {}", url.path(), url.query().unwrap_or_default()).replace('+', " ");
        let address = percent_encoding::percent_decode_str(&address).decode_utf8_lossy();
        hasher.hashes(&address, &mut of_url);
        for word in address.split(|character: char| !character.is_ascii_alphanumeric()) {
            // A word of a page may have one number (`page7`). One with more is a token, and its digits say nothing.
            let run = word.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
            if run.is_empty() || !run.bytes().all(|byte| byte.is_ascii_digit()) {
                continue;
            }
            let parts = match run.len() {
                8 => vec![&run[..4], &run[4..6], &run[6..]],
                6 => vec![&run[..4], &run[4..]],
                _ => vec![run],
            };
            for part in parts {
                let short = part.trim_start_matches('0');
                hasher.hashes(&format!("{part} {short} 0{short}"), &mut of_url);
            }
        }
        of_url.sort_unstable();
        Self { of_url }
    }

    /// Whether a word says nothing.
    pub(super) fn has(&self, word: WordHash) -> bool {
        is_number(word) || self.is_of_url(word) || is_date_word(word)
    }

    /// Whether a word is one of the URL.
    pub(super) fn is_of_url(&self, word: WordHash) -> bool {
        self.of_url.binary_search(&word).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_the_url_is_known_however_it_is_written() {
        let mut hasher = Words::default();
        let mut is_of_url = |path: &str, word: &str| {
            let filling = Filling::of(&Url::parse("http://a.test").unwrap().join(path).unwrap(), &mut hasher);
            let mut hashes = Vec::new();
            hasher.hashes(word, &mut hashes);
            filling.is_of_url(hashes[0])
        };
        for word in ["2031", "05", "5", "1", "01"] {
            assert!(is_of_url("/day/20310501", word), "{word}");
            assert!(is_of_url("/day/2031/5/1", word) && is_of_url("/day?of=2031-05-01", word), "{word}");
        }
        assert!(is_of_url("/page7", "7") && is_of_url("/month/203105", "5"));
        assert!(!is_of_url("/day/20310501", "20") && !is_of_url("/?tok=b98a3773", "98"), "a part of a token");
        assert!(is_of_url("/?q=b%C3%A4r+ant", "Bär") && !is_of_url("/?q=ant", "bee"));
    }

    #[test]
    fn names_of_months_and_days_are_known_in_many_languages() {
        let mut hashes = Vec::new();
        Words::default().hashes("may Mai mayıs Monday lundi 5 ant", &mut hashes);
        let known: Vec<bool> = hashes.iter().map(|word| is_date_word(*word)).collect();
        assert_eq!(known, [true, true, true, true, true, false, false]);
    }
}
