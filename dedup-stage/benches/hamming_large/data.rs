//! Random fingerprints, and queries to them; every program that measures a Hamming index takes these.

/// Random fingerprints by their row, so that a billion of them need no memory: one in ten is at distance 0 to 7 from an
/// earlier one.
#[derive(Clone, Copy, Debug)]
pub struct ByRow(
    /// How many there are.
    pub u64,
);

impl ByRow {
    /// Number `row` of splitmix64 (Steele, Lea, Flood 2014).
    pub fn hash(row: u64) -> u64 {
        let mut z = row.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// The fingerprint of a row, however many there are.
    pub fn get(row: u64) -> u64 {
        let own = Self::hash(row);
        if row > 0 && own.is_multiple_of(10) {
            let errors = Self::hash(own);
            Self::flipped(Self::hash(Self::hash(!own) % row), errors >> 60 & 7, errors)
        } else {
            own
        }
    }

    /// All of them.
    pub fn all(self) -> impl Iterator<Item = u64> {
        (0..self.0).map(Self::get)
    }

    /// `n` queries, of which every other one is at distance up to 6 from a stored fingerprint.
    pub fn queries(self, n: u64) -> Vec<u64> {
        let stored = |i: u64| Self::get(Self::hash(i ^ 0xabcd_ef01) % self.0);
        (0..n)
            .map(|i| if i % 2 == 0 { Self::flipped(stored(i), i / 2 % 7, Self::hash(i)) } else { Self::hash(!i) })
            .collect()
    }

    /// With so many flips (fewer errors where two hit the same bit), six bits of `places` for each.
    fn flipped(fingerprint: u64, flips: u64, places: u64) -> u64 {
        (0..flips).fold(fingerprint, |f, e| f ^ 1 << (places >> (6 * e) & 63))
    }
}
