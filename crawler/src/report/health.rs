//! Tells whether fingerprints are as uniform as the Hamming index assumes (Manku, Jain, Das Sarma, section 4.2 and
//! figure 2): by the first bit in which neighbours in sorted order differ, by 128 buckets of the leading bits, by the
//! share of ones in each bit, and by the most frequent values.

/// Measures of the fingerprints of a crawl.
#[derive(Clone, Debug)]
pub struct Health {
    /// Number of fingerprints.
    pub fingerprints: u64,
    /// Number of distinct fingerprints.
    pub distinct: u64,
    /// Number of pairs of distinct neighbours in sorted order, by the position of the first bit in which they differ (0
    /// is the most significant bit).
    pub first_difference: [u64; 64],
    /// Number of fingerprints, by their seven leading bits.
    pub buckets: [u64; 128],
    /// Number of fingerprints with a one, by bit (0 is the most significant bit).
    pub ones: [u64; 64],
    /// The most frequent values, with their counts. A value that occurs once is not among them.
    pub hot: Vec<(u64, u64)>,
}

impl Health {
    /// At most this many frequent values are kept.
    const HOT: usize = 8;

    /// Measures `fingerprints`, and sorts them.
    ///
    /// # Complexity
    /// That of sorting.
    pub fn of(fingerprints: &mut [u64]) -> Self {
        fingerprints.sort_unstable();
        let mut health = Self {
            fingerprints: fingerprints.len() as u64,
            distinct: 0,
            first_difference: [0; 64],
            buckets: [0; 128],
            ones: [0; 64],
            hot: Vec::new(),
        };
        let mut before = None;
        for equal in fingerprints.chunk_by(|a, b| a == b) {
            let (value, times) = (equal[0], equal.len() as u64);
            health.distinct += 1;
            health.buckets[(value >> 57) as usize] += times;
            for (bit, ones) in health.ones.iter_mut().enumerate() {
                *ones += times * (value >> (63 - bit) & 1);
            }
            if let Some(before) = before {
                let difference: u64 = before ^ value;
                health.first_difference[difference.leading_zeros() as usize] += 1;
            }
            if times > 1 {
                health.hot.push((value, times));
            }
            before = Some(value);
        }
        health.hot.sort_unstable_by_key(|&(value, times)| (std::cmp::Reverse(times), value));
        health.hot.truncate(Self::HOT);
        health
    }

    /// The largest distance of a bit's share of ones from one half.
    pub fn bias(&self) -> f64 {
        let share = |ones: &u64| (*ones as f64 / self.fingerprints.max(1) as f64 - 0.5).abs();
        self.ones.iter().map(share).fold(0.0, f64::max)
    }

    /// The fullest bucket, as a multiple of an even share.
    pub fn fullest(&self) -> f64 {
        let most = self.buckets.iter().max().copied().unwrap_or(0);
        most as f64 * 128.0 / self.fingerprints.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_fingerprints_are_counted_by_hand() {
        let mut fingerprints = [1 << 63, 0, 1, 1, 1];
        let health = Health::of(&mut fingerprints);
        assert_eq!((health.fingerprints, health.distinct), (5, 3));
        assert_eq!(health.hot, [(1, 3)]);
        assert_eq!((health.first_difference[63], health.first_difference[0]), (1, 1));
        assert_eq!((health.buckets[0], health.buckets[64]), (4, 1));
        assert_eq!((health.ones[0], health.ones[63], health.ones[5]), (1, 3, 0));
        assert_eq!(health.bias(), 0.5);
    }

    #[test]
    fn uniform_fingerprints_look_uniform_and_no_fingerprint_is_no_failure() {
        let mut uniform: Vec<u64> = (0..100_000u64).map(|n| xxhash_rust::xxh3::xxh3_64(&n.to_le_bytes())).collect();
        let health = Health::of(&mut uniform);
        assert!(health.bias() < 0.01 && health.fullest() < 1.25, "{} {}", health.bias(), health.fullest());
        assert_eq!(Health::of(&mut []).fullest(), 0.0);
    }
}
