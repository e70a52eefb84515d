//! Crowds: more signatures than are compared all with all share a fingerprint, or a piece of their sketches. The equal
//! ones among them are found by their bytes, at no more cost than reading them.

use std::collections::HashMap;

use crate::corpus::{DIGEST, Signatures};
use crate::signature::Sketch;

/// The number of signatures of a crowd that are compared with all others. Further ones are compared with these, and
/// with equal ones.
pub const MOST: usize = 64;

/// The first row with each sketch, and with each digest, among the rows that were added.
pub struct FirstRows<'a> {
    signatures: &'a Signatures,
    by_sketch: HashMap<[u8; Sketch::BYTES], u64>,
    by_digest: HashMap<[u8; DIGEST], u64>,
}

impl<'a> FirstRows<'a> {
    /// The first rows of nothing yet.
    pub fn new(signatures: &'a Signatures) -> Self {
        Self { signatures, by_sketch: HashMap::new(), by_digest: HashMap::new() }
    }

    /// Adds a row.
    pub fn add(&mut self, row: u64) {
        self.by_sketch.entry(self.signatures.stored_sketch(row)).or_insert(row);
        self.by_digest.entry(self.signatures.digests()[row as usize]).or_insert(row);
    }

    /// The first row with the same sketch as a row of `others`, and the first one with the same bytes, if that is
    /// another row.
    pub fn equal_to(&self, others: &Signatures, row: u64) -> impl Iterator<Item = u64> + use<> {
        let by_sketch = self.by_sketch.get(&others.stored_sketch(row)).copied();
        let by_digest = self.by_digest.get(&others.digests()[row as usize]).copied();
        by_sketch.into_iter().chain(by_digest.filter(|row| Some(*row) != by_sketch))
    }
}

/// Calls `visit` with the pairs in one crowd of which one row is among the first [`MOST`], or in which the rows are
/// equal. Returns the number of pairs that are left out. The earlier row comes first.
pub fn pairs_within(
    signatures: &Signatures,
    rows: impl ExactSizeIterator<Item = u64> + Clone,
    mut visit: impl FnMut(u64, u64),
) -> u64 {
    let mut first = FirstRows::new(signatures);
    let further = rows.len().saturating_sub(MOST) as u64;
    let mut left_out = further * further.saturating_sub(1) / 2;
    for (n, x) in rows.clone().enumerate() {
        rows.clone().take(n.min(MOST)).for_each(|y| visit(y, x));
        if n >= MOST {
            first.equal_to(signatures, x).for_each(|y| {
                left_out -= 1;
                visit(y, x);
            });
            first.add(x);
        }
    }
    left_out
}

/// Calls `visit` with the pairs between two crowds of which one row is among the first [`MOST`] of its crowd, or in
/// which the rows are equal. Returns the number of pairs that are left out.
pub fn pairs_between(
    (a, xs): (&Signatures, impl ExactSizeIterator<Item = u64> + Clone),
    (b, ys): (&Signatures, impl ExactSizeIterator<Item = u64> + Clone),
    mut visit: impl FnMut(u64, u64),
) -> u64 {
    let (of_a, of_b) = (xs.len(), ys.len());
    for (n, x) in xs.clone().enumerate() {
        let others = if n < MOST { of_b } else { MOST };
        ys.clone().take(others).for_each(|y| visit(x, y));
    }
    if of_a <= MOST || of_b <= MOST {
        return 0;
    }
    let mut first = FirstRows::new(b);
    ys.skip(MOST).for_each(|y| first.add(y));
    let mut left_out = (of_a - MOST) as u64 * (of_b - MOST) as u64;
    for x in xs.skip(MOST) {
        first.equal_to(a, x).for_each(|y| {
            left_out -= 1;
            visit(x, y);
        });
    }
    left_out
}
