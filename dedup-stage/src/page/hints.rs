//! Words in `class` and `id` attributes, by which authors name the parts of a page that are chrome or content.

use xxhash_rust::xxh3::xxh3_64;

use super::chrome::CHROME;
use super::signs::Signs;
use super::tokenizer::{Name, Table};

/// The meaning of an attribute for its element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hint {
    /// Nothing.
    #[default]
    None,
    /// Navigation, footer, advertisement, cookie notice and the like.
    Chrome(Signs),
    /// The content of the page, or an element around it.
    Content,
}

/// Whole words that name content. They count more than words that name chrome (`content-with-sidebar`).
const CONTENT: [&str; 8] = ["article", "body", "content", "document", "entry", "post", "story", "text"];

/// First the words that name chrome, then those that name content.
static WORDS: Table<256> = {
    let mut names = [Name::of(""); CHROME.len() + CONTENT.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = Name::of(if at < CHROME.len() { CHROME[at] } else { CONTENT[at - CHROME.len()] });
        at += 1;
    }
    Table::new(&names)
};

/// Reads hints. Class values repeat, so the hints of this page are remembered.
#[derive(Debug)]
pub struct Hints {
    seen: Box<[(u64, Hint); Hints::SLOTS]>,
}

impl Default for Hints {
    fn default() -> Self {
        Self { seen: Box::new([(0, Hint::None); Self::SLOTS]) }
    }
}

impl Hints {
    /// The number of remembered values, a power of two.
    const SLOTS: usize = 256;
    /// Longer values, in bytes, are not looked at.
    const LONGEST: usize = 256;

    /// The hint in the value of a `class` or `id` attribute.
    pub fn of(&mut self, value: &str) -> Hint {
        let value = value.as_bytes();
        if value.is_empty() || value.len() > Self::LONGEST {
            return Hint::None;
        }
        let hash = xxh3_64(value);
        let slot = &mut self.seen[hash as usize % Self::SLOTS];
        if slot.0 != hash {
            *slot = (hash, read(value));
        }
        slot.1
    }
}

/// A word ends at any character that is no letter or digit, and before a capital (`siteFooter`). Digits at the end of a
/// word do not count (`ad1`). A word with digits inside is no word, but a name that a build tool made up (`1ad3k`).
fn read(value: &[u8]) -> Hint {
    let mut signs = Signs::NONE;
    for name in value.split(|byte| !byte.is_ascii_alphanumeric()) {
        let letters = &name[..name.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |last| last + 1)];
        if letters.iter().any(u8::is_ascii_digit) {
            continue;
        }
        for word in letters.chunk_by(|a, b| !(a.is_ascii_lowercase() && b.is_ascii_uppercase())) {
            match Name::short(word).and_then(|word| WORDS.get(word)) {
                Some(place) if place < CHROME.len() => signs |= Signs::of_class(place),
                Some(_) => return Hint::Content,
                None => {}
            }
        }
    }
    if signs.is_empty() { Hint::None } else { Hint::Chrome(signs) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        assert!(CHROME.is_sorted() && CONTENT.is_sorted());
    }

    #[test]
    fn whole_words_count() {
        let mut hints = Hints::default();
        let chrome = |word| Hint::Chrome(Signs::of_role(word));
        for (value, hint) in [
            ("site-footer", chrome("footer")),
            ("siteFooter", chrome("footer")),
            ("ad_1", chrome("ad")),
            ("ad250", chrome("ad")),
            ("css-1ad3k", Hint::None),
            ("sc-ad1q", Hint::None),
            ("col2 sidebar nav", Hint::Chrome(Signs::of_role("sidebar") | Signs::of_role("nav"))),
            ("header", Hint::None),
            ("badge gradient", Hint::None),
            ("content-with-sidebar", Hint::Content),
            ("sidebar content", Hint::Content),
            ("main-menu", chrome("menu")),
            ("footer_container", chrome("footer")),
            ("", Hint::None),
        ] {
            assert_eq!(hints.of(value), hint, "{value}");
            assert_eq!(hints.of(value), hint, "{value}, remembered");
        }
    }
}
