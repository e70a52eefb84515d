//! Groups fingerprints that are near each other.

use std::collections::HashMap;

use super::pairs::Near;

/// The rule for the members of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Each member is within the distance of at least one other member (connected components). Chains can be long.
    Single,
    /// Each member is within the distance of all others. Rows are taken in order: each joins the earliest group whose
    /// members are all near it.
    Complete,
}

/// A group of at least two rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Its rows, ascending.
    pub rows: Vec<u64>,
    /// The largest distance between two of them.
    pub diameter: u32,
}

/// Returns the groups, in the order of their first rows. The result does not depend on the order in which `near` was
/// found.
///
/// # Complexity
///
/// Almost linear in the number of pairs. To find the diameter, quadratic in the distinct fingerprints of a group.
pub fn clusters(fingerprints: &[u64], near: &Near, link: Link) -> Vec<Cluster> {
    let mut values: HashMap<u64, usize> = HashMap::new();
    let mut members: Vec<(u64, Vec<u64>)> = Vec::new();
    let interesting = near.pairs.iter().flat_map(|(a, b)| [*a, *b]).chain(near.repeated.iter().copied());
    for value in interesting {
        values.insert(value, usize::MAX);
    }
    for (row, fingerprint) in (0..).zip(fingerprints) {
        if let Some(member) = values.get_mut(fingerprint) {
            if *member == usize::MAX {
                *member = members.len();
                members.push((*fingerprint, Vec::new()));
            }
            members[*member].1.push(row);
        }
    }
    // Members are numbered in the order of their first rows.
    let edges = near.pairs.iter().map(|(a, b)| (values[a], values[b]));
    let groups = match link {
        Link::Single => connected(members.len(), edges),
        Link::Complete => complete(members.len(), edges),
    };
    let mut clusters: Vec<Cluster> = groups
        .into_iter()
        .map(|group| {
            let mut rows: Vec<u64> = group.iter().flat_map(|member| members[*member].1.iter().copied()).collect();
            rows.sort_unstable();
            let values: Vec<u64> = group.iter().map(|member| members[*member].0).collect();
            Cluster { rows, diameter: diameter(&values) }
        })
        .filter(|cluster| cluster.rows.len() > 1)
        .collect();
    clusters.sort_unstable_by_key(|cluster| cluster.rows[0]);
    clusters
}

/// Connected components, by union-find with path halving (Tarjan, van Leeuwen 1984).
fn connected(n: usize, edges: impl Iterator<Item = (usize, usize)>) -> Vec<Vec<usize>> {
    let mut parent: Vec<usize> = (0..n).collect();
    let root = |parent: &mut Vec<usize>, mut i: usize| {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    };
    for (a, b) in edges {
        let (a, b) = (root(&mut parent, a), root(&mut parent, b));
        parent[a.max(b)] = a.min(b);
    }
    let mut groups = vec![Vec::new(); n];
    for i in 0..n {
        let root = root(&mut parent, i);
        groups[root].push(i);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// Groups whose members are all near each other, filled greedily.
fn complete(n: usize, edges: impl Iterator<Item = (usize, usize)>) -> Vec<Vec<usize>> {
    let mut earlier = vec![Vec::new(); n];
    for (a, b) in edges {
        earlier[a.max(b)].push(a.min(b));
    }
    let mut group_of: Vec<usize> = Vec::with_capacity(n);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (i, earlier) in earlier.iter().enumerate() {
        let mut near: Vec<usize> = earlier.iter().map(|e| group_of[*e]).collect();
        near.sort_unstable();
        // Find a group whose members are all near.
        let fits = near.chunk_by(|a, b| a == b).find(|run| run.len() == groups[run[0]].len()).map(|run| run[0]);
        let group = fits.unwrap_or_else(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(i);
        group_of.push(group);
    }
    groups
}

fn diameter(values: &[u64]) -> u32 {
    let farthest = |(i, a): (usize, &u64)| values[..i].iter().map(|b| (a ^ b).count_ones()).max().unwrap_or(0);
    values.iter().enumerate().map(farthest).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hamming::pairs;

    fn of(fingerprints: &[u64], k: u32, link: Link) -> Vec<Cluster> {
        clusters(fingerprints, &pairs::near(fingerprints, k, 1, &|_| {}), link)
    }

    #[test]
    fn a_chain_is_one_component_but_not_one_clique() {
        // 0 - 3 - 15 - 63: neighbours differ in 2 bits.
        let chain = [0, u64::MAX, 0b11, 0b1111, 0b11_1111, 0];
        assert_eq!(of(&chain, 2, Link::Single), [Cluster { rows: vec![0, 2, 3, 4, 5], diameter: 6 }]);
        let complete = [Cluster { rows: vec![0, 2, 5], diameter: 2 }, Cluster { rows: vec![3, 4], diameter: 2 }];
        assert_eq!(of(&chain, 2, Link::Complete), complete);
    }

    #[test]
    fn nothing_near_is_no_group() {
        assert_eq!(of(&[0, u64::MAX, 0xffff], 3, Link::Single), []);
        assert_eq!(of(&[], 3, Link::Complete), []);
    }

    #[test]
    fn groups_are_what_they_say() {
        let random = |i: u64| xxhash_rust::xxh3::xxh3_64(&i.to_le_bytes());
        let fingerprints: Vec<u64> =
            (0..600).map(|i| random(i % 40) ^ (random(i) & random(i + 1000) & random(i + 2000) & 0xffff)).collect();
        let near = |a: u64, b: u64| (fingerprints[a as usize] ^ fingerprints[b as usize]).count_ones() <= 3;
        let complete = of(&fingerprints, 3, Link::Complete);
        for cluster in &complete {
            assert!(cluster.rows.iter().all(|a| cluster.rows.iter().all(|b| near(*a, *b))));
            assert!(cluster.diameter <= 3);
        }
        // No two components are near, and each row is in one.
        let single = of(&fingerprints, 3, Link::Single);
        let component = |row: u64| single.iter().position(|cluster| cluster.rows.contains(&row));
        for a in 0..600 {
            for b in (0..600).filter(|b| *b != a && near(a, *b)) {
                assert!(component(a).is_some() && component(a) == component(b));
            }
        }
    }
}
