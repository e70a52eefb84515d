//! Seeded pseudo-random numbers (SplitMix64; Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA
//! 2014): the same on every machine and in every version, which a library's default generator does not promise.

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// One number from several: the way in which everything here is derived from the web's seed.
pub(super) fn derive(seed: u64, parts: &[u64]) -> u64 {
    parts.iter().fold(scramble(seed), |hash, part| scramble(hash ^ part.wrapping_mul(GOLDEN).rotate_left(31)))
}

fn scramble(value: u64) -> u64 {
    let mut z = value.wrapping_add(GOLDEN);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A stream of numbers.
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

    /// Uniform in `0..n`; 0 for an empty range.
    pub(super) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// Uniform in 0..1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// In `0..n`, low values far more often than high ones: word frequencies fall roughly as Zipf's law says.
    pub(super) fn skewed(&mut self, n: usize) -> usize {
        let u = self.unit();
        (u * u * n as f64) as usize
    }

    pub(super) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}
