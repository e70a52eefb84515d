//! How URLs become identities: one canonical form, hashed with the crawl's secret.

use dedup_stage::url::{Canonicalizer, KeyHasher, SiteId, UrlId};
use url::Url;

/// Makes the identities of URLs. The workers of a crawl and its frontier must use the same.
#[derive(Clone, Debug)]
pub struct Keys {
    /// Makes keys.
    pub canonicalizer: Canonicalizer,
    /// Hashes them with the crawl's secret.
    pub hasher: KeyHasher,
}

impl Keys {
    /// The identity of a URL.
    pub fn id(&self, url: &Url) -> UrlId {
        self.canonicalizer.identify(url, &self.hasher).0
    }

    /// The identity of the host of a URL.
    pub fn site(&self, url: &Url) -> SiteId {
        self.hasher.site(url)
    }
}
