//! Hashes of URL keys, with a secret of the crawl, so that nobody can make two URLs collide on purpose.

use xxhash_rust::xxh3;

use super::UrlKey;

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

    pub(super) fn hash_bytes(&self, key: &[u8]) -> u64 {
        xxh3::xxh3_64_with_secret(key, &self.secret[..])
    }
}

impl std::fmt::Debug for KeyHasher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyHasher(secret)")
    }
}
