//! All pairs within 3 of very many fingerprints: partition by two bytes, sort by a third.

use std::sync::Mutex;

use super::Near;
use super::kernel::neighbours;
use crate::hamming::design::Design;
use crate::hamming::key::Key;
use crate::hamming::memory::zeros;

/// A run larger than this, and than a few times what is usual, is freed from equal values before it is joined.
const LARGE_RUN: usize = 1 << 13;

/// All pairs of values within `k`, at most 3.
///
/// One half of a pair has at most one error, so in one half three of four bytes agree: eight keys of 24 bits. For each half,
/// the fingerprints are partitioned by its first two bytes, and again by its last two; within a partition, which fits into the
/// first-level cache, they are sorted by one and by the other of the remaining bytes. Then whoever shares a key lies at most the
/// size of a bin apart, and everyone is compared with so many followers, eight at a time, without looking at bounds.
///
/// # Complexity
///
/// Four passes over memory for each half, eight counting sorts in the cache, and about N² / 2^20 comparisons; one copy of the fingerprints
/// for each thread.
pub fn near(fingerprints: &[u64], k: u32, threads: usize, done: &(dyn Fn(f64) + Sync)) -> Near {
    let keys = Design::drop_one(4).keys;
    // Key 4h + d leaves out byte d of half h.
    let passes: Vec<Pass> = (0..2).flat_map(|half| [(0, 1), (2, 3)].map(|by| Pass { half, by })).collect();
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

/// One partition of the fingerprints, and the two keys that are joined in it.
struct Pass {
    half: u32,
    /// Bytes of the half by which it partitions.
    by: (u32, u32),
}

impl Pass {
    fn byte(&self, i: u32) -> impl Fn(u64) -> usize + Copy {
        let shift = 32 * self.half + 8 * i;
        move |fingerprint| (fingerprint >> shift) as usize & 255
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
        let others = if self.by.0 == 0 { [2, 3] } else { [0, 1] };
        let coarse = scatter(fingerprints, self.byte(self.by.0), space);
        let (mut fine, mut sorted) = (Vec::new(), Vec::new());
        let usual = fingerprints.len() >> 16;
        for bin in 0..256 {
            let part = &space[coarse[bin]..coarse[bin + 1]];
            let ends = scatter(part, self.byte(self.by.1), &mut fine);
            for second in 0..256 {
                let mut run = &mut fine[ends[second]..ends[second + 1]];
                if run.len() < 2 {
                    continue;
                }
                if run.len() > LARGE_RUN.max(8 * usual) {
                    run = without_repeats(run, near);
                }
                for (byte, left_out) in [(others[0], others[1]), (others[1], others[0])] {
                    let key = (4 * self.half + left_out) as usize;
                    join(run, self.byte(byte), &mut sorted, k, &mut |a, b| {
                        let difference = a ^ b;
                        // Each pair is found by the first of the keys that catch it.
                        let earlier = keys[..key].iter().any(|key| key.catches(difference));
                        if keys[key].catches(difference) && !earlier {
                            near.add(a, b);
                        }
                    });
                }
            }
            done(1.0 / 1024.0);
        }
    }
}

/// Sorts a run, and drops equal values after noting them.
fn without_repeats<'a>(run: &'a mut [u64], near: &mut Near) -> &'a mut [u64] {
    run.sort_unstable();
    let mut kept = 0;
    for i in 0..run.len() {
        if kept > 0 && run[kept - 1] == run[i] {
            if near.repeated.last() != Some(&run[i]) {
                near.repeated.push(run[i]);
            }
        } else {
            run[kept] = run[i];
            kept += 1;
        }
    }
    &mut run[..kept]
}

/// Sorts by one byte, and compares whoever agrees in it.
fn join(
    run: &[u64],
    byte: impl Fn(u64) -> usize + Copy,
    sorted: &mut Vec<u64>,
    k: u32,
    found: &mut impl FnMut(u64, u64),
) {
    /// Up to this many followers, it is cheaper not to look where bins end.
    const FEW: usize = 64;
    let (ends, largest) = counting_sort(run, byte, sorted);
    if largest <= FEW {
        neighbours(&sorted[..run.len()], largest.saturating_sub(1), k, found);
    } else {
        for bin in 0..256 {
            let group = &sorted[if bin == 0 { 0 } else { ends[bin - 1] as usize }..ends[bin] as usize];
            neighbours(group, group.len(), k, found);
        }
    }
}

/// Sorts a run that fits into the cache; returns where bins end, and the size of the largest.
fn counting_sort(run: &[u64], byte: impl Fn(u64) -> usize, sorted: &mut Vec<u64>) -> ([u32; 256], usize) {
    let mut places = [0u32; 256];
    for &fingerprint in run {
        places[byte(fingerprint)] += 1;
    }
    let (mut sum, mut largest) = (0, 0);
    for place in &mut places {
        largest = largest.max(*place);
        sum += std::mem::replace(place, sum);
    }
    if sorted.len() < run.len() {
        sorted.resize(run.len(), 0);
    }
    let sorted = &mut sorted[..run.len()];
    for &fingerprint in run {
        let place = &mut places[byte(fingerprint)];
        sorted[*place as usize] = fingerprint;
        *place += 1;
    }
    (places, largest as usize)
}

/// Partitions by one byte into `to`; returns where the 256 parts start, and the end.
///
/// A cache line for each part is filled before it is written out: 256 lines stay in the first-level cache, where 256 ends of
/// partitions all over memory would not stay in the page tables' cache.
fn scatter(from: &[u64], byte: impl Fn(u64) -> usize, to: &mut Vec<u64>) -> [usize; 257] {
    const LINE: usize = 8;
    let mut starts = [0usize; 257];
    for &fingerprint in from {
        starts[byte(fingerprint) + 1] += 1;
    }
    for i in 0..256 {
        starts[i + 1] += starts[i];
    }
    if to.len() < from.len() {
        *to = zeros(from.len());
    }
    let mut places = starts;
    let mut lines = [[0u64; LINE]; 256];
    let mut filled = [0u8; 256];
    for &fingerprint in from {
        let part = byte(fingerprint);
        let i = usize::from(filled[part]) % LINE;
        lines[part][i] = fingerprint;
        filled[part] += 1;
        if i == LINE - 1 {
            let place = places[part];
            to[place..place + LINE].copy_from_slice(&lines[part]);
            places[part] += LINE;
            filled[part] = 0;
        }
    }
    for part in 0..256 {
        let left = usize::from(filled[part]);
        to[places[part]..places[part] + left].copy_from_slice(&lines[part][..left]);
    }
    starts
}
