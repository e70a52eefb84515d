//! Decides how a hash table grows by one bucket at a time.

use std::ops::Range;

use super::code::low_mask;

/// Tells the bucket of an address while the number of buckets grows from 2 to 2^`address_bits`, one by one.
///
/// The low bits of an address name a group of two buckets. In a first round, one group after the other gets a third
/// bucket, and its entries are spread over the three. In a second round, each group gets a fourth bucket. Then each
/// group becomes two groups of two buckets, which one more bit of the address tells apart. Buckets of groups that have
/// not grown yet are at most 1.5 times as full as the others. If buckets were split in two, the factor would be 2.
///
/// # References
///
/// Litwin, "Linear Hashing" (VLDB 1980); Larson, "Linear Hashing with Partial Expansions" (VLDB 1980).
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    address_bits: u32,
    /// The number of low bits of an address that name its group.
    bits: u32,
    /// The number of buckets of a group that has not grown in this round: 2 or 3.
    size: u32,
    /// The groups with numbers below this one have grown in this round.
    next: u32,
    /// For each value of the four bits after those of the group: the bucket within the group, in two bits. The first
    /// number is for groups that have not grown in this round, the second one for the others.
    places: [u32; 2],
}

/// The bucket within a group of `size` buckets, for each value of the four address bits that follow those of the group.
///
/// With two buckets, the first bit decides. With four, the first and the second bit decide together. With three, an
/// address with the second bit set is in the third bucket in three of four cases; otherwise the first bit decides. So
/// the three buckets are about equally full.
const fn places(size: u32) -> u32 {
    let mut places = 0;
    let mut v = 0;
    while v < 16 {
        let (first, second, rest) = (v & 1, v >> 1 & 1, v >> 2);
        let place = match size {
            2 => first,
            3 if second == 1 && rest < 3 => 2,
            3 => first,
            _ => first + 2 * second,
        };
        places |= place << (2 * v);
        v += 1;
    }
    places
}

/// A step of growth.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The first bucket of the group. The others follow at the distance `stride`.
    pub first: u32,
    /// The distance between two buckets of a group.
    pub stride: u32,
    /// The number of buckets that the group had. The number of the new bucket is the number of all buckets before the
    /// step.
    pub size: u32,
}

impl Growth {
    /// The beginning, with two buckets.
    pub fn new(address_bits: u32) -> Self {
        Self { address_bits, bits: 0, size: 2, next: 0, places: [places(2), places(3)] }
    }

    /// Number of buckets.
    pub fn buckets(&self) -> usize {
        ((self.size as usize) << self.bits) + self.next as usize
    }

    /// Whether one more bucket would tell more addresses apart.
    pub fn can_grow(&self) -> bool {
        self.buckets() < 1 << self.address_bits
    }

    /// The bucket of an address.
    #[inline(always)]
    pub fn bucket_of(&self, address: u32) -> u32 {
        let group = address & low_mask(self.bits);
        let places = self.places[usize::from(group < self.next)];
        let following = (address & low_mask(self.address_bits)) >> self.bits & 15;
        group | (places >> (2 * following) & 3) << self.bits
    }

    /// The number of low bits that all addresses in a bucket have in common with the number of the bucket. They may
    /// have more bits in common, but the rests of the entries leave out only these.
    #[inline(always)]
    pub fn known_bits(&self, bucket: u32) -> u32 {
        let grown = bucket & low_mask(self.bits) < self.next;
        // Entries of a group of two that has not grown were written when the group had one bit less.
        if self.size == 2 && !grown { self.bits.saturating_sub(1) } else { self.bits }
    }

    /// The next step. [`Growth::grow`] takes it.
    pub fn step(&self) -> Step {
        Step { first: self.next, stride: 1 << self.bits, size: self.size }
    }

    /// Takes the next step.
    pub fn grow(&mut self) {
        self.next += 1;
        if self.next == 1 << self.bits {
            self.next = 0;
            match self.size {
                2 => self.size = 3,
                _ => (self.size, self.bits) = (2, self.bits + 1),
            }
            self.places = [places(self.size), places(self.size + 1)];
        }
    }

    /// The groups that have grown since there were `then` buckets. `None` if that was before this round.
    pub fn grown_since(&self, then: usize) -> Option<Range<u32>> {
        let before = then.checked_sub((self.size as usize) << self.bits)?;
        Some(before as u32..self.next)
    }

    /// The number of low address bits that decide about the bucket, now or after the next steps of this round.
    pub fn deciding_bits(&self) -> u32 {
        (self.bits + 4).min(self.address_bits)
    }

    /// The number of low bits that name the group.
    pub fn group_bits(&self) -> u32 {
        self.bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Grows to the end, and follows every address.
    #[test]
    fn only_the_group_that_grows_changes_and_no_bucket_is_much_fuller() {
        for address_bits in [1, 2, 3, 9] {
            let mut growth = Growth::new(address_bits);
            let mut buckets: Vec<u32> = (0..1 << address_bits).map(|a| growth.bucket_of(a)).collect();
            while growth.can_grow() {
                let (step, new) = (growth.step(), growth.buckets() as u32);
                assert_eq!(new, step.first + step.stride * step.size);
                growth.grow();
                let grown = growth.grown_since(new as usize);
                assert_eq!(grown, (growth.next > 0).then_some(step.first..step.first + 1));
                for (address, bucket) in (0..).zip(&mut buckets) {
                    let now = growth.bucket_of(address);
                    let of_group = *bucket % step.stride == step.first;
                    assert!(now == *bucket || of_group && now % step.stride == step.first);
                    assert!((now as usize) < growth.buckets());
                    let known = low_mask(growth.known_bits(now));
                    assert_eq!(now & known, address & known);
                    *bucket = now;
                }
                let mut sizes = vec![0; growth.buckets()];
                buckets.iter().for_each(|bucket| sizes[*bucket as usize] += 1);
                assert!(sizes.iter().all(|size| *size > 0));
                if growth.bits + 4 <= address_bits {
                    let (least, most) = (sizes.iter().min(), sizes.iter().max());
                    assert!(most.unwrap() * 5 <= least.unwrap() * 9, "{sizes:?}");
                }
            }
            assert_eq!(growth.buckets(), 1 << address_bits);
        }
    }
}
