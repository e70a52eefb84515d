//! Moves the bits of a key to the low end of a word.

/// A permutation of the 64 bits of a fingerprint. It moves chosen bits to the low end. The chosen bits keep their
/// order, and so do the others.
#[derive(Clone, Debug)]
pub enum Permutation {
    /// The chosen bits are adjacent. (Bit 63 and bit 0 count as adjacent.)
    Rotate(u32),
    /// The chosen bits are not adjacent. Runs of adjacent bits are moved one by one.
    Runs(Vec<Run>),
}

/// Adjacent bits that stay adjacent.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    mask: u64,
    from: u32,
    to: u32,
}

impl Permutation {
    /// A permutation that moves the bits of `mask` to the low end.
    pub fn to_front(mask: u64) -> Self {
        let start = match mask {
            0 | u64::MAX => 0,
            // The lowest bit of the run. The run may wrap around.
            _ if mask & 1 == 1 && mask >> 63 == 1 => 64 - mask.leading_ones(),
            _ => mask.trailing_zeros(),
        };
        let ones = mask.rotate_right(start);
        if ones & ones.wrapping_add(1) == 0 {
            return Self::Rotate(start);
        }
        let mut runs = Vec::new();
        let mut to = 0;
        for part in [mask, !mask] {
            let mut left = part;
            while left != 0 {
                let from = left.trailing_zeros();
                let length = (left >> from).trailing_ones();
                let mask = u64::MAX >> (64 - length);
                runs.push(Run { mask, from, to });
                to += length;
                left &= !(mask << from);
            }
        }
        Self::Runs(runs)
    }

    /// The permuted word.
    #[inline(always)]
    pub fn apply(&self, word: u64) -> u64 {
        match self {
            Self::Rotate(by) => word.rotate_right(*by),
            Self::Runs(runs) => runs.iter().fold(0, |sum, run| sum | (word >> run.from & run.mask) << run.to),
        }
    }

    /// The word that was permuted.
    #[inline(always)]
    pub fn undo(&self, word: u64) -> u64 {
        match self {
            Self::Rotate(by) => word.rotate_left(*by),
            Self::Runs(runs) => runs.iter().fold(0, |sum, run| sum | (word >> run.to & run.mask) << run.from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn brings_the_chosen_bits_to_the_low_end(mask: u64, start in 0u32..64, length in 0u32..=64, word: u64) {
            let run = if length == 0 { 0 } else { (u64::MAX >> (64 - length)).rotate_left(start) };
            for mask in [mask, run] {
                let permutation = Permutation::to_front(mask);
                prop_assert_eq!(permutation.undo(permutation.apply(word)), word);
                let ones = mask.count_ones();
                let front = if ones == 0 { 0 } else { u64::MAX >> (64 - ones) };
                prop_assert_eq!(permutation.apply(mask), front);
            }
        }
    }
}
