//! Finds all near-duplicates within one signature file, or between two: candidates by fingerprint and by pieces of
//! their sketches, then the second look.

mod copies;
mod criterion;
mod crowd;
mod edges;
mod pieces;
mod runs;
mod sink;

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::file::Signatures;
use crate::hamming::pairs::{self, Sides, Visitor};
use crate::signature::Sketch;
use runs::Runs;
use sink::FoundEdges;

pub use crate::hamming::pairs::Side;
pub use copies::with_copies;
pub use criterion::{NearCriterion, Signature};
pub use edges::{EdgeFile, EdgeWriter, Nodes};
pub use sink::{Collected, Sink};

/// A pair of documents that say the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The row in the first file.
    pub a: u64,
    /// The row in the second file, or in the first if there is only one.
    pub b: u64,
    /// The Hamming distance of the fingerprints.
    pub distance: u32,
    /// The estimated resemblance of the texts, 0..1.
    pub resemblance: f32,
    /// Whether the two have the same signature. Then each is near everything that the other is near.
    pub same: bool,
}

/// The threads and the memory that a join uses.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Number of threads.
    pub threads: usize,
    /// The most fingerprints of each side that are in memory at a time. Each takes 24 bytes.
    pub block: usize,
}

impl Effort {
    /// The usual number of fingerprints in memory at a time: 3 GiB for one side.
    pub const BLOCK: usize = 1 << 27;
}

/// Finds all edges within `a`, or between `a` and `b`, and hands them to `sink`, thousands at a time, in no order.
///
/// Documents with the same signature are linked to the first of them, and only this first one is linked to other
/// documents. Documents without a fingerprint are linked if their bytes are equal. If more than 64 signatures share a
/// fingerprint, the others are compared with the first 64 only, as in the crawl, and with one that has the same sketch
/// and one that has the same bytes. If pieces of sketches find candidates, those that were left out are compared, too,
/// if they have a near piece. Pieces that very many signatures share are treated as fingerprints are. `sink` gets the
/// number of pairs that are left out so. What it knows to belong together is not compared. `done` gets the share of the
/// work that was done since its last call.
///
/// # Complexity
///
/// For each pair of blocks, the cost of [`pairs::join`] by fingerprints and by each piece, and the reading of two
/// sketches for each candidate.
///
/// # References
///
/// Manku, Jain, Das Sarma (WWW 2007), sections 3 and 4.
pub fn join(
    a: &Signatures,
    b: Option<&Signatures>,
    criterion: NearCriterion,
    effort: Effort,
    sink: &dyn Sink,
    done: &(dyn Fn(f64) + Sync),
) {
    a.advise_random();
    b.inspect(|b| b.advise_random());
    match b {
        None => equal_bytes(a, sink),
        Some(b) => equal_bytes_between(a, b, sink),
    }
    let passes = if criterion.pieces { 1 + Sketch::PIECES } else { 1 };
    let done = |part: f64| done(part / passes as f64);
    by_fingerprint(a, b, criterion, effort, sink, &done);
    if criterion.pieces {
        pieces::join(a, b, criterion, effort, sink, &done);
    }
}

