//! Designs: the keys of all tables of an index, as data.

use serde::{Deserialize, Serialize};

use super::cover::{COVERS, Cover};
use super::key::{Key, cut};
use super::recursion::Recursion;

/// The keys of all tables of an index. If two fingerprints are within `distance` of each other, a query for one of them
/// finds the other in at least one table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Design {
    /// The name on the command line.
    pub name: String,
    /// Every fingerprint within this distance is found.
    pub distance: u32,
    /// One key for each table.
    pub keys: Vec<Key>,
}

impl Design {
    /// For k = 0, one table without flips. For any other k, two tables, one for each half. Their flips add up to k - 1;
    /// the first half has (k - 1) / 2 of them, rounded up. For k = 3 each half has one flip, because one of the halves
    /// has at most one error.
    pub fn halves(k: u32) -> Self {
        Self { name: "halves".into(), ..Self::flips(2.min(k + 1), k) }
    }

    /// One table for each of `blocks` blocks of bits. The flips of all tables add up to k - blocks + 1. If every block
    /// had more errors than its flips, there would be more than k errors.
    ///
    /// # Panics
    ///
    /// If there are more than k + 1 blocks, or none.
    pub fn flips(blocks: u32, k: u32) -> Self {
        assert!((1..=k + 1).contains(&blocks), "with more than k + 1 blocks some are not needed");
        let spare = k + 1 - blocks;
        let radius = |i: u32| (spare + blocks - 1 - i) / blocks;
        let masks = cut(u64::MAX, blocks);
        let keys = masks.into_iter().zip(0..).map(|(mask, i)| Key { mask, flips: radius(i) }).collect();
        Self { name: format!("flips-{blocks}"), distance: k, keys }
    }

    /// The simple designs of the paper. The k errors may lie in any k of the `blocks` blocks. So there is one table for
    /// each choice of the other blocks.
    pub fn choose(blocks: u32, k: u32) -> Self {
        let recursion = Recursion { splits: vec![blocks] };
        Self { name: format!("choose-{blocks}"), distance: k, keys: recursion.keys(k) }
    }

    /// For k = 3. One of the halves has at most one error. If this half is cut into c parts, c - 1 of them have no
    /// error. So there are 2c tables. The key of each is one half without one of its parts.
    pub fn drop_one(parts: u32) -> Self {
        let mut keys = Vec::new();
        for half in cut(u64::MAX, 2) {
            for part in cut(half, parts) {
                keys.push(Key { mask: half & !part, flips: 0 });
            }
        }
        Self { name: format!("drop-{parts}"), distance: 3, keys }
    }

    /// The design with the keys of a cover, over the 64 bits of a fingerprint.
    pub fn covering(cover: &Cover) -> Self {
        let blocks = cut(u64::MAX, cover.blocks);
        let mask = |key: &u16| (0..cover.blocks).filter(|i| key >> i & 1 == 1).map(|i| blocks[i as usize]).sum();
        let keys = cover.keys.iter().map(|key| Key { mask: mask(key), flips: 0 }).collect::<Vec<_>>();
        Self { name: format!("cover-{}", keys.len()), distance: 3, keys }
    }

    /// Every design known for this distance.
    pub fn all(k: u32) -> Vec<Self> {
        /// With more flips than this, a ball touches too many buckets.
        const MOST_FLIPS: u32 = 3;
        let blocks = (1..=k + 1).filter(|blocks| (k + 1 - blocks).div_ceil(*blocks) <= MOST_FLIPS);
        let mut designs: Vec<Self> =
            blocks.map(|blocks| if blocks == 2 { Self::halves(k) } else { Self::flips(blocks, k) }).collect();
        designs.extend((k + 1..=k + 3).filter(|blocks| *blocks > 1).map(|blocks| Self::choose(blocks, k)));
        if (2..=4).contains(&k) {
            let nested = Recursion { splits: vec![k + 1, k + 1] };
            designs.push(Self { name: format!("choose-{}x{0}", k + 1), distance: k, keys: nested.keys(k) });
        }
        if k == 3 {
            designs.extend((3..=5).map(Self::drop_one));
            designs.extend(COVERS.iter().map(Self::covering));
        }
        designs
    }

    /// The design with this name for this distance.
    pub fn named(name: &str, k: u32) -> Option<Self> {
        Self::all(k).into_iter().find(|design| design.name == name)
    }

    /// The design that the online index begins with. Up to k = 3 it has two halves, and a half needs at most one flip.
    /// Above, it has four quarters.
    pub fn standard(k: u32) -> Self {
        if k <= 3 { Self::halves(k) } else { Self::flips(4, k) }
    }

