//! The gist of a page that has too little text for a fingerprint: what it says, apart from what its own URL says.
//!
//! An endless site may echo its URLs: `/cal/2031/5` says "May 2031", and `/search?q=ant` finds nothing for "ant". Each
//! of these pages makes another statement, but they have one gist. So a page brings something only if its host has not
//! shown its gist before.

use std::sync::LazyLock;

use url::Url;
use xxhash_rust::xxh3::Xxh3;

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

/// The words with which a page of an endless site may fill its text: words of its URL, numbers, and names of months and
/// days.
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

/// A hash of the distinct words and media of a page, without its [`Filling`]. 0 if nothing remains.
pub fn gist(url: &Url, title: &str, words: &[WordHash], media: &[u64], hasher: &mut Words) -> u64 {
    let mut said = words.to_vec();
    hasher.hashes(title, &mut said);
    let filling = Filling::of(url, hasher);
    said.retain(|word| !filling.has(*word));
    said.sort_unstable();
    said.dedup();
    if said.is_empty() && media.is_empty() {
        return 0;
    }
    let mut hash = Xxh3::new();
    hash.update(&(said.len() as u64).to_le_bytes());
    said.iter().chain(media).for_each(|value| hash.update(&value.to_le_bytes()));
    hash.digest().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str, title: &str, text: &str, media: &[u64]) -> u64 {
        let mut hasher = Words::default();
        let mut words = Vec::new();
        hasher.hashes(text, &mut words);
        gist(&Url::parse("http://a.test").unwrap().join(url).unwrap(), title, &words, media, &mut hasher)
    }

    #[test]
    fn numbers_dates_and_words_of_the_url_do_not_count() {
        let month = |url, month| of(url, month, "Su Mo Tu 1 2 3 no events", &[]);
        assert_eq!(month("/cal/2031/5", "May 2031"), month("/cal/2044/5", "May 2044"));
        assert_eq!(month("/cal/2031/5", "May 2031"), month("/cal/2031/6", "June 2031"));
        assert_eq!(month("/cal/2031/5", "Mai 2031"), month("/cal/2031/6", "Juni 2031"));
        assert_ne!(month("/cal/2031/5", "Fair in May 2031"), month("/cal/2031/6", "June 2031"));
        let search = |url, text| of(url, "Search", text, &[]);
        assert_eq!(search("/?q=red+ant", "Nothing for red ant"), search("/?q=b%C3%A4r", "Nothing for Bär"));
        assert_ne!(search("/?q=ant", "An ant lives here"), search("/?q=bee", "A bee is at home"));
        assert_eq!(of("/red-apple", "Red apple", "Red apple 17", &[]), 0);
    }

    #[test]
    fn media_count_and_the_order_of_words_does_not() {
        assert_eq!(of("/1", "Sorted", "ant bee cat", &[]), of("/2", "Sorted", "cat ant bee bee", &[]));
        assert_ne!(of("/1", "Photo", "", &[7]), of("/2", "Photo", "", &[8]));
        assert_ne!(of("/1", "", "", &[7]), 0);
    }
}
