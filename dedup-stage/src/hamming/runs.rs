//! Runs: fingerprints side by side, by quarters. They suit fingerprints that crowd into few buckets, as those of pages
//! do.

use super::design::Design;
use super::kernel::{Kernel, Limits};
use super::memory::prefetch;
use super::segments::Segments;

/// A set of fingerprints, stored four times, once for each quarter of the bits. Fingerprints with the same quarter form
/// a *run*. They lie side by side in memory.
///
/// Some bits are nearly the same in all fingerprints of one language or one site. So a ball of keys may have many
/// fingerprints, and runs must be fast to read: memory is read line after line, and 32 bits of each fingerprint are
/// compared first. The upper 16 of them are the *partner* of the quarter, which is the other quarter of the same half.
/// If two fingerprints are within `k`, they are near in one of the halves, too; and in this half they are near in one
/// of the quarters. So the partner tells most of a run apart (see [`Radii`]).
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

/// How many errors two fingerprints within `k` may have in the place where they are found: at least one quarter has no
/// more than its radius, and its half no more than the radius of the half.
///
/// The radii of both halves add up to k - 1, so `k` errors cannot exceed both. In the same way the radii of the
/// quarters of a half add up to the radius of the half, less one.
#[derive(Clone, Copy, Debug)]
struct Radii {
    quarters: [u32; 4],
    halves: [u32; 2],
}

impl Radii {
    fn new(k: u32) -> Self {
        let design = Design::flips(4, k);
        let quarters = std::array::from_fn(|q| design.keys[q].flips);
        Self { quarters, halves: std::array::from_fn(|h| quarters[2 * h] + quarters[2 * h + 1] + 1) }
    }

    /// Whether fingerprints with this difference are found by this quarter.
    fn catch(&self, quarter: usize, difference: u64) -> bool {
        let half = (difference >> (QUARTER * 2 * (quarter as u32 / 2))) as u32;
        quarter_of(difference, quarter).count_ones() <= self.quarters[quarter]
            && half.count_ones() <= self.halves[quarter / 2]
    }
}

/// A quarter of a fingerprint.
#[inline(always)]
fn quarter_of(fingerprint: u64, quarter: usize) -> u16 {
    (fingerprint >> (QUARTER * quarter as u32)) as u16
}

/// A fingerprint without the quarter that its run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    /// The partner, and below it a quarter of the other half.
    part: u32,
    /// The other quarter of the other half.
    rest: u16,
}

impl Entry {
    #[inline(always)]
    fn new(fingerprint: u64, quarter: usize) -> Self {
        let of = |other| quarter_of(fingerprint, other);
        Self { part: u32::from(of(quarter ^ 1)) << QUARTER | u32::from(of(quarter ^ 2)), rest: of(quarter ^ 3) }
    }

    #[inline(always)]
    fn fingerprint(self, quarter: usize, key: u16) -> u64 {
        let place = |bits: u16, quarter: usize| u64::from(bits) << (QUARTER * quarter as u32);
        place(key, quarter)
            | place((self.part >> QUARTER) as u16, quarter ^ 1)
            | place(self.part as u16, quarter ^ 2)
            | place(self.rest, quarter ^ 3)
    }
}

/// The runs of one quarter.
#[derive(Clone, Debug)]
struct Quarter {
    /// The runs, by the bits of the quarter.
    runs: Vec<Run>,
    /// XOR each of these to the bits of a query to get all keys of its ball.
    ball: Vec<u16>,
}

/// The place of a run in memory, and its length. Its room is the next power of two, and at least two.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    at: u32,
    len: u32,
}

/// Memory of all runs: the parts and the rests of entries, under the same numbers.
#[derive(Clone, Debug)]
struct Pool {
    parts: Segments<u32>,
    rests: Segments<u16>,
    /// Unused room for 1, 2, 4, … entries.
    free: Vec<Vec<u32>>,
}

impl Quarter {
    fn new(radius: u32) -> Self {
        let ball = (0..=u16::MAX).filter(|change| change.count_ones() <= radius).collect();
        Self { runs: vec![Run::default(); 1 << QUARTER], ball }
    }
}

