//! Which of very many fingerprints may be near one of a set: two bits of a bitmap each.

use super::code::for_each_error;
use super::memory::{prefetch, zeros};

/// Halves of fingerprints, with all that is near them: two bitmaps, one for each half.
///
/// Whoever is within k of a member has one half within its radius of the member's (the radii add up to k - 1). Each member's half is
/// entered with all its variants, so that asking takes one bit for each half, wherever the errors are.
///
/// # Complexity
///
/// Up to 2^32 bits for each half (1 GiB together), less for small sets; two independent reads for each fingerprint asked for.
///
/// # References
///
/// Manku, Jain, Das Sarma (WWW 2007), section 3.3, whose batch jobs keep the queries in memory and stream what is stored.
#[derive(Debug)]
pub struct Filter {
    halves: [Vec<u64>; 2],
    shift: u32,
}

impl Filter {
    /// Fingerprints whose bits are being loaded while one is looked at.
    const AHEAD: usize = 32;

    /// The filter of a set, or `None` where it would let too much through.
    pub fn new(members: &[u64], k: u32) -> Option<Self> {
        if !(1..=5).contains(&k) {
            return None;
        }
        let radii = [k / 2, (k - 1) / 2];
        let mut variants = Vec::new();
        for_each_error(32, radii[0], &mut |error| variants.push(error));
        // One bit in 128 is set, one in 16 at the worst.
        let entered = (variants.len() * members.len()).max(1) as u64;
        if entered > 1 << 28 {
            return None;
        }
        let bits = (entered.ilog2() + 8).clamp(16, 32);
        let shift = 32 - bits;
        let mut halves = [Vec::new(), Vec::new()];
        std::thread::scope(|scope| {
            for (i, half) in halves.iter_mut().enumerate() {
                let radius = radii[i];
                let variants = &variants;
                scope.spawn(move || {
                    let mut bitmap = zeros(1 << (bits - 6));
                    for &member in members {
                        let own = (member >> (32 * i)) as u32;
                        for error in variants.iter().filter(|error| error.count_ones() <= radius) {
                            let place = place(own ^ error, shift);
                            bitmap[place / 64] |= 1 << (place % 64);
                        }
                    }
                    *half = bitmap;
                });
            }
        });
        Some(Self { halves, shift })
    }

    /// Collects the positions of fingerprints that may be near a member.
    pub fn pass(&self, fingerprints: &[u64], positions: &mut Vec<u32>) {
        positions.clear();
        positions.resize(fingerprints.len(), 0);
        let [low, high] = self.halves.each_ref().map(Vec::as_slice);
        let mask = low.len() - 1;
        let bit = |bitmap: &[u64], place: usize| bitmap[(place / 64) & mask] >> (place % 64);
        let (low_place, high_place) =
            (|f: u64| place(f as u32, self.shift), |f: u64| place((f >> 32) as u32, self.shift));
        let mut passed = 0;
        // Written always and counted sometimes: the reads of the bitmaps do not wait for each other.
        for (fingerprint, i) in fingerprints.iter().zip(0..) {
            if let Some(&later) = fingerprints.get(i as usize + Self::AHEAD) {
                prefetch(&low[(low_place(later) / 64) & mask]);
                prefetch(&high[(high_place(later) / 64) & mask]);
            }
            let may = bit(low, low_place(*fingerprint)) | bit(high, high_place(*fingerprint));
            positions[passed] = i;
            passed += (may & 1) as usize;
        }
        positions.truncate(passed);
    }
}

/// The bit of a half: itself, or a hash.
#[inline(always)]
fn place(half: u32, shift: u32) -> usize {
    if shift == 0 { half as usize } else { (half.wrapping_mul(0x9e37_79b1) >> shift) as usize }
}
