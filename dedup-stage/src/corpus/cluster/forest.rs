//! Connected components of edges that come in a stream.

/// The connected components of a graph, by union-find.
///
/// Edges are added one by one and not kept, so they need not fit into memory. Each machine can make the forest of a
/// part of the edges. Forests are merged by adding the [`Forest::edges`] of one, at most one for each node, to the
/// other.
///
/// # Complexity
///
/// 8 bytes of memory for each node; almost constant time for each edge.
///
/// # References
///
/// Tarjan, van Leeuwen, "Worst-case Analysis of Set Union Algorithms" (JACM 1984): path halving, linking by index.
#[derive(Clone, Debug)]
pub struct Forest(pub(super) Vec<u64>);

impl Forest {
    /// A forest of this many nodes without edges.
    pub fn new(nodes: u64) -> Self {
        Self((0..nodes).collect())
    }

    /// Number of nodes.
    pub fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The least node of the component of a node.
    pub fn root(&mut self, node: u64) -> u64 {
        let parents = &mut self.0;
        let mut node = node as usize;
        while parents[node] != node as u64 {
            parents[node] = parents[parents[node] as usize];
            node = parents[node] as usize;
        }
        node as u64
    }

    /// Adds an edge: the components of the two nodes become one.
    pub fn join(&mut self, a: u64, b: u64) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }

    /// Edges that make the same components: one from each node to the least node of its component.
    pub fn edges(&mut self) -> impl Iterator<Item = (u64, u64)> + '_ {
        (0..self.len()).filter_map(|node| {
            let root = self.root(node);
            (root != node).then_some((root, node))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The least node of the component of each node, found by spreading it along edges until nothing changes.
    fn naive(nodes: u64, edges: &[(u64, u64)]) -> Vec<u64> {
        let mut least: Vec<u64> = (0..nodes).collect();
        loop {
            let before = least.clone();
            for &(a, b) in edges {
                let both = least[a as usize].min(least[b as usize]);
                (least[a as usize], least[b as usize]) = (both, both);
            }
            if least == before {
                return least;
            }
        }
    }

    proptest! {
        #[test]
        fn components_do_not_depend_on_order_or_on_where_they_were_found(
            edges in prop::collection::vec((0u64..60, 0u64..60), 0..80), split in 0usize..80, turned: bool,
        ) {
            let mut whole = Forest::new(60);
            edges.iter().for_each(|(a, b)| whole.join(*a, *b));
            let roots = |forest: &mut Forest| (0..60).map(|node| forest.root(node)).collect::<Vec<_>>();
            prop_assert_eq!(roots(&mut whole), naive(60, &edges));
            let (some, others) = edges.split_at(split.min(edges.len()));
            let mut parts = [Forest::new(60), Forest::new(60)];
            some.iter().for_each(|(a, b)| parts[0].join(*b, *a));
            others.iter().rev().for_each(|(a, b)| parts[1].join(*a, *b));
            let mut merged = Forest::new(60);
            if turned {
                parts.swap(0, 1);
            }
            for part in &mut parts {
                part.edges().for_each(|(a, b)| merged.join(a, b));
            }
            prop_assert_eq!(roots(&mut merged), roots(&mut whole));
        }
    }
}
