//! A compact set of 64-bit hashes: URL-seen, digests seen.

/// A growing set of 64-bit hashes, at most 16 bytes each.
#[derive(Debug, Default)]
pub struct KeySet {
    hashes: std::collections::HashSet<u64>,
}

impl KeySet {
    /// Adds a hash; false if it was there.
    pub fn insert(&mut self, hash: u64) -> bool {
        self.hashes.insert(hash)
    }

    /// Whether the hash is there.
    pub fn contains(&self, hash: u64) -> bool {
        self.hashes.contains(&hash)
    }

    /// Number of hashes.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }
}
