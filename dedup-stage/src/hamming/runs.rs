//! Runs: whole fingerprints side by side in memory, sorted by quarters. They suit fingerprints that crowd, as those of
//! pages do.

use super::design::Design;
use super::kernel::Kernel;
use super::key::Key;
use super::memory::prefetch;
use super::segments::Segments;

/// A set of fingerprints, stored four times, once for each quarter of the bits. Fingerprints with the same quarter form a
/// *run*. They lie whole and side by side in memory.
///
/// Some bits are nearly the same in all fingerprints of one language or one site. Then the buckets of a ball have many
/// fingerprints, and the filter tells few of them apart. Runs compare whole fingerprints at once, and read memory line
/// after line.
///
/// # Complexity
///
/// A query looks up the ball of each quarter (68 runs at k = 7) and reads all fingerprints of these runs. A fingerprint
/// takes four times 8 bytes. Runs also have spare room beyond their length, and 2 MB are used in any case.
#[derive(Clone, Debug)]
pub struct Runs {
    k: u32,
    quarters: Vec<Quarter>,
    pool: Pool,
    len: usize,
    /// Runs of the first quarter before this one are empty.
    first: usize,
}

/// The runs of one quarter.
#[derive(Clone, Debug)]
struct Quarter {
    key: Key,
    shift: u32,
    /// The runs, by key bits.
    runs: Vec<Run>,
    /// XOR each of these to the key bits of a query to get all keys of its ball.
    ball: Vec<u32>,
}

/// The place of a run in memory, and its length. Its room is the next power of two, and at least two.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    at: u32,
    len: u32,
}

/// Memory of all runs.
#[derive(Clone, Debug)]
struct Pool {
    fingerprints: Segments<u64>,
    /// Unused room for 1, 2, 4, … fingerprints.
    free: Vec<Vec<u32>>,
}

impl Quarter {
    fn new(key: Key) -> Self {
        let (shift, bits) = (key.mask.trailing_zeros(), key.mask.count_ones());
        debug_assert_eq!(key.mask >> shift, (1 << bits) - 1, "the bits of a quarter lie together");
        let ball = (0..1u32 << bits).filter(|change| change.count_ones() <= key.flips).collect();
        Self { key, shift, runs: vec![Run::default(); 1 << bits], ball }
    }

    #[inline(always)]
    fn place(&self, fingerprint: u64) -> usize {
        ((fingerprint & self.key.mask) >> self.shift) as usize
    }
}

impl Runs {
    /// This many runs are being loaded while the first of them is read.
    const AHEAD: usize = 34;

    /// An empty set, for distances up to `k`.
    ///
    /// # Panics
    ///
    /// If k is below 3, because then fewer than four quarters are enough.
    pub fn new(k: u32) -> Self {
        let quarters = Design::flips(4, k).keys.into_iter().map(Quarter::new).collect();
        Self { k, quarters, pool: Pool { fingerprints: Segments::new(), free: vec![Vec::new(); 32] }, len: 0, first: 0 }
    }

    /// Number of fingerprints.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Bytes in use or set aside.
    pub fn bytes(&self) -> usize {
        let runs: usize = self.quarters.iter().map(|quarter| quarter.runs.len()).sum();
        let free: usize = self.pool.free.iter().map(Vec::capacity).sum();
        runs * size_of::<Run>() + self.pool.fingerprints.len() * size_of::<u64>() + free * size_of::<u32>()
    }

    /// Adds a fingerprint. The set must not have it.
    pub fn insert(&mut self, fingerprint: u64) {
        for quarter in &mut self.quarters {
            let place = quarter.place(fingerprint);
            self.pool.push(&mut quarter.runs[place], fingerprint);
        }
        self.first = self.first.min(self.quarters[0].place(fingerprint));
        self.len += 1;
    }

    /// Takes any fingerprint out.
    pub fn pop(&mut self) -> Option<u64> {
        let run = self.quarters[0].runs.iter().skip(self.first).position(|run| run.len > 0);
        self.first += run?;
        let last = self.quarters[0].runs[self.first];
        let fingerprint = self.pool.fingerprints[(last.at + last.len - 1) as usize];
        for quarter in &mut self.quarters {
            let place = quarter.place(fingerprint);
            self.pool.remove(&mut quarter.runs[place], fingerprint);
        }
        self.len -= 1;
        Some(fingerprint)
    }

