//! Sketches of sets by one permutation: the least hash in each of many bins, of which a few bits are kept (Li, Owen,
//! Zhang, "One Permutation Hashing", NIPS 2012; Shrivastava, "Optimal Densification", ICML 2017; Li, König, "b-Bit
//! Minwise Hashing", WWW 2010).

use crate::words::fold_multiply;

/// The least hash in each of `N` bins.
#[derive(Debug)]
pub struct Bins<const N: usize>([u32; N]);

impl<const N: usize> Default for Bins<N> {
    fn default() -> Self {
        Self([u32::MAX; N])
    }
}

impl<const N: usize> Bins<N> {
    /// Forgets all hashes.
    pub fn clear(&mut self) {
        self.0.fill(u32::MAX);
    }

    /// Adds a hash.
    #[inline]
    pub fn add(&mut self, hash: u64) {
        let bin = (((hash >> 32) * N as u64) >> 32) as usize;
        self.0[bin] = self.0[bin].min(hash as u32 & (u32::MAX - 1));
    }

    /// Writes `BITS` bits of each bin. An empty bin takes the bits of another bin: each bin has its own order in which
    /// it looks for a filled one.
    pub fn write<const BITS: usize>(&self, bytes: &mut [u8]) {
        if self.0.iter().all(|least| *least == u32::MAX) {
            return;
        }
        for bin in 0..N {
            let mut from = bin;
            let mut attempt = 0u64;
            while self.0[from] == u32::MAX {
                attempt += 1;
                let next = fold_multiply((bin as u64) << 32 ^ attempt ^ 0xE703_7ED1_A0B4_28DB, 0x8EBC_6AF0_9C88_C6E3);
                from = (((next >> 32) * N as u64) >> 32) as usize;
            }
            let bits = (self.0[from].wrapping_mul(0x9E37_79B1) >> (32 - BITS)) as u8;
            bytes[bin * BITS / 8] |= bits << (bin * BITS % 8);
        }
    }
}

/// Estimates the resemblance of two sets from `BITS` bits of each minimum. The bits of different minima may agree by
/// chance; a single bit does so half of the time.
pub fn common<const BITS: usize>(a: &[u8], b: &[u8]) -> f32 {
    let differing: u32 = a.iter().zip(b).map(|(a, b)| differing::<BITS>(a ^ b)).sum();
    let (bins, chance) = ((a.len() * 8 / BITS) as f32, 1.0 / (1u32 << BITS) as f32);
    (1.0 - differing as f32 / (bins * (1.0 - chance))).max(0.0)
}

/// The number of groups of `BITS` bits that are not all zero.
fn differing<const BITS: usize>(bits: u8) -> u32 {
    match BITS {
        1 => bits.count_ones(),
        _ => (0..8).step_by(BITS).map(|at| u32::from(bits >> at & ((1 << BITS) - 1) != 0)).sum(),
    }
}
