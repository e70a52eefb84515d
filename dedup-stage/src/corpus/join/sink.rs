//! Where a join puts what it finds.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Edge;

/// Receives what a join finds. The calls come from several threads.
pub trait Sink: Sync {
    /// Takes the edges that were found so far out of the vector, thousands at a time.
    fn take(&self, edges: &mut Vec<Edge>);

    /// Whether two rows belong together already, so that no edge between them is wanted. Then the join need not compare
    /// them.
    fn is_joined(&self, _a: u64, _b: u64) -> bool {
        false
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
    sink: &'a dyn Sink,
}

impl<'a> FoundEdges<'a> {
    /// The most edges that a thread holds before it hands them over.
    const HELD: usize = 1 << 14;

    /// Finds nothing yet.
    pub fn new(sink: &'a dyn Sink) -> Self {
        Self { edges: Vec::new(), uncompared: 0, sink }
    }

    /// See [`Sink::is_joined`].
    pub fn is_joined(&self, a: u64, b: u64) -> bool {
        self.sink.is_joined(a, b)
    }

    /// Adds an edge.
    pub fn push(&mut self, edge: Edge) {
        self.edges.push(edge);
        if self.edges.len() >= Self::HELD {
            self.sink.take(&mut self.edges);
        }
    }

    /// Counts pairs that are not compared.
    pub fn uncompared(&mut self, pairs: u64) {
        self.uncompared += pairs;
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
