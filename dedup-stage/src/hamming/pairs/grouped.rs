//! Large buckets of which many fingerprints are in one group already, or will be. No pair within a group is wanted. So
//! the bucket is sorted by group and compared chunk by chunk, and two chunks of one group are passed over.

use std::ops::Range;

use super::comparison::Comparison;
use super::sides::{Listing, Side, Visitor};
use crate::hamming::kernel::Kernel;

/// From this size on, a bucket is sorted by group.
pub const LARGE: usize = 512;

/// The number of fingerprints in a chunk.
const CHUNK: usize = 256;

/// Fingerprints sorted by group.
struct Sorted {
    values: Vec<u64>,
    positions: Vec<u32>,
    /// For each chunk, whether all of it was in one group when it was sorted.
    is_one_group: Vec<bool>,
}

impl Sorted {
    /// Sorts fingerprints of one set by the groups that they have now.
    fn by_group(all: Listing<'_>, side: Side, visitor: &impl Visitor) -> Self {
        let entry = |(&value, &position)| (visitor.group(side, position), position, value);
        let mut all: Vec<(Option<u64>, u32, u64)> = all.values.iter().zip(all.positions).map(entry).collect();
        all.sort_unstable();
        let is_one = |chunk: &[(Option<u64>, u32, u64)]| chunk[0].0.is_some() && chunk[0].0 == chunk[chunk.len() - 1].0;
        Self {
            is_one_group: all.chunks(CHUNK).map(is_one).collect(),
            values: all.iter().map(|(_, _, value)| *value).collect(),
            positions: all.iter().map(|(_, position, _)| *position).collect(),
        }
    }

    fn all(&self) -> Listing<'_> {
        Listing { values: &self.values, positions: &self.positions }
    }

    /// The places of the chunk with this number.
    fn chunk(&self, n: usize) -> Range<usize> {
        n * CHUNK..self.values.len().min((n + 1) * CHUNK)
    }

    fn chunks(&self) -> usize {
        self.is_one_group.len()
    }
}

/// Compares the fingerprints of a bucket with each other.
///
/// What a few chunks join is sorted anew before twice as many chunks follow.
#[inline(always)]
pub fn within<K: Kernel>(bucket: Listing<'_>, visitor: &mut impl Visitor, comparison: Comparison<'_, K>) {
    let mut rest = Sorted::by_group(bucket, Side::First, visitor);
    let mut turn = 1;
    while rest.chunks() > 0 {
        let turns = turn.min(rest.chunks());
        for n in 0..turns {
            for other in n..rest.chunks() {
                chunks((&rest, n), (&rest, other), Side::First, visitor, comparison);
            }
        }
        let after = rest.all().from(rest.chunk(turns - 1).end);
        rest = Sorted::by_group(after, Side::First, visitor);
        turn *= 2;
    }
}

/// Compares the fingerprints of two buckets. `side` is the set of the second one.
#[inline(always)]
pub fn between<K: Kernel>(
    ones: Listing<'_>,
    others: Listing<'_>,
    side: Side,
    visitor: &mut impl Visitor,
    comparison: Comparison<'_, K>,
) {
    let mut rest = Sorted::by_group(ones, Side::First, visitor);
    let mut turn = 1;
    while rest.chunks() > 0 {
        let others = Sorted::by_group(others, side, visitor);
        let turns = turn.min(rest.chunks());
        for n in 0..turns {
            for other in 0..others.chunks() {
                chunks((&rest, n), (&others, other), side, visitor, comparison);
            }
        }
        let after = rest.all().from(rest.chunk(turns - 1).end);
        rest = Sorted::by_group(after, Side::First, visitor);
        turn *= 2;
    }
}

