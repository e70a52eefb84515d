//! The online index: insert and ask, in any order.

use super::design::Design;
use super::flat::Flat;
use super::kernel::{Kernel, Level, Scalar};
use super::tables::Tables;

/// A set of 64-bit fingerprints that answers, exactly, which of them lie within `k` of a query; grows in place.
///
/// Up to k = 3, two tables: of the two halves of a fingerprint one has at most one error, so each half is looked up with its one-bit
/// neighbours, bucketed by nearest codeword (see [`Code`]). Above, four tables keyed by the four 16-bit quarters, each
/// looked up with all keys within a radius; the radii add up to k - 3, so that not all four can be exceeded.
///
/// What is best for a small set is not for a large one. A small set is kept as a list, which is read faster than so many buckets,
/// and a very large one (above k = 3) in three tables keyed by thirds, which hold fewer entries for each key. When a
/// set has outgrown what it is kept in, each insertion moves some of it on, so that there is no pause.
///
/// # Complexity
///
/// With N stored: k ≤ 3 reads at most 34 buckets a probe, all independent of each other, and keeps about 22 bytes a fingerprint.
/// k > 3 reads a ball of buckets in each quarter, and about N / 65,536 entries for each key in them; from millions on a larger ball
/// in each third, and about N / 2,000,000 entries for each key.
///
/// # References
///
/// Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling" (WWW 2007), section 3, for the problem. Norouzi, Punjani,
/// Fleet, "Fast Exact Search in Hamming Space with Multi-Index Hashing" (PAMI 2014), for flipping key bits; Qin et al., "GPH:
/// Similarity Search in Hamming Space" (ICDE 2018), for unequal radii.
#[derive(Clone, Debug)]
pub struct Index {
    /// What is not in the tables.
    flat: Flat,
    /// Length of the list at which it begins to move.
    flat_max: usize,
    /// Whether it does.
    moving: bool,
    /// One, or two while fingerprints move from the first to the last.
    sets: Vec<Tables>,
    /// The next design, and how many fingerprints there must be for it.
    larger: Option<(usize, Design)>,
    /// Tables that all have left, on their way out of memory.
    retired: Option<Tables>,
    /// Buckets that have been retired, so that the epoch only grows.
    past: usize,
    load: usize,
    level: Level,
}

/// A query under way: the buckets it will read are being loaded. To be used again for the next one.
#[derive(Clone, Debug)]
pub struct Probe {
    query: u64,
    /// The buckets were right when the index had this epoch.
    epoch: usize,
    /// Whether these are all.
    complete: bool,
    len: usize,
    visits: [Visit; Probe::VISITS],
}

/// A bucket to be read: its table (position of the set in the high half, position in the set in the low one), and its number.
type Visit = (u32, u32);

impl Probe {
    /// Buckets that are loaded at a time: what four tables with one flip each need.
    const VISITS: usize = 72;
}

impl Default for Probe {
    fn default() -> Self {
        Self { query: 0, epoch: 0, complete: false, len: 0, visits: [(0, 0); Probe::VISITS] }
    }
}

/// How full buckets are: speed for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Half: few buckets overflow.
    Fast,
    /// As full as a probe bears: buckets overflow often.
    Compact,
}

impl Fill {
    /// Entries to a bucket on average, of 20 to 24 that fit.
    fn load(self) -> usize {
        match self {
            Fill::Fast => 11,
            Fill::Compact => 17,
        }
    }

    /// Bytes of an entry in one table, about.
    pub fn bytes(self) -> f64 {
        128.0 / self.load() as f64
    }
}

impl Index {
    /// Fingerprints that a list of them still answers for faster than the tables: up to k = 3, where they read few buckets …
    const FLAT_NEAR: usize = 1 << 10;
    /// … and above.
    const FLAT_FAR: usize = 1 << 13;
    /// Fingerprints that each insertion moves on.
    const MOVED: usize = 4;

    /// An empty index for distances up to `k`.
    pub fn new(k: u32) -> Self {
        let design = Design::standard(k.min(64));
        let flat_max = Self::flat_max(&design);
        Self::with_load(design, Fill::Fast.load(), flat_max, Design::larger(k))
    }

    /// An empty index of a given design, which it keeps.
    pub fn with_design(design: Design, fill: Fill) -> Self {
        let flat_max = Self::flat_max(&design);
        Self::with_load(design, fill.load(), flat_max, None)
    }