impl Runs {
    /// This many runs are being loaded while the first of them is read, and this many rests.
    const AHEAD: usize = 34;

    /// An empty set, for distances up to `k`.
    ///
    /// # Panics
    ///
    /// If k is below 3, because then fewer than four quarters are enough.
    pub fn new(k: u32) -> Self {
        let radii = Radii::new(k);
        let quarters = radii.quarters.into_iter().map(Quarter::new).collect();
        let pool = Pool { parts: Segments::new(), rests: Segments::new(), free: vec![Vec::new(); 32] };
        Self { k, radii, quarters, pool, len: 0, first: 0 }
    }

    /// Number of fingerprints.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Bytes in use or set aside.
    pub fn bytes(&self) -> usize {
        let runs: usize = self.quarters.iter().map(|quarter| quarter.runs.len()).sum();
        let free: usize = self.pool.free.iter().map(Vec::capacity).sum();
        runs * size_of::<Run>() + self.pool.parts.bytes() + self.pool.rests.bytes() + free * size_of::<u32>()
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
            self.pool.remove(run, Entry::new(fingerprint, q));
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

    /// Appends every fingerprint within `k` of `query`, with its distance, to `out`.
    #[inline(always)]
    pub fn within(&self, kernel: impl Kernel, query: u64, out: &mut Vec<(u64, u32)>) {
        let mut waiting = [(Run::default(), 0); Self::AHEAD];
        let mut likely = [(0, 0, 0); Self::AHEAD];
        for (q, quarter) in self.quarters.iter().enumerate() {
            let (key, sought) = (quarter_of(query, q), Entry::new(query, q));
            let mut found = 0;
            for changes in quarter.ball.chunks(Self::AHEAD) {
                let mut n = 0;
                for change in changes {
                    let run = quarter.runs[usize::from(key ^ change)];
                    waiting[n] = (run, *change);
                    n += usize::from(run.len > 0);
                    self.pool.prefetch(run);
                }
                for (run, change) in &waiting[..n] {
                    let errors = change.count_ones();
                    let limits = Limits { upper: self.radii.halves[q / 2] - errors, whole: self.k - errors };
                    for (at, parts) in self.pool.blocks(*run) {
                        let mut near = kernel.near_parts(parts, sought.part, limits);
                        while near != 0 {
                            if found == likely.len() {
                                self.report(q, query, &likely, out);
                                found = 0;
                            }
                            let i = near.trailing_zeros();
                            likely[found] = (at + i, parts[i as usize], key ^ change);
                            prefetch(&self.pool.rests[(at + i) as usize]);
                            found += 1;
                            near &= near - 1;
                        }
                    }
                }
            }
            self.report(q, query, &likely[..found], out);
        }
    }

    /// Reports those entries of a quarter that are within `k`, unless an earlier quarter has. An entry is given by its
    /// number, its part and the bits of the quarter. Its rest was announced: nearly every look at one waits for memory.
    #[inline(always)]
    fn report(&self, quarter: usize, query: u64, likely: &[(u32, u32, u16)], out: &mut Vec<(u64, u32)>) {
        for (at, part, key) in likely {
            let entry = Entry { part: *part, rest: self.pool.rests[*at as usize] };
            let fingerprint = entry.fingerprint(quarter, *key);
            let difference = fingerprint ^ query;
            let distance = difference.count_ones();
            if distance <= self.k && !(0..quarter).any(|earlier| self.radii.catch(earlier, difference)) {
                out.push((fingerprint, distance));
            }
        }
    }

    /// Whether a fingerprint is there.
    pub fn contains(&self, fingerprint: u64) -> bool {
        let run = self.quarters[0].runs[usize::from(quarter_of(fingerprint, 0))];
        self.pool.find(run, Entry::new(fingerprint, 0)).is_some()
    }
}

impl Pool {
    /// The parts of a run, with the number of the first of each block. (A block of 64 never straddles two segments.)
    #[inline(always)]
    fn blocks(&self, run: Run) -> impl Iterator<Item = (u32, &[u32])> {
        let starts = (0..run.len).step_by(64);
        starts.map(move |i| (run.at + i, self.parts.slice((run.at + i) as usize, 64.min(run.len - i) as usize)))
    }

