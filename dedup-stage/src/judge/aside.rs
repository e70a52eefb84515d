//! Compares the running texts in the chrome of a page with those of its twin, and with those that its host has shown.
//! The *chrome* of a page is all that is not its content: navigation, header, side bar, footer. A *running text* there
//! is a block of many words that is not made of links (`page/asides.rs`).
//!
//! A page with the content of an earlier page is still unique if a text beside its content is its own: the twin lacks
//! it, and no other page of the host was seen to have it. The text must be long compared with the content. Otherwise
//! content and text together still resemble those of the twin.
//!
//! The same holds for a text beside a sign of chrome that is not believed. The content is then mostly the text under the
//! sign, so such a text need only be long compared with the other texts beside the sign.
//!
//! In their chrome, some sites show another text at each visit, for example the beginning of a random article. Such
//! texts are soon seen again on other pages ([`Sightings::take_turns`]).

use super::sightings::Sightings;
use super::{Case, Judge};
use crate::page::Aside;

/// The running texts in the chrome of a page that its twin lacks.
#[derive(Debug, Default)]
pub(super) struct Asides {
    pub(super) others: Vec<Aside>,
    /// Whether the twin is a page of the same host.
    pub(super) is_of_host: bool,
}

impl Asides {
    /// Whether the texts that no other page of the host was seen to have say something new, beside content with this
    /// many words. `texts` is what the host has shown.
    pub(super) fn say_more(&self, case: &Case<'_>, content: u32, texts: &Sightings) -> bool {
        if texts.take_turns() {
            return false;
        }
        let own = self.others.iter().filter(|aside| !texts.has_text(aside, case.id.url.url));
        let (mut own_words, mut content) = (0, content);
        for aside in own {
            own_words += aside.words;
            // The rest of the content is a long text that stands under a sign of chrome.
            content = if aside.beside > 0 { content.min(aside.beside) } else { content };
        }
        own_words as f32 > (1.0 - Judge::EQUAL_TEXT) * (own_words + content) as f32
    }
}
