//! Rotate, sort, compare neighbours: the approximate method of the paper's slides, for comparison.

use super::Near;

/// Pairs of values within `k` that are neighbours in the sorted order of one of 64 rotations. If two values differ only
/// in the low bits of some rotation, they are likely to be neighbours, but not certain.
///
/// # References
///
/// Manku's slides to "Detecting Near-Duplicates for Web Crawling" (WWW 2007); Ravichandran, Pantel, Hovy, "Randomized
/// Algorithms and NLP" (ACL 2005), section 3, after Charikar (STOC 2002).
pub fn rotate(fingerprints: &[u64], k: u32, done: &(dyn Fn(f64) + Sync)) -> Near {
    let mut near = Near::default();
    let mut values = fingerprints.to_vec();
    values.sort_unstable();
    near.repeated.extend(values.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]));
    values.dedup();
    for rotation in 0..64 {
        let mut rotated: Vec<u64> = values.iter().map(|value| value.rotate_left(rotation)).collect();
        rotated.sort_unstable();
        for pair in rotated.windows(2).filter(|pair| (pair[0] ^ pair[1]).count_ones() <= k) {
            near.add(pair[0].rotate_right(rotation), pair[1].rotate_right(rotation));
        }
        if rotation % 8 == 7 {
            near.pairs.sort_unstable();
            near.pairs.dedup();
        }
        done(1.0 / 64.0);
    }
    near.sorted()
}
