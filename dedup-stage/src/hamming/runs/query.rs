//! Queries of runs. A query would spend most of its time waiting for memory, so it announces what it will read.
//!
//! At its start it loads the places of the runs of all quarters. Then it goes from quarter to quarter: it loads the
//! beginnings of the runs, and reads the runs. The machine loads the further lines of a long run by itself. The rests
//! of entries that may be within `k` are loaded last. They are read when the runs of the next quarter are announced.

use super::entry::Entry;
use super::pool::Run;
use super::{Runs, quarter_of};
use crate::hamming::kernel::{Kernel, Limits};
use crate::hamming::memory::prefetch;

/// Some entries of a block that may be within `k`.
#[derive(Clone, Copy, Default)]
struct Likely {
    /// The number of the first entry of the block.
    at: u32,
    /// Bit i is set if entry i of the block may be within `k`.
    near: u32,
    /// The bits in which the key of the run differs from the query.
    change: u16,
}

/// A query on its way through the runs.
struct Search<'a, K> {
    runs: &'a Runs,
    kernel: K,
    query: u64,
}

impl Runs {
    /// This many runs are being loaded while the first of them is read.
    const AHEAD: usize = 34;
    /// The rests of this many blocks are loaded at a time.
    const LIKELY: usize = 128;

    /// Appends every fingerprint within `k` of `query`, with its distance, to `out`.
    #[inline(always)]
    pub fn within(&self, kernel: impl Kernel, query: u64, out: &mut Vec<(u64, u32)>) {
        let search = Search { runs: self, kernel, query };
        search.load_places();
        let mut waiting = [(Run::default(), 0); Self::AHEAD];
        let mut likely = [Likely::default(); Self::LIKELY];
        let (mut found, mut from) = (0, 0);
        for (q, quarter) in self.quarters.iter().enumerate() {
            for changes in quarter.ball.chunks(Self::AHEAD) {
                let n = search.load(q, changes, &mut waiting);
                search.report(from, &likely[..found], out);
                found = search.read(q, &waiting[..n], &mut likely, out);
                from = q;
            }
        }
        search.report(from, &likely[..found], out);
    }
}

impl<K: Kernel> Search<'_, K> {
    /// Starts to load the places of the first runs of each quarter.
    #[inline(always)]
    fn load_places(&self) {
        for (q, quarter) in self.runs.quarters.iter().enumerate() {
            let key = quarter_of(self.query, q);
            for change in quarter.ball.iter().take(Runs::AHEAD) {
                prefetch(&quarter.runs[usize::from(key ^ change)]);
            }
        }
    }

    /// Finds the runs of a quarter whose keys differ from the query by `changes`, and starts to load them. Returns how
    /// many are not empty.
    #[inline(always)]
    fn load(&self, q: usize, changes: &[u16], waiting: &mut [(Run, u16); Runs::AHEAD]) -> usize {
        let (key, runs) = (quarter_of(self.query, q), &self.runs.quarters[q].runs);
        let mut n = 0;
        for change in changes {
            let run = runs[usize::from(key ^ change)];
            waiting[n] = (run, *change);
            n += usize::from(run.len > 0);
            self.runs.pool.prefetch(run);
        }
        n
    }

    /// Reads runs of a quarter, and starts to load the rests of entries that may be within `k`. Returns how many blocks
    /// have such entries.
    #[inline(always)]
    fn read(
        &self,
        q: usize,
        waiting: &[(Run, u16)],
        likely: &mut [Likely; Runs::LIKELY],
        out: &mut Vec<(u64, u32)>,
    ) -> usize {
        let part = Entry::new(self.query, q).part;
        let mut found = 0;
        for (run, change) in waiting {
            let errors = change.count_ones();
            let limits = Limits { upper: self.runs.radii.halves[q / 2] - errors, whole: self.runs.k - errors };
            for (at, parts, used) in self.runs.pool.blocks(*run) {
                // There is no branch here, because a machine could not predict it.
                let near = self.kernel.near_parts(parts, part, limits) & used;
                likely[found] = Likely { at, near, change: *change };
                found += usize::from(near != 0);
                if found == likely.len() {
                    self.load_rests(likely);
                    self.report(q, likely, out);
                    found = 0;
                }
            }
        }
        self.load_rests(&likely[..found]);
        found
    }

    #[inline(always)]
    fn load_rests(&self, likely: &[Likely]) {
        // The rests of a block fill one cache line.
        likely.iter().for_each(|block| self.runs.pool.prefetch_rest(block.at));
    }

    /// Reports those entries of a quarter that are within `k`, unless an earlier quarter has.
    #[inline(always)]
    fn report(&self, quarter: usize, likely: &[Likely], out: &mut Vec<(u64, u32)>) {
        for block in likely {
            let key = quarter_of(self.query, quarter) ^ block.change;
            let mut near = block.near;
            while near != 0 {
                let at = block.at + near.trailing_zeros();
                near &= near - 1;
                let fingerprint = self.runs.pool.entry(at).fingerprint(quarter, key);
                let difference = fingerprint ^ self.query;
                let distance = difference.count_ones();
                let is_known = || (0..quarter).any(|earlier| self.runs.radii.catch(earlier, difference));
                if distance <= self.runs.k && !is_known() {
                    out.push((fingerprint, distance));
                }
            }
        }
    }
}
