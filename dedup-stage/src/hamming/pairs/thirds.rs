//! All pairs within distance 3 of very many fingerprints: partition by one third of a half, and sort by another third.

use std::sync::Mutex;

use super::Near;
use super::kernel::{all, neighbours};
use super::partition::{counting_sort, scatter};
use crate::hamming::design::Design;
use crate::hamming::key::Key;

/// If a group has more fingerprints than this, and more than eight times the usual number, its equal values are dropped
/// before it is compared.
const LARGE_GROUP: usize = 1 << 8;

/// A third has at most this many values.
const VALUES: usize = 1 << 11;

/// All pairs of values within `k`, at most 3.
///
/// In one half, a pair within distance 3 has at most one error. So two of the three parts of this half (11, 11 and 10
/// bits) agree. This gives six keys of 21 or 22 bits. The fingerprints are partitioned by the first third of a half. A
/// partition fits into the second-level cache. It is sorted by the second third, and then by the last third. After
/// that, the fingerprints are partitioned by the second third, and each partition is sorted by the last. Fingerprints
/// that share a key are compared, eight at a time.
///
/// # Complexity
///
/// Four partitions with two passes over memory each, six counting sorts in the cache, and about N² / 2^20 comparisons.
/// Each thread has one copy of the fingerprints.
pub fn near(fingerprints: &[u64], k: u32, threads: usize, done: &(dyn Fn(f64) + Sync)) -> Near {
    // Key 3h + d leaves out third d of half h.
    let keys = Design::drop_one(3).keys;
    let pass = |half| [(0, &[1, 2][..]), (1, &[2])].map(|(by, sorted)| Pass { half, by, sorted });
    let passes: Vec<Pass> = (0..2).flat_map(pass).collect();
    let next = Mutex::new(passes.into_iter());
    let near = Mutex::new(Near::default());
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, 4) {
            scope.spawn(|| {
                let mut own = Near::default();
                let mut space = Vec::new();
                while let Some(pass) = { next.lock().expect("no thread panicked").next() } {
                    pass.run(fingerprints, &keys, k, &mut space, &mut own, done);
                }
                near.lock().expect("no thread panicked").merge(own);
            });
        }
    });
    near.into_inner().expect("no thread panicked").sorted()
}

/// One partition of the fingerprints, and the keys that are joined in it.
struct Pass {
    half: u32,
    /// The third by which it partitions.
    by: u32,
    /// The thirds by which it sorts.
    sorted: &'static [u32],
}

impl Pass {
    /// A function that takes the value of one third of the half from a fingerprint.
    fn third(&self, i: u32) -> impl Fn(u64) -> usize + Copy {
        let shift = 32 * self.half + 11 * i;
        let mask = if i == 2 { VALUES / 2 - 1 } else { VALUES - 1 };
        move |fingerprint| (fingerprint >> shift) as usize & mask
    }

    fn run(
        &self,
        fingerprints: &[u64],
        keys: &[Key],
        k: u32,
        space: &mut Vec<u64>,
        near: &mut Near,
        done: &(dyn Fn(f64) + Sync),
    ) {
        let (partitioned, starts) = scatter::<VALUES>(fingerprints, self.third(self.by), space);
        let mut sorted = Vec::new();
        let crowded = LARGE_GROUP.max(8 * (fingerprints.len() >> 21));
        for bounds in starts.windows(2) {
            let part = &partitioned[bounds[0]..bounds[1]];
            for third in self.sorted {
                let left_out = 3 - self.by - third;
                let key = (3 * self.half + left_out) as usize;
                // The first of the keys that catch a pair reports it.
                let add = |near: &mut Near, a, b| {
                    let difference = a ^ b;
                    if keys[key].catches(difference) && !keys[..key].iter().any(|key| key.catches(difference)) {
                        near.add(a, b);
                    }
                };
                let of = self.third(*third);
                let (ends, largest) = counting_sort::<VALUES>(part, of, &mut sorted);
                let sorted = &mut sorted[..part.len()];
                if largest <= crowded {
                    neighbours(sorted, &|_, f| ends[of(f)] as usize, k, &mut |a, b| add(near, a, b));
                    continue;
                }
                let mut start = 0;
                for end in ends {
                    let group = without_repeats(&mut sorted[start..end as usize], near);
                    all(group, k, &mut |a, b| add(near, a, b));
                    start = end as usize;
                }
            }
            done(self.sorted.len() as f64 / (6 * VALUES) as f64);
        }
    }
}

/// Sorts a group and drops equal values. Notes the values that were repeated.
fn without_repeats<'a>(group: &'a mut [u64], near: &mut Near) -> &'a [u64] {
    group.sort_unstable();
    let mut kept = 0;
    for i in 0..group.len() {
        if kept > 0 && group[kept - 1] == group[i] {
            if near.repeated.last() != Some(&group[i]) {
                near.repeated.push(group[i]);
            }
        } else {
            group[kept] = group[i];
            kept += 1;
        }
    }
    &group[..kept]
}