/// All edges between candidates by fingerprint.
fn by_fingerprint(
    a: &Signatures,
    b: Option<&Signatures>,
    criterion: NearCriterion,
    effort: Effort,
    sink: &dyn Sink,
    done: &(dyn Fn(f64) + Sync),
) {
    let tasks = Tasks::of(a, b, effort.block);
    // The first block of the last task, in case the next task has it, too.
    let mut first: Option<(Range<usize>, Runs<'_>)> = None;
    for (one, other) in &tasks.0 {
        if first.as_ref().is_none_or(|(block, _)| block != one) {
            first = Some((one.clone(), Runs::of(a, one.clone(), criterion.look)));
        }
        let Some((_, runs)) = &first else { continue };
        let done = |part: f64| done(part * tasks.share());
        match other {
            None => within(runs, criterion, effort, sink, &done),
            Some(other) => {
                let (file, second) = b.map_or((a, Side::First), |b| (b, Side::Second));
                let others = Runs::of(file, other.clone(), criterion.look);
                between(runs, &others, second, (criterion, effort), sink, &done);
            }
        }
    }
}

/// The blocks of rows that are compared: a block of the first file with itself, or with another block, which belongs to
/// the second file if there is one.
struct Tasks(Vec<(Range<usize>, Option<Range<usize>>)>);

impl Tasks {
    fn of(a: &Signatures, b: Option<&Signatures>, block: usize) -> Self {
        let of_a = blocks(a, block);
        let others = b.map(|b| blocks(b, block));
        let each = of_a.iter().enumerate().flat_map(|(i, one)| {
            let (itself, others) = match &others {
                None => (Some(None), &of_a[i + 1..]),
                Some(others) => (None, &others[..]),
            };
            itself.into_iter().chain(others.iter().cloned().map(Some)).map(|other| (one.clone(), other))
        });
        Self(each.collect())
    }

    /// The share of one task in all.
    fn share(&self) -> f64 {
        1.0 / self.0.len().max(1) as f64
    }
}

/// Ranges of rows with a fingerprint, of about `block` rows each. Rows with equal fingerprints are in the same range.
fn blocks(signatures: &Signatures, block: usize) -> Vec<Range<usize>> {
    let fingerprints = signatures.fingerprints();
    let mut ranges = Vec::new();
    let mut start = 0;
    while start < fingerprints.len() {
        let last = fingerprints[fingerprints.len().min(start + block.max(1)) - 1];
        let end = start + fingerprints[start..].partition_point(|f| *f <= last);
        ranges.push(start..end);
        start = end;
    }
    ranges
}

/// The edge between two candidates; `None` if they are no near-duplicates.
fn judge(
    criterion: NearCriterion,
    (a, x): (u64, [u8; Sketch::BYTES]),
    (b, y): (u64, [u8; Sketch::BYTES]),
    distance: u32,
) -> Option<Edge> {
    if distance == 0 && x == y {
        return Some(Edge { a, b, distance, resemblance: 1.0, same: true });
    }
    let (one, other) = (Sketch::from_bytes(x), Sketch::from_bytes(y));
    // A part of their sketches tells most unlike documents apart.
    if criterion.look && one.rules_out(&other.glance()) {
        return None;
    }
    let look = one.compare(&other);
    (look.is_duplicate_document() || !criterion.look).then_some(Edge {
        a,
        b,
        distance,
        resemblance: look.resemblance,
        same: false,
    })
}

/// All edges within one block.
fn within(runs: &Runs<'_>, criterion: NearCriterion, effort: Effort, sink: &dyn Sink, done: &(dyn Fn(f64) + Sync)) {
    let mut pairs = RunPairs { a: runs, b: runs, second: Side::First, criterion, found: FoundEdges::new(sink) };
    for edge in runs.copies() {
        pairs.found.push(edge);
    }
    for heads in runs.repeated() {
        let rows = heads.iter().copied();
        let left_out = crowd::pairs_within(runs.signatures(), rows.clone(), |x, y| pairs.compare(x, y, 0));
        pairs.found.uncompared_within(left_out, rows.skip(crowd::MOST));
    }
    drop(pairs);
    let make = || RunPairs { a: runs, b: runs, second: Side::First, criterion, found: FoundEdges::new(sink) };
    pairs::join(Sides::One(runs.values()), criterion.distance, effort.threads, &make, done);
}

/// All edges between two blocks.
fn between(
    a: &Runs<'_>,
    b: &Runs<'_>,
    second: Side,
    (criterion, effort): (NearCriterion, Effort),
    sink: &dyn Sink,
    done: &(dyn Fn(f64) + Sync),
) {
    let make = || RunPairs { a, b, second, criterion, found: FoundEdges::new(sink) };
    pairs::join(Sides::Two(a.values(), b.values()), criterion.distance, effort.threads, &make, done);
}

/// Compares the rows of near fingerprints.
struct RunPairs<'a> {
    a: &'a Runs<'a>,
    b: &'a Runs<'a>,
    /// The file that has the rows of `b`.
    second: Side,
    criterion: NearCriterion,
    found: FoundEdges<'a>,
}

impl RunPairs<'_> {
    /// Compares two rows, unless they belong together already.
    fn compare(&mut self, x: u64, y: u64, distance: u32) {
        if !self.found.is_joined((Side::First, x), (self.second, y))
            && let Some(edge) = judge(self.criterion, (x, self.a.sketch(x)), (y, self.b.sketch(y)), distance)
        {
            self.found.push(edge);
        }
    }
}

