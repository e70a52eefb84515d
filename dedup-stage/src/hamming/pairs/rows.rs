//! From pairs of values to pairs of rows.

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

/// Which rows of equal fingerprints are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// Each row is linked to the first row with its value, and only first rows to other values.
    First,
    /// Every pair of rows.
    All,
}

/// The pairs of rows, sorted.
pub fn rows(fingerprints: &[u64], near: &Near, listed: Listed) -> Vec<Pair> {
    let values = near.pairs.iter().flat_map(|(a, b)| [*a, *b]).chain(near.repeated.iter().copied());
    let mut values = Values::new(values);
    for (row, fingerprint) in (0..).zip(fingerprints) {
        values.see(*fingerprint, row);
    }
    values.settle();
    let mut pairs = Vec::with_capacity(near.pairs.len());
    let mut add = |a: u64, b: u64, distance| pairs.push(Pair { first: a.min(b), second: a.max(b), distance });
    for &value in &near.repeated {
        let mut rows = values.rows(value);
        while let Some(first) = rows.next() {
            rows.clone().for_each(|row| add(first, row, 0));
            if listed == Listed::First {
                break;
            }
        }
    }
    for &(a, b) in &near.pairs {
        let distance = (a ^ b).count_ones();
        match listed {
            Listed::First => add(values.first(a), values.first(b), distance),
            Listed::All => {
                values.rows(a).for_each(|row| values.rows(b).for_each(|other| add(row, other, distance)));
            }
        }
    }
    pairs.sort_unstable();
    pairs
}
