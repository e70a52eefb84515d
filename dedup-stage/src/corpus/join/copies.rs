//! Adds edges for the other documents of a signature. A join only has edges for the first document of each signature.

use std::collections::HashMap;
use std::ops::Range;

use super::{Edge, NearCriterion};
use crate::corpus::Signatures;
use crate::signature::Sketch;

/// Adds edges for the copies in `a`. A copy has the signature (or, without a fingerprint, the bytes) of a document with
/// edges, and gets the best edge of that document. So each document of `a` that has a near-duplicate is in an edge, and
/// there is at most one new edge for each document.
pub fn with_copies(a: &Signatures, criterion: NearCriterion, mut edges: Vec<Edge>) -> Vec<Edge> {
    edges.sort_unstable_by_key(|edge| (edge.a, edge.b));
    let mut copies = Copies { signatures: a, look: criterion.look, rows: 0..0, of: HashMap::new() };
    let mut more = Vec::new();
    for edges in edges.chunk_by(|one, next| one.a == next.a) {
        // Among equally good edges this takes the first one, which leads to the earliest row.
        let best = edges.iter().rev().max_by(|x, y| x.resemblance.total_cmp(&y.resemblance));
        let Some(best) = best else { continue };
        more.extend(copies.of(best.a).map(|row| Edge { a: row, ..*best }));
    }
    edges.append(&mut more);
    edges
}

/// The rows of each signature in one run of equal fingerprints (or equal bytes): that of the row that was asked about
/// last.
struct Copies<'a> {
    signatures: &'a Signatures,
    look: bool,
    rows: Range<usize>,
    of: HashMap<Option<[u8; Sketch::BYTES]>, Vec<u64>>,
}

impl Copies<'_> {
    /// The other rows with the signature of `row`.
    fn of(&mut self, row: u64) -> impl Iterator<Item = u64> + '_ {
        if !self.rows.contains(&(row as usize)) {
            self.rows = self.run(row as usize);
            self.of.clear();
            for other in self.rows.clone() {
                self.of.entry(self.key(other)).or_default().push(other as u64);
            }
        }
        let rows = self.of.get(&self.key(row as usize)).map(Vec::as_slice).unwrap_or_default();
        rows.iter().copied().filter(move |other| *other != row)
    }

    /// The key that tells the signatures in a run apart. It is `None` if all rows of a run count as one signature.
    fn key(&self, row: usize) -> Option<[u8; Sketch::BYTES]> {
        let judged = row < self.signatures.fingerprints().len();
        (judged && self.look).then(|| self.signatures.stored_sketch(row as u64))
    }

    /// The rows around `row` with the same fingerprint, or with the same bytes if it has no fingerprint.
    fn run(&self, row: usize) -> Range<usize> {
        let (fingerprints, digests) = (self.signatures.fingerprints(), self.signatures.digests());
        let same = |other: &usize| match fingerprints.get(row) {
            Some(fingerprint) => fingerprints.get(*other) == Some(fingerprint),
            None => digests[*other] == digests[row],
        };
        let first = if row < fingerprints.len() { 0 } else { fingerprints.len() };
        let start = (first..row).rev().take_while(same).last().unwrap_or(row);
        let end = (row..digests.len()).take_while(same).last().unwrap_or(row);
        start..end + 1
    }
}
