//! All near-duplicates within one signature file, or between two: candidates by fingerprint, then the second look.

mod copies;
mod edges;
mod runs;

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::file::Signatures;
use crate::hamming::pairs::{self, Sides};
use crate::signature::Sketch;
use runs::Runs;

pub use copies::with_copies;
pub use edges::{EdgeFile, EdgeWriter, Nodes};

/// Two documents that say the same, by their rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// Row in the first file.
    pub a: u64,
    /// Row in the second file; where there is one file, in that.
    pub b: u64,
    /// Hamming distance of the fingerprints.
    pub distance: u32,
    /// Estimated resemblance of the texts, 0..1.
    pub resemblance: f32,
    /// Whether the two have one signature: then each is near whatever the other is near.
    pub same: bool,
}

/// What makes two documents near-duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearCriterion {
    /// Hamming distance within which candidates are looked for.
    pub distance: u32,
    /// Whether a candidate must also pass the second look ([`Sketch::compare`]), as a page in the crawl must.
    pub look: bool,
}

/// How much is done at once.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Threads.
    pub threads: usize,
    /// Fingerprints of each side that are held in memory at a time: of each, 24 bytes.
    pub block: usize,
}

impl Effort {
    /// Fingerprints held at a time unless told otherwise: 3 GiB for one side.
    pub const BLOCK: usize = 1 << 27;
}

/// Hands over the edges found so far, and leaves none; on several threads.
pub type Take<'a> = &'a (dyn Fn(&mut Vec<Edge>) + Sync);

/// Finds all edges within `a`, or between `a` and `b`, and hands them to `take` by the thousand, in no order.
///
/// Documents with one signature are linked to the first of them only, and only that one to others; documents without a
/// fingerprint are linked where their bytes are equal. Of a fingerprint that more than `runs::MOST` signatures share,
/// the others are compared with the first so many, as in the crawl. `done` is told the share of the work that was done
/// since it was told last.
///
/// # Complexity
///
/// That of [`pairs::join`] for each pair of blocks, and for each candidate the reading of two sketches.
///
/// # References
///
/// Manku, Jain, Das Sarma (WWW 2007), sections 3 and 4.
pub fn join(
    a: &Signatures,
    b: Option<&Signatures>,
    criterion: NearCriterion,
    effort: Effort,
    take: Take<'_>,
    done: &(dyn Fn(f64) + Sync),
) {
    a.advise_random();
    b.inspect(|b| b.advise_random());
    match b {
        None => equal_bytes(a, take),
        Some(b) => equal_bytes_between(a, b, take),
    }
    let of_a = blocks(a, effort.block);
    let of_b = b.map(|b| blocks(b, effort.block));
    let tasks: Vec<(usize, usize)> = match &of_b {
        None => (0..of_a.len()).flat_map(|i| (i..of_a.len()).map(move |j| (i, j))).collect(),
        Some(of_b) => (0..of_a.len()).flat_map(|i| (0..of_b.len()).map(move |j| (i, j))).collect(),
    };
    let share = 1.0 / tasks.len().max(1) as f64;
    // The blocks of the last task, in case the next one needs them again.
    let mut first: Option<(usize, Runs<'_>)> = None;
    for (i, j) in tasks {
        if first.as_ref().is_none_or(|(block, _)| *block != i) {
            first = Some((i, Runs::of(a, of_a[i].clone(), criterion.look)));
        }
        let Some((_, runs)) = &first else { continue };
        let done = |part: f64| done(part * share);
        match (&of_b, b) {
            (Some(of_b), Some(b)) => {
                between(runs, &Runs::of(b, of_b[j].clone(), criterion.look), criterion, effort, take, &done)
            }
            _ if i == j => within(runs, criterion, effort, take, &done),
            _ => between(runs, &Runs::of(a, of_a[j].clone(), criterion.look), criterion, effort, take, &done),
        }
    }
}

/// Ranges of rows with a fingerprint, of about so many rows; none parts equal fingerprints.
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

/// Edges held by a thread before they are handed over.
const HELD: usize = 1 << 14;

/// Edges of one thread.
struct Found<'a> {
    edges: Vec<Edge>,
    take: Take<'a>,
}

impl<'a> Found<'a> {
    fn new(take: Take<'a>) -> Self {
        Self { edges: Vec::new(), take }
    }

    fn push(&mut self, edge: Edge) {
        self.edges.push(edge);
        if self.edges.len() >= HELD {
            (self.take)(&mut self.edges);
        }
    }
}

impl Drop for Found<'_> {
    fn drop(&mut self) {
        if !self.edges.is_empty() {
            (self.take)(&mut self.edges);
        }
    }
}

