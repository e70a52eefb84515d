//! Designs: which bits the tables of an index are keyed by, as data.

use serde::{Deserialize, Serialize};

use super::cover::{COVERS, Cover};
use super::key::{Key, cut};
use super::recursion::Recursion;

/// Keys such that of any two fingerprints within `distance`, at least one table finds one by the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Design {
    /// What it is called on the command line.
    pub name: String,
    /// The distance within which nothing is missed.
    pub distance: u32,
    /// One table each.
    pub keys: Vec<Key>,
}

impl Design {
    /// Two halves, the first with (k - 1) / 2 flips rounded up, the second with the rest: for k = 3, one half has at most one error.
    pub fn halves(k: u32) -> Self {
        Self { name: "halves".into(), ..Self::flips(2.min(k + 1), k) }
    }

    /// `blocks` exact or flipped blocks: the radii add up to k - blocks + 1, so not all blocks can exceed theirs.
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

    /// The paper's simple designs: of `blocks` blocks any k may differ, so there is a table for each choice of the others.
    pub fn choose(blocks: u32, k: u32) -> Self {
        let recursion = Recursion { splits: vec![blocks] };
        Self { name: format!("choose-{blocks}"), distance: k, keys: recursion.keys(k) }
    }

    /// For k = 3: one half has at most one error, so in one half there are c - 1 of c parts without any. 2c tables.
    pub fn drop_one(parts: u32) -> Self {
        let mut keys = Vec::new();
        for half in cut(u64::MAX, 2) {
            for part in cut(half, parts) {
                keys.push(Key { mask: half & !part, flips: 0 });
            }
        }
        Self { name: format!("drop-{parts}"), distance: 3, keys }
    }

    /// The design of a cover, over the 64 bits of a fingerprint.
    pub fn covering(cover: &Cover) -> Self {
        let blocks = cut(u64::MAX, cover.blocks);
        let mask = |key: &u16| (0..cover.blocks).filter(|i| key >> i & 1 == 1).map(|i| blocks[i as usize]).sum();
        let keys = cover.keys.iter().map(|key| Key { mask: mask(key), flips: 0 }).collect::<Vec<_>>();
        Self { name: format!("cover-{}", keys.len()), distance: 3, keys }
    }

    /// Every design known for this distance.
    pub fn all(k: u32) -> Vec<Self> {
        /// More flips than these touch too many buckets.
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

    /// The design of that name for this distance.
    pub fn named(name: &str, k: u32) -> Option<Self> {
        Self::all(k).into_iter().find(|design| design.name == name)
    }

    /// What the online index uses unless told otherwise: the two halves while they need no more than one flip each, four quarters above.
    pub fn standard(k: u32) -> Self {
        if k <= 3 { Self::halves(k) } else { Self::flips(4, k) }
    }

    /// From how many fingerprints on the online index does better with another design than the standard one, and with which.
    ///
    /// Quarters have 65,536 keys: of a large set each bucket holds so many that reading them costs more than the many buckets of a
    /// ball of radius 2 around a third. (`cargo bench -p dedup-stage --bench hamming_large -- designs` measures where.)
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

    /// A difference of at most `distance` bits that no table catches: `None` is the proof that the design is exact.
    ///
    /// Bits that lie in the same keys are alike, so it is enough to try each way to spread the errors over the classes of like bits,
    /// and only with all `distance` errors, because fewer are caught whenever more are.
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

    /// By single bits, which does not trust the argument about classes.
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
        // And what beats it.
        assert_eq!(shape("cover-14"), (14, 32, 32));
        assert_eq!(shape("cover-11").0, 11);
        assert!(shape("cover-11").1 >= 28);
        assert_eq!(shape("cover-8"), (8, 24, 24));
        assert_eq!(shape("drop-3"), (6, 21, 22));
        assert_eq!(shape("halves"), (2, 32, 32));
    }
}
