//! The documents of a fingerprint that very many documents have. They are put in order once, so that a page need not be
//! compared with each of them.

use std::ops::Range;

use super::file::Signatures;
use super::format::DIGEST;
use crate::signature::Sketch;

/// The documents of one fingerprint, in the orders of their digests and of their sketches. Rows are counted from the
/// first one, in four bytes each.
#[derive(Debug)]
pub struct Crowd {
    first: usize,
    /// All rows, by digest; equals by row.
    by_digest: Box<[u32]>,
    /// The first row of each sketch, by sketch.
    by_sketch: Box<[u32]>,
    /// The first rows with different sketches, ascending.
    heads: Box<[u32]>,
}

impl Crowd {
    /// Puts these rows in order, which have one fingerprint. `most` different sketches are compared with each page.
    ///
    /// # Complexity
    ///
    /// The rows are sorted twice. It holds at most 8 bytes for each row.
    pub fn of(signatures: &Signatures, rows: Range<usize>, most: usize) -> Self {
        let first = rows.start;
        let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        let (digest, sketch) = (|row: u32| &signatures.digests()[first + row as usize], sketches(signatures, first));
        let mut by_digest: Box<[u32]> = (0..count).collect();
        by_digest.sort_unstable_by(|a, b| digest(*a).cmp(digest(*b)).then(a.cmp(b)));
        let mut by_sketch: Vec<u32> = (0..count).collect();
        by_sketch.sort_unstable_by(|a, b| sketch(*a).cmp(&sketch(*b)).then(a.cmp(b)));
        by_sketch.dedup_by(|b, a| sketch(*a) == sketch(*b));
        let mut heads = by_sketch.clone();
        heads.sort_unstable();
        heads.truncate(most);
        Self { first, by_digest, by_sketch: by_sketch.into(), heads: heads.into() }
    }

    /// The first row with this digest.
    pub fn with_digest(&self, signatures: &Signatures, digest: &[u8; DIGEST]) -> Option<usize> {
        let of = |row: &u32| &signatures.digests()[self.first + *row as usize];
        let at = self.by_digest.partition_point(|row| of(row) < digest);
        self.by_digest.get(at).filter(|row| of(row) == digest).map(|row| self.first + *row as usize)
    }

    /// The first row with this sketch.
    pub fn with_sketch(&self, signatures: &Signatures, sketch: &[u8; Sketch::BYTES]) -> Option<usize> {
        let of = sketches(signatures, self.first);
        let at = self.by_sketch.partition_point(|row| of(*row) < *sketch);
        self.by_sketch.get(at).filter(|row| of(**row) == *sketch).map(|row| self.first + *row as usize)
    }

    /// The first rows with different sketches, ascending: those that are compared with a page.
    pub fn heads(&self) -> impl Iterator<Item = usize> + '_ {
        self.heads.iter().map(|row| self.first + *row as usize)
    }

    /// Whether there are more sketches than are compared with a page.
    pub fn has_more(&self) -> bool {
        self.by_sketch.len() > self.heads.len()
    }
}

/// The sketch of a row that is counted from `first`.
fn sketches(signatures: &Signatures, first: usize) -> impl Fn(u32) -> [u8; Sketch::BYTES] + '_ {
    move |row| signatures.stored_sketch((first + row as usize) as u64)
}
