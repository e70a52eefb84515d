//! Numbers the buckets of a table: from the 32 bits of a key to a bucket, and from a ball of keys to the few buckets it
//! touches.

use super::linear::Linear;

/// Assigns 32-bit keys to buckets by their nearest codeword.
///
/// A key is cut into the blocks of one or more perfect Hamming codes, with some bits left over. A perfect code has
/// exactly one codeword within distance 1 of any word. That codeword is the bucket of the key. So two keys that differ
/// in one bit often have the same bucket. With the (31,26) code, a ball of radius 1 touches 16 buckets, or 17 with the
/// left-over bit. If the key bits themselves numbered the buckets, the ball would touch up to 33. Without a code
/// (`Code::plain`), the bucket is the low bits of the key.
///
/// The *address* of a key is a bijective image of the key. Its low [`Code::address_bits`] bits number the bucket. The
/// bits above them are the *syndrome*, which says which word of the bucket the key is. All steps are linear over GF(2),
/// except for one look-up by syndrome. So the buckets of a ball are the bucket of the key XOR each entry of a list, and
/// the list depends only on the syndrome.
///
/// # Complexity
///
/// Five look-ups to address a key; one XOR for each bucket of a ball.
///
/// # References
///
/// R. W. Hamming, "Error Detecting and Error Correcting Codes", Bell System Technical Journal 29 (1950), section 3. The
/// use as a hash for neighbours: covering codes, e.g. Cohen, Honkala, Litsyn, Lobstein, "Covering Codes" (1997).
#[derive(Clone, Debug)]
pub struct Code {
    address_bits: u32,
    radius: u32,
    forward: Linear,
    backward: Linear,
    /// For each syndrome: the address bits of the error to be corrected.
    leaders: Vec<u32>,
    /// For each key bit: the address of a key with only this bit set, before correction.
    flips: [u32; 32],
}

impl Code {
    /// No code: the bucket of a key is its low `bits` bits. Balls have the given radius.
    pub fn plain(bits: u32, radius: u32) -> Self {
        let columns = std::array::from_fn(|i| 1 << i);
        Self::build(bits, radius, &columns, vec![0])
    }

    /// The product of the perfect Hamming codes with these numbers of parity bits: `[5]` is the (31,26) code, `[4, 4]`
    /// two (15,11) codes.
    ///
    /// # Panics
    ///
    /// If the codes together are longer than 32 bits.
    pub fn hamming(parity: &[u32], radius: u32) -> Self {
        let syndrome_bits: u32 = parity.iter().sum();
        let address_bits = 32 - syndrome_bits;
        let length: usize = parity.iter().map(|r| (1 << r) - 1).sum();
        assert!(length <= 32, "the codes are longer than the key");
        let information = length as u32 - syndrome_bits;
        let mixed = mixing_columns(information);

        let mut columns = [0u32; 32];
        let mut leaders = vec![0u32; 1 << syndrome_bits];
        let (mut position, mut next, mut shift) = (0, 0, 0);
        for &r in parity {
            for syndrome in 1..1u32 << r {
                let is_parity = syndrome.is_power_of_two();
                let address = if is_parity { 0 } else { mixed[next] };
                next += usize::from(!is_parity);
                columns[position] = address | syndrome << shift << address_bits;
                leaders[(syndrome << shift) as usize] = address;
                position += 1;
            }
            shift += r;
        }
        for (i, column) in columns[position..].iter_mut().enumerate() {
            *column = 1 << (information + i as u32);
        }
        // In a product code, the corrections of its parts are added up.
        for syndrome in 1..leaders.len() {
            let mut shift = 0;
            leaders[syndrome] = parity.iter().fold(0, |sum, r| {
                let part = syndrome & (((1 << r) - 1) << shift);
                shift += r;
                sum ^ if part == syndrome { leaders[syndrome] } else { leaders[part] }
            });
        }
        Self::build(address_bits, radius, &columns, leaders)
    }

    fn build(address_bits: u32, radius: u32, columns: &[u32; 32], leaders: Vec<u32>) -> Self {
        let forward = Linear::from_columns(columns);
        let backward = Linear::inverse(columns).expect("information and parity bits are independent");
        Self { address_bits, radius, forward, backward, leaders, flips: *columns }
    }

    /// The number of bits that number a bucket.
    pub fn address_bits(&self) -> u32 {
        self.address_bits
    }

    /// The radius of the balls that [`Code::neighbours`] covers.
    #[cfg(test)]
    pub fn radius(&self) -> u32 {
        self.radius
    }

    /// The address of a key: the bucket in the low bits, the syndrome above.
    #[inline(always)]
    pub fn address(&self, key: u32) -> u32 {
        let word = self.forward.apply(key);
        word ^ self.leaders[self.syndrome(word)]
    }

