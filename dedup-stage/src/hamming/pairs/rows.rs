//! Turns pairs of values into pairs of rows.

use super::Near;
use crate::hamming::values::Values;

/// Two rows of a file, the lower first, and the distance of their fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// The lower row.
    pub first: u64,
    /// The higher row.
    pub second: u64,
    /// Hamming distance.
    pub distance: u32,
}

/// Tells which pairs of rows with equal fingerprints are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// Each row is paired with the first row of its value. Only first rows are paired with other values.
    First,
    /// Every pair of rows.
    All,
}

/// The pairs of rows, sorted.
pub fn rows(fingerprints: &[u64], near: &Near, listed: Listed) -> Vec<Pair> {
    let chosen = near.pairs.iter().flat_map(|(a, b)| [*a, *b]).chain(near.repeated.iter().copied());
    let values = Values::find(chosen, fingerprints);
    let mut pairs = Vec::with_capacity(near.pairs.len() + values.further().len());
    let mut add = |a: u64, b: u64, distance| pairs.push(Pair { first: a.min(b), second: a.max(b), distance });
    for block in values.further().chunks(Values::BLOCK) {
        block.iter().for_each(|(value, _)| values.announce(*value));
        for &(value, row) in block {
            match listed {
                Listed::First => add(values.first(value), row, 0),
                Listed::All => {
                    values.rows(value).take_while(|earlier| *earlier < row).for_each(|first| add(first, row, 0))
                }
            }
        }
    }
    for block in near.pairs.chunks(Values::BLOCK) {
        block.iter().flat_map(|(a, b)| [*a, *b]).for_each(|value| values.announce(value));
        for &(a, b) in block {
            let distance = (a ^ b).count_ones();
            match listed {
                Listed::First => add(values.first(a), values.first(b), distance),
                Listed::All => {
                    values.rows(a).for_each(|row| values.rows(b).for_each(|other| add(row, other, distance)));
                }
            }
        }
    }
    pairs.sort_unstable();
    pairs
}
