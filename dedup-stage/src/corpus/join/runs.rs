//! The distinct fingerprints of a block, each with the rows that stand for it in comparisons.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::{Edge, copy, crowd};
use crate::corpus::Signatures;
use crate::signature::Sketch;

/// The distinct fingerprints of a range of rows.
#[derive(Debug)]
pub struct Runs<'a> {
    signatures: &'a Signatures,
    rows: Range<usize>,
    /// Each fingerprint once, ascending.
    values: Vec<u64>,
    /// The first row of each fingerprint, counted from the start of the range.
    starts: Vec<u32>,
    /// For each fingerprint (by its index) that has several rows: the first row of each signature, ascending.
    heads: HashMap<u32, Vec<u64>>,
    /// Whether rows of one fingerprint with different sketches are different signatures.
    look: bool,
}

impl<'a> Runs<'a> {
    /// The fingerprints of some rows. Without `look`, all rows of a fingerprint count as one signature.
    pub fn of(signatures: &'a Signatures, rows: Range<usize>, look: bool) -> Self {
        let fingerprints = &signatures.fingerprints()[rows.clone()];
        let (mut values, mut starts) = (Vec::new(), Vec::new());
        for (row, &fingerprint) in (0..).zip(fingerprints) {
            if values.last() != Some(&fingerprint) {
                values.push(fingerprint);
                starts.push(row);
            }
        }
        let mut runs = Self { signatures, rows, values, starts, heads: HashMap::new(), look };
        for i in 0..runs.values.len() {
            let rows = runs.rows_of(i);
            if rows.end - rows.start > 1 && look {
                let mut seen = HashSet::new();
                let heads = rows.filter(|row| seen.insert(signatures.stored_sketch(*row))).collect();
                runs.heads.insert(i as u32, heads);
            }
        }
        runs
    }

    /// Each fingerprint once, ascending.
    pub fn values(&self) -> &[u64] {
        &self.values
    }

    /// The file that has the rows.
    pub fn signatures(&self) -> &'a Signatures {
        self.signatures
    }

    /// The sketch of a row.
    pub fn sketch(&self, row: u64) -> [u8; Sketch::BYTES] {
        self.signatures.stored_sketch(row)
    }

    /// The rows of the fingerprint with this index.
    fn rows_of(&self, i: usize) -> Range<u64> {
        let end = self.starts.get(i + 1).map_or(self.rows.len(), |start| *start as usize);
        (self.rows.start + self.starts[i] as usize) as u64..(self.rows.start + end) as u64
    }

    /// Edges that link each row to the first row with its signature.
    pub fn copies(&self) -> impl Iterator<Item = Edge> {
        let several = |i: &usize| self.rows_of(*i).end - self.rows_of(*i).start > 1;
        (0..self.values.len()).filter(several).flat_map(move |i| {
            let mut firsts = HashMap::new();
            self.rows_of(i).filter_map(move |row| {
                let key = if self.look { Some(self.sketch(row)) } else { None };
                let first = *firsts.entry(key).or_insert(row);
                (first != row).then(|| copy(first, row))
            })
        })
    }

    /// For each fingerprint that has several signatures, the first row of each of them.
    pub fn repeated(&self) -> impl Iterator<Item = &[u64]> {
        self.heads.values().map(Vec::as_slice).filter(|heads| heads.len() > 1)
    }

    /// The rows that stand for the fingerprint with this index: the first row of each signature.
    pub fn heads(&self, i: u32) -> impl ExactSizeIterator<Item = u64> + Clone + '_ {
        let rows = self.rows_of(i as usize);
        let heads = if rows.end - rows.start == 1 { None } else { self.heads.get(&i) };
        let count = heads.map_or(1, Vec::len);
        (0..count).map(move |n| heads.map_or(rows.start, |heads| heads[n]))
    }

    /// Calls `visit` with the pairs of rows that stand for fingerprint `i` of this block and fingerprint `j` of the
    /// other. Returns the number of pairs that are left out because both are crowds.
    pub fn each_pair(&self, i: u32, other: &Runs<'_>, j: u32, mut visit: impl FnMut(u64, u64)) -> u64 {
        // Most fingerprints have one row, so that nothing has to be looked up.
        let (rows, others) = (self.rows_of(i as usize), other.rows_of(j as usize));
        if rows.end - rows.start == 1 && others.end - others.start == 1 {
            visit(rows.start, others.start);
            return 0;
        }
        crowd::pairs_between((self.signatures, self.heads(i)), (other.signatures, other.heads(j)), visit)
    }
}
