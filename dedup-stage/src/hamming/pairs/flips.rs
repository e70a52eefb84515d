//! All pairs within any distance, of one set or between two sets, reported one by one. The fingerprints are sorted into
//! buckets by a few bits. Then each bucket is compared with those buckets whose numbers differ from its own in few
//! bits.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Near;
use super::comparison::Comparison;
use super::grouped;
use super::sides::{Listing, Side, Sides, Visitor};
use crate::hamming::code::for_each_error;
use crate::hamming::design::Design;
use crate::hamming::kernel::Kernel;
use crate::hamming::key::Key;
use crate::hamming::level::{Level, Work};
use crate::hamming::permutation::Permutation;

/// Hands the positions of every pair within `k` to a visitor, in no order. Each pair comes exactly once, unless the
/// visitor has groups: then pairs within a group may be left out, and others may come twice. `make` makes one visitor
/// for each thread. They are returned at the end. `done` is told the share of the work that was done since its last
/// call.
///
/// The sets may have equal values. Many equal values in one set make as many pairs as the square of their number. A
/// caller with such a set joins its distinct values instead.
///
/// # Complexity
///
/// The [`Design`] (its number of flipped blocks) and the number of bits to sort by are chosen for the size of the sets.
/// For each key the fingerprints are sorted once. Then, for each pattern of flips, one pass over both sets compares N²
/// / 2^bits pairs. Large buckets of one group take time in proportion to their size, not to its square. It takes 12 bytes
/// for each fingerprint of both sets, and 4 bytes for each bucket. A set has at most 2^32 - 1 fingerprints.
///
/// # References
///
/// Norouzi, Punjani, Fleet, "Fast Exact Search in Hamming Space with Multi-Index Hashing" (TPAMI 2014), section 3, for
/// the radii of the blocks. Here they are used for a join.
pub fn join<V: Visitor>(
    sides: Sides<'_>,
    k: u32,
    threads: usize,
    make: &(dyn Fn() -> V + Sync),
    done: &(dyn Fn(f64) + Sync),
) -> Vec<V> {
    let (design, bits) = cheapest(sides, k);
    let level = Level::detect();
    let mut visitors: Vec<V> = (0..threads.max(1)).map(|_| make()).collect();
    for (i, key) in design.keys.iter().enumerate() {
        let bits = bits.min(key.mask.count_ones());
        let first = Bucketed::new(sides.first(), *key, bits);
        let second = sides.second().map(|second| Bucketed::new(second, *key, bits));
        let mut flips = Vec::new();
        for_each_error(bits, key.flips.min(bits), &mut |error| flips.push(error));
        // A thread that is free takes the next chunk of buckets.
        let chunks = (1usize << bits).min(64);
        let next = AtomicUsize::new(0);
        let of_all = 1.0 / (design.keys.len() * flips.len() * chunks) as f64;
        std::thread::scope(|scope| {
            for visitor in &mut visitors {
                let (first, second, flips, next, keys) = (&first, second.as_ref(), &flips, &next, &design.keys[..=i]);
                scope.spawn(move || {
                    loop {
                        let task = next.fetch_add(1, Ordering::Relaxed);
                        let Some(&flip) = flips.get(task / chunks) else { break };
                        let from = ((task % chunks) << bits) / chunks;
                        let to = ((task % chunks + 1) << bits) / chunks;
                        level.run(Pass { first, second, keys, k, flip, buckets: from..to, found: visitor });
                        done(of_all);
                    }
                });
            }
        });
    }
    visitors
}

/// All pairs of distinct values within `k`, and the repeated values.
pub fn near(fingerprints: &[u64], k: u32, threads: usize, done: &(dyn Fn(f64) + Sync)) -> Near {
    let mut near = Near::default();
    let mut values = fingerprints.to_vec();
    values.sort_unstable();
    near.repeated.extend(values.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]));
    values.dedup();
    let found = Mutex::new(near);
    let make = || {
        let (mut own, values) = (Own { near: Near::default(), all: &found }, &values);
        move |i: u32, j: u32| own.near.add(values[i as usize], values[j as usize])
    };
    drop(join(Sides::One(&values), k, threads, &make, done));
    found.into_inner().expect("no thread panicked").sorted()
}

/// The pairs that one thread has found. When it ends, they are added to those of all threads.
struct Own<'a> {
    near: Near,
    all: &'a Mutex<Near>,
}

impl Drop for Own<'_> {
    fn drop(&mut self) {
        self.all.lock().expect("no thread panicked").merge(std::mem::take(&mut self.near));
    }
}

