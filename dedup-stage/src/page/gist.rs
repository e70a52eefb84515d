//! The gist of a page that has too little text for a fingerprint: what it says, apart from what its own URL says.
//!
//! An endless site may echo its URLs: `/cal/2031/5` says "May 2031", and `/search?q=ant` finds nothing for "ant". Each
//! of these pages makes another statement, but they have one gist. So a page brings something only if its host has not
//! shown its gist before.

use url::Url;
use xxhash_rust::xxh3::Xxh3;

use super::filling::Filling;
use crate::words::{WordHash, Words};

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
