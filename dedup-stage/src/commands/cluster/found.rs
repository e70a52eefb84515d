//! The edges that `cluster` finds itself: between all signature files, as edges between nodes.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::commands::progress::Progress;
use crate::corpus::Signatures;
use crate::corpus::join::{Edge, Effort, NearCriterion, Nodes, Sink, join};

/// Finds all edges within the files and between each two of them. Calls `visit` with each edge, which is between nodes.
/// Returns the most pairs that were not compared ([`Sink::uncompared`]).
pub fn find(
    files: &[Signatures],
    nodes: &Nodes,
    (criterion, effort): (NearCriterion, Effort),
    visit: &mut (dyn FnMut(Edge) + Send),
) -> u64 {
    let (starts, visit, uncompared) = (nodes.starts(), Mutex::new(visit), AtomicU64::new(0));
    let of_all = 2.0 / (files.len() * (files.len() + 1)) as f64;
    let progress = Progress::new("pairs", nodes.len() as usize, "documents");
    for (i, a) in files.iter().enumerate() {
        for (j, b) in files.iter().enumerate().skip(i) {
            let sink = Visiting { starts: (starts[i], starts[j]), visit: &visit, uncompared: &uncompared };
            join(a, (i != j).then_some(b), criterion, effort, &sink, &|share| progress.add(share * of_all));
        }
    }
    uncompared.into_inner()
}

/// Visits the edges of one join.
struct Visiting<'a, 'v> {
    /// The first nodes of the two files.
    starts: (u64, u64),
    visit: &'a Mutex<&'v mut (dyn FnMut(Edge) + Send)>,
    uncompared: &'a AtomicU64,
}

impl Sink for Visiting<'_, '_> {
    fn take(&self, edges: &mut Vec<Edge>) {
        let mut visit = self.visit.lock().expect("no thread panicked");
        for edge in edges.drain(..) {
            visit(Edge { a: edge.a + self.starts.0, b: edge.b + self.starts.1, ..edge });
        }
    }

    fn uncompared(&self, pairs: u64) {
        self.uncompared.fetch_add(pairs, Ordering::Relaxed);
    }
}
