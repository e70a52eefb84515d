//! A first look at the text of accepted pages, from memory.
//!
//! Fingerprints of pages crowd: in a large crawl dozens of accepted pages are near each page, and the second look finds
//! other text in nearly all of them. To read their sketches from the store costs more than all other work of the judge.
//! For nearly all of them, a part of the sketch is enough to see this, so this part is kept in memory.

use crate::signature::{Glance, Sketch};

/// The glances of all accepted pages by fingerprint.
///
/// A fingerprint is mixed to a *place*: the number of a shard, and a 16-bit *tag* within the shard. If two fingerprints
/// have the same place, or several pages have the same fingerprint, the place is *unclear*. Nothing is known about an
/// unclear place.
///
/// # Complexity
///
/// About 32 bytes for each fingerprint, with the room that vectors keep to grow. A look reads the tags of one shard,
/// which has 64 tags at a million fingerprints. An insertion moves half of a shard. At a million fingerprints about 500
/// are unclear.
#[derive(Debug)]
pub(super) struct Glances {
    shards: Box<[Shard]>,
}

/// The places of a shard.
#[derive(Clone, Debug, Default)]
struct Shard {
    /// The tags, sorted.
    tags: Vec<u16>,
    /// The glances, one for each tag. A glance of zeros says that the place is unclear. (So a text whose glance is all
    /// zero is unclear, too.)
    glances: Vec<Glance>,
}

/// The bits of a place that name the shard.
const SHARD_BITS: u32 = 14;

const UNCLEAR: Glance = [0; Sketch::GLANCE];

impl Default for Glances {
    fn default() -> Self {
        Self { shards: vec![Shard::default(); 1 << SHARD_BITS].into() }
    }
}

impl Glances {
    /// Adds the glance of an accepted page. `is_new` says that no page ever had this fingerprint.
    pub(super) fn insert(&mut self, fingerprint: u64, is_new: bool, sketch: &Sketch) {
        let (shard, tag) = place(fingerprint);
        let shard = &mut self.shards[shard];
        let at = shard.position(tag);
        if shard.tags.get(at) == Some(&tag) {
            shard.glances[at] = UNCLEAR;
            return;
        }
        if shard.tags.len() == shard.tags.capacity() {
            // Doubled shards would be half empty.
            let more = shard.tags.len() / 4 + 1;
            shard.tags.reserve_exact(more);
            shard.glances.reserve_exact(more);
        }
        shard.tags.insert(at, tag);
        shard.glances.insert(at, if is_new { sketch.glance() } else { UNCLEAR });
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        let place = size_of::<u16>() + size_of::<Glance>();
        self.shards.iter().map(|shard| size_of::<Shard>() + shard.tags.capacity() * place).sum()
    }

    /// Keeps those fingerprints whose pages may have the text of `sketch`. The pages with any other fingerprint
    /// certainly have other text.
    pub(super) fn retain<T>(&self, near: &mut Vec<(u64, T)>, sketch: &Sketch) {
        // Each look waits for memory. The waits for the tags overlap here: these loads do not depend on each other.
        // (The sum keeps them from being optimised away.)
        let tags = near.iter().map(|(fingerprint, _)| &self.shards[place(*fingerprint).0].tags);
        let ends = tags.flat_map(|tags| [tags.first(), tags.last()]).flatten();
        std::hint::black_box(ends.fold(0, |sum: u16, tag| sum.wrapping_add(*tag)));
        // So do the waits for the glances.
        let glances = near.iter().filter_map(|(fingerprint, _)| self.glance(*fingerprint));
        std::hint::black_box(glances.fold(0, |sum: u8, glance| sum.wrapping_add(glance[0])));
        near.retain(|(fingerprint, _)| !self.rules_out(*fingerprint, sketch));
    }

    fn glance(&self, fingerprint: u64) -> Option<&Glance> {
        let (shard, tag) = place(fingerprint);
        let shard = &self.shards[shard];
        let at = shard.position(tag);
        if shard.tags.get(at) == Some(&tag) { shard.glances.get(at) } else { None }
    }

