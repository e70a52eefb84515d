//! Groups without chains: each member of a group is near all other members.

use std::collections::HashMap;

use super::Forest;
use crate::corpus::join::Edge;

/// Makes groups in which every two documents are near. In the order given by `position`, each document joins the
/// earliest group all of whose members are near it. Documents with the same signature count as one.
///
/// # Complexity
///
/// All edges are held, 16 bytes each, and sorted.
pub fn complete<P: Ord>(nodes: u64, edges: &[Edge], position: impl Fn(u64) -> P) -> Forest {
    let mut same = Forest::new(nodes);
    edges.iter().filter(|edge| edge.same).for_each(|edge| same.join(edge.a, edge.b));
    // The earliest of the documents with the same signature stands for all of them. The root does not: it is the one
    // with the least number.
    let mut standing: HashMap<u64, u64> = HashMap::new();
    for node in edges.iter().flat_map(|edge| [edge.a, edge.b]) {
        let held = standing.entry(same.root(node)).or_insert(node);
        if position(node) < position(*held) {
            *held = node;
        }
    }
    // Pairs of a document and an earlier document that is near it.
    let mut earlier: Vec<(u64, u64)> = Vec::new();
    for edge in edges.iter().filter(|edge| !edge.same) {
        let (a, b) = (standing[&same.root(edge.a)], standing[&same.root(edge.b)]);
        if a != b {
            earlier.push(if position(a) < position(b) { (b, a) } else { (a, b) });
        }
    }
    earlier.sort_unstable_by(|x, y| position(x.0).cmp(&position(y.0)).then(x.cmp(y)));
    earlier.dedup();
    // The group of each document that is near another one, and the members of each group.
    let mut group_of: HashMap<u64, usize> = HashMap::new();
    let mut groups: Vec<Vec<u64>> = Vec::new();
    let found = |node: u64, groups: &mut Vec<Vec<u64>>, group_of: &mut HashMap<u64, usize>| {
        *group_of.entry(node).or_insert_with(|| {
            groups.push(vec![node]);
            groups.len() - 1
        })
    };
    for run in earlier.chunk_by(|x, y| x.0 == y.0) {
        let node = run[0].0;
        // A document without earlier neighbours has no run of its own. `found` makes its group when a later document
        // asks for it.
        let mut near: Vec<(P, usize)> = Vec::new();
        for (_, other) in run {
            let group = found(*other, &mut groups, &mut group_of);
            near.push((position(groups[group][0]), group));
        }
        near.sort_unstable();
        let fits = near.chunk_by(|x, y| x.1 == y.1).find(|run| run.len() == groups[run[0].1].len());
        match fits {
            Some(run) => {
                let group = run[0].1;
                groups[group].push(node);
                group_of.insert(node, group);
            }
            None => {
                found(node, &mut groups, &mut group_of);
            }
        }
    }
    for group in &groups {
        group[1..].iter().for_each(|node| same.join(group[0], *node));
    }
    same
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(a: u64, b: u64, same: bool) -> Edge {
        Edge { a, b, distance: 0, resemblance: 1.0, same }
    }

    #[test]
    fn a_chain_is_parted_and_copies_are_not() {
        // 0 - 1 - 2 - 3 is a chain. 4 is a copy of 1. 6 is a copy of 5, and near nothing else.
        let edges = [edge(0, 1, false), edge(1, 2, false), edge(2, 3, false), edge(1, 4, true), edge(5, 6, true)];
        let mut groups = complete(8, &edges, |node| node);
        let roots: Vec<u64> = (0..8).map(|node| groups.root(node)).collect();
        assert_eq!(roots, [0, 0, 2, 2, 0, 5, 5, 7]);
        // In another order of the documents, other pairs come first.
        let mut groups = complete(8, &edges, |node| [9, 1, 0, 8, 7, 6, 5, 4][node as usize]);
        let roots: Vec<u64> = (0..8).map(|node| groups.root(node)).collect();
        assert_eq!(roots, [0, 1, 1, 3, 1, 5, 5, 7]);
    }

    #[test]
    fn in_every_group_all_are_near_and_no_two_groups_could_be_one() {
        let random = |i: u64| xxhash_rust::xxh3::xxh3_64(&i.to_le_bytes());
        for seed in 0..30 {
            let pairs: Vec<(u64, u64)> =
                (0..300).map(|i| (random(seed << 32 | i) % 60, random(seed << 33 | i) % 60)).collect();
            let pairs: Vec<(u64, u64)> = pairs.into_iter().filter(|(a, b)| a != b).collect();
            let edges: Vec<Edge> = pairs.iter().map(|(a, b)| edge(*a, *b, false)).collect();
            let mut groups = complete(60, &edges, |node| node);
            let near = |a: u64, b: u64| a == b || pairs.contains(&(a, b)) || pairs.contains(&(b, a));
            let of: Vec<Vec<u64>> =
                (0..60).map(|root| (0..60).filter(|node| groups.root(*node) == root).collect()).collect();
            for (i, group) in of.iter().enumerate() {
                assert!(group.iter().all(|a| group.iter().all(|b| near(*a, *b))));
                // The first member of a later group does not fit into the earlier group.
                for later in of[i + 1..].iter().filter(|later| !later.is_empty() && !group.is_empty()) {
                    let members: Vec<&u64> = group.iter().filter(|member| **member < later[0]).collect();
                    assert!(members.iter().any(|member| !near(**member, later[0])));
                }
            }
        }
    }
}
