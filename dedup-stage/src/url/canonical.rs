//! The canonical form of a URL, used for comparing only: nobody ever fetches a spelling that nobody linked to.

use url::Url;

/// The canonical spelling of a URL. Two URLs with one key are one URL to the frontier.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UrlKey(Box<str>);

impl UrlKey {
    /// The key as text; a valid URL, though not necessarily one that the site answers.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Turns URLs into keys by a fixed set of rules.
#[derive(Clone, Debug, Default)]
pub struct Canonicalizer {}

impl Canonicalizer {
    /// The key of `url`. Idempotent: the key of a key is itself.
    pub fn key(&self, url: &Url) -> UrlKey {
        let mut url = url.clone();
        url.set_fragment(None);
        UrlKey(url.as_str().into())
    }
}