    /// The key with this address.
    #[inline(always)]
    pub fn key(&self, address: u32) -> u32 {
        self.backward.apply(address ^ self.leaders[self.syndrome(address)])
    }

    /// The syndrome of an address. It chooses the list of [`Code::neighbours`].
    #[inline(always)]
    pub fn syndrome(&self, address: u32) -> usize {
        // A plain code of 32 bits has no syndrome. A shift of 32 bits by 32 is not defined.
        (u64::from(address) >> self.address_bits) as usize & (self.leaders.len() - 1)
    }

    /// For each syndrome: XOR each entry of the list to the bucket of a key to get every bucket that its ball touches.
    /// The list contains 0, for the bucket itself.
    pub fn neighbours(&self) -> Vec<Vec<u32>> {
        let bits = if self.leaders.len() == 1 { self.address_bits } else { 32 };
        let low = low_mask(self.address_bits);
        (0..self.leaders.len())
            .map(|syndrome| {
                let mut buckets = Vec::new();
                for_each_error(bits, self.radius, &mut |error| {
                    let change = ones(error).fold(0, |sum, i| sum ^ self.flips[i as usize]);
                    let corrected = self.leaders[syndrome ^ self.syndrome(change)] ^ self.leaders[syndrome];
                    buckets.push((change ^ corrected) & low);
                });
                buckets.sort_unstable();
                buckets.dedup();
                buckets
            })
            .collect()
    }
}

/// Calls `visit` with every word of `bits` bits that has at most `radius` ones.
pub fn for_each_error(bits: u32, radius: u32, visit: &mut impl FnMut(u32)) {
    fn extend(word: u32, from: u32, bits: u32, left: u32, visit: &mut impl FnMut(u32)) {
        visit(word);
        if left > 0 {
            for i in from..bits {
                extend(word | 1 << i, i + 1, bits, left - 1, visit);
            }
        }
    }
    extend(0, 0, bits, radius, visit);
}

/// The positions of the ones of a word.
pub fn ones(mut word: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let i = word.trailing_zeros();
            word &= word - 1;
            i
        })
    })
}

/// A word whose low `bits` bits are ones.
pub fn low_mask(bits: u32) -> u32 {
    ((1u64 << bits) - 1) as u32
}

/// The columns of an invertible matrix of `size` by `size` random-looking bits. The bits of real fingerprints are
/// biased. A bucket number is not biased if each of its bits is the sum of many bits of the key.
fn mixing_columns(size: u32) -> Vec<u32> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u32
    };
    loop {
        let mut columns: [u32; 32] = std::array::from_fn(|i| 1 << i);
        for column in &mut columns[..size as usize] {
            *column = next() & low_mask(size);
        }
        if Linear::inverse(&columns).is_some() {
            return columns[..size as usize].to_vec();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes() -> Vec<Code> {
        let mut codes = Vec::new();
        for radius in 0..=2 {
            codes.extend([&[5][..], &[4, 4], &[4, 3, 3], &[3, 3, 3, 3]].map(|parity| Code::hamming(parity, radius)));
            codes.extend([8, 16, 21, 32].map(|bits| Code::plain(bits, radius)));
        }
        codes
    }

    fn keys() -> impl Iterator<Item = u32> {
        (0..2000u32).map(|i| i.wrapping_mul(0x9e37_79b9) ^ i << 7).chain([0, u32::MAX])
    }

    #[test]
    fn addresses_are_reversible() {
        for code in codes() {
            for key in keys() {
                assert_eq!(code.key(code.address(key)), key);
            }
        }
    }

    /// Proves that the buckets of a ball depend only on the syndrome: every syndrome is tried.
    #[test]
    fn every_ball_is_covered() {
        for code in codes() {
            let low = low_mask(code.address_bits());
            for (syndrome, list) in code.neighbours().iter().enumerate() {
                let bucket = (syndrome as u32).wrapping_mul(0x9e37_79b9) & low;
                let key = code.key((syndrome as u64).wrapping_shl(code.address_bits()) as u32 | bucket);
                for_each_error(32, code.radius(), &mut |error| {
                    let touched = code.address(key ^ error) & low;
                    assert!(list.binary_search(&(touched ^ bucket)).is_ok(), "{key:x} ^ {error:x}");
                });
            }
        }
    }

    #[test]
    fn perfect_codes_touch_few_buckets() {
        let most = |code: Code| code.neighbours().iter().map(Vec::len).max().unwrap();
        assert_eq!(most(Code::hamming(&[5], 1)), 17);
        assert_eq!(most(Code::hamming(&[4, 4], 1)), 17);
        assert_eq!(most(Code::plain(32, 1)), 33);
        assert_eq!(most(Code::hamming(&[5], 0)), 1);
    }
}
