//! A compact set of 64-bit hashes: URL-seen, digests seen.

/// A growing set of 64-bit hashes, at most 16 bytes each once it is large, while it grows too.
///
/// Open addressing in many small shards. A shard's slots are in the order of their hashes (home slot = hash scaled to the
/// capacity), so that a shard grows by one pass over its memory; it is the only one that is copied, so that no insertion
/// takes long and no growth needs much more than what is there.
///
/// # Complexity
///
/// Expected O(1); at most 5/6 of a shard's slots are taken, and 5/9 right after it grew: 9.6 to 14.4 bytes a hash.
#[derive(Debug)]
pub struct KeySet {
    shards: Box<[Shard]>,
    len: usize,
}

/// Slots of 8 bytes, 0 = free; the hash 0 stands aside.
#[derive(Clone, Debug, Default)]
struct Shard {
    slots: Box<[u64]>,
    taken: usize,
    zero: bool,
}

impl Default for KeySet {
    fn default() -> Self {
        Self { shards: vec![Shard::default(); 1 << Self::SHARD_BITS].into(), len: 0 }
    }
}

impl KeySet {
    /// The first bits of a hash choose its shard.
    const SHARD_BITS: u32 = 10;

    /// Adds a hash; false if it was there.
    pub fn insert(&mut self, hash: u64) -> bool {
        let (shard, home) = split(hash);
        let new = self.shards[shard].insert(hash, home);
        self.len += usize::from(new);
        new
    }

    /// Whether the hash is there.
    pub fn contains(&self, hash: u64) -> bool {
        let (shard, home) = split(hash);
        self.shards[shard].contains(hash, home)
    }

    /// Says that these hashes will be asked for next. Once the set is larger than the caches, each of them costs a wait for
    /// memory; here the waits overlap.
    pub fn expect(&self, hashes: impl IntoIterator<Item = u64>) {
        let places = hashes.into_iter().map(|hash| {
            let (shard, home) = split(hash);
            let shard = &self.shards[shard];
            shard.slots.get(shard.home(home)).copied().unwrap_or(0)
        });
        // The loads do not depend on each other, so that the processor has many under way; the sum keeps them from being
        // optimised away.
        std::hint::black_box(places.fold(0, u64::wrapping_add));
    }

    /// Number of hashes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Memory held, in bytes.
    pub fn bytes(&self) -> usize {
        self.shards.iter().map(|shard| size_of::<Shard>() + shard.slots.len() * size_of::<u64>()).sum()
    }
}

/// The shard of a hash, and the rest of its bits, which place it in there.
fn split(hash: u64) -> (usize, u64) {
    ((hash >> (64 - KeySet::SHARD_BITS)) as usize, hash << KeySet::SHARD_BITS)
}

impl Shard {
    /// The slot where a hash is at best.
    fn home(&self, home: u64) -> usize {
        ((u128::from(home) * self.slots.len() as u128) >> 64) as usize
    }

    /// The slot that holds `hash`, or the free one where it belongs. Needs a free slot.
    fn find(&self, hash: u64, home: u64) -> usize {
        let capacity = self.slots.len();
        let mut slot = self.home(home);
        while self.slots[slot] != 0 && self.slots[slot] != hash {
            slot += 1;
            if slot == capacity {
                slot = 0;
            }
        }
        slot
    }

    fn contains(&self, hash: u64, home: u64) -> bool {
        if hash == 0 {
            return self.zero;
        }
        !self.slots.is_empty() && self.slots[self.find(hash, home)] == hash
    }

    fn insert(&mut self, hash: u64, home: u64) -> bool {
        if hash == 0 {
            return !std::mem::replace(&mut self.zero, true);
        }
        if (self.taken + 1) * 6 > self.slots.len() * 5 {
            if self.contains(hash, home) {
                return false;
            }
            self.grow();
        }
        let slot = self.find(hash, home);
        let new = self.slots[slot] == 0;
        self.slots[slot] = hash;
        self.taken += usize::from(new);
        new
    }

    fn grow(&mut self) {
        let capacity = (self.slots.len() * 3 / 2).max(4);
        let old = std::mem::replace(&mut self.slots, vec![0; capacity].into());
        for hash in old.into_iter().filter(|hash| *hash != 0) {
            let slot = self.find(hash, split(hash).1);
            self.slots[slot] = hash;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_the_standard_set(hashes in proptest::collection::vec(prop_oneof![0..64u64, any::<u64>(), (!99u64)..], 0..2_000)) {
            let mut set = KeySet::default();
            let mut oracle = HashSet::new();
            for hash in hashes {
                set.expect([hash, !hash]);
                prop_assert_eq!(set.contains(hash), oracle.contains(&hash));
                prop_assert_eq!(set.insert(hash), oracle.insert(hash));
                prop_assert!(set.contains(hash));
                prop_assert_eq!(set.len(), oracle.len());
            }
        }
    }

    #[test]
    fn a_large_set_needs_at_most_sixteen_bytes_a_hash_at_any_time() {
        let mut set = KeySet::default();
        let mut hash = 1u64;
        for n in 1..=2_000_000usize {
            // Weyl sequence through a finaliser: distinct and uniform.
            hash = hash.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
            assert!(set.insert(mixed ^ (mixed >> 32)));
            if n > 100_000 && n % 1_000 == 0 {
                assert!(set.bytes() <= 16 * n, "{} bytes for {n} hashes", set.bytes());
            }
        }
        assert_eq!(set.len(), 2_000_000);
    }
}