    /// Whether the page with this fingerprint certainly has other text than `sketch`. False if there are several such
    /// pages.
    fn rules_out(&self, fingerprint: u64, sketch: &Sketch) -> bool {
        self.glance(fingerprint).is_some_and(|glance| *glance != UNCLEAR && sketch.rules_out(glance))
    }
}

impl Shard {
    /// The position of a tag, or the position where it belongs. To compare all tags with vector instructions is faster
    /// than a binary search, which guesses wrong at every step.
    fn position(&self, tag: u16) -> usize {
        self.tags.iter().map(|other| u32::from(*other < tag)).sum::<u32>() as usize
    }
}

/// The shard and the tag of a fingerprint. Fingerprints crowd, so all their bits are mixed first (Stafford's variant 13
/// of the finaliser of MurmurHash3).
fn place(fingerprint: u64) -> (usize, u16) {
    let mut mixed = (fingerprint ^ (fingerprint >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^= mixed >> 31;
    ((mixed >> (64 - SHARD_BITS)) as usize, mixed as u16)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// A sketch that differs from `base` in each bit with probability 1 / 2^`halvings`.
    fn sketch_near(base: &Sketch, halvings: u32, random: &mut fastrand::Rng) -> Sketch {
        let mut bytes = base.to_bytes();
        for byte in &mut bytes {
            *byte ^= (0..halvings).fold(0xff, |errors, _| errors & random.u8(..));
        }
        Sketch::from_bytes(bytes)
    }

    #[test]
    fn what_is_ruled_out_has_other_text_and_nearly_all_other_text_is_ruled_out() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut glances = Glances::default();
        let mut pages: HashMap<u64, Vec<Sketch>> = HashMap::new();
        let base = Sketch::from_bytes(std::array::from_fn(|_| random.u8(..)));
        for _ in 0..200_000 {
            // The fingerprints are near each other, as those of pages are. Some belong to several pages.
            let fingerprint = random.u64(..) & random.u64(..) & random.u64(..);
            let halvings = random.u32(1..5);
            let sketch = sketch_near(&base, halvings, &mut random);
            let same = pages.entry(fingerprint).or_default();
            glances.insert(fingerprint, same.is_empty(), &sketch);
            same.push(sketch);
        }
        let (mut others, mut missed, mut alike) = (0, 0, 0);
        for (fingerprint, sketches) in &pages {
            let same_text = sketches.iter().any(|sketch| sketch.compare(&base).alike);
            let ruled_out = glances.rules_out(*fingerprint, &base);
            assert!(!(same_text && ruled_out), "{fingerprint:016x}");
            let unrelated = sketches.iter().all(|sketch| sketch.compare(&base).resemblance < 0.1);
            others += u32::from(unrelated);
            missed += u32::from(unrelated && !ruled_out);
            alike += u32::from(same_text);
        }
        assert!(others > 10_000 && alike > 10_000, "{others} unrelated, {alike} alike");
        assert!(missed * 50 < others, "{missed} of {others} unrelated pages are not ruled out");
    }

    #[test]
    fn an_unclear_place_rules_nothing_out() {
        let (text, other) = (Sketch::from_bytes([0x55; 64]), Sketch::from_bytes([0xaa; 64]));
        let mut glances = Glances::default();
        assert!(!glances.rules_out(7, &other), "a fingerprint that was never met");
        glances.insert(7, true, &text);
        assert!(glances.rules_out(7, &other) && !glances.rules_out(7, &text));
        glances.insert(7, false, &other);
        assert!(!glances.rules_out(7, &other) && !glances.rules_out(7, &text), "two pages have the fingerprint");
        let clash = (8u64..).find(|fingerprint| place(*fingerprint) == place(7)).unwrap();
        let mut glances = Glances::default();
        glances.insert(7, true, &text);
        glances.insert(clash, true, &other);
        assert!(!glances.rules_out(7, &other) && !glances.rules_out(clash, &text), "two fingerprints have the place");
    }
}
