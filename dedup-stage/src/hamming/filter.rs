//! A filter: out of very many fingerprints, it picks those that may be near a member of a set. It reads two bits for
//! each fingerprint.

use super::code::for_each_error;
use super::memory::{prefetch_in, zeros};

/// Two bitmaps, one for each half of a fingerprint. Each holds the halves of all members, and every value near one of
/// them.
///
/// Each half has a radius, and the two radii add up to k - 1. A fingerprint that is within k of a member has at most k
/// errors, so in at least one half it has no more errors than the radius of this half. All values within the radius are
/// in the bitmap. So one bit answers for each half.
///
/// # Complexity
///
/// Up to 2^32 bits for each half (1 GiB together), and fewer for small sets. Two independent reads for each fingerprint
/// that is looked at.
///
/// # References
///
/// Manku, Jain, Das Sarma (WWW 2007), section 3.3, whose batch jobs keep the queries in memory and stream what is
/// stored.
#[derive(Debug)]
pub struct Filter {
    halves: [Vec<u64>; 2],
    shift: u32,
}

impl Filter {
    /// While one fingerprint is looked at, the bits of this many others are being loaded.
    const AHEAD: usize = 32;

    /// The filter of a set. `None` if the filter would let too much through.
    pub fn new(members: &[u64], k: u32) -> Option<Self> {
        if !(1..=5).contains(&k) {
            return None;
        }
        let radii = [k / 2, (k - 1) / 2];
        let mut variants = Vec::new();
        for_each_error(32, radii[0], &mut |error| variants.push(error));
        // About one bit in 128 of each bitmap is set, and at most one in 16.
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
                    let own = |member: u64| (member >> (32 * i)) as u32;
                    let errors: Vec<u32> =
                        variants.iter().filter(|error| error.count_ones() <= radius).copied().collect();
                    for (m, &member) in members.iter().enumerate() {
                        if let Some(next) = members.get(m + 1) {
                            errors.iter().for_each(|e| prefetch_in(&bitmap, place(own(*next) ^ e, shift) / 64));
                        }
                        for error in &errors {
                            let place = place(own(member) ^ error, shift);
                            bitmap[place / 64] |= 1 << (place % 64);
                        }
                    }
                    *half = bitmap;
                });
            }
        });
        Some(Self { halves, shift })
    }

    /// For each half, collects the positions of the fingerprints whose half may be near that half of a member.
    pub fn pass(&self, fingerprints: &[u64], positions: &mut [Vec<u32>; 2]) {
        for positions in positions.iter_mut() {
            positions.clear();
            positions.resize(fingerprints.len(), 0);
        }
        let [low, high] = self.halves.each_ref().map(Vec::as_slice);
        let [of_low, of_high] = positions.each_mut().map(Vec::as_mut_slice);
        let mask = low.len() - 1;
        let bit = |bitmap: &[u64], place: usize| (bitmap[(place / 64) & mask] >> (place % 64) & 1) as usize;
        let (low_place, high_place) =
            (|f: u64| place(f as u32, self.shift), |f: u64| place((f >> 32) as u32, self.shift));
        let (mut passed_low, mut passed_high) = (0, 0);
        // The position is always written, and counted only if the bit is set. So no read of the bitmaps waits for
        // another one.
        for (fingerprint, i) in fingerprints.iter().zip(0..) {
            if let Some(&later) = fingerprints.get(i as usize + Self::AHEAD) {
                prefetch_in(low, low_place(later) / 64);
                prefetch_in(high, high_place(later) / 64);
            }
            of_low[passed_low] = i;
            of_high[passed_high] = i;
            passed_low += bit(low, low_place(*fingerprint));
            passed_high += bit(high, high_place(*fingerprint));
        }
        positions[0].truncate(passed_low);
        positions[1].truncate(passed_high);
    }
}

/// The bit of a half: the half itself, or its hash.
#[inline(always)]
fn place(half: u32, shift: u32) -> usize {
    if shift == 0 { half as usize } else { (half.wrapping_mul(0x9e37_79b1) >> shift) as usize }
}