    #[inline(always)]
    fn prefetch(&self, run: Run) {
        for line in (0..run.len.min(64)).step_by(16) {
            prefetch(&self.parts[(run.at + line) as usize]);
        }
    }

    #[inline(always)]
    fn entry(&self, at: u32) -> Entry {
        Entry { part: self.parts[at as usize], rest: self.rests[at as usize] }
    }

    fn set(&mut self, at: u32, entry: Entry) {
        (self.parts[at as usize], self.rests[at as usize]) = (entry.part, entry.rest);
    }

    /// The number of an entry of a run.
    fn find(&self, run: Run, entry: Entry) -> Option<u32> {
        self.blocks(run).find_map(|(at, parts)| {
            let is_it = |i: &usize| parts[*i] == entry.part && self.rests[at as usize + i] == entry.rest;
            (0..parts.len()).find(is_it).map(|i| at + i as u32)
        })
    }

    fn push(&mut self, run: &mut Run, entry: Entry) {
        match run.len {
            0 => run.at = self.allocate(1),
            len if len > 1 && len.is_power_of_two() => {
                let (class, to) = (len.trailing_zeros(), self.allocate(len.trailing_zeros() + 1));
                (0..len).for_each(|i| self.set(to + i, self.entry(run.at + i)));
                self.free[class as usize].push(run.at);
                run.at = to;
            }
            _ => {}
        }
        self.set(run.at + run.len, entry);
        run.len += 1;
    }

    fn remove(&mut self, run: &mut Run, entry: Entry) {
        let at = self.find(*run, entry).expect("a fingerprint is in every quarter");
        run.len -= 1;
        self.set(at, self.entry(run.at + run.len));
        match run.len {
            0 => self.free[1].push(run.at),
            // The upper half is not needed any more.
            len if len > 1 && len.is_power_of_two() => self.free[len.trailing_zeros() as usize].push(run.at + len),
            _ => {}
        }
    }

    /// A place for `1 << class` fingerprints. Its number is a multiple of `1 << class`.
    fn allocate(&mut self, class: u32) -> u32 {
        if let Some(at) = self.free[class as usize].pop() {
            return at;
        }
        // What alignment skips is free for shorter runs.
        while !self.parts.len().is_multiple_of(1 << class) {
            let gap = self.parts.len().trailing_zeros();
            self.free[gap as usize].push(self.parts.len() as u32);
            self.extend(1 << gap);
        }
        let at = self.parts.len() as u32;
        self.extend(1 << class);
        at
    }

    fn extend(&mut self, n: usize) {
        for _ in 0..n {
            self.parts.push(0);
            self.rests.push(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every way to spread up to `k` errors over the quarters.
    #[test]
    fn every_error_is_caught() {
        for k in 3..=16 {
            let radii = Radii::new(k);
            for spread in 0..(k + 1).pow(4) {
                let errors: [u32; 4] = std::array::from_fn(|q| spread / (k + 1).pow(q as u32) % (k + 1));
                if errors.iter().sum::<u32>() <= k {
                    let difference = (0..4).fold(0, |all, q| all | ((1u64 << errors[q]) - 1) << (16 * q));
                    assert!((0..4).any(|quarter| radii.catch(quarter, difference)), "k = {k}, {errors:?}");
                }
            }
        }
    }

    #[test]
    fn an_entry_is_a_fingerprint_in_every_quarter() {
        let fingerprint = 0x0123_4567_89ab_cdef;
        for quarter in 0..4 {
            assert_eq!(
                Entry::new(fingerprint, quarter).fingerprint(quarter, quarter_of(fingerprint, quarter)),
                fingerprint
            );
        }
        assert_eq!(Entry::new(fingerprint, 2).part, 0x0123_cdef, "the partner is above");
    }
}