/// What a candidate is, or `None` where it is no near-duplicate.
fn judge(
    criterion: NearCriterion,
    (a, x): (u64, &[u8; Sketch::BYTES]),
    (b, y): (u64, &[u8; Sketch::BYTES]),
    distance: u32,
) -> Option<Edge> {
    if distance == 0 && x == y {
        return Some(Edge { a, b, distance, resemblance: 1.0, same: true });
    }
    let look = Sketch::from_bytes(*x).compare(&Sketch::from_bytes(*y));
    (look.is_duplicate_document() || !criterion.look).then_some(Edge {
        a,
        b,
        distance,
        resemblance: look.resemblance,
        same: false,
    })
}

/// All edges within one block.
fn within(runs: &Runs<'_>, criterion: NearCriterion, effort: Effort, take: Take<'_>, done: &(dyn Fn(f64) + Sync)) {
    let mut found = Found::new(take);
    for edge in runs.copies() {
        found.push(edge);
    }
    for heads in runs.repeated() {
        for (i, &x) in heads.iter().enumerate() {
            for &y in &heads[..i.min(runs::MOST)] {
                judge(criterion, (y, runs.sketch(y)), (x, runs.sketch(x)), 0)
                    .into_iter()
                    .for_each(|edge| found.push(edge));
            }
        }
    }
    drop(found);
    let values = runs.values();
    let make = || {
        let mut found = Found::new(take);
        move |i: u32, j: u32| {
            let (i, j) = (i.min(j), i.max(j));
            let distance = (values[i as usize] ^ values[j as usize]).count_ones();
            runs.each_pair(i, runs, j, |x, y| {
                judge(criterion, (x, runs.sketch(x)), (y, runs.sketch(y)), distance)
                    .into_iter()
                    .for_each(|edge| found.push(edge));
            });
        }
    };
    pairs::join(Sides::One(values), criterion.distance, effort.threads, &make, done);
}

/// All edges between two blocks.
fn between(
    a: &Runs<'_>,
    b: &Runs<'_>,
    criterion: NearCriterion,
    effort: Effort,
    take: Take<'_>,
    done: &(dyn Fn(f64) + Sync),
) {
    let make = || {
        let mut found = Found::new(take);
        move |i: u32, j: u32| {
            let distance = (a.values()[i as usize] ^ b.values()[j as usize]).count_ones();
            a.each_pair(i, b, j, |x, y| {
                judge(criterion, (x, a.sketch(x)), (y, b.sketch(y)), distance)
                    .into_iter()
                    .for_each(|edge| found.push(edge));
            });
        }
    };
    pairs::join(Sides::Two(a.values(), b.values()), criterion.distance, effort.threads, &make, done);
}

/// Links documents without a fingerprint to the first one with equal bytes.
fn equal_bytes(signatures: &Signatures, take: Take<'_>) {
    let (judged, digests) = (signatures.fingerprints().len(), signatures.digests());
    let mut found = Found::new(take);
    let mut first = judged;
    for row in judged + 1..digests.len() {
        if digests[row] == digests[first] {
            found.push(copy(first as u64, row as u64));
        } else {
            first = row;
        }
    }
}

/// The same between two files: firsts only.
fn equal_bytes_between(a: &Signatures, b: &Signatures, take: Take<'_>) {
    let tail = |signatures: &Signatures| signatures.fingerprints().len()..signatures.digests().len();
    let mut found = Found::new(take);
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

/// All edges at once, sorted by rows; for whoever has the memory.
pub fn collect(
    a: &Signatures,
    b: Option<&Signatures>,
    criterion: NearCriterion,
    effort: Effort,
    done: &(dyn Fn(f64) + Sync),
) -> Vec<Edge> {
    let all = Mutex::new(Vec::new());
    join(a, b, criterion, effort, &|edges| all.lock().expect("no thread panicked").append(edges), done);
    let mut all = all.into_inner().expect("no thread panicked");
    all.sort_unstable_by_key(|edge| (edge.a, edge.b));
    all
}

/// Takes edges to where they can fail to be written: the first error is kept, and what follows is dropped.
#[derive(Debug)]
pub struct Failing<W> {
    inner: Mutex<(W, Option<super::Error>)>,
    failed: AtomicBool,
}

impl<W> Failing<W> {
    /// Wraps a writer.
    pub fn new(writer: W) -> Self {
        Self { inner: Mutex::new((writer, None)), failed: AtomicBool::new(false) }
    }

    /// Writes, unless writing failed before.
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

    /// The writer, or what failed.
    pub fn into_inner(self) -> Result<W, super::Error> {
        let (writer, failure) = self.inner.into_inner().expect("no thread panicked");
        failure.map_or(Ok(writer), Err)
    }
}
