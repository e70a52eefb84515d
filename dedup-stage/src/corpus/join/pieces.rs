//! Candidates by pieces of their sketches. They find near-duplicates whose fingerprints lie far apart.

use std::collections::HashSet;
use std::ops::Range;

use super::{Edge, Effort, FoundEdges, NearCriterion, Side, Sink, Tasks, crowd, judge};
use crate::corpus::Signatures;
use crate::hamming::pairs::{self, Sides, Visitor};
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
            let side = if b.is_some() { Side::Second } else { Side::First };
            let how = (criterion, effort);
            compare(pieces, second.as_ref(), side, how, sink, &|part| done(part * tasks.share()));
        }
    }
}

/// All edges within one block, or between two. `second` is the file that has the rows of the second one.
fn compare(
    a: &Pieces<'_>,
    b: Option<&Pieces<'_>>,
    second: Side,
    (criterion, effort): (NearCriterion, Effort),
    sink: &dyn Sink,
    done: &(dyn Fn(f64) + Sync),
) {
    let make = || PiecePairs { a, b: b.unwrap_or(a), second, criterion, found: FoundEdges::new(sink) };
    // A join within one set does not compare a value with itself.
    let alone = if b.is_none() { a.values.len() } else { 0 };
    let mut pairs = make();
    for rows in (0..alone).map(|i| a.rows_of(i)) {
        let left_out = crowd::pairs_within(a.signatures, rows.clone(), |y, x| pairs.compare(y, x));
        pairs.found.uncompared_within(left_out, rows.skip(crowd::MOST));
    }
    drop(pairs);
    let sides = b.map_or(Sides::One(&a.values), |b| Sides::Two(&a.values, &b.values));
    pairs::join(sides, Sketch::PIECE_DISTANCE, effort.threads, &make, done);
}

/// Compares the rows of near pieces.
struct PiecePairs<'a> {
    a: &'a Pieces<'a>,
    b: &'a Pieces<'a>,
    /// The file that has the rows of `b`.
    second: Side,
    criterion: NearCriterion,
    found: FoundEdges<'a>,
}

impl PiecePairs<'_> {
    /// Compares two rows that were not compared by their fingerprints or by an earlier piece, unless they belong
    /// together already.
    fn compare(&mut self, x: u64, y: u64) {
        let Self { a, b, second, criterion, ref mut found } = *self;
        let (one, another) = (a.signatures.fingerprints()[x as usize], b.signatures.fingerprints()[y as usize]);
        let distance = (one ^ another).count_ones();
        let is_candidate = distance <= criterion.distance;
        if is_candidate && !(a.is_further(x) && b.is_further(y)) || found.is_joined((Side::First, x), (second, y)) {
            return;
        }
        let (one, another) = (a.signatures.stored_sketch(x), b.signatures.stored_sketch(y));
        if is_candidate && one == another {
            // Of crowds, too, rows with equal sketches were compared.
            return;
        }
        let sketches = [one, another].map(Sketch::from_bytes);
        if !NearCriterion::may_be_far(distance, &sketches[0], &sketches[1]) {
            return;
        }
        if (0..a.which).any(|piece| sketches[0].is_near_in(&sketches[1], piece)) {
            return;
        }
        let edge = judge(criterion, (x, one), (y, another), distance);
        // Within one file, the lower row comes first.
        let turned = |edge: Edge| match second == Side::First && edge.b < edge.a {
            true => Edge { a: edge.b, b: edge.a, ..edge },
            false => edge,
        };
        edge.map(turned).into_iter().for_each(|edge| found.push(edge));
    }
}

impl Visitor for PiecePairs<'_> {
    fn pair(&mut self, i: u32, j: u32) {
        let (a, b) = (self.a, self.b);
        let (rows, others) = (a.rows_of(i as usize), b.rows_of(j as usize));
        let crowds = ((a.signatures, rows.clone()), (b.signatures, others.clone()));
        let left_out = crowd::pairs_between(crowds.0, crowds.1, |x, y| self.compare(x, y));
        if left_out > 0 {
            let (rows, others) = (rows.skip(crowd::MOST), others.skip(crowd::MOST));
            self.found.uncompared_between(left_out, (Side::First, rows), (self.second, others));
        }
    }

    fn has_groups(&self) -> bool {
        self.found.has_groups()
    }

    /// The group of a piece: that of all rows that have it.
    fn group(&self, side: Side, position: u32) -> Option<u64> {
        let (pieces, side) = match side {
            Side::First => (self.a, Side::First),
            Side::Second => (self.b, self.second),
        };
        self.found.group_of_all(side, pieces.rows_of(position as usize))
    }
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
    /// The rows that are beyond the first [`crowd::MOST`] signatures of their fingerprint, ascending. They were not
    /// compared with all candidates by their fingerprints.
    further: Vec<u32>,
}

impl<'a> Pieces<'a> {
    fn of(signatures: &'a Signatures, range: Range<usize>, which: usize) -> Self {
        let fingerprints = &signatures.fingerprints()[range.clone()];
        let mut all: Vec<(u64, u32)> = Vec::with_capacity(range.len());
        let (mut seen, mut further) = (HashSet::new(), Vec::new());
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
            if seen.len() > crowd::MOST {
                further.push(row as u32);
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
        Self { signatures, which, from: range.start, values, starts, rows, further }
    }

    /// Whether a row is beyond the first [`crowd::MOST`] signatures of its fingerprint.
    fn is_further(&self, row: u64) -> bool {
        let row = u32::try_from(row - self.from as u64).expect("a row of this range");
        self.further.binary_search(&row).is_ok()
    }

    /// The rows that have the value with this index, ascending.
    fn rows_of(&self, i: usize) -> impl ExactSizeIterator<Item = u64> + Clone + '_ {
        let end = self.starts.get(i + 1).map_or(self.rows.len(), |start| *start as usize);
        self.rows[self.starts[i] as usize..end].iter().map(|row| self.from as u64 + u64::from(*row))
    }
}