impl Visitor for RunPairs<'_> {
    fn pair(&mut self, i: u32, j: u32) {
        let (a, b) = (self.a, self.b);
        // Within one block, the lower row comes first.
        let (i, j) = if std::ptr::eq(a, b) { (i.min(j), i.max(j)) } else { (i, j) };
        let distance = (a.values()[i as usize] ^ b.values()[j as usize]).count_ones();
        let left_out = a.each_pair(i, b, j, |x, y| self.compare(x, y, distance));
        if left_out > 0 {
            let (rows, others) = (a.heads(i).skip(crowd::MOST), b.heads(j).skip(crowd::MOST));
            self.found.uncompared_between(left_out, (Side::First, rows), (self.second, others));
        }
    }

    fn has_groups(&self) -> bool {
        self.found.has_groups()
    }

    /// The group of a fingerprint: that of all signatures that have it.
    fn group(&self, side: Side, position: u32) -> Option<u64> {
        let (runs, side) = match side {
            Side::First => (self.a, Side::First),
            Side::Second => (self.b, self.second),
        };
        self.found.group_of_all(side, runs.heads(position))
    }
}

/// Links documents without a fingerprint to the first one with equal bytes.
fn equal_bytes(signatures: &Signatures, sink: &dyn Sink) {
    let (judged, digests) = (signatures.fingerprints().len(), signatures.digests());
    let mut found = FoundEdges::new(sink);
    let mut first = judged;
    for row in judged + 1..digests.len() {
        if digests[row] == digests[first] {
            found.push(copy(first as u64, row as u64));
        } else {
            first = row;
        }
    }
}

/// Links documents without a fingerprint between two files: the first document with some bytes in each file.
fn equal_bytes_between(a: &Signatures, b: &Signatures, sink: &dyn Sink) {
    let tail = |signatures: &Signatures| signatures.fingerprints().len()..signatures.digests().len();
    let mut found = FoundEdges::new(sink);
    let (mut of_b, digests) = (tail(b), b.digests());
    let mut last = None;
    for row in tail(a) {
        let digest = &a.digests()[row];
        if last.replace(digest) == Some(digest) {
            continue;
        }
        while of_b.start < of_b.end && digests[of_b.start] < *digest {
            of_b.start += 1;
        }
        if of_b.start < of_b.end && digests[of_b.start] == *digest {
            found.push(copy(row as u64, of_b.start as u64));
        }
    }
}

fn copy(a: u64, b: u64) -> Edge {
    Edge { a, b, distance: 0, resemblance: 1.0, same: true }
}

/// All edges at once, sorted by rows. They must fit into memory.
pub fn collect(
    a: &Signatures,
    b: Option<&Signatures>,
    criterion: NearCriterion,
    effort: Effort,
    done: &(dyn Fn(f64) + Sync),
) -> Vec<Edge> {
    let all = Collected::default();
    join(a, b, criterion, effort, &all, done);
    all.into_edges().0
}

/// A writer of edges for several threads, which can fail. The first error is kept, and edges that come later are
/// dropped.
#[derive(Debug)]
pub struct SharedWriter<W> {
    inner: Mutex<(W, Option<super::Error>)>,
    failed: AtomicBool,
}

impl<W> SharedWriter<W> {
    /// Wraps a writer.
    pub fn new(writer: W) -> Self {
        Self { inner: Mutex::new((writer, None)), failed: AtomicBool::new(false) }
    }

    /// Writes the edges, unless writing failed before. Empties the vector.
    pub fn write(&self, edges: &mut Vec<Edge>, write: impl Fn(&mut W, &Edge) -> Result<(), super::Error>) {
        if !self.failed.load(Ordering::Relaxed) {
            let (writer, failure) = &mut *self.inner.lock().expect("no thread panicked");
            if let Err(error) = edges.iter().try_for_each(|edge| write(writer, edge)) {
                self.failed.store(true, Ordering::Relaxed);
                failure.get_or_insert(error);
            }
        }
        edges.clear();
    }

    /// The writer, or the first error.
    pub fn into_inner(self) -> Result<W, super::Error> {
        let (writer, failure) = self.inner.into_inner().expect("no thread panicked");
        failure.map_or(Ok(writer), Err)
    }
}
