//! Directives of single pages about the use of their content: `X-Robots-Tag` headers and `<meta name=robots>`.

use frontier::robots;

use super::purpose::Purpose;

/// The directives that forbid a use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tags {
    /// The page must not be used for search.
    pub noindex: bool,
    /// No copies may be kept for people to read.
    pub noarchive: bool,
    /// The page must not be given to models, neither for training nor as input.
    pub noai: bool,
    /// Images must not be given to models.
    pub noimageai: bool,
}

impl Tags {
    /// Reads a value of `X-Robots-Tag`. The words after `name:` are for that agent alone, up to the next name.
    pub fn take_header(&mut self, value: &str, token: &str) {
        robots::header_words(value, token).for_each(|word| self.take(word));
    }

    /// Reads the content of a meta element.
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
