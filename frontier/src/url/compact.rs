//! Identities inside records, in as few bytes as possible. A record is stored under the key of a host. Most URLs in it
//! are of this host, or at least of its domain, so these hashes need not be stored again.

use dedup_stage::url::{PageId, SiteId, UrlId};
use serde::{Deserialize, Serialize};

use crate::job::Merits;

/// The identity of a URL, relative to the host of its record. Hashes take eight bytes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Id {
    /// Of the same host.
    Here([u8; 8]),
    /// Of another host (the first hash) of the same domain.
    Beside([u8; 8], [u8; 8]),
    /// Of another domain.
    Away(UrlId),
}

impl Id {
    /// An identity in a record of `site`.
    pub fn of(id: UrlId, site: SiteId) -> Self {
        if id.site == site {
            Id::Here(id.url.to_be_bytes())
        } else if id.site.domain == site.domain {
            Id::Beside(id.site.host.to_be_bytes(), id.url.to_be_bytes())
        } else {
            Id::Away(id)
        }
    }

    /// The identity that stands in a record of `site`.
    pub fn open(self, site: SiteId) -> UrlId {
        match self {
            Id::Here(url) => UrlId { site, url: u64::from_be_bytes(url) },
            Id::Beside(host, url) => {
                let site = SiteId { domain: site.domain, host: u64::from_be_bytes(host) };
                UrlId { site, url: u64::from_be_bytes(url) }
            }
            Id::Away(id) => id,
        }
    }
}

/// A page that carried a link, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source(Option<(Id, u32)>);

impl Source {
    /// A page in a record of `site`.
    pub fn of(page: Option<PageId>, site: SiteId) -> Self {
        Self(page.map(|page| (Id::of(page.url, site), page.visit)))
    }

    /// The page that stands in a record of `site`.
    pub fn open(self, site: SiteId) -> Option<PageId> {
        self.0.map(|(id, visit)| PageId { url: id.open(site), visit })
    }
}

/// A priority with its parts: six bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactPriority([u8; 2], [u8; 4]);

impl CompactPriority {
    /// The priority, 0..1, is kept in steps of 1/65535.
    pub fn of(priority: f32, merits: Merits) -> Self {
        Self(((priority.clamp(0.0, 1.0) * 65535.0).round() as u16).to_be_bytes(), merits.to_bytes())
    }

    /// Priority and parts.
    pub fn open(self) -> (f32, Merits) {
        (f32::from(u16::from_be_bytes(self.0)) / 65535.0, Merits::from_bytes(self.1))
    }
}

#[cfg(test)]
mod tests {
    use dedup_stage::store::codec;

    use super::*;

    #[test]
    fn an_identity_comes_back_and_takes_few_bytes_where_it_is_near() {
        let site = SiteId { domain: 1, host: 2 };
        for (other, bytes) in
            [(site, 9), (SiteId { domain: 1, host: u64::MAX }, 17), (SiteId { domain: 9, host: 2 }, 25)]
        {
            let id = UrlId { site: other, url: u64::MAX - 5 };
            let stored = codec::encode(&Id::of(id, site));
            assert_eq!(stored.len(), bytes);
            assert_eq!(codec::decode::<Id>(&stored, "test").unwrap().open(site), id);
            let page = Some(PageId { url: id, visit: 3 });
            assert_eq!(Source::of(page, site).open(site), page);
        }
        assert_eq!(Source::of(None, site).open(site), None);
    }
}
