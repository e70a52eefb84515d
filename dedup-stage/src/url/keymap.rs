//! Compact tables of 64-bit hashes: a set (for example, of digests), and a map to a mark of a byte or two (for example,
//! the state of each URL).

/// A growing map from 64-bit hashes to small marks.
///
/// This is open addressing in many small shards. The slots of a shard are in the order of their hashes (the home slot
/// is the hash, scaled to the capacity). So a shard grows by one pass over its memory. Only this shard is copied, so no
/// insertion takes long, and growing needs little memory besides the table itself.
///
/// # Complexity
///
/// Expected O(1). At most 5/6 of a shard's slots are taken, and 5/9 right after it grew. A hash takes 9.6 to 14.4
/// bytes, and 1.2 to 1.8 times the size of a mark.
#[derive(Debug)]
pub struct KeyMap<M> {
    shards: Box<[Shard<M>]>,
    len: usize,
}

/// A set of 64-bit hashes. Once it is large, each takes at most 16 bytes, also while the set grows.
pub type KeySet = KeyMap<()>;

/// A part of the map: slots of 8 bytes, in which 0 means free, and a mark for each slot. The hash 0 has a field of its
/// own.
#[derive(Clone, Debug)]
struct Shard<M> {
    slots: Box<[u64]>,
    marks: Box<[M]>,
    taken: usize,
    zero: Option<M>,
}

impl<M> Default for Shard<M> {
    fn default() -> Self {
        Self { slots: Box::default(), marks: Box::default(), taken: 0, zero: None }
    }
}

impl<M: Copy + Default> Default for KeyMap<M> {
    fn default() -> Self {
        Self { shards: (0..1 << SHARD_BITS).map(|_| Shard::default()).collect(), len: 0 }
    }
}

/// The first bits of a hash choose its shard.
const SHARD_BITS: u32 = 10;

impl KeySet {
    /// Adds a hash. False if it was there already.
    pub fn insert(&mut self, hash: u64) -> bool {
        self.set(hash, ()).is_none()
    }
}

impl<M: Copy + Default> KeyMap<M> {
    /// Sets the mark of a hash. Returns the mark that it had.
    pub fn set(&mut self, hash: u64, mark: M) -> Option<M> {
        let (shard, home) = split(hash);
        let before = self.shards[shard].set(hash, home, mark);
        self.len += usize::from(before.is_none());
        before
    }

    /// The mark of a hash, if the hash is there.
    pub fn get(&self, hash: u64) -> Option<M> {
        let (shard, home) = split(hash);
        self.shards[shard].get(hash, home)
    }

    /// Whether the hash is there.
    pub fn contains(&self, hash: u64) -> bool {
        self.get(hash).is_some()
    }

    /// Says that these hashes will be asked for next. If the table is larger than the caches of the processor, each of
    /// them has to be loaded from memory. Here these loads overlap.
    pub fn expect(&self, hashes: impl IntoIterator<Item = u64>) {
        let places = hashes.into_iter().map(|hash| {
            let (shard, home) = split(hash);
            let shard = &self.shards[shard];
            shard.slots.get(shard.home(home)).copied().unwrap_or(0)
        });
        // The loads do not depend on each other, so the processor can have many under way. The sum keeps the compiler
        // from removing them.
        std::hint::black_box(places.fold(0, u64::wrapping_add));
    }

    /// Number of hashes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no hashes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of memory that the map takes.
    pub fn bytes(&self) -> usize {
        let slot = size_of::<u64>() + size_of::<M>();
        self.shards.iter().map(|shard| size_of::<Shard<M>>() + shard.slots.len() * slot).sum()
    }
}

/// The shard of a hash, and the other bits of the hash, which decide about its slot.
fn split(hash: u64) -> (usize, u64) {
    ((hash >> (64 - SHARD_BITS)) as usize, hash << SHARD_BITS)
}

impl<M: Copy + Default> Shard<M> {
    /// The home slot of a hash.
    fn home(&self, home: u64) -> usize {
        ((u128::from(home) * self.slots.len() as u128) >> 64) as usize
    }

    /// The slot that has `hash`, or the free slot where it belongs. The shard must have a free slot.
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

    fn get(&self, hash: u64, home: u64) -> Option<M> {
        if hash == 0 {
            return self.zero;
        }
        if self.slots.is_empty() {
            return None;
        }
        let slot = self.find(hash, home);
        (self.slots[slot] == hash).then(|| self.marks[slot])
    }

    fn set(&mut self, hash: u64, home: u64, mark: M) -> Option<M> {
        if hash == 0 {
            return self.zero.replace(mark);
        }
        if (self.taken + 1) * 6 > self.slots.len() * 5 && self.get(hash, home).is_none() {
            self.grow();
        }
        let slot = self.find(hash, home);
        let before = (self.slots[slot] == hash).then(|| self.marks[slot]);
        self.slots[slot] = hash;
        self.marks[slot] = mark;
        self.taken += usize::from(before.is_none());
        before
    }

    fn grow(&mut self) {
        let capacity = (self.slots.len() * 3 / 2).max(4);
        let slots = std::mem::replace(&mut self.slots, vec![0; capacity].into());
        let marks = std::mem::replace(&mut self.marks, vec![M::default(); capacity].into());
        for (hash, mark) in slots.into_iter().zip(marks).filter(|(hash, _)| *hash != 0) {
            let slot = self.find(hash, split(hash).1);
            (self.slots[slot], self.marks[slot]) = (hash, mark);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_the_standard_map(steps in proptest::collection::vec((prop_oneof![0..64u64, any::<u64>(), (!99u64)..], any::<u8>()), 0..2_000)) {
            let mut map = KeyMap::default();
            let mut oracle = HashMap::new();
            for (hash, mark) in steps {
                map.expect([hash, !hash]);
                prop_assert_eq!(map.get(hash), oracle.get(&hash).copied());
                prop_assert_eq!(map.set(hash, mark), oracle.insert(hash, mark));
                prop_assert_eq!(map.get(hash), Some(mark));
                prop_assert_eq!(map.len(), oracle.len());
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
