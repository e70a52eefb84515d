//! What can be said of one page by itself, on any thread: its key, its text and links, its fingerprint.

use std::collections::HashSet;

use ::url::Url;

use crate::page::{Input, Page, Reader};
use crate::url::{Canonicalizer, KeyHasher, UrlKey};

/// A page as somebody fetched it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Where from.
    pub url: &'a Url,
    /// HTTP status, 200 where it is not known.
    pub status: u16,
    /// Value of the `Content-Type` header.
    pub content_type: Option<&'a str>,
    /// Decoded body.
    pub body: &'a [u8],
    /// Whether the body is all there.
    pub whole: bool,
    /// Out-links as the caller found them, absolute or relative; `None`: they are read from the page.
    pub links: Option<&'a [&'a str]>,
}

/// A page ready to be judged.
#[derive(Debug)]
pub struct Prepared {
    /// Where from, in the URL standard's spelling.
    pub url: Url,
    /// Canonical form of the URL.
    pub key: UrlKey,
    /// Hash of the key.
    pub hash: u64,
    /// Whether it may be judged at all: whole, with a 2xx status.
    pub judgeable: bool,
    /// What was read from it; its links are moved to `links`.
    pub page: Page,
    /// Links to follow: http and https, one per key, none that is `nofollow`.
    pub links: Vec<OutLink>,
}

/// A link to follow.
#[derive(Clone, Debug, PartialEq)]
pub struct OutLink {
    /// Resolved, without fragment.
    pub url: Url,
    /// Hash of its key.
    pub hash: u64,
    /// Its place among the links that the caller gave.
    pub given: Option<u32>,
}

/// Prepares pages; one per thread, and any number of them give the same answers.
#[derive(Debug)]
pub struct Preparer {
    reader: Reader,
    canonicalizer: Canonicalizer,
    hasher: KeyHasher,
}

impl Preparer {
    /// A preparer that compares URLs as the stage does.
    pub fn new(canonicalizer: Canonicalizer, hasher: KeyHasher) -> Self {
        Self { reader: Reader::default(), canonicalizer, hasher }
    }

    /// Reads one page.
    pub fn prepare(&mut self, source: &Source<'_>) -> Prepared {
        let input =
            Input { url: source.url, status: source.status, content_type: source.content_type, body: source.body };
        let mut page = self.reader.read(&input);
        let found = std::mem::take(&mut page.links);
        let mut keys = HashSet::new();
        let mut links = Vec::new();
        let mut add = |url: Url, given: Option<u32>| {
            let hash = self.canonicalizer.hash(&url, &self.hasher);
            if keys.insert(hash) {
                links.push(OutLink { url, hash, given });
            }
        };
        match source.links {
            Some(given) => {
                for (place, link) in (0..).zip(given) {
                    if let Some(url) = resolve(source.url, link) {
                        add(url, Some(place));
                    }
                }
            }
            None if page.nofollow => {}
            None => found.into_iter().filter(|link| !link.nofollow).for_each(|link| add(link.url, None)),
        }
        let key = self.canonicalizer.key(source.url);
        let hash = self.hasher.hash(&key);
        let judgeable = source.whole && (200..300).contains(&source.status);
        Prepared { url: source.url.clone(), key, hash, judgeable, page, links }
    }
}

fn resolve(base: &Url, link: &str) -> Option<Url> {
    let mut url = crate::url::resolve(base, link).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    url.set_fragment(None);
    Some(url)
}
