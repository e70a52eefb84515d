//! Queue entries, and their stored form.

use std::borrow::Cow;
use std::sync::Arc;

use dedup_stage::store::{Result, codec};
use dedup_stage::url::{PageId, SiteId, UrlId};
use serde::{Deserialize, Serialize};

use crate::job::{Merits, Via};
use crate::trial::Trial;
use crate::url::compact::{CompactPriority, Source};

/// A queue entry: a URL that waits for its turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The identity of the URL.
    pub id: UrlId,
    /// The URL, as it will be fetched.
    pub url: Box<str>,
    /// The number of links from a seed.
    pub depth: u32,
    /// Static priority, 0..1, in steps of 1/65535.
    pub priority: f32,
    /// The parts of the priority that are known when the URL is queued.
    pub merits: Merits,
    /// The page that linked to it.
    pub source: Option<PageId>,
    /// How the URL came to be queued.
    pub via: Via,
    /// The number of attempts so far.
    pub attempts: u32,
    /// How often there was no room for its body, as far as this process knows.
    pub returned: u8,
    /// Whether it is a sitemap.
    pub sitemap: bool,
    /// The question that a trial answers, if this is a trial.
    pub trial: Option<Arc<Trial>>,
}

/// A queue entry in its stored form: the hash of the URL, a byte that tells sitemaps from pages, and the rest. The host
/// is in the key.
#[derive(Clone, Debug, PartialEq)]
pub struct Packed(Box<[u8]>);

/// The stored form. The order of the fields is the format.
#[derive(Serialize, Deserialize)]
struct Stored<'a> {
    hash: [u8; 8],
    sitemap: bool,
    depth: u32,
    attempts: u32,
    returned: u8,
    via: Via,
    source: Source,
    worth: CompactPriority,
    trial: Option<Trial>,
    url: Cow<'a, str>,
}

/// The first fields of the stored form: hash, sitemap, depth, attempts.
type Head = ([u8; 8], bool, u32, u32);

impl Packed {
    /// The stored form of an entry. `rest` is the URL without scheme, host and port. It is given if these are the usual
    /// ones, because then they are not stored.
    pub fn of(entry: &Entry, rest: Option<&str>) -> Self {
        let stored = Stored {
            hash: entry.id.url.to_be_bytes(),
            sitemap: entry.sitemap,
            depth: entry.depth,
            attempts: entry.attempts,
            returned: entry.returned,
            via: entry.via,
            source: Source::of(entry.source, entry.id.site),
            worth: CompactPriority::of(entry.priority, entry.merits),
            trial: entry.trial.as_deref().cloned(),
            url: Cow::Borrowed(rest.unwrap_or(&entry.url)),
        };
        Self(codec::encode(&stored).into())
    }

    /// From the bytes of [`Packed::bytes`].
    pub fn new(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }

    /// The bytes that are stored.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// `id.url` of the URL.
    pub fn url(&self) -> u64 {
        url_of(&self.0)
    }

    /// Whether it is a sitemap.
    pub fn is_sitemap(&self) -> bool {
        is_sitemap(&self.0)
    }

    /// Whether it was tried before.
    pub fn is_retry(&self) -> bool {
        let attempts = codec::decode_first(&self.0, "a queued URL").map(|(_, _, _, attempts): Head| attempts);
        attempts.is_ok_and(|attempts| attempts > 0)
    }

    /// The entry. It belongs to the host `site`, and to an origin whose URLs usually begin with `authority`.
    pub fn open(&self, site: SiteId, authority: &str) -> Result<Entry> {
        let stored: Stored<'_> = codec::decode(&self.0, "a queued URL")?;
        let url = match stored.url.starts_with('/') {
            true => [authority, &stored.url].concat().into(),
            false => stored.url.into(),
        };
        let (priority, merits) = stored.worth.open();
        Ok(Entry {
            id: UrlId { site, url: self.url() },
            url,
            depth: stored.depth,
            priority,
            merits,
            source: stored.source.open(site),
            via: stored.via,
            attempts: stored.attempts,
            returned: stored.returned,
            sitemap: stored.sitemap,
            trial: stored.trial.map(Arc::new),
        })
    }
}

impl Entry {
    /// Whether it is a page, and neither a sitemap nor a file that a page needs to be shown.
    pub fn is_page(&self) -> bool {
        !self.sitemap && !matches!(self.via, Via::Requisite { .. })
    }
}

/// `id.url` of a stored entry.
pub fn url_of(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |url| u64::from_be_bytes(*url))
}

/// Whether a stored entry is a sitemap.
pub fn is_sitemap(bytes: &[u8]) -> bool {
    bytes.get(8).is_some_and(|kind| *kind != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Release;

    #[test]
    fn an_entry_comes_back_however_its_url_is_spelled() {
        let site = SiteId { domain: 1, host: 2 };
        let id = UrlId { site, url: u64::MAX };
        for (url, rest) in [("http://a.test/x?y", Some("/x?y")), ("http://a.test./x?y", None)] {
            let entry = Entry {
                id,
                url: url.into(),
                depth: 3,
                priority: 1.0,
                merits: Merits { novelty: 1, ..Merits::default() },
                source: Some(PageId { url: id, visit: 1 }),
                via: Via::Released { why: Release::Rule },
                attempts: 2,
                returned: 1,
                sitemap: true,
                trial: Some(Arc::new(Trial::News { template: 5 })),
            };
            let packed = Packed::of(&entry, rest);
            assert_eq!(packed.open(site, "http://a.test").unwrap(), entry);
            assert_eq!((packed.url(), packed.is_sitemap(), packed.is_retry()), (id.url, true, true));
            assert!(!Packed::of(&Entry { attempts: 0, ..entry }, rest).is_retry());
            let text = rest.unwrap_or(url);
            assert!(packed.bytes().ends_with(text.as_bytes()), "{url}");
            assert!((0..packed.bytes().len()).all(|cut| Packed::new(&packed.bytes()[..cut]).open(site, "").is_err()));
        }
    }
}
