//! Runs: fingerprints side by side, by quarters. They suit fingerprints that crowd into few buckets, as those of pages
//! do.
//!
//! `mod.rs` adds fingerprints and takes them out. `entry` says what is stored of one, and `pool` where. `radii` says
//! which runs a query must read, and `query` reads them.

mod entry;
mod pool;
mod query;
mod radii;

use super::kernel::{Kernel, Scalar};
use entry::Entry;
use pool::{Pool, Run};
use radii::Radii;

/// A set of fingerprints, stored four times, once for each quarter of the bits. Fingerprints with the same quarter form
/// a *run*. They lie side by side in memory.
///
/// Some bits are nearly the same in all fingerprints of one language or one site. So a ball of keys may have many
/// fingerprints, and runs must be fast to read: memory is read line after line, and 32 bits of each fingerprint are
/// compared first. They are its *part*:
///
/// - The upper 16 bits are the *partner* of the quarter, which is the other quarter of the same half. If two
///   fingerprints are within `k`, they are near in one of the halves, too; and in this half they are near in one of the
///   quarters. So the partner tells most of a run apart (see [`Radii`]).
/// - The lower 16 bits are the XOR of the quarters of the other half. It never has more errors than that half. And the
///   XOR of two bits is more balanced than either of them, unless they are correlated. (If one bit is nearly always
///   the same, the XOR is as balanced as the other bit.) So the XOR tells more fingerprints apart than a quarter would.
///
/// # Complexity
///
/// A query looks up the ball of each quarter (68 runs at k = 7) and reads four bytes of each fingerprint in these runs.
/// A fingerprint takes four times 6 bytes. Runs also have spare room beyond their length, and 2 MB are used in any
/// case.
#[derive(Clone, Debug)]
pub struct Runs {
    k: u32,
    radii: Radii,
    quarters: Vec<Quarter>,
    pool: Pool,
    len: usize,
    /// Runs of the first quarter before this one are empty.
    first: usize,
}

/// Bits of a quarter. The quarters are numbered from the lowest bits on.
const QUARTER: u32 = 16;

/// A quarter of a fingerprint.
#[inline(always)]
fn quarter_of(fingerprint: u64, quarter: usize) -> u16 {
    (fingerprint >> (QUARTER * quarter as u32)) as u16
}

/// The runs of one quarter.
#[derive(Clone, Debug)]
struct Quarter {
    /// The runs, by the bits of the quarter.
    runs: Vec<Run>,
    /// XOR each of these to the bits of a query to get all keys of its ball.
    ball: Vec<u16>,
}

impl Quarter {
    fn new(radius: u32) -> Self {
        let ball = (0..=u16::MAX).filter(|change| change.count_ones() <= radius).collect();
        Self { runs: vec![Run::default(); 1 << QUARTER], ball }
    }
}

impl Runs {
    /// An empty set, for distances up to `k`.
    ///
    /// # Panics
    ///
    /// If k is below 3, because then fewer than four quarters are enough.
    pub fn new(k: u32) -> Self {
        let radii = Radii::new(k);
        let quarters = radii.quarters.into_iter().map(Quarter::new).collect();
        Self { k, radii, quarters, pool: Pool::new(), len: 0, first: 0 }
    }

    /// Number of fingerprints.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Bytes in use or set aside.
    pub fn bytes(&self) -> usize {
        let runs: usize = self.quarters.iter().map(|quarter| quarter.runs.len()).sum();
        runs * size_of::<Run>() + self.pool.bytes()
    }

    /// Adds a fingerprint. The set must not have it.
    pub fn insert(&mut self, fingerprint: u64) {
        for (q, quarter) in self.quarters.iter_mut().enumerate() {
            let run = &mut quarter.runs[usize::from(quarter_of(fingerprint, q))];
            self.pool.push(run, Entry::new(fingerprint, q));
        }
        self.first = self.first.min(quarter_of(fingerprint, 0).into());
        self.len += 1;
    }

