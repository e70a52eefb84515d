//! What a run stores of a fingerprint.

use super::{QUARTER, quarter_of};

/// A fingerprint without the quarter that its run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The partner, and below it the XOR of the quarters of the other half.
    pub part: u32,
    /// A quarter of the other half.
    pub rest: u16,
}

impl Entry {
    /// The entry of a fingerprint in a run of this quarter.
    #[inline(always)]
    pub fn new(fingerprint: u64, quarter: usize) -> Self {
        let of = |other| quarter_of(fingerprint, other);
        let rest = of(quarter ^ 2);
        Self { part: u32::from(of(quarter ^ 1)) << QUARTER | u32::from(of(quarter ^ 3) ^ rest), rest }
    }

    /// The fingerprint of an entry in the run of a quarter and its bits.
    #[inline(always)]
    pub fn fingerprint(self, quarter: usize, key: u16) -> u64 {
        let place = |bits: u16, quarter: usize| u64::from(bits) << (QUARTER * quarter as u32);
        place(key, quarter)
            | place((self.part >> QUARTER) as u16, quarter ^ 1)
            | place(self.rest, quarter ^ 2)
            | place(self.part as u16 ^ self.rest, quarter ^ 3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_a_fingerprint_in_every_quarter() {
        let fingerprint = 0x0123_4567_89ab_cdef;
        for quarter in 0..4 {
            assert_eq!(
                Entry::new(fingerprint, quarter).fingerprint(quarter, quarter_of(fingerprint, quarter)),
                fingerprint
            );
        }
        let part = 0x0123 << 16 | 0xcdef ^ 0x89ab;
        assert_eq!(Entry::new(fingerprint, 2), Entry { part, rest: 0xcdef }, "the partner is above");
    }
}
