//! Candidates by pieces of their sketches. They find near-duplicates whose fingerprints lie far apart.

use std::collections::HashSet;
use std::ops::Range;

use super::{Edge, Effort, FoundEdges, NearCriterion, Sink, Tasks, crowd, judge};
use crate::corpus::Signatures;
use crate::hamming::pairs::{self, Sides};
use crate::signature::Sketch;

/// All edges between candidates that fingerprints do not find, within `a`, or between `a` and `b`.
///
/// # Complexity
///
/// The cost of [`pairs::join`] for each piece and each pair of blocks. Pieces of unrelated texts do not crowd as
/// fingerprints do, so they take less time.
///
/// # References
///
/// Shrivastava, Li, "Fast Near Neighbor Search in High-Dimensional Binary Data" (ECML PKDD 2012): bits of min-wise
/// sketches are the keys of candidates.
pub fn join(
    a: &Signatures,
    b: Option<&Signatures>,
    criterion: NearCriterion,
    effort: Effort,
    sink: &dyn Sink,
    done: &(dyn Fn(f64) + Sync),
) {
    // A row takes 32 bytes here, and 24 in comparisons by fingerprint. So the blocks are smaller, and take no more.
    let tasks = Tasks::of(a, b, effort.block - effort.block / 4);
    for which in 0..Sketch::PIECES {
        // The first block of the last task, in case the next task has it, too.
        let mut first: Option<(Range<usize>, Pieces<'_>)> = None;
        for (one, other) in &tasks.0 {
            if first.as_ref().is_none_or(|(block, _)| block != one) {
                drop(first.take());
                first = Some((one.clone(), Pieces::of(a, one.clone(), which)));
            }
            let Some((_, pieces)) = &first else { continue };
            let second = other.as_ref().map(|other| Pieces::of(b.unwrap_or(a), other.clone(), which));
            compare(pieces, second.as_ref(), criterion, effort, sink, &|part| done(part * tasks.share()));
        }
    }
}

/// All edges within one block, or between two.
fn compare(
    a: &Pieces<'_>,
    b: Option<&Pieces<'_>>,
    criterion: NearCriterion,
    effort: Effort,
    sink: &dyn Sink,
    done: &(dyn Fn(f64) + Sync),
) {
    let other = b.unwrap_or(a);
    let mut found = FoundEdges::new(sink);
    // A join within one set does not compare a value with itself.
    let alone = if b.is_none() { a.values.len() } else { 0 };
    for rows in (0..alone).map(|i| a.rows_of(i)) {
        let left_out = crowd::pairs_within(a.signatures, rows, |y, x| a.tell(y, other, x, criterion, &mut found));
        found.uncompared(left_out);
    }
    drop(found);
    let make = || {
        let mut found = FoundEdges::new(sink);
        move |i: u32, j: u32| {
            let (rows, others) = (a.rows_of(i as usize), other.rows_of(j as usize));
            let left_out = crowd::pairs_between((a.signatures, rows), (other.signatures, others), |x, y| {
                a.tell(x, other, y, criterion, &mut found);
            });
            found.uncompared(left_out);
        }
    };
    let sides = b.map_or(Sides::One(&a.values), |b| Sides::Two(&a.values, &b.values));
    pairs::join(sides, Sketch::PIECE_DISTANCE, effort.threads, &make, done);
}

/// One piece of the sketches in a range of rows: the distinct values, and the rows that stand for each.
struct Pieces<'a> {
    signatures: &'a Signatures,
    which: usize,
    /// The first row of the range. Rows are counted from it, because they are kept in four bytes.
    from: usize,
    /// Each value once, ascending.
    values: Vec<u64>,
    /// The place in `rows` where the rows of each value begin.
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl<'a> Pieces<'a> {
    fn of(signatures: &'a Signatures, range: Range<usize>, which: usize) -> Self {
        let fingerprints = &signatures.fingerprints()[range.clone()];
        let mut all: Vec<(u64, u32)> = Vec::with_capacity(range.len());
        let mut seen = HashSet::new();
        signatures.each_sketch(range.clone(), |row, sketch| {
            let row = row - range.start;
            let repeats = |other: usize| fingerprints.get(other) == Some(&fingerprints[row]);
            if row > 0 && !repeats(row - 1) {
                seen.clear();
            }
            // Only the first document of a signature is compared with others.
            if (row > 0 && repeats(row - 1) || repeats(row + 1)) && !seen.insert(*sketch) {
                return;
            }
            all.push((Sketch::from_bytes(*sketch).piece(which), row as u32));
        });
        all.sort_unstable();
        let rows = all.iter().map(|(_, row)| *row).collect();
        let (mut values, mut starts) = (Vec::new(), Vec::new());
        for (place, (value, _)) in (0..).zip(all) {
            if values.last() != Some(&value) {
                values.push(value);
                starts.push(place);
            }
        }
        Self { signatures, which, from: range.start, values, starts, rows }
    }

    /// The rows that have the value with this index, ascending.
    fn rows_of(&self, i: usize) -> impl ExactSizeIterator<Item = u64> + Clone + '_ {
        let end = self.starts.get(i + 1).map_or(self.rows.len(), |start| *start as usize);
        self.rows[self.starts[i] as usize..end].iter().map(|row| self.from as u64 + u64::from(*row))
    }

    /// Hands over the edge between a row and a row of another block, if they are near-duplicates that neither their
    /// fingerprints nor an earlier piece make candidates.
    fn tell(&self, x: u64, other: &Pieces<'_>, y: u64, criterion: NearCriterion, found: &mut FoundEdges<'_>) {
        let (one, another) = (self.signatures.fingerprints()[x as usize], other.signatures.fingerprints()[y as usize]);
        let distance = (one ^ another).count_ones();
        if distance <= criterion.distance || found.is_joined(x, y) {
            return;
        }
        let (one, another) = (self.signatures.stored_sketch(x), other.signatures.stored_sketch(y));
        let sketches = [one, another].map(Sketch::from_bytes);
        if (0..self.which).any(|piece| sketches[0].is_near_in(&sketches[1], piece)) {
            return;
        }
        let edge = judge(criterion, (x, one), (y, another), distance);
        // Within one file, the lower row comes first.
        let turned = |edge: Edge| match std::ptr::eq(self.signatures, other.signatures) && edge.b < edge.a {
            true => Edge { a: edge.b, b: edge.a, ..edge },
            false => edge,
        };
        edge.map(turned).into_iter().for_each(|edge| found.push(edge));
    }
}
