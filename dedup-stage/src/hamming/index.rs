//! The online index: insert and ask, in any order.

use super::code::Code;
use super::kernel::{Kernel, Level, Scalar};
use super::table::{Keyed, Table};

/// A set of 64-bit fingerprints that answers, exactly, which of them lie within `k` of a query; grows in place.
///
/// Up to k = 3, two tables: of the two halves of a fingerprint one has at most one error, so each half is looked up with its one-bit
/// neighbours, bucketed by nearest codeword (see [`Code`]). Above, four tables keyed by the four 16-bit quarters, each
/// looked up with all keys within a radius; the radii add up to k - 3, so that not all four can be exceeded.
///
/// # Complexity
///
/// With N stored: k ≤ 3 reads at most 34 buckets a probe, all independent of each other, and keeps about 22 bytes a fingerprint.
/// k > 3 reads a ball of buckets in each quarter, and about N / 65,536 entries for each key in them.
///
/// # References
///
/// Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling" (WWW 2007), section 3, for the problem. Norouzi, Punjani,
/// Fleet, "Fast Exact Search in Hamming Space with Multi-Index Hashing" (PAMI 2014), for flipping key bits; Qin et al., "GPH:
/// Similarity Search in Hamming Space" (ICDE 2018), for unequal radii.
#[derive(Clone, Debug)]
pub struct Index {
    k: u32,
    tables: Vec<Table>,
    blocks: Vec<Block>,
    level: Level,
}

/// The bits by which a table finds.
#[derive(Clone, Copy, Debug)]
struct Block {
    mask: u64,
    radius: u32,
}

/// Entries to a bucket on average, of about 20 that fit.
const LOAD: usize = 11;

impl Index {
    /// An empty index for distances up to `k`.
    pub fn new(k: u32) -> Self {
        Self::with_load(k, LOAD)
    }

    fn with_load(k: u32, load: usize) -> Self {
        let k = k.min(64);
        let plans: &[u32] = match k {
            0 => &[0],
            1 => &[0, 0],
            2 => &[1, 0],
            3 => &[1, 1],
            _ => &[],
        };
        let mut index = Self { k, tables: Vec::new(), blocks: Vec::new(), level: Level::detect() };
        for (i, &radius) in plans.iter().enumerate() {
            index.add(Code::hamming(&[5], radius), 32 * i as u32, 32, load);
        }
        if plans.is_empty() {
            for i in 0..4 {
                index.add(Code::plain(16, (k - 3 + 3 - i) / 4), 16 * i, 16, load);
            }
        }
        index
    }

    fn add(&mut self, code: Code, rotation: u32, bits: u32, load: usize) {
        let mask = (u64::MAX >> (64 - bits)).rotate_left(rotation);
        self.blocks.push(Block { mask, radius: code.radius() });
        self.tables.push(Table::new(code, rotation, load));
    }

    /// The distance this index answers for.
    pub fn distance(&self) -> u32 {
        self.k
    }

    /// Number of distinct fingerprints.
    pub fn len(&self) -> usize {
        self.tables[0].len()
    }

    /// Whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes in use or set aside for fingerprints.
    pub fn bytes(&self) -> usize {
        self.tables.iter().map(Table::bytes).sum()
    }

    /// Starts loading what [`Index::within`] and [`Index::insert`] will read for this fingerprint: worth a call where the next
    /// query is known before the present one is answered.
    pub fn prefetch(&self, fingerprint: u64) {
        self.tables.iter().for_each(|table| table.prefetch(table.keyed(fingerprint)));
    }

