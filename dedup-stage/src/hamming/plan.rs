//! Advice for `dedup-stage plan`: the design that suits a number of fingerprints, a distance and a memory.

use serde::Serialize;

use super::calibration::Calibration;
use super::code::low_mask;
use super::design::Design;
use super::frozen;
use super::index::Fill;
use super::key::View;
use super::recursion::Recursion;

/// The expected cost of a design.
#[derive(Clone, Debug, Serialize)]
pub struct Estimate {
    /// Name of the design.
    pub design: String,
    /// The number of tables.
    pub tables: usize,
    /// The number of bits of the shortest and of the longest key.
    pub key_bits: (u32, u32),
    /// The number of key bits that may differ, summed over all tables.
    pub flips: u32,
    /// Bytes for a fingerprint in an index file without rows.
    pub bytes_frozen: f64,
    /// Bytes for a fingerprint in the online index.
    pub bytes_online: f64,
    /// Buckets that a probe reads.
    pub lookups: f64,
    /// Fingerprints that a probe compares.
    pub candidates: f64,
    /// Nanoseconds of one probe of an index file in memory.
    pub nanoseconds: f64,
    /// Whether the index file fits into the allowed memory.
    pub fits: bool,
}

/// All designs (first those that fit, the fastest first), and the results of the paper's recursion.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// The number of fingerprints to be stored.
    pub fingerprints: u64,
    /// The distance.
    pub distance: u32,
    /// The allowed bytes.
    pub memory: Option<u64>,
    /// The fastest design that fits, if there is one.
    pub chosen: Option<String>,
    /// All known designs.
    pub designs: Vec<Estimate>,
    /// X(f, k, d) for each p_min at which its value changes.
    pub recursion: Vec<Recursed>,
}

/// One result of the paper's recursion.
#[derive(Clone, Debug, Serialize)]
pub struct Recursed {
    /// The least p_min with this result.
    pub p_min: u32,
    /// Number of tables.
    pub tables: u64,
    /// Number of blocks at each level.
    pub splits: Vec<u32>,
}

/// Estimates the cost of a design.
pub fn estimate(design: &Design, fingerprints: u64, memory: Option<u64>, machine: Calibration) -> Estimate {
    let n = fingerprints.max(1) as f64;
    let (mut bits_frozen, mut lookups, mut candidates, mut lines) = (0.0, 0.0, 0.0, 0.0);
    for key in &design.keys {
        let bits = frozen::IndexSpec::bits(*key, fingerprints);
        let buckets = 2f64.powi(bits as i32);
        bits_frozen += 64.0 - f64::from(bits) + 16.0 * buckets / n;
        let neighbours = View::new(*key).code().neighbours();
        // The number of buckets of a ball that differ above their low bits.
        let apart = |low: u32| {
            let size = |list: &Vec<u32>| {
                let mut list: Vec<u32> = list.iter().map(|change| (change & low_mask(bits)) >> low).collect();
                list.sort_unstable();
                list.dedup();
                list.len()
            };
            neighbours.iter().map(size).sum::<usize>() as f64 / neighbours.len() as f64
        };
        let visited = apart(0);
        let each = n / buckets;
        lookups += visited;
        candidates += visited * each;
        // A cache line holds 32 buckets of the directory, or 16 filters. The filters of a bucket begin anywhere in a
        // line.
        let together = (16.0 / each).log2().max(0.0) as u32;
        lines += apart(5) + apart(together) + Calibration::NEXT_LINE * visited * each / 16.0;
    }
    let bytes_frozen = bits_frozen / 8.0;
    let ones = design.keys.iter().map(|key| key.mask.count_ones());
    Estimate {
        design: design.name.clone(),
        tables: design.keys.len(),
        key_bits: (ones.clone().min().unwrap_or(0), ones.max().unwrap_or(0)),
        flips: design.keys.iter().map(|key| key.flips).sum(),
        bytes_frozen,
        bytes_online: design.keys.len() as f64 * Fill::Fast.bytes(),
        lookups,
        candidates,
        nanoseconds: machine.nanoseconds(lookups, candidates, lines, bytes_frozen * n),
        fits: memory.is_none_or(|memory| bytes_frozen * n <= memory as f64),
    }
}

/// Estimates the cost of every known design.
pub fn plan(fingerprints: u64, distance: u32, memory: Option<u64>, bits: u32, machine: Calibration) -> Plan {
    let mut designs: Vec<Estimate> = match bits {
        64 => Design::all(distance).iter().map(|design| estimate(design, fingerprints, memory, machine)).collect(),
        _ => Vec::new(),
    };
    designs.sort_by(|a, b| b.fits.cmp(&a.fits).then(a.nanoseconds.total_cmp(&b.nanoseconds)));
    let chosen = designs.first().filter(|best| best.fits).map(|best| best.design.clone());
    let d = (fingerprints.max(1) as f64).log2();
    let mut recursion: Vec<Recursed> = Vec::new();
    for p_min in 1..=d.ceil() as u32 + 1 {
        let most = distance + 9;
        let (tables, way) = Recursion::fewest_tables(f64::from(bits), distance, d, f64::from(p_min), most);
        if tables < u64::MAX && recursion.last().is_none_or(|last| last.tables != tables) {
            recursion.push(Recursed { p_min, tables, splits: way.splits });
        }
    }
    Plan { fingerprints, distance, memory, chosen, designs, recursion }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: Calibration = Calibration { query: 30.0, visit: 4.0, candidate: 0.5, line: 6.0 };

    #[test]
    fn a_billion_in_ten_gigabytes_takes_the_two_halves() {
        let plan = plan(1_000_000_000, 3, Some(10_000_000_000), 64, MACHINE);
        assert_eq!(plan.chosen.as_deref(), Some("halves"));
        let halves = &plan.designs[0];
        assert!((9.0..10.0).contains(&halves.bytes_frozen));
        assert!((32.0..=34.0).contains(&halves.lookups));
    }

    #[test]
    fn the_papers_example_can_be_read_off() {
        let plan = plan(1 << 34, 3, None, 64, MACHINE);
        let tables: Vec<u64> = plan.recursion.iter().map(|r| r.tables).collect();
        assert!([20, 16, 10, 4].iter().all(|t| tables.contains(t)), "{tables:?}");
        let bits = |name: &str| plan.designs.iter().find(|e| e.design == name).map(|e| (e.tables, e.key_bits));
        assert_eq!(bits("choose-6"), Some((20, (31, 33))));
        assert_eq!(bits("choose-4"), Some((4, (16, 16))));
    }

    #[test]
    fn nothing_fits_into_nothing() {
        assert_eq!(plan(1_000_000, 3, Some(1), 64, MACHINE).chosen, None);
    }
}