    /// The design for a large set, and the number of fingerprints from which on the online index uses it.
    ///
    /// A quarter has 65,536 keys. In a large set each key has so many fingerprints that reading them costs more than
    /// reading the many buckets of a larger ball around a third. (`cargo bench -p dedup-stage --bench hamming_large
    /// -- designs` measures where.)
    pub fn larger(k: u32) -> Option<(usize, Self)> {
        let from = match k {
            4 | 5 => 2_000_000,
            6 | 8 => 3_000_000,
            7 => 6_000_000,
            _ => return None,
        };
        Some((from, Self::flips(3, k)))
    }

    /// The standard design for a set whose size is known.
    pub fn for_size(k: u32, fingerprints: u64) -> Self {
        match Self::larger(k) {
            Some((from, design)) if fingerprints >= from as u64 => design,
            _ => Self::standard(k),
        }
    }

    /// Returns a difference of at most `distance` bits that no table catches. `None` proves that the design is exact.
    ///
    /// Bits that are in the same keys form a class. It is enough to try each way to spread the errors over the classes.
    /// It is also enough to try exactly `distance` errors: a table that catches all of them also catches any part of
    /// them.
    pub fn missed(&self) -> Option<u64> {
        let mut classes: Vec<(Vec<bool>, u64)> = Vec::new();
        for bit in (0..64).map(|i| 1u64 << i) {
            let keys: Vec<bool> = self.keys.iter().map(|key| key.mask & bit != 0).collect();
            match classes.iter_mut().find(|(k, _)| *k == keys) {
                Some((_, mask)) => *mask |= bit,
                None => classes.push((keys, bit)),
            }
        }
        let masks: Vec<u64> = classes.into_iter().map(|(_, mask)| mask).collect();
        self.missed_among(0, self.distance.min(64), &masks)
    }

    fn missed_among(&self, error: u64, left: u32, classes: &[u64]) -> Option<u64> {
        if left == 0 {
            return (!self.keys.iter().any(|key| key.catches(error))).then_some(error);
        }
        let (class, rest) = classes.split_first()?;
        let mut error = error;
        let mut bits = *class;
        for used in 0..=left.min(class.count_ones()) {
            if let Some(missed) = self.missed_among(error, left - used, rest) {
                return Some(missed);
            }
            error |= bits & bits.wrapping_neg();
            bits &= bits.wrapping_sub(1);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_design_catches_every_error() {
        for k in 0..=10 {
            for design in Design::all(k).into_iter().chain(Design::larger(k).map(|(_, design)| design)) {
                assert_eq!(design.missed(), None, "{}, k = {k}", design.name);
                assert_eq!(design.distance, k);
            }
        }
    }

    /// Tries every combination of single bits, so this test does not depend on the argument about classes.
    #[test]
    fn every_design_catches_every_error_bit_by_bit() {
        fn each(error: u64, from: u32, left: u32, visit: &mut impl FnMut(u64)) {
            visit(error);
            if left > 0 {
                (from..64).for_each(|bit| each(error | 1 << bit, bit + 1, left - 1, visit));
            }
        }
        for k in 0..=4 {
            let mut patterns = 0;
            let designs = Design::all(k);
            each(0, 0, k, &mut |error| {
                patterns += 1;
                for design in &designs {
                    assert!(design.keys.iter().any(|key| key.catches(error)), "{} misses {error:016x}", design.name);
                }
            });
            assert_eq!(patterns, [1, 65, 2081, 43_745, 679_121][k as usize]);
        }
    }

    #[test]
    fn a_hole_is_found() {
        for table in 0..4 {
            let mut design = Design::flips(4, 3);
            design.keys.remove(table);
            let missed = design.missed().expect("three tables are too few");
            assert!(missed.count_ones() <= 3 && !design.keys.iter().any(|key| key.catches(missed)));
        }
    }

    #[test]
    fn tables_and_key_bits_are_the_published_ones() {
        let shape = |name: &str| {
            let design = Design::named(name, 3).expect(name);
            let bits = design.keys.iter().map(|key| key.mask.count_ones());
            (design.keys.len(), bits.clone().min().unwrap(), bits.max().unwrap())
        };
        // Example 3.1 of the paper.
        assert_eq!(shape("choose-6"), (20, 31, 33));
        assert_eq!(shape("choose-4x4"), (16, 28, 28));
        assert_eq!(shape("choose-5"), (10, 25, 26));
        assert_eq!(shape("choose-4"), (4, 16, 16));
        // Better designs than that of the example.
        assert_eq!(shape("cover-14"), (14, 32, 32));
        assert_eq!(shape("cover-11").0, 11);
        assert!(shape("cover-11").1 >= 28);
        assert_eq!(shape("cover-8"), (8, 24, 24));
        assert_eq!(shape("drop-3"), (6, 21, 22));
        assert_eq!(shape("halves"), (2, 32, 32));
    }
}
