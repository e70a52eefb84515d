//! Prepares pages for the judge, on any thread: finds the key, text, links and fingerprint of one page.

use std::collections::HashMap;

use ::url::Url;

use crate::judge::{Ahead, OutLink, Searcher};
use crate::page::{Input, Page, Reader};
use crate::url::{Keys, UrlId, UrlKey};

/// A page as it was fetched.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The URL of the page.
    pub url: &'a Url,
    /// The HTTP status; 200 if it is not known.
    pub status: u16,
    /// The value of the `Content-Type` header.
    pub content_type: Option<&'a str>,
    /// The decoded body.
    pub body: &'a [u8],
    /// Whether the body is complete.
    pub whole: bool,
    /// The links of the page as the caller found them, absolute or relative. `None` if they are to be read from the
    /// page.
    pub links: Option<&'a [&'a str]>,
}

/// A page ready to be judged.
#[derive(Debug)]
pub struct Prepared {
    /// The URL of the page, in the spelling of the URL standard.
    pub url: Url,
    /// The canonical form of the URL.
    pub key: UrlKey,
    /// The identity of the URL.
    pub id: UrlId,
    /// Whether the page may be judged: it is complete, and its status is 2xx.
    pub judgeable: bool,
    /// The content of the page. Its links were moved to `links`.
    pub page: Page,
    /// All links of the page, one for each key: those of its HTML, and those that the caller gave.
    pub links: Vec<OutLink>,
    /// The links that are to be followed: those that the caller gave. If it gave none, those of the HTML without
    /// `nofollow`.
    pub follow: Vec<Follow>,
    /// The accepted fingerprints near that of the page, if the preparer searches for them.
    pub ahead: Option<Ahead>,
}

/// A link to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Follow {
    /// The place of the link in [`Prepared::links`].
    pub link: u32,
    /// The place of the link among the links that the caller gave.
    pub given: Option<u32>,
}

/// Prepares pages. Each thread has its own preparer, and all of them give the same answers.
#[derive(Debug)]
pub struct Preparer {
    reader: Reader,
    keys: Keys,
    searcher: Option<Searcher>,
}

impl Preparer {
    /// A preparer that identifies URLs as the stage does.
    pub fn new(keys: Keys) -> Self {
        Self { reader: Reader::default(), keys, searcher: None }
    }

    /// Lets the preparer also search for near fingerprints if there is a searcher, so that the stage need not.
    #[must_use]
    pub fn searching(self, searcher: Option<Searcher>) -> Self {
        Self { searcher, ..self }
    }

    /// To be called after a panic in [`Preparer::prepare`]. The buffers may be in any state then.
    pub fn renew(&mut self) {
        self.reader = Reader::default();
    }

    /// Reads one page.
    pub fn prepare(&mut self, source: &Source<'_>) -> Prepared {
        let input =
            Input { url: source.url, status: source.status, content_type: source.content_type, body: source.body };
        let mut page = self.reader.read(&input);
        page.passages = self.reader.passages(&page);
        let mut links = Links::with_capacity(page.links.len());
        let mut numbers = Vec::new();
        for link in std::mem::take(&mut page.links) {
            let place = links.place(OutLink::new(link.url, link.content, &self.keys));
            if !page.link_texts.is_empty() {
                numbers.push(place as u32);
            }
            // The link stands in the content if one of its spellings does.
            links.all[place].content |= link.content;
            if source.links.is_none() && !page.nofollow && !link.nofollow {
                links.follow(place, None);
            }
        }
        page.link_texts.renumber(&numbers);
        for (given, link) in (0..).zip(source.links.unwrap_or_default()) {
            if let Some(url) = resolve(source.url, link) {
                // A script has made a link that the HTML does not have, as a part of what the page shows.
                let place = links.place(OutLink::new(url, true, &self.keys));
                links.follow(place, Some(given));
            }
        }
        let key = self.keys.canonicalizer.key(source.url);
        let (id, _) = self.keys.identify(source.url);
        let judgeable = source.whole && (200..300).contains(&source.status);
        let Links { all: links, follow, .. } = links;
        let signature = page.signature.as_ref().filter(|_| judgeable && page.is_text);
        let ahead =
            self.searcher.as_ref().zip(signature).map(|(searcher, signature)| searcher.search(signature.simhash));
        Prepared { url: source.url.clone(), key, id, judgeable, page, links, follow, ahead }
    }
}

/// The links of a page, one for each key.
struct Links {
    all: Vec<OutLink>,
    follow: Vec<Follow>,
    /// The place of a link in `all`, by the hash of its key.
    places: HashMap<u64, usize>,
    /// Whether a link is followed, by its place in `all`.
    followed: Vec<bool>,
}

impl Links {
    fn with_capacity(links: usize) -> Self {
        Self {
            all: Vec::with_capacity(links),
            follow: Vec::new(),
            places: HashMap::with_capacity(links),
            followed: Vec::with_capacity(links),
        }
    }

    /// The place in `all` of the link with this key. A new link is added.
    fn place(&mut self, link: OutLink) -> usize {
        *self.places.entry(link.id.url).or_insert_with(|| {
            self.all.push(link);
            self.followed.push(false);
            self.all.len() - 1
        })
    }

    fn follow(&mut self, place: usize, given: Option<u32>) {
        if !std::mem::replace(&mut self.followed[place], true) {
            self.follow.push(Follow { link: place as u32, given });
        }
    }
}

fn resolve(base: &Url, link: &str) -> Option<Url> {
    let mut url = crate::url::resolve(base, link).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    url.set_fragment(None);
    Some(url)
}
