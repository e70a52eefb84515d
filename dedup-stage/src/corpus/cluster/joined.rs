//! Connected components that several threads make while they find edges.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Forest;
use crate::corpus::join::{Edge, Side, Sink};

/// The connected components of the edges that a join finds. The join does not compare what belongs together already, so
/// a large group of documents that are all near each other does not make as many edges as the square of its size.
///
/// # Complexity
///
/// As for a [`Forest`]. No thread waits for another.
///
/// # References
///
/// Anderson, Woll, "Wait-free Parallel Algorithms for the Union-Find Problem" (STOC 1991). Links go by index, as in
/// [`Forest`]: a parent is never greater than its child, so there are no cycles in whatever order threads write.
#[derive(Debug)]
pub struct JoinedForest {
    parents: Vec<AtomicU64>,
    joins: AtomicU64,
    uncompared: AtomicU64,
}

impl JoinedForest {
    /// A forest of this many nodes without edges.
    pub fn new(nodes: u64) -> Self {
        let parents = (0..nodes).map(AtomicU64::new).collect();
        Self { parents, joins: AtomicU64::new(0), uncompared: AtomicU64::new(0) }
    }

    /// The number of edges that joined two components. It does not depend on the order in which edges were found.
    pub fn joins(&self) -> u64 {
        self.joins.load(Ordering::Relaxed)
    }

    /// The most pairs that were not compared ([`Sink::uncompared`]).
    pub fn left_out(&self) -> u64 {
        self.uncompared.load(Ordering::Relaxed)
    }

    /// The components, for one thread.
    pub fn into_forest(self) -> Forest {
        Forest(self.parents.into_iter().map(AtomicU64::into_inner).collect())
    }

    fn parent(&self, node: u64) -> u64 {
        self.parents[node as usize].load(Ordering::Relaxed)
    }

    /// A node of the component that was its root at some time during the call.
    fn root(&self, mut node: u64) -> u64 {
        loop {
            let parent = self.parent(node);
            if parent == node {
                return node;
            }
            let next = self.parent(parent);
            if next != parent {
                // Another thread may have shortened the path more. Any ancestor is right.
                self.parents[node as usize].store(next, Ordering::Relaxed);
            }
            node = next;
        }
    }

    /// Adds an edge. Returns whether it joined two components.
    fn join(&self, a: u64, b: u64) -> bool {
        loop {
            let (a, b) = (self.root(a), self.root(b));
            if a == b {
                return false;
            }
            // This fails if the greater one is no root any more.
            let child = &self.parents[a.max(b) as usize];
            if child.compare_exchange(a.max(b), a.min(b), Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                return true;
            }
        }
    }
}

impl Sink for JoinedForest {
    fn take(&self, edges: &mut Vec<Edge>) {
        let joins = edges.drain(..).filter(|edge| self.join(edge.a, edge.b)).count();
        self.joins.fetch_add(joins as u64, Ordering::Relaxed);
    }

    fn has_groups(&self) -> bool {
        true
    }

    fn group(&self, _side: Side, row: u64) -> Option<u64> {
        Some(self.root(row))
    }

    fn uncompared(&self, pairs: u64) {
        self.uncompared.fetch_add(pairs, Ordering::Relaxed);
    }
}