    fn flat_max(design: &Design) -> usize {
        if design.distance <= 3 { Self::FLAT_NEAR } else { Self::FLAT_FAR }
    }

    fn with_load(design: Design, load: usize, flat_max: usize, larger: Option<(usize, Design)>) -> Self {
        Self {
            flat: Flat::default(),
            flat_max,
            moving: flat_max == 0,
            sets: vec![Tables::new(design, load)],
            larger,
            retired: None,
            past: 0,
            load,
            level: Level::detect(),
        }
    }

    /// The distance this index answers for.
    pub fn distance(&self) -> u32 {
        self.design().distance
    }

    /// The design of the tables, the new one where it changes.
    pub fn design(&self) -> &Design {
        &self.newest().design
    }

    fn newest(&self) -> &Tables {
        self.sets.last().expect("there is always a set of tables")
    }

    /// Number of distinct fingerprints.
    pub fn len(&self) -> usize {
        self.flat.len() + self.sets.iter().map(Tables::len).sum::<usize>()
    }

    /// Whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes in use or set aside for fingerprints.
    pub fn bytes(&self) -> usize {
        self.flat.bytes() + self.sets.iter().chain(&self.retired).map(Tables::bytes).sum::<usize>()
    }

    /// All fingerprints, in no order.
    pub fn fingerprints(&self) -> Vec<u64> {
        let mut all = Vec::with_capacity(self.len());
        self.flat.for_each(&mut |fingerprint| all.push(fingerprint));
        self.sets.iter().for_each(|set| set.for_each(&mut |fingerprint| all.push(fingerprint)));
        all
    }

    /// Appends every distinct stored fingerprint within `k` of `query`, with its distance, to `out`; in no order.
    pub fn within(&self, query: u64, out: &mut Vec<(u64, u32)>) {
        let mut probe = Probe::default();
        self.begin(query, &mut probe);
        self.finish(&probe, out);
    }

    /// Begins a query: starts loading what [`Index::finish`] will read. Worth its while where the next query is known before the
    /// present one is answered.
    pub fn begin(&self, query: u64, probe: &mut Probe) {
        (probe.query, probe.epoch, probe.len, probe.complete) = (query, self.epoch(), 0, true);
        if !self.moving {
            return;
        }
        for (set, s) in self.sets.iter().zip(0..) {
            for (table, t) in set.tables.iter().zip(0..) {
                for bucket in table.ball(table.keyed(query)) {
                    if probe.len == Probe::VISITS {
                        probe.complete = false;
                        return;
                    }
                    table.prefetch(bucket);
                    probe.visits[probe.len] = (s << 16 | t, bucket);
                    probe.len += 1;
                }
            }
        }
    }