    /// Calls `visit` with every fingerprint.
    pub fn for_each(&self, visit: &mut impl FnMut(u64)) {
        let runs = self.quarters[0].runs.iter();
        runs.for_each(|run| self.pool.blocks(*run).flatten().for_each(|fingerprint| visit(*fingerprint)));
    }

    /// Appends every fingerprint within `k` of `query`, with its distance, to `out`.
    #[inline(always)]
    pub fn within(&self, kernel: impl Kernel, query: u64, out: &mut Vec<(u64, u32)>) {
        let mut waiting = [Run::default(); Self::AHEAD];
        for (q, quarter) in self.quarters.iter().enumerate() {
            let place = quarter.place(query) as u32;
            for changes in quarter.ball.chunks(Self::AHEAD) {
                let mut n = 0;
                for change in changes {
                    let run = quarter.runs[(place ^ change) as usize];
                    waiting[n] = run;
                    n += usize::from(run.len > 0);
                    self.pool.prefetch(run);
                }
                for block in waiting[..n].iter().flat_map(|run| self.pool.blocks(*run)) {
                    let mut near = kernel.near_fingerprints(block, query, self.k);
                    while near != 0 {
                        self.found(q, query, block[near.trailing_zeros() as usize], out);
                        near &= near - 1;
                    }
                }
            }
        }
    }

    /// Reports a fingerprint, unless an earlier quarter has.
    fn found(&self, quarter: usize, query: u64, fingerprint: u64, out: &mut Vec<(u64, u32)>) {
        let difference = fingerprint ^ query;
        if !self.quarters[..quarter].iter().any(|quarter| quarter.key.catches(difference)) {
            out.push((fingerprint, difference.count_ones()));
        }
    }

    /// Whether a fingerprint is there.
    pub fn contains(&self, fingerprint: u64) -> bool {
        let quarter = &self.quarters[0];
        self.pool.blocks(quarter.runs[quarter.place(fingerprint)]).any(|block| block.contains(&fingerprint))
    }
}

impl Pool {
    /// The fingerprints of a run. (A block of 64 never straddles two segments.)
    #[inline(always)]
    fn blocks(&self, run: Run) -> impl Iterator<Item = &[u64]> {
        let starts = (0..run.len as usize).step_by(64);
        starts.map(move |i| self.fingerprints.slice(run.at as usize + i, 64.min(run.len as usize - i)))
    }

    #[inline(always)]
    fn prefetch(&self, run: Run) {
        for line in (0..run.len.min(32)).step_by(8) {
            prefetch(&self.fingerprints[(run.at + line) as usize]);
        }
    }

    fn push(&mut self, run: &mut Run, fingerprint: u64) {
        match run.len {
            0 => run.at = self.allocate(1),
            len if len > 1 && len.is_power_of_two() => {
                let (class, to) = (len.trailing_zeros(), self.allocate(len.trailing_zeros() + 1));
                for i in 0..len {
                    self.fingerprints[(to + i) as usize] = self.fingerprints[(run.at + i) as usize];
                }
                self.free[class as usize].push(run.at);
                run.at = to;
            }
            _ => {}
        }
        self.fingerprints[(run.at + run.len) as usize] = fingerprint;
        run.len += 1;
    }

    fn remove(&mut self, run: &mut Run, fingerprint: u64) {
        let is_it = |i: &u32| self.fingerprints[(run.at + i) as usize] == fingerprint;
        let i = (0..run.len).rev().find(is_it).expect("a fingerprint is in every quarter");
        run.len -= 1;
        self.fingerprints[(run.at + i) as usize] = self.fingerprints[(run.at + run.len) as usize];
        match run.len {
            0 => self.free[1].push(run.at),
            // The upper half is not needed any more.
            len if len > 1 && len.is_power_of_two() => self.free[len.trailing_zeros() as usize].push(run.at + len),
            _ => {}
        }
    }

    /// A place for `1 << class` fingerprints, at a multiple of this number.
    fn allocate(&mut self, class: u32) -> u32 {
        if let Some(at) = self.free[class as usize].pop() {
            return at;
        }
        // The places that alignment skips are free for shorter runs.
        while !self.fingerprints.len().is_multiple_of(1 << class) {
            let gap = self.fingerprints.len().trailing_zeros();
            self.free[gap as usize].push(self.fingerprints.len() as u32);
            self.extend(1 << gap);
        }
        let at = self.fingerprints.len() as u32;
        self.extend(1 << class);
        at
    }

    fn extend(&mut self, n: usize) {
        (0..n).for_each(|_| self.fingerprints.push(0));
    }
}
