//! Words in `class` and `id` attributes, by which authors name the parts of a page that are chrome or content.
//!
//! An author chooses a class for the layout. But programs make identifiers from headings (`<section id="cookies">`), so
//! that links can lead there. So an identifier names chrome only if all its words belong to the layout, or if its last
//! word names a place on the page.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::chrome::{CHROME, LAYOUT, NOTES, PLACES, SECTIONS};
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

/// First the words that name chrome, then those that name content, then those of the layout.
static WORDS: Table<512> = {
    let mut names = [Name::of(""); CHROME.len() + CONTENT.len() + LAYOUT.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = Name::of(if at < CHROME.len() {
            CHROME[at]
        } else if at < CHROME.len() + CONTENT.len() {
            CONTENT[at - CHROME.len()]
        } else {
            LAYOUT[at - CHROME.len() - CONTENT.len()]
        });
        at += 1;
    }
    Table::new(&names)
};

/// What a word means.
enum Word {
    /// It names chrome. The number is its place in [`CHROME`].
    Chrome(usize),
    Content,
    Layout,
    Other,
}

impl Word {
    fn of(word: &[u8]) -> Self {
        match Name::short(word).and_then(|word| WORDS.get(word)) {
            Some(place) if place < CHROME.len() => Self::Chrome(place),
            Some(place) if place < CHROME.len() + CONTENT.len() => Self::Content,
            Some(_) => Self::Layout,
            None => Self::Other,
        }
    }
}

/// The hint in a value, and whether it is a class that says that the element is a section of a text.
type Read = (Hint, bool);

/// Reads hints. Class values repeat, so the hints of this page are remembered.
#[derive(Debug)]
pub struct Hints {
    seen: Box<[(u64, Read); Hints::SLOTS]>,
}

impl Default for Hints {
    fn default() -> Self {
        Self { seen: Box::new([(0, (Hint::None, false)); Self::SLOTS]) }
    }
}

impl Hints {
    /// The number of remembered values, a power of two.
    const SLOTS: usize = 256;
    /// Longer values, in bytes, are not looked at.
    const LONGEST: usize = 256;

    /// The hint in the value of a `class` attribute, and whether the element is a section of a text.
    pub fn of_class(&mut self, value: &str) -> (Hint, bool) {
        self.remembered(value, 0, |value| (of_class(value), is_section(value)))
    }

    /// The hint in the value of an `id` attribute.
    pub fn of_id(&mut self, value: &str) -> Hint {
        self.remembered(value, 1, |value| (of_id(value), false)).0
    }

    fn remembered(&mut self, value: &str, kind: u64, read: impl FnOnce(&[u8]) -> Read) -> Read {
        let value = value.as_bytes();
        if value.is_empty() || value.len() > Self::LONGEST {
            return (Hint::None, false);
        }
        let hash = xxh3_64_with_seed(value, kind);
        let slot = &mut self.seen[hash as usize % Self::SLOTS];
        if slot.0 != hash {
            *slot = (hash, read(value));
        }
        slot.1
    }
}

/// The words of a value. A word ends at any character that is no letter or digit, and before a capital (`siteFooter`).
/// Digits at the end of a word do not count (`ad1`). A word with digits inside is no word, but a name that a build tool
/// made up (`1ad3k`).
fn words(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let names = value.split(|byte| !byte.is_ascii_alphanumeric()).map(without_number);
    names
        .filter(|letters| !letters.iter().any(u8::is_ascii_digit))
        .flat_map(|letters| letters.chunk_by(|a, b| !(a.is_ascii_lowercase() && b.is_ascii_uppercase())))
}

/// A name without the digits at its end.
fn without_number(name: &[u8]) -> &[u8] {
    &name[..name.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |last| last + 1)]
}

fn of_class(value: &[u8]) -> Hint {
    let mut signs = Signs::NONE;
    for word in words(value) {
        match Word::of(word) {
            Word::Chrome(place) => signs |= Signs::of_class(place),
            Word::Content => return Hint::Content,
            Word::Layout | Word::Other => {}
        }
    }
    if signs.is_empty() { Hint::None } else { Hint::Chrome(signs) }
}

