//! Buckets: one or two cache lines of entries. A bucket is compared with a query as a whole.

use super::pages::Zero;

/// A bucket of `W` words of 32 bits. First comes a header. Then come the *filters* (the 32 bits of a fingerprint that
/// are not in the address), as many as there is room for. Then come as many *rests* (the bits of the address that the
/// number of the bucket does not tell), packed bit by bit.
///
/// The number of bits of a rest depends on the number of buckets. The owner of the bucket knows it, and passes a
/// [`Layout`]. The low 5 bits of the header are the number of entries. The owner may use the other 27 bits.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Bucket<const W: usize>(pub [u32; W]);

/// The positions of the parts of a bucket whose rests have `rest_bits` bits.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    rest_bits: u32,
    /// The number of entries that a bucket has room for.
    pub capacity: usize,
}

impl Layout {
    /// The layout of buckets of `words` words with rests of `rest_bits` bits, at most 32.
    pub const fn new(words: usize, rest_bits: u32) -> Self {
        Self { rest_bits, capacity: (words - 1) * 32 / (32 + rest_bits as usize) }
    }

    fn position(self, i: usize) -> (usize, u32) {
        let bit = 32 * (1 + self.capacity) + i * self.rest_bits as usize;
        (bit / 32, bit as u32 % 32)
    }
}

// SAFETY: an empty bucket is zeros, and a bucket owns nothing.
unsafe impl<const W: usize> Zero for Bucket<W> {}

const COUNT: u32 = 31;

impl<const W: usize> Bucket<W> {
    /// A bucket without entries.
    pub const EMPTY: Self = Self([0; W]);

    /// Number of entries.
    #[inline(always)]
    pub fn len(&self) -> usize {
        (self.0[0] & COUNT) as usize
    }

    /// The 27 bits of the owner.
    #[inline(always)]
    pub fn tag(&self) -> u32 {
        self.0[0] >> 5
    }

    /// Sets the 27 bits of the owner.
    pub fn set_tag(&mut self, tag: u32) {
        self.0[0] = self.0[0] & COUNT | tag << 5;
    }

    /// Appends an entry; false if there is no room.
    pub fn push(&mut self, layout: Layout, filter: u32, rest: u32) -> bool {
        let i = self.len();
        if i == layout.capacity {
            return false;
        }
        self.0[0] += 1;
        self.0[1 + i] = filter;
        if layout.rest_bits > 0 {
            let (word, shift) = layout.position(i);
            let low = u64::from(rest) << shift;
            let mask = ((1u64 << layout.rest_bits) - 1) << shift;
            self.0[word] = self.0[word] & !(mask as u32) | low as u32;
            if mask >> 32 != 0 {
                self.0[word + 1] = self.0[word + 1] & !((mask >> 32) as u32) | (low >> 32) as u32;
            }
        }
        true
    }

    /// The filter of an entry.
    #[inline(always)]
    pub fn filter(&self, i: usize) -> u32 {
        self.0[1 + i]
    }

    /// The rest of an entry.
    #[inline(always)]
    pub fn rest(&self, layout: Layout, i: usize) -> u32 {
        if layout.rest_bits == 0 {
            return 0;
        }
        let (word, shift) = layout.position(i);
        let high = if word + 1 < W { self.0[word + 1] } else { 0 };
        let both = u64::from(self.0[word]) | u64::from(high) << 32;
        (both >> shift & ((1 << layout.rest_bits) - 1)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gives_back_what_was_put_in(rest_bits in 0u32..=32, entries: Vec<(u32, u32)>) {
            let layout = Layout::new(32, rest_bits);
            let mask = ((1u64 << rest_bits) - 1) as u32;
            let mut bucket = Bucket::<32>::EMPTY;
            bucket.set_tag(0x7ff_ffff);
            let mut kept = Vec::new();
            for (filter, rest) in entries {
                if bucket.push(layout, filter, rest & mask) {
                    kept.push((filter, rest & mask));
                }
            }
            prop_assert!(kept.len() <= layout.capacity);
            prop_assert_eq!(bucket.len(), kept.len());
            prop_assert_eq!(bucket.tag(), 0x7ff_ffff);
            for (i, (filter, rest)) in kept.into_iter().enumerate() {
                prop_assert_eq!(bucket.filter(i), filter);
                prop_assert_eq!(bucket.rest(layout, i), rest);
            }
        }
    }
}
