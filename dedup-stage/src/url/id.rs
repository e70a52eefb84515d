//! The identity of a URL in the state: hashes of its registrable domain, of its host and of its whole key, in this
//! order.
//!
//! Keys of the state begin with this identity. So everything that is known about a host, or about a domain, is a range
//! of keys, which can be scanned, moved elsewhere and dropped.

use ::url::{Host, Url};
use serde::{Deserialize, Serialize};

/// The identity of a URL. Two URLs with the same key have the same identity.
///
/// All three parts are hashes of 64 bits with the secret of the crawl, so that no site can make two URLs collide. The
/// last part alone identifies the URL. The first two say which keys of the state are about its host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UrlId {
    /// The identity of the host.
    pub site: SiteId,
    /// Hash of the whole key.
    #[serde(with = "fixed")]
    pub url: u64,
}

/// The identity of a host: hashes of its registrable domain and of its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SiteId {
    /// Hash of the registrable domain.
    #[serde(with = "fixed")]
    pub domain: u64,
    /// Hash of the host name.
    #[serde(with = "fixed")]
    pub host: u64,
}

impl SiteId {
    /// Bytes of the stored form.
    pub const BYTES: usize = 16;

    /// The number of the part, from 0, that has the host's domain, if all registrable domains are divided into this
    /// many parts ([`super::Sites::parts`]).
    pub fn part(self, parts: u32) -> u32 {
        ((u128::from(self.domain) * u128::from(parts)) >> 64) as u32
    }

    /// The stored form. It sorts as the identity does.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.domain.to_be_bytes());
        bytes[8..].copy_from_slice(&self.host.to_be_bytes());
        bytes
    }

    /// Reads an identity from the first bytes of a key. `None` if there are too few bytes.
    pub fn read(key: &[u8]) -> Option<Self> {
        let (domain, rest) = key.split_first_chunk()?;
        let (host, _) = rest.split_first_chunk()?;
        Some(Self { domain: u64::from_be_bytes(*domain), host: u64::from_be_bytes(*host) })
    }
}

impl UrlId {
    /// Bytes of the stored form.
    pub const BYTES: usize = SiteId::BYTES + 8;

    /// The stored form. It sorts as the identity does.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..SiteId::BYTES].copy_from_slice(&self.site.to_bytes());
        bytes[SiteId::BYTES..].copy_from_slice(&self.url.to_be_bytes());
        bytes
    }

    /// Reads an identity from the first bytes of a key. `None` if there are too few bytes.
    pub fn read(key: &[u8]) -> Option<Self> {
        let site = SiteId::read(key)?;
        let url = key.get(SiteId::BYTES..)?.first_chunk()?;
        Some(Self { site, url: u64::from_be_bytes(*url) })
    }
}

/// The identity of a page, which is the answer of one URL at one visit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PageId {
    /// The URL.
    pub url: UrlId,
    /// The number of the visit to this URL, from 1.
    pub visit: u32,
}

/// The host of a URL, without the dot that may end it; empty if there is no host.
pub fn host(url: &Url) -> &str {
    let host = url.host_str().unwrap_or_default();
    host.strip_suffix('.').unwrap_or(host)
}

/// The registrable domain of a URL (one label below a public suffix). If it has none, as with addresses, this is the
/// host.
pub fn registrable_domain(url: &Url) -> &str {
    match url.host() {
        Some(Host::Domain(_)) => registrable(host(url)).unwrap_or_else(|| host(url)),
        _ => host(url),
    }
}

/// The registrable domain of a host name; `None` for public suffixes and for texts that are no names.
// The list of suffixes is code of a megabyte, and would be copied wherever this function is inlined.
#[inline(never)]
pub fn registrable(name: &str) -> Option<&str> {
    psl::domain_str(name)
}

/// Stores hashes in eight bytes each. As numbers of variable length, they would take ten.
mod fixed {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(hash: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        hash.to_be_bytes().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        <[u8; 8]>::deserialize(deserializer).map(u64::from_be_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_comes_back_from_its_bytes_and_sorts_as_they_do() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut hash = || random.u64(..4) << 62 | random.u64(..2);
        let ids: Vec<UrlId> =
            (0..200).map(|_| UrlId { site: SiteId { domain: hash(), host: hash() }, url: hash() }).collect();
        for a in &ids {
            assert_eq!(UrlId::read(&a.to_bytes()), Some(*a));
            assert_eq!(UrlId::read(&a.to_bytes()[..23]), None);
            for b in &ids {
                assert_eq!(a.cmp(b), a.to_bytes().cmp(&b.to_bytes()));
            }
        }
        let bytes = crate::store::codec::encode(&PageId { url: ids[0], visit: 3 });
        assert_eq!(bytes.len(), UrlId::BYTES + 1);
    }

    #[test]
    fn a_domain_is_what_one_registrant_holds() {
        for (url, domain) in [
            ("https://www.shop.co.uk/", "shop.co.uk"),
            ("http://a.b.example.com./x", "example.com"),
            ("http://127.0.0.1:8080/", "127.0.0.1"),
            ("http://localhost/", "localhost"),
            ("http://me.github.io/", "me.github.io"),
        ] {
            assert_eq!(registrable_domain(&Url::parse(url).unwrap()), domain, "{url}");
        }
    }
}
