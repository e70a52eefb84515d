//! The paper's own way to find designs: split the fingerprint into blocks, choose the blocks that agree, and split the
//! other blocks again.

use super::key::Key;
use super::key::cut;

/// A way to split. The fingerprint is split into `splits[0]` blocks, of which k may differ. The bits of these k blocks
/// are split into `splits[1]` blocks, of which k may differ, and so on. The key gets the bits of the blocks that agree,
/// at each level.
///
/// # References
///
/// Manku, Jain, Das Sarma (WWW 2007), section 3.1.2: X(f, k, d) is the least number of tables for f bits, distance k
/// and 2^d fingerprints. It is 1 if d < p_min; otherwise it is the minimum over r > k of C(r, k) · X(fk/r, k, d - (r -
/// k)f/r). (Its examples take d = 34 for "8B" fingerprints; 8 · 10^9 is nearer to 2^33.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recursion {
    /// Number of blocks at each level.
    pub splits: Vec<u32>,
}

impl Recursion {
    /// The recursion X(f, k, d), with at most `most` blocks a level. Returns the least number of tables for which fewer
    /// than 2^`p_min` of 2^`d` fingerprints are expected to agree with a query in the key of a table, and the way to
    /// split.
    pub fn fewest_tables(f: f64, k: u32, d: f64, p_min: f64, most: u32) -> (u64, Self) {
        if d < p_min || k == 0 && f <= 0.0 {
            return (1, Self { splits: Vec::new() });
        }
        let mut best = (u64::MAX, Self { splits: Vec::new() });
        for r in k + 1..=most {
            let choices = binomial(u64::from(r), u64::from(k));
            let agree = f64::from(r - k) * f / f64::from(r);
            // A level that adds less than one bit is of no use.
            if agree < 1.0 || choices >= best.0 {
                continue;
            }
            let (tables, rest) = Self::fewest_tables(f - agree, k, d - agree, p_min, most);
            let total = choices.saturating_mul(tables);
            if total < best.0 {
                let splits = std::iter::once(r).chain(rest.splits).collect();
                best = (total, Self { splits });
            }
        }
        best
    }

    /// The keys over the 64 bits of a fingerprint.
    pub fn keys(&self, k: u32) -> Vec<Key> {
        let mut keys = Vec::new();
        self.extend(u64::MAX, 0, 0, k, &mut keys);
        keys
    }

    fn extend(&self, open: u64, agreed: u64, level: usize, k: u32, keys: &mut Vec<Key>) {
        let Some(&blocks) = self.splits.get(level) else {
            keys.push(Key { mask: agreed, flips: 0 });
            return;
        };
        let parts = cut(open, blocks);
        for choice in 0..1u32 << blocks {
            if choice.count_ones() == k {
                let differ = (0..blocks).filter(|i| choice >> i & 1 == 1).map(|i| parts[i as usize]).sum::<u64>();
                self.extend(differ, agreed | open & !differ, level + 1, k, keys);
            }
        }
    }
}

fn binomial(n: u64, k: u64) -> u64 {
    (0..k).fold(1, |product, i| product * (n - i) / (i + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's example: 2^34 fingerprints of 64 bits, distance 3.
    #[test]
    fn example_3_1() {
        let tables = |p_min| Recursion::fewest_tables(64.0, 3, 34.0, p_min, 12);
        assert_eq!(tables(19.0), (4, Recursion { splits: vec![4] }));
        assert_eq!(tables(10.0), (10, Recursion { splits: vec![5] }));
        assert_eq!(tables(7.0), (16, Recursion { splits: vec![4, 4] }));
        assert_eq!(tables(3.0), (20, Recursion { splits: vec![6] }));
    }
}