/// The design that is expected to take the least time, and the number of bits to sort by.
fn cheapest(sides: Sides<'_>, k: u32) -> (Design, u32) {
    // Nanoseconds of one core for these three: sorting a fingerprint, looking at two buckets, comparing two
    // fingerprints.
    const SORT: f64 = 20.0;
    const BUCKETS: f64 = 8.0;
    const COMPARE: f64 = 0.2;
    /// With more bits than this, the buckets of a small set take more memory than its fingerprints.
    const MOST_BITS: u32 = 24;
    let elements = (sides.first().len() + sides.second().map_or(0, <[u64]>::len)) as f64;
    let sample = sample(sides);
    let ball = |bits: u32, radius: u32| {
        let (mut choices, mut sum) = (1.0, 0.0);
        for i in 0..=radius.min(bits) {
            sum += choices;
            choices *= f64::from(bits - i) / f64::from(i + 1);
        }
        sum
    };
    let cost = |agree: &[(Key, Vec<f64>)], bits: u32| {
        let key = |(key, agree): &(Key, Vec<f64>)| {
            let bits = bits.min(key.mask.count_ones());
            let (ball, buckets) = (ball(bits, key.flips), f64::from(1u32 << bits));
            SORT * elements + BUCKETS * ball * buckets + COMPARE * sides.pairs() * ball * agree[bits as usize]
        };
        agree.iter().map(key).sum::<f64>()
    };
    let mut best = (f64::INFINITY, Design::flips(1, k), 0);
    for design in (1..=(k + 1).min(12)).map(|blocks| Design::flips(blocks, k)) {
        let agree: Vec<(Key, Vec<f64>)> =
            design.keys.iter().map(|key| (*key, agreement(&sample, *key, MOST_BITS))).collect();
        for bits in 0..=MOST_BITS {
            let cost = cost(&agree, bits);
            if cost < best.0 {
                best = (cost, design.clone(), bits);
            }
        }
    }
    (best.1, best.2)
}

/// Some thousand fingerprints of both sets, evenly spread.
fn sample(sides: Sides<'_>) -> Vec<u64> {
    const EACH: usize = 1 << 13;
    let some = |side: &[u64]| side.iter().step_by(side.len().div_ceil(EACH).max(1)).copied().collect::<Vec<_>>();
    let mut sample = some(sides.first());
    sample.extend(sides.second().map(some).unwrap_or_default());
    sample
}

/// For each number of bits: the share of the pairs of a sample that agree in this many bits of a key. Fingerprints of
/// texts crowd, so they agree far more often than random ones.
fn agreement(sample: &[u64], key: Key, most: u32) -> Vec<f64> {
    let permutation = Permutation::to_front(key.mask);
    // The bits are reversed, so that fingerprints that agree in the lowest bits are sorted together.
    let mut turned: Vec<u64> = sample.iter().map(|value| permutation.apply(*value).reverse_bits()).collect();
    turned.sort_unstable();
    let all = (sample.len() * sample.len().saturating_sub(1)).max(1) as f64;
    let share = |bits: u32| {
        let together =
            turned.chunk_by(|a, b| bits == 0 || (a ^ b) >> (64 - bits) == 0).map(|run| run.len() * (run.len() - 1));
        // The sample may have no such pair although the set has some.
        (together.sum::<usize>() as f64 / all).max(0.5f64.powi(bits as i32))
    };
    (0..=most).map(share).collect()
}

/// Fingerprints sorted by some bits of a key, with their positions.
struct Bucketed {
    values: Vec<u64>,
    positions: Vec<u32>,
    /// The position at which each bucket begins, and the end of the last one.
    starts: Vec<u32>,
}

impl Bucketed {
    fn new(fingerprints: &[u64], key: Key, bits: u32) -> Self {
        assert!(u32::try_from(fingerprints.len()).is_ok(), "at most 2^32 - 1 fingerprints a side");
        let permutation = Permutation::to_front(key.mask);
        let mask = (1u64 << bits) - 1;
        let bucket = |fingerprint: u64| (permutation.apply(fingerprint) & mask) as usize;
        let mut starts = vec![0u32; (1 << bits) + 1];
        fingerprints.iter().for_each(|fingerprint| starts[bucket(*fingerprint) + 1] += 1);
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut places = starts.clone();
        let (mut values, mut positions) = (vec![0; fingerprints.len()], vec![0; fingerprints.len()]);
        for (position, &fingerprint) in (0..).zip(fingerprints) {
            let place = &mut places[bucket(fingerprint)];
            values[*place as usize] = fingerprint;
            positions[*place as usize] = position;
            *place += 1;
        }
        Self { values, positions, starts }
    }

    /// The fingerprints of a bucket and their positions.
    #[inline(always)]
    fn bucket(&self, i: usize) -> Listing<'_> {
        let range = self.starts[i] as usize..self.starts[i + 1] as usize;
        Listing { values: &self.values[range.clone()], positions: &self.positions[range] }
    }
}