    /// Appends every distinct stored fingerprint within `k` of `query`, with its distance, to `out`; in no order.
    pub fn within(&self, query: u64, out: &mut Vec<(u64, u32)>) {
        match self.level {
            Level::Baseline => self.within_by(Scalar, query, out),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Level::detect` found the instructions.
            Level::Popcnt => unsafe { self.within_popcnt(query, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Level::detect` found the instructions.
            Level::Avx512(kernel) => unsafe { self.within_avx512(kernel, query, out) },
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "popcnt")]
    fn within_popcnt(&self, query: u64, out: &mut Vec<(u64, u32)>) {
        self.within_by(Scalar, query, out);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "popcnt,avx512f,avx512vpopcntdq")]
    fn within_avx512(&self, kernel: super::kernel::Avx512, query: u64, out: &mut Vec<(u64, u32)>) {
        self.within_by(kernel, query, out);
    }

    #[inline(always)]
    fn within_by(&self, kernel: impl Kernel, query: u64, out: &mut Vec<(u64, u32)>) {
        let mut keyed = [Keyed { address: 0, filter: 0 }; 4];
        for (table, keyed) in self.tables.iter().zip(&mut keyed) {
            *keyed = table.keyed(query);
            table.prefetch(*keyed);
        }
        for (i, table) in self.tables.iter().enumerate() {
            table.probe(kernel, keyed[i], self.k, |fingerprint| {
                let difference = fingerprint ^ query;
                let distance = difference.count_ones();
                // Reported by the first table that must find it, and by no other.
                let finds = |block: &Block| (difference & block.mask).count_ones() <= block.radius;
                if distance <= self.k && finds(&self.blocks[i]) && !self.blocks[..i].iter().any(finds) {
                    out.push((fingerprint, distance));
                }
            });
        }
    }

    /// Adds a fingerprint; false if it was there already.
    pub fn insert(&mut self, fingerprint: u64) -> bool {
        let first = self.tables[0].keyed(fingerprint);
        if self.tables[0].contains(first) {
            return false;
        }
        for table in &mut self.tables {
            table.insert(table.keyed(fingerprint));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, to compare with.
    #[derive(Default)]
    struct Scan(Vec<u64>);

    impl Scan {
        fn insert(&mut self, fingerprint: u64) -> bool {
            let new = !self.0.contains(&fingerprint);
            if new {
                self.0.push(fingerprint);
            }
            new
        }

        fn within(&self, query: u64, k: u32) -> Vec<(u64, u32)> {
            let mut near: Vec<_> = self.0.iter().map(|f| (*f, (f ^ query).count_ones())).collect();
            near.retain(|(_, distance)| *distance <= k);
            near.sort_unstable();
            near
        }
    }

    fn check(k: u32, load: usize, fingerprints: impl IntoIterator<Item = u64>, queries: &[u64]) {
        let (mut index, mut scan) = (Index::with_load(k, load), Scan::default());
        for fingerprint in fingerprints {
            assert_eq!(index.insert(fingerprint), scan.insert(fingerprint));
        }
        assert_eq!(index.len(), scan.0.len());
        let mut near = Vec::new();
        for &query in queries.iter().chain(scan.0.iter().take(300)) {
            near.clear();
            index.within(query, &mut near);
            near.sort_unstable();
            assert_eq!(near, scan.within(query, k), "query {query:016x}, k = {k}");
        }
    }

    fn random(seed: u64) -> impl Iterator<Item = u64> {
        (1..).map(move |i: u64| xxhash_rust::xxh3::xxh3_64_with_seed(&i.to_le_bytes(), seed))
    }

    #[test]
    fn equals_a_scan_on_clustered_sets() {
        for k in 0..=10 {
            let centres: Vec<u64> = random(1).take(40).collect();
            let noise: Vec<u64> = random(2).take(2000).collect();
            let flip = |(i, n): (usize, &u64)| {
                let errors = i as u32 % 14;
                (0..errors).fold(centres[i % 40], |f, e| {
                    f ^ 1 << (n >> (6 * (e % 10)) & 63).wrapping_add(u64::from(e / 10)) % 64
                })
            };
            let clustered: Vec<u64> = noise.iter().enumerate().map(flip).collect();
            check(k, LOAD, clustered.into_iter().chain(random(3).take(2000)), &centres);
        }
    }

    #[test]
    fn equals_a_scan_on_adversarial_sets() {
        for k in 0..=10 {
            for load in [1, LOAD, 40] {
                let queries = [0, u64::MAX, 1 << 63, 0xffff];
                check(k, load, [], &queries);
                check(k, load, [0; 100], &queries);
                check(k, load, (0..64).map(|i| 1 << i), &queries);
                check(k, load, (0..1500).map(|i| i << 16), &queries);
                check(k, load, (0..1500).map(|i| i << 48), &queries);
                check(k, load, (0..1500).map(|i| u64::MAX >> (i % 64) ^ i), &queries);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn equals_a_scan(k in 0u32..=64, load in 1usize..30, base: u64, errors: Vec<(u64, u64, u64)>, queries: Vec<u64>) {
            // ANDing random words gives few errors.
            let few = errors.iter().map(|(a, b, c)| base ^ (a & b & c));
            let queries: Vec<u64> = queries.into_iter().chain([base]).collect();
            check(k, load, few, &queries);
        }
    }
}
