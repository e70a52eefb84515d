//! Makes the identities of URLs: combines the rules for keys with the secret of the hashes.

use ::url::Url;

use super::{Canonicalizer, KeyHasher, SiteId, UrlId};

/// Makes the identities of URLs. The judge, the frontier and the workers share one.
#[derive(Clone, Debug)]
pub struct Keys {
    /// Makes the keys of URLs.
    pub canonicalizer: Canonicalizer,
    /// Hashes keys with the secret.
    pub hasher: KeyHasher,
}

impl Keys {
    /// The identity of a URL, and its *reference*: 32 bits of the hash of the key's path and query.
    pub fn identify(&self, url: &Url) -> (UrlId, u32) {
        self.canonicalizer.identify(url, &self.hasher)
    }

    /// The identity of a URL.
    pub fn id(&self, url: &Url) -> UrlId {
        self.identify(url).0
    }

    /// The identity of a URL's host.
    pub fn site(&self, url: &Url) -> SiteId {
        self.hasher.site(url)
    }
}
