//! All pairs within a distance in one set of fingerprints.

mod comparison;
mod flips;
mod grouped;
pub(super) mod kernel;
mod partition;
mod rotate;
mod rows;
mod sides;
mod thirds;

pub use flips::join;
pub use rotate::rotate;
pub use rows::{Listed, Pair, rows};
pub use sides::{Side, Sides, Visitor};

/// Pairs of *values*. Their rows are looked up later, when only few fingerprints are left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Near {
    /// Pairs of different fingerprints within the distance, the smaller value first; sorted, each once.
    pub pairs: Vec<(u64, u64)>,
    /// Fingerprints that occur more than once; sorted, each once.
    pub repeated: Vec<u64>,
}

impl Near {
    fn add(&mut self, a: u64, b: u64) {
        if a == b {
            self.repeated.push(a);
        } else {
            self.pairs.push((a.min(b), a.max(b)));
        }
    }

    fn merge(&mut self, other: Self) {
        self.pairs.extend(other.pairs);
        self.repeated.extend(other.repeated);
    }

    fn sorted(mut self) -> Self {
        self.pairs.sort_unstable();
        self.pairs.dedup();
        self.repeated.sort_unstable();
        self.repeated.dedup();
        self
    }
}

/// For fewer fingerprints than this, the fast method is not worth while.
const FEW: usize = 1 << 16;

/// All pairs of values within `k`, exactly. `done` is told the share of the work that was done since its last call.
pub fn near(fingerprints: &[u64], k: u32, threads: usize, done: &(dyn Fn(f64) + Sync)) -> Near {
    if k <= 3 && fingerprints.len() >= FEW {
        thirds::near(fingerprints, k, threads, done)
    } else {
        flips::near(fingerprints, k, threads, done)
    }
}

#[cfg(test)]
mod tests;