    /// Ends a query, with the answer of [`Index::within`]. The index may have grown since it began.
    pub fn finish(&self, probe: &Probe, out: &mut Vec<(u64, u32)>) {
        match self.level {
            Level::Baseline => self.finish_by(Scalar, probe, out),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Level::detect` found the instructions.
            Level::Popcnt => unsafe { self.finish_popcnt(probe, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Level::detect` found the instructions.
            Level::Avx512(kernel) => unsafe { self.finish_avx512(kernel, probe, out) },
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "popcnt")]
    fn finish_popcnt(&self, probe: &Probe, out: &mut Vec<(u64, u32)>) {
        self.finish_by(Scalar, probe, out);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "popcnt,bmi1,bmi2,avx512f,avx512vpopcntdq")]
    fn finish_avx512(&self, kernel: super::kernel::Avx512, probe: &Probe, out: &mut Vec<(u64, u32)>) {
        self.finish_by(kernel, probe, out);
    }

    #[inline(always)]
    fn finish_by(&self, kernel: impl Kernel, probe: &Probe, out: &mut Vec<(u64, u32)>) {
        self.flat.within(kernel, probe.query, self.distance(), out);
        if !self.moving {
            return;
        }
        if probe.complete && probe.epoch == self.epoch() {
            self.visit(kernel, probe.query, &probe.visits[..probe.len], out);
            return;
        }
        // Half of the buckets are loaded while the other half is read.
        const HALF: usize = Probe::VISITS / 2;
        let mut visits = [(0, 0); 2 * HALF];
        let mut len = 0;
        for (set, s) in self.sets.iter().zip(0..) {
            for (table, t) in set.tables.iter().zip(0..) {
                for bucket in table.ball(table.keyed(probe.query)) {
                    if len == visits.len() {
                        self.visit(kernel, probe.query, &visits[..HALF], out);
                        visits.copy_within(HALF.., 0);
                        len = HALF;
                    }
                    table.prefetch(bucket);
                    visits[len] = (s << 16 | t, bucket);
                    len += 1;
                }
            }
        }
        self.visit(kernel, probe.query, &visits[..len], out);
    }

    /// Looks through some buckets, then through their overflows, which have been loaded meanwhile.
    #[inline(always)]
    fn visit(&self, kernel: impl Kernel, query: u64, visits: &[Visit], out: &mut Vec<(u64, u32)>) {
        let k = self.distance();
        let mut overflowing = [(0, 0); Probe::VISITS];
        let mut pending = 0;
        for visits in visits.chunk_by(|a, b| a.0 == b.0) {
            let (set, t) = self.place(visits[0].0);
            let table = &set.tables[t];
            let filter = table.keyed(query).filter;
            for &visit in visits {
                let mut found = |fingerprint| self.found(query, set, t, fingerprint, out);
                let more = table.probe(kernel, visit.1, filter, k, &mut found);
                overflowing[pending] = visit;
                pending += usize::from(more);
            }
        }
        for &(place, bucket) in &overflowing[..pending] {
            let (set, t) = self.place(place);
            let table = &set.tables[t];
            let mut found = |fingerprint| self.found(query, set, t, fingerprint, out);
            table.probe_overflow(kernel, bucket, table.keyed(query).filter, k, &mut found);
        }
    }

    /// Set and position of a visit's table.
    #[inline(always)]
    fn place(&self, table: u32) -> (&Tables, usize) {
        (&self.sets[(table >> 16) as usize], (table & 0xffff) as usize)
    }

    /// A fingerprint is reported by the first table that must find it, and by no other.
    fn found(&self, query: u64, set: &Tables, table: usize, fingerprint: u64, out: &mut Vec<(u64, u32)>) {
        let difference = fingerprint ^ query;
        let distance = difference.count_ones();
        let keys = &set.design.keys;
        if distance <= set.design.distance
            && keys[table].catches(difference)
            && !keys[..table].iter().any(|key| key.catches(difference))
            && !set.has_moved(fingerprint, || self.newest().contains(fingerprint))
        {
            out.push((fingerprint, distance));
        }
    }

    /// Changes when the buckets of a ball do.
    fn epoch(&self) -> usize {
        usize::from(self.moving) + self.past + self.sets.iter().map(Tables::buckets).sum::<usize>()
    }

    /// Adds a fingerprint; false if it was there already.
    pub fn insert(&mut self, fingerprint: u64) -> bool {
        if self.flat.contains(self.level, fingerprint) {
            return false;
        }
        if !self.moving {
            self.flat.push(fingerprint);
            self.moving = self.flat.len() == self.flat_max;
            return true;
        }
        if self.sets.iter().any(|set| set.contains(fingerprint)) {
            return false;
        }
        self.newest_mut().insert(fingerprint);
        self.move_on();
        true
    }

    fn newest_mut(&mut self) -> &mut Tables {
        self.sets.last_mut().expect("there is always a set of tables")
    }

    /// Moves a few fingerprints to where they are found faster, if any are to move.
    fn move_on(&mut self) {
        if self.retired.as_mut().is_some_and(|retired| !retired.shrink()) {
            self.retired = None;
        }
        if let Some((_, design)) = self.larger.take_if(|(from, _)| self.sets[0].len() >= *from) {
            self.sets.push(Tables::new(design, self.load));
        }
        let mut moved = [0; Self::MOVED];
        let mut n = 0;
        while n < moved.len() {
            let next = match &mut self.sets[..] {
                _ if self.flat.len() > 0 => self.flat.pop(),
                [first, _] => first.take(),
                _ => None,
            };
            let Some(next) = next else { break };
            self.newest().prefetch(next);
            moved[n] = next;
            n += 1;
        }
        moved[..n].iter().for_each(|fingerprint| self.newest_mut().insert(*fingerprint));
        if n < moved.len() && self.sets.len() > 1 {
            let retired = self.sets.remove(0);
            self.past += retired.buckets() + 1;
            self.retired = Some(retired);
        }
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
        check_design(Design::standard(k), load, fingerprints, queries);
    }

    fn check_design(design: Design, load: usize, fingerprints: impl IntoIterator<Item = u64>, queries: &[u64]) {
        let k = design.distance;
        let fingerprints: Vec<u64> = fingerprints.into_iter().collect();
        let distinct = fingerprints.iter().collect::<std::collections::HashSet<_>>().len();
        let larger = || if k <= 8 { Design::flips(3.min(k + 1), k) } else { Design::standard(k) };
        // Tables from the start; a list that is just moving; a list; tables that have moved; tables that are just moving.
        let mut indexes = [
            (0, None),
            (70, None),
            (usize::MAX, None),
            (30, Some((distinct / 2, larger()))),
            (0, Some((distinct - distinct / 10, larger()))),
        ]
        .map(|(flat_max, larger)| Index::with_load(design.clone(), load, flat_max, larger));
        let mut scan = Scan::default();
        for fingerprint in fingerprints {
            let new = scan.insert(fingerprint);
            assert!(indexes.iter_mut().all(|index| index.insert(fingerprint) == new));
        }
        let mut near = Vec::new();
        for (i, index) in indexes.iter().enumerate() {
            assert_eq!(index.len(), scan.0.len());
            for &query in queries.iter().chain(scan.0.iter().take(100)).chain(scan.0.iter().rev().take(100)) {
                near.clear();
                index.within(query, &mut near);
                near.sort_unstable();
                assert_eq!(near, scan.within(query, k), "query {query:016x}, k = {k}, index {i}");
            }
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
                (0..errors)
                    .fold(centres[i % 40], |f, e| f ^ 1 << ((n >> (6 * (e % 10)) & 63) + u64::from(e / 10)).min(63))
            };
            let clustered: Vec<u64> = noise.iter().enumerate().map(flip).collect();
            check(k, 11, clustered.into_iter().chain(random(3).take(2000)), &centres);
        }
    }

    #[test]
    fn every_design_equals_a_scan() {
        for k in 0..=7 {
            for design in Design::all(k) {
                let near = |f: u64| {
                    (0..4).map(move |i| f ^ f.rotate_left(9 * i) & f.rotate_left(23) & f.rotate_left(41) & 0x1111)
                };
                let queries: Vec<u64> = random(5).take(30).chain([0]).collect();
                check_design(design, 3, random(5).take(150).flat_map(near), &queries);
            }
        }
    }

    #[test]
    fn equals_a_scan_on_adversarial_sets() {
        for k in 0..=10 {
            for load in [1, 11, 40] {
                let queries = [0, u64::MAX, 1 << 63, 0xffff];
                check(k, load, [], &queries);
                check(k, load, [0; 100], &queries);
                check(k, load, (0..64).map(|i| 1 << i), &queries);
                check(k, load, (0..600).map(|i| i << 16), &queries);
                check(k, load, (0..600).map(|i| i << 48), &queries);
                check(k, load, (0..600).map(|i| u64::MAX >> (i % 64) ^ i), &queries);
            }
        }
    }

    #[test]
    fn all_move_on_and_the_memory_is_given_back() {
        let mut index = Index::with_load(Design::standard(7), 11, 100, Some((3000, Design::flips(3, 7))));
        let mut fixed = Index::with_load(Design::flips(3, 7), 11, 0, None);
        let mut probe = Probe::default();
        let mut near = Vec::new();
        for (n, fingerprint) in random(7).take(5000).enumerate() {
            // A probe that is older than the last insertions.
            if n % 5 == 0 {
                index.begin(fingerprint, &mut probe);
            }
            assert!(index.insert(fingerprint) && fixed.insert(fingerprint));
            near.clear();
            index.finish(&probe, &mut near);
            assert!(near.contains(&(probe.query, 0)));
            assert_eq!(index.len(), n + 1);
        }
        assert_eq!(index.design().name, "flips-3");
        assert_eq!((index.sets.len(), index.retired.is_none()), (1, true));
        assert_eq!(index.sets[0].buckets(), fixed.sets[0].buckets());
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