/// Compares two chunks, or a chunk with itself. As soon as each is in the same group, the rest is passed over.
#[inline(always)]
fn chunks<K: Kernel>(
    (a, n): (&Sorted, usize),
    (b, other): (&Sorted, usize),
    side: Side,
    visitor: &mut impl Visitor,
    comparison: Comparison<'_, K>,
) {
    let (rows, others) = (a.chunk(n), b.chunk(other));
    let itself = std::ptr::eq(a, b) && n == other;
    for i in rows {
        let (value, position) = (a.values[i], a.positions[i]);
        if b.is_one_group[other] {
            let group = visitor.group(side, b.positions[others.start]);
            if group.is_some() && group == visitor.group(Side::First, position) {
                if a.is_one_group[n] {
                    return;
                }
                continue;
            }
        }
        let from = if itself { i + 1 } else { others.start };
        comparison.run(value, position, b.all().range(from..others.end), visitor);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::super::flips::join;
    use super::super::sides::Sides;
    use super::*;
    use crate::corpus::cluster::Forest;

    /// Joins what it visits, and counts the visits. The nodes of the second set follow those of the first.
    struct Joining<'a> {
        groups: &'a Mutex<(Forest, u64)>,
        second: u64,
    }

    impl Visitor for Joining<'_> {
        fn pair(&mut self, i: u32, j: u32) {
            let (forest, visits) = &mut *self.groups.lock().unwrap();
            *visits += 1;
            forest.join(i.into(), self.second + u64::from(j));
        }

        fn has_groups(&self) -> bool {
            true
        }

        fn group(&self, side: Side, position: u32) -> Option<u64> {
            let start = if side == Side::First { 0 } else { self.second };
            Some(self.groups.lock().unwrap().0.root(start + u64::from(position)))
        }
    }

    /// The components of all pairs within `k`, and the number of visits.
    fn joined(sides: Sides<'_>, k: u32) -> (Vec<u64>, u64) {
        let (nodes, second) = match sides {
            Sides::One(one) => (one.len(), 0),
            Sides::Two(one, other) => (one.len() + other.len(), one.len()),
        };
        let groups = Mutex::new((Forest::new(nodes as u64), 0));
        join(sides, k, 2, &|| Joining { groups: &groups, second: second as u64 }, &|_| {});
        let (mut forest, visits) = groups.into_inner().unwrap();
        ((0..nodes as u64).map(|node| forest.root(node)).collect(), visits)
    }

    fn naive(sides: Sides<'_>, k: u32) -> Vec<u64> {
        let (all, first) = match sides {
            Sides::One(one) => (one.to_vec(), one.len()),
            Sides::Two(one, other) => ([one, other].concat(), one.len()),
        };
        let mut forest = Forest::new(all.len() as u64);
        let one = matches!(sides, Sides::One(_));
        for i in 0..first {
            for j in if one { i + 1..all.len() } else { first..all.len() } {
                if (all[i] ^ all[j]).count_ones() <= k {
                    forest.join(i as u64, j as u64);
                }
            }
        }
        (0..all.len() as u64).map(|node| forest.root(node)).collect()
    }

    /// `n` fingerprints around a few centres that lie near each other.
    fn around(n: usize, centres: u64, spread: usize, seed: u64) -> Vec<u64> {
        let mut random = fastrand::Rng::with_seed(seed);
        let centre: Vec<u64> = (0..centres).map(|i| (0..2 * i).fold(0, |f, _| f ^ 1 << random.u32(..64))).collect();
        let mut near = |of: u64| (0..random.usize(..=spread)).fold(of, |f, _| f ^ 1 << random.u32(..64));
        (0..n).map(|i| near(centre[i % centre.len()])).collect()
    }

    #[test]
    fn groups_are_those_of_all_pairs() {
        for seed in 0..6 {
            for (centres, spread, k) in [(1, 3, 4), (5, 3, 3), (9, 5, 2), (40, 9, 3), (3, 1, 0)] {
                let (one, other) = (around(2_500, centres, spread, seed), around(1_300, centres, spread, seed));
                for sides in [Sides::One(&one), Sides::Two(&one, &other)] {
                    assert_eq!(joined(sides, k).0, naive(sides, k), "{centres} centres, spread {spread}, k = {k}");
                }
            }
        }
    }

    /// Would fail if the pairs of a large group were listed.
    #[test]
    fn the_pairs_of_a_large_group_are_not_listed() {
        for n in [10_000, 20_000] {
            let all = around(n, 1, 2, 7);
            let (one, other) = all.split_at(n / 2);
            for sides in [Sides::One(&all), Sides::Two(one, other)] {
                let (roots, visits) = joined(sides, 4);
                assert!(roots.iter().all(|root| *root == 0));
                assert!(visits < n as u64 * 2 * CHUNK as u64, "{visits} visits for {n} fingerprints");
            }
        }
    }
}
