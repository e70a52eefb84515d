//! Measures how uniform a set of fingerprints is.

/// Shares and counts that show skew.
///
/// # References
///
/// Manku, Jain, Das Sarma (WWW 2007), section 4.2 and figure 2: leading bits of the XOR of sorted neighbours, and
/// fingerprints in 128 equal buckets.
#[derive(Clone, Debug, PartialEq)]
pub struct Health {
    /// Rows.
    pub rows: u64,
    /// Distinct fingerprints.
    pub distinct: u64,
    /// For each bit, 63 first: the number of XORs of sorted distinct neighbours whose leading one is this bit.
    pub leading: [u64; 64],
    /// The number of distinct fingerprints, by their seven highest bits.
    pub buckets: [u64; 128],
    /// For each bit, 0 the lowest: the share of distinct fingerprints that have it.
    pub ones: [f64; 64],
    /// The most frequent fingerprints, each with its number of rows. The most frequent comes first; of two equally
    /// frequent ones, the smaller.
    pub hot: Vec<(u64, u64)>,
}

impl Health {
    /// This many frequent fingerprints are kept.
    const HOT: usize = 10;

    /// Measures these fingerprints.
    pub fn of(fingerprints: &[u64]) -> Self {
        let mut sorted = fingerprints.to_vec();
        sorted.sort_unstable();
        let mut health = Self {
            rows: fingerprints.len() as u64,
            distinct: 0,
            leading: [0; 64],
            buckets: [0; 128],
            ones: [0.0; 64],
            hot: Vec::new(),
        };
        let mut ones = [0u64; 64];
        let mut last: Option<u64> = None;
        for group in sorted.chunk_by(|a, b| a == b) {
            let value = group[0];
            health.distinct += 1;
            health.buckets[(value >> 57) as usize] += 1;
            for (bit, ones) in ones.iter_mut().enumerate() {
                *ones += value >> bit & 1;
            }
            if let Some(last) = last {
                health.leading[(value ^ last).leading_zeros() as usize] += 1;
            }
            last = Some(value);
            if group.len() > 1 {
                health.hot.push((value, group.len() as u64));
                if health.hot.len() == 1 << 16 {
                    health.keep_hottest();
                }
            }
        }
        health.keep_hottest();
        health.ones = ones.map(|ones| ones as f64 / health.distinct.max(1) as f64);
        health
    }

    fn keep_hottest(&mut self) {
        self.hot.sort_unstable_by_key(|(value, rows)| (std::cmp::Reverse(*rows), *value));
        self.hot.truncate(Self::HOT);
    }

    /// The sizes of the largest and the smallest of the 128 buckets, relative to the mean.
    pub fn bucket_range(&self) -> (f64, f64) {
        let mean = self.distinct.max(1) as f64 / 128.0;
        let (least, most) = (self.buckets.iter().min(), self.buckets.iter().max());
        (*least.unwrap_or(&0) as f64 / mean, *most.unwrap_or(&0) as f64 / mean)
    }

    /// χ² of the 128 buckets, with 127 degrees of freedom. It is about 127 ± 16 if fingerprints are uniform.
    pub fn chi_squared(&self) -> f64 {
        let mean = self.distinct.max(1) as f64 / 128.0;
        self.buckets.iter().map(|n| (*n as f64 - mean).powi(2) / mean).sum()
    }

    /// A drawing of the two distributions of the paper's figure 2, and of the bias of the bits.
    pub fn svg(&self) -> String {
        let pairs = self.distinct.saturating_sub(1).max(1) as f64;
        let mean = self.distinct.max(1) as f64 / 128.0;
        let leading: Vec<f64> = self.leading.iter().map(|n| *n as f64 / pairs).collect();
        let buckets: Vec<f64> = self.buckets.iter().map(|n| *n as f64 / mean).collect();
        let panels = [
            ("leading 1 of the XOR of sorted neighbours (63 left)", leading, None),
            ("fingerprints in 128 buckets (mean = 1)", buckets, Some(1.0)),
            ("share of ones, by bit (0 left)", self.ones.to_vec(), Some(0.5)),
        ];
        let mut svg = String::from(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 680 540\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"680\" height=\"540\" fill=\"white\"/>\n",
        );
        for (i, (title, values, line)) in panels.into_iter().enumerate() {
            let top = 180.0 * i as f64;
            let most = values.iter().copied().fold(line.unwrap_or(0.0) * 1.5, f64::max).max(1e-9);
            let width = 640.0 / values.len() as f64;
            svg += &format!("<text x=\"20\" y=\"{:.0}\">{title}; top = {most:.3}</text>\n", top + 20.0);
            for (n, value) in values.iter().enumerate() {
                let height = 130.0 * value / most;
                svg += &format!(
                    "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{height:.2}\" fill=\"#4477aa\"/>\n",
                    20.0 + width * n as f64,
                    top + 160.0 - height,
                    width * 0.85,
                );
            }
            if let Some(line) = line {
                let y = top + 160.0 - 130.0 * line / most;
                svg += &format!("<line x1=\"20\" x2=\"660\" y1=\"{y:.2}\" y2=\"{y:.2}\" stroke=\"#cc3311\"/>\n");
            }
        }
        svg + "</svg>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_fingerprints_look_uniform_and_constant_ones_do_not() {
        let uniform: Vec<u64> = (0..50_000u64).map(|i| xxhash_rust::xxh3::xxh3_64(&i.to_le_bytes())).collect();
        let health = Health::of(&uniform);
        assert!(health.chi_squared() < 127.0 + 6.0 * 16.0);
        assert!(health.ones.iter().all(|share| (share - 0.5).abs() < 0.02));
        assert_eq!(health.leading.iter().sum::<u64>(), 49_999);
        let hot: Vec<u64> = uniform.iter().map(|f| f & 0xff).collect();
        let health = Health::of(&hot);
        assert_eq!((health.distinct, health.hot.len()), (256, Health::HOT));
        assert!(health.hot.windows(2).all(|pair| pair[0].1 >= pair[1].1));
        assert!(health.chi_squared() > 1000.0);
    }

    #[test]
    fn nothing_is_fine_too() {
        assert!(Health::of(&[]).svg().ends_with("</svg>\n"));
    }
}
