//! Min-wise sketches: a few numbers give unbiased estimates of resemblance.
//!
//! Broder, Charikar, Frieze, Mitzenmacher, "Min-Wise Independent Permutations" (STOC 1998); Broder, CPM 2000, section
//! 2; Li, König, "b-Bit Minwise Hashing" (WWW 2010).

use crate::words::fold_multiply;

/// The least value of a set under each of `t` permutations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minima(Vec<u64>);

impl Minima {
    /// The sketch of a set of hashes; `t` minima.
    pub fn new(hashes: &[u64], t: usize) -> Self {
        let mut minima = vec![u64::MAX; t];
        for &hash in hashes {
            for (i, least) in minima.iter_mut().enumerate() {
                *least = (*least).min(permute(hash, i as u64));
            }
        }
        Self(minima)
    }

    /// The share of equal minima. Its expectation is the resemblance r, its variance r(1-r)/t.
    pub fn resemblance(&self, other: &Minima) -> f64 {
        let equal = self.0.iter().zip(&other.0).filter(|(a, b)| a == b && **a != u64::MAX).count();
        equal as f64 / self.0.len().max(1) as f64
    }

    /// Estimates the resemblance from the lowest `bits` bits of each minimum. Different minima may agree in them by
    /// chance.
    pub fn resemblance_of_bits(&self, other: &Minima, bits: u32) -> f64 {
        let mask = (1u64 << bits) - 1;
        let equal = self.0.iter().zip(&other.0).filter(|(a, b)| (**a ^ **b) & mask == 0).count();
        let (share, chance) = (equal as f64 / self.0.len().max(1) as f64, (0.5f64).powi(bits as i32));
        ((share - chance) / (1.0 - chance)).max(0.0)
    }

    /// The minima.
    pub fn values(&self) -> &[u64] {
        &self.0
    }
}

/// A hash under permutation `i`.
fn permute(hash: u64, i: u64) -> u64 {
    fold_multiply(hash ^ i.wrapping_mul(0xE703_7ED1_A0B4_28DB), 0x8EBC_6AF0_9C88_C6E3 ^ i << 32) & (u64::MAX >> 1)
}

/// The `t` least values of a set under one permutation (Broder 1997, section 3: `MIN_s`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bottom {
    least: Vec<u64>,
    t: usize,
}

impl Bottom {
    /// The sketch of a set of hashes.
    pub fn new(hashes: &[u64], t: usize) -> Self {
        let mut least: Vec<u64> = hashes.iter().map(|hash| permute(*hash, 0)).collect();
        least.sort_unstable();
        least.dedup();
        least.truncate(t);
        Self { least, t }
    }

    /// Of the `t` least values of both sketches together, the share that both sketches have.
    pub fn resemblance(&self, other: &Bottom) -> f64 {
        let mut union: Vec<u64> = self.least.iter().chain(&other.least).copied().collect();
        union.sort_unstable();
        union.dedup();
        union.truncate(self.t);
        let in_both =
            |value: &&u64| self.least.binary_search(value).is_ok() && other.least.binary_search(value).is_ok();
        union.iter().filter(in_both).count() as f64 / union.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(range: std::ops::Range<u64>) -> Vec<u64> {
        range.map(|i| fold_multiply(i ^ 0xABCD, 0x9E37_79B9_7F4A_7C15)).collect()
    }

    #[test]
    fn estimates_are_near_the_truth() {
        for (a, b) in [(0..1000, 0..1000), (0..1000, 100..1100), (0..1000, 500..1500), (0..1000, 1000..2000)] {
            let overlap = (a.end.min(b.end) - b.start.min(a.end)) as f64;
            let truth = overlap / (2000.0 - overlap);
            let (x, y) = (set(a), set(b));
            let (mx, my) = (Minima::new(&x, 512), Minima::new(&y, 512));
            for estimate in [
                mx.resemblance(&my),
                mx.resemblance_of_bits(&my, 1),
                mx.resemblance_of_bits(&my, 4),
                Bottom::new(&x, 512).resemblance(&Bottom::new(&y, 512)),
            ] {
                assert!((estimate - truth).abs() < 0.12, "{estimate} for {truth}");
            }
        }
        assert_eq!(Minima::new(&[], 8).resemblance(&Minima::new(&[], 8)), 0.0);
    }
}