fn of_id(value: &[u8]) -> Hint {
    // Words of other alphabets are no words of the layout.
    let (mut signs, mut last, mut has_topic) = (Signs::NONE, Signs::NONE, !value.is_ascii());
    for word in words(value) {
        last = Signs::NONE;
        match Word::of(word) {
            Word::Chrome(place) => {
                last = Signs::of_class(place);
                signs |= last;
            }
            Word::Content => return Hint::Content,
            Word::Layout => {}
            Word::Other => has_topic = true,
        }
    }
    let named = match has_topic {
        false => signs,
        true if PLACES.iter().any(|place| Signs::of_role(place) == last) => last,
        true => Signs::NONE,
    };
    if named.is_empty() { Hint::None } else { Hint::Chrome(named) }
}

/// Whether the class names a note of the text, or a list of notes.
pub fn is_note(class: &str) -> bool {
    words(class.as_bytes()).any(|word| NOTES.iter().any(|note| note.as_bytes().eq_ignore_ascii_case(word)))
}

/// Whether one of the classes says that the element is a section of a text.
fn is_section(class: &[u8]) -> bool {
    let mut classes = class.split(u8::is_ascii_whitespace).map(without_number);
    classes.any(|class| SECTIONS.iter().any(|section| section.as_bytes() == class))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        assert!(CHROME.is_sorted() && CONTENT.is_sorted() && LAYOUT.is_sorted());
        assert!(PLACES.is_sorted() && PLACES.iter().all(|place| CHROME.binary_search(place).is_ok()));
    }

    fn chrome(word: &str) -> Hint {
        Hint::Chrome(Signs::of_role(word))
    }

    #[test]
    fn whole_words_of_classes_count() {
        let mut hints = Hints::default();
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
            ("acme-share-tools", chrome("share")),
            ("", Hint::None),
        ] {
            assert_eq!(hints.of_class(value).0, hint, "{value}");
            assert_eq!(hints.of_class(value).0, hint, "{value}, remembered");
        }
    }

    #[test]
    fn identifiers_of_the_layout_count_and_those_made_from_headings_do_not() {
        let mut hints = Hints::default();
        for (value, hint) in [
            ("footer", chrome("footer")),
            ("leftSidebar2", chrome("sidebar")),
            ("share-buttons", chrome("share")),
            ("cookie_notice_wrapper", chrome("cookie")),
            ("related", chrome("related")),
            ("acme-corp-footer", chrome("footer")),
            ("cookie-objects", Hint::None),
            ("related-work", Hint::None),
            ("market-share", Hint::None),
            ("the-http-cookie", Hint::None),
            ("navigation-systems", Hint::None),
            ("http.cookies.Morsel.copyright", Hint::None),
            ("доля-share", Hint::None),
            ("main-content", Hint::Content),
            ("overview", Hint::None),
        ] {
            assert_eq!(hints.of_id(value), hint, "{value}");
            assert_eq!(hints.of_id(value), hint, "{value}, remembered");
        }
        assert_eq!(hints.of_class("market-share").0, chrome("share"), "the same value as a class");
    }

    #[test]
    fn notes_are_named() {
        assert!(["footnote brackets", "footnote-list", "Endnotes"].into_iter().all(is_note));
        assert!(!["note", "sidebar", ""].into_iter().any(is_note));
    }

    #[test]
    fn classes_of_sections_are_whole_classes() {
        let mut hints = Hints::default();
        for (value, is_section) in [
            ("section", true),
            ("sect1", true),
            ("level2 refsect1", true),
            ("chapter intro", true),
            ("footer-section", false),
            ("sections", false),
            ("", false),
            ("widget", false),
        ] {
            assert_eq!(hints.of_class(value).1, is_section, "{value}");
        }
    }
}
