//! Where two fingerprints within `k` are near: in one of the halves, and there in one of the quarters.

use super::{QUARTER, quarter_of};
use crate::hamming::design::Design;

/// How many errors two fingerprints within `k` may have in the place where they are found: at least one quarter has no
/// more than its radius, and its half no more than the radius of the half.
///
/// The radii of both halves add up to k - 1, so `k` errors cannot exceed both. In the same way the radii of the
/// quarters of a half add up to the radius of the half, less one.
#[derive(Clone, Copy, Debug)]
pub struct Radii {
    /// The radius of each quarter.
    pub quarters: [u32; 4],
    /// The radius of each half.
    pub halves: [u32; 2],
}

impl Radii {
    /// The radii for `k`.
    pub fn new(k: u32) -> Self {
        let design = Design::flips(4, k);
        let quarters = std::array::from_fn(|q| design.keys[q].flips);
        Self { quarters, halves: std::array::from_fn(|h| quarters[2 * h] + quarters[2 * h + 1] + 1) }
    }

    /// Whether fingerprints with this difference are found by this quarter.
    pub fn catch(&self, quarter: usize, difference: u64) -> bool {
        let half = (difference >> (QUARTER * 2 * (quarter as u32 / 2))) as u32;
        quarter_of(difference, quarter).count_ones() <= self.quarters[quarter]
            && half.count_ones() <= self.halves[quarter / 2]
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
}
