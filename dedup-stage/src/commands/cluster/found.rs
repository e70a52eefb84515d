//! The edges that `cluster` finds itself: between all signature files, as edges between nodes.

use crate::commands::progress::Progress;
use crate::corpus::Signatures;
use crate::corpus::join::{Edge, Effort, NearCriterion, Nodes, Side, Sink, join};

/// Finds all edges within the files and between each two of them. `sink` gets edges between nodes.
pub fn find(files: &[Signatures], nodes: &Nodes, (criterion, effort): (NearCriterion, Effort), sink: &dyn Sink) {
    let starts = nodes.starts();
    let of_all = 2.0 / (files.len() * (files.len() + 1)) as f64;
    let progress = Progress::new("pairs", nodes.len() as usize, "documents");
    for (i, a) in files.iter().enumerate() {
        for (j, b) in files.iter().enumerate().skip(i) {
            let sink = OfNodes { starts: (starts[i], starts[j]), sink };
            join(a, (i != j).then_some(b), criterion, effort, &sink, &|share| progress.add(share * of_all));
        }
    }
}

/// Hands over what a join of two files finds, with nodes instead of rows.
struct OfNodes<'a> {
    /// The first nodes of the two files.
    starts: (u64, u64),
    sink: &'a dyn Sink,
}

impl Sink for OfNodes<'_> {
    fn take(&self, edges: &mut Vec<Edge>) {
        edges.iter_mut().for_each(|edge| (edge.a, edge.b) = (edge.a + self.starts.0, edge.b + self.starts.1));
        self.sink.take(edges);
    }

    fn has_groups(&self) -> bool {
        self.sink.has_groups()
    }

    fn group(&self, side: Side, row: u64) -> Option<u64> {
        let start = match side {
            Side::First => self.starts.0,
            Side::Second => self.starts.1,
        };
        self.sink.group(side, start + row)
    }

    fn uncompared(&self, pairs: u64) {
        self.sink.uncompared(pairs);
    }
}