/// Compares some buckets of the first set, each with the bucket of the second set (or of the same set) whose number has
/// these bits flipped.
struct Pass<'a, V> {
    first: &'a Bucketed,
    second: Option<&'a Bucketed>,
    /// The keys up to the one by which the fingerprints are sorted now. The earlier keys had their turn before.
    keys: &'a [Key],
    k: u32,
    flip: u32,
    buckets: std::ops::Range<usize>,
    found: &'a mut V,
}

impl<V: Visitor> Work for Pass<'_, V> {
    type Output = ();

    #[inline(always)]
    fn run(self, kernel: impl Kernel) {
        let Self { first, second, keys, k, flip, buckets, found } = self;
        let comparison = Comparison { kernel, keys, k };
        let other = second.unwrap_or(first);
        let side = if second.is_some() { Side::Second } else { Side::First };
        let has_groups = found.has_groups();
        for bucket in buckets {
            let flipped = bucket ^ flip as usize;
            // In one set, each pair of buckets is compared once.
            if second.is_none() && flipped < bucket {
                continue;
            }
            let (ones, others) = (first.bucket(bucket), other.bucket(flipped));
            let same = second.is_none() && flip == 0;
            if has_groups && ones.values.len().min(others.values.len()) >= grouped::LARGE {
                if same {
                    grouped::within(ones, found, comparison);
                } else {
                    grouped::between(ones, others, side, found, comparison);
                }
                continue;
            }
            for (i, (&value, &position)) in ones.values.iter().zip(ones.positions).enumerate() {
                comparison.run(value, position, others.from(if same { i + 1 } else { 0 }), found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn joined(sides: Sides<'_>, k: u32, threads: usize) -> Vec<(u32, u32)> {
        let all = std::sync::Mutex::new(Vec::new());
        join(sides, k, threads, &|| |a, b| all.lock().unwrap().push((a, b)), &|_| {});
        let mut all = all.into_inner().unwrap();
        if let Sides::One(_) = sides {
            all.iter_mut().for_each(|(a, b)| (*a, *b) = ((*a).min(*b), (*a).max(*b)));
        }
        all.sort_unstable();
        all
    }

    fn naive(sides: Sides<'_>, k: u32) -> Vec<(u32, u32)> {
        let (first, second) = (sides.first(), sides.second());
        let mut all = Vec::new();
        for (i, a) in (0..).zip(first) {
            for (j, b) in (0..).zip(second.unwrap_or(first)) {
                if (second.is_some() || i < j) && (a ^ b).count_ones() <= k {
                    all.push((i, j));
                }
            }
        }
        all
    }

    fn clustered(n: u64, seed: u64) -> Vec<u64> {
        let random = |i: u64| xxhash_rust::xxh3::xxh3_64_with_seed(&i.to_le_bytes(), seed);
        (0..n).map(|i| (0..random(i) % 9).fold(random(!(i % 40)), |f, e| f ^ 1 << (random(i ^ e << 40) % 64))).collect()
    }

    #[test]
    fn equals_comparing_all_with_all() {
        for k in 0..=12 {
            let (a, b) = (clustered(700, 1), clustered(300, 1));
            for threads in [1, 3] {
                assert_eq!(joined(Sides::One(&a), k, threads), naive(Sides::One(&a), k), "k = {k}");
                assert_eq!(joined(Sides::Two(&a, &b), k, threads), naive(Sides::Two(&a, &b), k), "k = {k}");
            }
        }
        assert_eq!(joined(Sides::One(&[]), 3, 2), []);
        assert_eq!(joined(Sides::Two(&[], &[1]), 3, 2), []);
    }

    #[test]
    fn the_choice_of_a_design_changes_nothing() {
        // This set is large enough that other designs are chosen than for a few hundred.
        let fingerprints = clustered(40_000, 7);
        let (few, all) = fingerprints.split_at(50);
        let expected = naive(Sides::Two(few, all), 7);
        assert_eq!(joined(Sides::Two(few, all), 7, 2), expected);
        let both = joined(Sides::One(&fingerprints), 7, 2);
        let across: Vec<(u32, u32)> =
            both.iter().filter(|(a, b)| *a < 50 && *b >= 50).map(|(a, b)| (*a, b - 50)).collect();
        assert_eq!(across, expected);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn equals_comparing_all_with_all_on_anything(base: u64, errors in prop::collection::vec(any::<[u64; 3]>(), 0..120), split in 0usize..120, k in 0u32..=64) {
            let fingerprints: Vec<u64> = errors.iter().map(|[a, b, c]| base ^ (a & b & c)).collect();
            let (a, b) = fingerprints.split_at(split.min(fingerprints.len()));
            prop_assert_eq!(joined(Sides::Two(a, b), k, 2), naive(Sides::Two(a, b), k));
            prop_assert_eq!(joined(Sides::One(&fingerprints), k, 1), naive(Sides::One(&fingerprints), k));
        }
    }
}