    /// Takes any fingerprint out.
    pub fn pop(&mut self) -> Option<u64> {
        let run = self.quarters[0].runs.iter().skip(self.first).position(|run| run.len > 0);
        self.first += run?;
        let last = self.quarters[0].runs[self.first];
        let fingerprint = self.pool.entry(last.at + last.len - 1).fingerprint(0, self.first as u16);
        for (q, quarter) in self.quarters.iter_mut().enumerate() {
            let run = &mut quarter.runs[usize::from(quarter_of(fingerprint, q))];
            let at = self.pool.find(Scalar, *run, Entry::new(fingerprint, q));
            self.pool.remove(run, at.expect("a fingerprint is in every quarter"));
        }
        self.len -= 1;
        Some(fingerprint)
    }

    /// Calls `visit` with every fingerprint.
    pub fn for_each(&self, visit: &mut impl FnMut(u64)) {
        for (run, key) in self.quarters[0].runs.iter().zip(0..=u16::MAX) {
            (run.at..run.at + run.len).for_each(|at| visit(self.pool.entry(at).fingerprint(0, key)));
        }
    }

    /// Whether a fingerprint is there.
    #[inline(always)]
    pub fn contains(&self, kernel: impl Kernel, fingerprint: u64) -> bool {
        let run = self.quarters[0].runs[usize::from(quarter_of(fingerprint, 0))];
        self.pool.find(kernel, run, Entry::new(fingerprint, 0)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn check(runs: &Runs, expected: &BTreeSet<u64>, query: u64) {
        let mut near = Vec::new();
        runs.within(Scalar, query, &mut near);
        near.sort_unstable();
        let all = expected.iter().map(|f| (*f, (f ^ query).count_ones()));
        assert_eq!(near, all.filter(|(_, distance)| *distance <= runs.k).collect::<Vec<_>>(), "k = {}", runs.k);
        assert_eq!(runs.contains(Scalar, query), expected.contains(&query));
    }

    fn all(runs: &Runs) -> BTreeSet<u64> {
        let mut all = BTreeSet::new();
        runs.for_each(&mut |fingerprint| assert!(all.insert(fingerprint)));
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]
        #[test]
        fn runs_grow_and_shrink(k in 3u32..=12, base: u64, varying: u64, steps: Vec<(bool, u8, u64)>) {
            let (mut runs, mut expected) = (Runs::new(k), BTreeSet::new());
            for (grows, n, seed) in steps {
                for i in 0..u64::from(n) {
                    // The AND of two words gives fingerprints that crowd.
                    let random = xxhash_rust::xxh3::xxh3_64_with_seed(&i.to_le_bytes(), seed);
                    let fingerprint = base ^ random & varying;
                    if grows && expected.insert(fingerprint) {
                        runs.insert(fingerprint);
                    } else if !grows {
                        let popped = runs.pop();
                        assert_eq!(popped.is_some(), !expected.is_empty());
                        assert!(popped.is_none_or(|popped| expected.remove(&popped)));
                    }
                }
                assert_eq!((runs.len(), &all(&runs)), (expected.len(), &expected));
                check(&runs, &expected, base);
                check(&runs, &expected, base ^ seed & varying);
            }
        }
    }

    /// One query finds more likely blocks than it loads at a time.
    #[test]
    fn long_runs_equal_a_scan() {
        for k in [4, 7] {
            // At most four bits of each quarter differ.
            let fingerprints: BTreeSet<u64> =
                (0..1u64 << 14).map(|i| i & 15 | (i >> 4 & 15) << 16 | (i >> 8 & 15) << 32 | (i >> 12) << 48).collect();
            let mut runs = Runs::new(k);
            fingerprints.iter().for_each(|fingerprint| runs.insert(*fingerprint));
            for query in [0, 0x0003_000f_0008_0001, 0x0001_0010_0000_0000, u64::MAX] {
                check(&runs, &fingerprints, query);
            }
        }
    }
}
