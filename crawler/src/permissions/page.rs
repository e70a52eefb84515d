//! Directives of single pages about the use of what they hold: `X-Robots-Tag` headers and `<meta name=robots>`.

use frontier::robots;

use super::purpose::Purpose;

/// The prohibitions that concern use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tags {
    /// Not for search.
    pub noindex: bool,
    /// No copies for people to read.
    pub noarchive: bool,
    /// Not for models, be it training or input.
    pub noai: bool,
    /// The same for images only.
    pub noimageai: bool,
}

impl Tags {
    /// Takes a value of `X-Robots-Tag`. `name: word` speaks to that agent alone, up to the next name.
    pub fn take_header(&mut self, value: &str, token: &str) {
        robots::header_words(value, token).for_each(|word| self.take(word));
    }

    /// Takes the content of a meta element.
    pub fn take_words(&mut self, content: &str) {
        content.split(',').for_each(|word| self.take(word));
    }

    fn take(&mut self, word: &str) {
        match word.trim().to_ascii_lowercase().as_str() {
            "noindex" | "none" => self.noindex = true,
            "noarchive" | "nocache" => self.noarchive = true,
            "noai" => self.noai = true,
            "noimageai" => self.noimageai = true,
            _ => {}
        }
    }

    /// The word that forbids a purpose.
    pub fn forbid(&self, purpose: Purpose, is_image: bool) -> Option<&'static str> {
        let models = if self.noai { Some("noai") } else { (self.noimageai && is_image).then_some("noimageai") };
        match purpose {
            Purpose::Search => self.noindex.then_some("noindex"),
            Purpose::Archive => self.noarchive.then_some("noarchive"),
            Purpose::Train | Purpose::Input => models,
            Purpose::Mine => None,
        }
    }
}
