//! What fingerprints are best kept in: a list, runs or tables.

use super::Index;
use crate::hamming::runs::Runs;

/// What a probe of each form takes, in the time that one fingerprint of a list is read. (`cargo bench -p dedup-stage --bench
/// hamming_large -- real` measures them on fingerprints of pages.)
struct Cost;

impl Cost {
    /// Looking up the buckets, or runs, of a ball.
    const BALL: f64 = 12_000.0;
    /// Reading an entry of a bucket, or a fingerprint of a run.
    const CANDIDATE: f64 = 3.0;
    /// Looking at an entry whose bucket holds half of it close enough.
    const PASSED: f64 = 300.0;
}

impl Index {
    /// Fingerprints of the sample, as stored and as queries.
    const STORED: usize = 2_048;
    const QUERIES: usize = 64;
    /// So many there will be, for all that is known: not worth moving to tables that crowd soon.
    const HORIZON: f64 = 65_536.0;

    /// Chooses anew what is not in the tables yet is kept in. Fingerprints of pages are not random: what one language or one site has
    /// in common leaves some buckets crowded, and half a fingerprint says little of the whole. How much is estimated from pairs.
    pub(super) fn choose(&mut self) {
        let n = self.gathered() as f64;
        let (candidates, passed) = self.crowding();
        let runs = |n: f64| Cost::BALL + Cost::CANDIDATE * candidates * n;
        let tables = |n: f64| runs(n) + Cost::PASSED * passed * n;
        // Runs take twice the memory.
        let soon = n.max(Self::HORIZON);
        let is_crowded = self.distance() > 3 && tables(soon) > 2.0 * runs(soon);
        match is_crowded {
            false => self.moving = true,
            true if self.runs.is_none() && runs(n) < n => self.runs = Some(Runs::new(self.distance())),
            true => {}
        }
    }

    /// The shares of pairs that a table brings together, and that half of the bits do not tell apart then; all tables together.
    fn crowding(&self) -> (f64, f64) {
        let mut sample = Vec::new();
        let (mut i, step) = (0, self.gathered().div_ceil(Self::STORED).max(1));
        self.for_each_gathered(&mut |fingerprint| {
            if i % step == 0 {
                sample.push(fingerprint);
            }
            i += 1;
        });
        let queries = || sample.iter().step_by(sample.len().div_ceil(Self::QUERIES).max(1));
        let (mut candidates, mut passed) = (0, 0);
        for (key, table) in self.design().keys.iter().zip(&self.newest().tables) {
            for (query, other) in queries().flat_map(|query| sample.iter().map(move |other| (query, other))) {
                if query != other && key.catches(query ^ other) {
                    candidates += 1;
                    let differing = table.keyed(*query).filter ^ table.keyed(*other).filter;
                    passed += usize::from(differing.count_ones() <= self.distance());
                }
            }
        }
        let pairs = (queries().count() * sample.len()).max(1) as f64;
        (candidates as f64 / pairs, passed as f64 / pairs)
    }
}
