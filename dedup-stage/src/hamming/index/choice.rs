//! The choice between list, runs and tables, by the estimated time of a query.

use super::Index;
use crate::hamming::runs::Runs;

/// The times of the parts of a query. The unit is the time to read one fingerprint of a list. (`cargo bench -p
/// dedup-stage --bench hamming_large -- real` measures them on fingerprints of pages.)
struct Cost;

impl Cost {
    /// Looking up the buckets, or the runs, of all keys near the key of the query.
    const BALL: f64 = 12_000.0;
    /// Reading an entry of a bucket, or a fingerprint of a run.
    const CANDIDATE: f64 = 3.0;
    /// Comparing a whole fingerprint, after its filter (the half that a bucket holds) was found to be within the
    /// distance.
    const PASSED: f64 = 300.0;
}

impl Index {
    /// The sample has about this many stored fingerprints.
    const STORED: usize = 2_048;
    /// The sample has about this many queries.
    const QUERIES: usize = 64;
    /// The choice is made as if there were at least this many fingerprints: tables that will be crowded soon are not
    /// worth a move.
    const HORIZON: f64 = 65_536.0;

    /// Chooses the form in which fingerprints outside the tables are kept from now on.
    ///
    /// Fingerprints of pages are not random. Pages of one language or of one site have bits in common. So some buckets
    /// have many entries. And fingerprints that are near in one half are often near in the other half, too, so the
    /// filter tells few of them apart. Both effects are estimated from pairs of stored fingerprints.
    pub(super) fn choose(&mut self) {
        let n = self.gathered() as f64;
        let (candidates, passed) = self.crowding();
        let runs = |n: f64| Cost::BALL + Cost::CANDIDATE * candidates * n;
        let tables = |n: f64| runs(n) + Cost::PASSED * passed * n;
        // The estimate is rough, so runs must be at least twice as fast.
        let soon = n.max(Self::HORIZON);
        let is_crowded = self.distance() > 3 && tables(soon) > 2.0 * runs(soon);
        match is_crowded {
            false => self.uses_tables = true,
            true if self.runs.is_none() && runs(n) < n => self.runs = Some(Runs::new(self.distance())),
            true => {}
        }
    }

    /// Returns two shares of all stored fingerprints, as means over queries for stored fingerprints, each summed over
    /// all tables: those that a query reads, and those of them whose filters are within the distance.
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
