//! Pseudo-random numbers from a seed (SplitMix64; Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
//! OOPSLA 2014). They are the same on every machine and in every version. The default generator of a library does not
//! promise that.

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// One number from several. Everything in this module is derived from the seed of the web in this way.
pub(super) fn derive(seed: u64, parts: &[u64]) -> u64 {
    parts.iter().fold(scramble(seed), |hash, part| scramble(hash ^ part.wrapping_mul(GOLDEN).rotate_left(31)))
}

fn scramble(value: u64) -> u64 {
    let mut z = value.wrapping_add(GOLDEN);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64, parts: &[u64]) -> Self {
        Self(derive(seed, parts))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        scramble(self.0)
    }

    /// A uniform number in `0..n`; 0 for an empty range.
    pub(super) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// A uniform number in 0..1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A number in `0..n`. Low values are far more frequent than high ones: word frequencies fall roughly as in Zipf's
    /// law.
    pub(super) fn skewed(&mut self, n: usize) -> usize {
        let u = self.unit();
        (u * u * n as f64) as usize
    }

    pub(super) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}
