//! All pairs for any distance: sort by each key of a design, compare who agrees in it.

use super::Near;
use super::kernel::all;
use crate::hamming::design::Design;
use crate::hamming::permutation::Permutation;

/// All pairs of values within `k`.
///
/// # Complexity
///
/// A sort for each table of the design, and N² / 2^(key bits + 1) comparisons. Of the designs that choose keys among 1 to 3 more blocks than
/// may differ, the one for which this comes out cheapest.
///
/// # References
///
/// Manku, Jain, Das Sarma (WWW 2007), section 3.1: the tables; Tabei et al., "Single versus Multiple Sorting in All Pairs Similarity
/// Search" (ACML 2010), for the join by repeated sorting.
pub fn near(fingerprints: &[u64], k: u32, done: &(dyn Fn(f64) + Sync)) -> Near {
    let mut near = Near::default();
    let mut values = fingerprints.to_vec();
    values.sort_unstable();
    near.repeated.extend(values.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]));
    values.dedup();
    if k > 0 {
        match cheapest(values.len(), k) {
            Some(design) => {
                for (i, key) in design.keys.iter().enumerate() {
                    join(&values, key.mask, k, &mut |a, b| {
                        let difference = a ^ b;
                        if !design.keys[..i].iter().any(|earlier| earlier.catches(difference)) {
                            near.add(a, b);
                        }
                    });
                    done(1.0 / design.keys.len() as f64);
                }
            }
            None => all(&values, k, &mut |a, b| near.add(a, b)),
        }
    }
    near.sorted()
}

/// The cheapest design, or `None` where comparing all with all is no worse.
fn cheapest(n: usize, k: u32) -> Option<Design> {
    const MOST_TABLES: usize = 300;
    let n = n as f64;
    // A comparison takes a fraction of a nanosecond, the sorting of an element some thirty.
    let cost = |design: &Design| {
        let bits = |mask: u64| f64::from(mask.count_ones());
        design.keys.iter().map(|key| 40.0 * n + 0.3 * n * n / 2f64.powf(bits(key.mask))).sum::<f64>()
    };
    (k + 1..=k + 3)
        .filter(|blocks| *blocks <= 20)
        .map(|blocks| Design::choose(blocks, k))
        .filter(|design| design.keys.len() <= MOST_TABLES)
        .map(|design| (cost(&design), design))
        .filter(|(cost, _)| *cost < 0.15 * n * n)
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, design)| design)
}

/// Pairs within `k` that agree in the bits of `mask`.
fn join(values: &[u64], mask: u64, k: u32, found: &mut impl FnMut(u64, u64)) {
    let permutation = Permutation::to_front(!mask);
    let rest = 64 - mask.count_ones();
    // With the key at the high end, whoever agrees in it is sorted together.
    let mut permuted: Vec<u64> = values.iter().map(|value| permutation.apply(*value)).collect();
    permuted.sort_unstable();
    for group in permuted.chunk_by(|a, b| u128::from(a ^ b) >> rest == 0) {
        if group.len() > 1 {
            all(group, k, &mut |a, b| found(permutation.undo(a), permutation.undo(b)));
        }
    }
}
