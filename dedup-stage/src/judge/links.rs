//! The links of a page, as they are compared between two pages.

use ::url::Url;

use crate::url::{Keys, UrlId};

/// A link of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct OutLink {
    /// Where it leads: resolved, without fragment.
    pub url: Url,
    /// Its identity.
    pub id: UrlId,
    /// Its reference: 32 bits of the hash of its path and query. A mirror on another host has links with the same
    /// references.
    pub reference: u32,
    /// Whether it stands in the content of the page, and not in its navigation.
    pub content: bool,
}

impl OutLink {
    /// A link to `url`.
    pub fn new(url: Url, content: bool, keys: &Keys) -> Self {
        let (id, reference) = keys.identify(&url);
        Self { url, id, reference, content }
    }
}
