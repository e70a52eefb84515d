//! Hashes of URL keys. They are made with a secret of the crawl, so that no site can make two URLs collide.

use std::cell::RefCell;

use ::url::Url;
use xxhash_rust::xxh3;

use super::{SiteId, UrlKey, host, registrable_domain};

thread_local! {
    /// The host that was hashed last, the hash of a constant (which tells hashers apart), and the identity of the host.
    /// Most links of a page have the same host.
    static LAST: RefCell<(String, u64, SiteId)> = RefCell::default();
}

/// Hashes URL keys with a secret (XXH3, 64 bits). Workers share copies of it.
#[derive(Clone)]
pub struct KeyHasher {
    secret: Box<[u8; KeyHasher::SECRET]>,
}

impl KeyHasher {
    /// Length of the secret in bytes.
    pub const SECRET: usize = 192;

    /// A hasher with this secret.
    pub fn new(secret: [u8; Self::SECRET]) -> Self {
        Self { secret: Box::new(secret) }
    }

    /// The hash of a key.
    pub fn hash(&self, key: &UrlKey) -> u64 {
        self.hash_bytes(key.as_str().as_bytes())
    }

    /// The identity of the host of `url`.
    pub fn site(&self, url: &Url) -> SiteId {
        let (name, own) = (host(url), self.hash_bytes(b"host"));
        LAST.with_borrow_mut(|(last, of, site)| {
            if last != name || *of != own {
                let domain = self.hash_bytes(registrable_domain(url).as_bytes());
                *site = SiteId { domain, host: self.hash_bytes(name.as_bytes()) };
                *of = own;
                last.clear();
                last.push_str(name);
            }
            *site
        })
    }

    pub(super) fn hash_bytes(&self, key: &[u8]) -> u64 {
        xxh3::xxh3_64_with_secret(key, &self.secret[..])
    }
}

impl std::fmt::Debug for KeyHasher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyHasher(secret)")
    }
}
