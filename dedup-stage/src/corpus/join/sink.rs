//! Where a join puts what it finds.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Edge;
use crate::hamming::pairs::Side;

/// Receives what a join finds. The calls come from several threads.
pub trait Sink: Sync {
    /// Takes the edges that were found so far out of the vector, thousands at a time.
    fn take(&self, edges: &mut Vec<Edge>);

    /// Whether the sink knows which rows belong together already.
    fn has_groups(&self) -> bool {
        false
    }

    /// A number that all rows have which belong together already, if the sink knows what belongs together. No edge
    /// between two rows with the same number is wanted, so the join need not compare them.
    fn group(&self, _side: Side, _row: u64) -> Option<u64> {
        None
    }

    /// Says that up to this many more pairs of signatures are not compared, because too many share a fingerprint or a
    /// piece of their sketches.
    fn uncompared(&self, _pairs: u64) {}
}

/// A sink that holds all edges.
#[derive(Debug, Default)]
pub struct Collected {
    edges: Mutex<Vec<Edge>>,
    uncompared: AtomicU64,
}

impl Collected {
    /// The edges, sorted by rows, and the most pairs that were not compared ([`Sink::uncompared`]).
    pub fn into_edges(self) -> (Vec<Edge>, u64) {
        let mut edges = self.edges.into_inner().expect("no thread panicked");
        edges.sort_unstable_by_key(|edge| (edge.a, edge.b));
        (edges, self.uncompared.into_inner())
    }
}

impl Sink for Collected {
    fn take(&self, edges: &mut Vec<Edge>) {
        self.edges.lock().expect("no thread panicked").append(edges);
    }

    fn uncompared(&self, pairs: u64) {
        self.uncompared.fetch_add(pairs, Ordering::Relaxed);
    }
}

/// The edges that one thread has found and not yet handed over.
pub struct FoundEdges<'a> {
    edges: Vec<Edge>,
    uncompared: u64,
    /// Whether the sink knows what belongs together. It gets each edge at once, so that it knows as much as it can.
    has_groups: bool,
    sink: &'a dyn Sink,
}

impl<'a> FoundEdges<'a> {
    /// The most edges that a thread holds before it hands them over.
    const HELD: usize = 1 << 14;

    /// Finds nothing yet.
    pub fn new(sink: &'a dyn Sink) -> Self {
        Self { edges: Vec::new(), uncompared: 0, has_groups: sink.has_groups(), sink }
    }

    /// Whether rows have groups.
    pub fn has_groups(&self) -> bool {
        self.has_groups
    }

    /// The group of a row ([`Sink::group`]).
    pub fn group(&self, side: Side, row: u64) -> Option<u64> {
        if self.has_groups { self.sink.group(side, row) } else { None }
    }

    /// The group of several rows, if all of them are in the same one.
    pub fn group_of_all(&self, side: Side, mut rows: impl Iterator<Item = u64>) -> Option<u64> {
        let group = self.group(side, rows.next()?)?;
        rows.all(|row| self.group(side, row) == Some(group)).then_some(group)
    }

    /// Whether two rows belong together already.
    pub fn is_joined(&self, (a, of_a): (Side, u64), (b, of_b): (Side, u64)) -> bool {
        self.has_groups && self.group(a, of_a) == self.group(b, of_b)
    }

    /// Adds an edge.
    pub fn push(&mut self, edge: Edge) {
        self.edges.push(edge);
        if self.has_groups || self.edges.len() >= Self::HELD {
            self.sink.take(&mut self.edges);
        }
    }

    /// Counts pairs in a crowd that are not compared: at most `pairs`, and none within a group.
    pub fn uncompared_within(&mut self, pairs: u64, rows: impl Iterator<Item = u64>) {
        if pairs > 0 && self.has_groups {
            let sizes = self.sizes(Side::First, rows);
            let within: u64 = sizes.values().map(|n| n * n).sum();
            let all: u64 = sizes.values().sum();
            self.uncompared += pairs.min((all * all - within) / 2);
        } else {
            self.uncompared += pairs;
        }
    }

    /// Counts pairs between two crowds that are not compared: at most `pairs`, and none within a group.
    pub fn uncompared_between(
        &mut self,
        pairs: u64,
        (a, rows): (Side, impl Iterator<Item = u64>),
        (b, others): (Side, impl Iterator<Item = u64>),
    ) {
        if pairs > 0 && self.has_groups {
            let (ones, others) = (self.sizes(a, rows), self.sizes(b, others));
            let within: u64 = ones.iter().map(|(group, n)| n * others.get(group).unwrap_or(&0)).sum();
            let all = ones.values().sum::<u64>() * others.values().sum::<u64>();
            self.uncompared += pairs.min(all - within);
        } else {
            self.uncompared += pairs;
        }
    }

    /// The number of rows in each group.
    fn sizes(&self, side: Side, rows: impl Iterator<Item = u64>) -> HashMap<Option<u64>, u64> {
        let mut sizes = HashMap::new();
        rows.for_each(|row| *sizes.entry(self.group(side, row)).or_default() += 1);
        sizes
    }
}

impl Drop for FoundEdges<'_> {
    fn drop(&mut self) {
        if !self.edges.is_empty() {
            self.sink.take(&mut self.edges);
        }
        if self.uncompared > 0 {
            self.sink.uncompared(self.uncompared);
        }
    }
}
