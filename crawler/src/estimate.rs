//! What the gate cost: how many texts were lost among the URLs held back, estimated from a random sample of them.
//!
//! **What is estimated**: the distinct texts (equal words, in order) that URLs held back show and no fetched page has. What could
//! only be reached *through* them is not counted, and not known. Where pages carry a date or a counter, each copy has words of
//! its own and counts as a text: there the estimate is an upper bound.
//!
//! **How.** The URLs held back fall into two strata. Those that a proven rule says to be copies of a page that was fetched are
//! drawn one by one. The others are drawn in clusters: the URLs of all hosts with one path, less what rules say makes no
//! difference; most often they show the same text, which counts once. All of a cluster is fetched. Both draws are simple random
//! samples: the order is that of keyed hashes. The estimate is the number of units that were not drawn times the
//! texts lost for each unit that was; it is unbiased, as far as no text is spread over clusters.
//!
//! **The interval** holds what was not drawn with a probability of 95 %, given the sample: the share of units with a
//! lost text has Jeffreys' prior, Beta(½, ½), so that a sample without any does not prove that there are none (nor that there
//! are some: such a stratum adds to the upper end only); the number among the units left is binomial. (L. D. Brown, T. T. Cai,
//! A. DasGupta, "Interval Estimation for a Binomial Proportion", Statistical Science 16, 2001, on the interval; both strata
//! are added up by simulation.)

use serde::{Deserialize, Serialize};

use crate::report::units;

/// An estimate with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lost {
    /// Unique pages among the URLs held back.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Lost {
    /// `12 (3 to 40)`: the estimate and its interval, in whole pages.
    pub fn short(&self) -> String {
        let [estimate, low, high] =
            [self.estimate, self.low, self.high].map(|pages| units::count(pages.round() as u64));
        format!("{estimate} ({low} to {high})")
    }
}

/// One stratum, and what its sample showed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stratum {
    /// Units that were not drawn.
    pub left: u64,
    /// Units that were.
    pub drawn: u64,
    /// Units of these that showed a lost text.
    pub hits: u64,
    /// Lost texts that they showed.
    pub texts: u64,
}

impl Stratum {
    /// Lost texts for each unit that shows any.
    fn size(&self) -> f64 {
        if self.hits == 0 { 1.0 } else { self.texts as f64 / self.hits as f64 }
    }
}

/// Simulations behind an interval.
const DRAWS: usize = 20_000;

/// The estimate with its interval. `None` where a stratum has units left of which none was drawn: then nothing is known.
pub fn estimate(strata: &[Stratum]) -> Option<Lost> {
    if strata.iter().any(|stratum| stratum.left > 0 && stratum.drawn == 0) {
        return None;
    }
    let strata: Vec<&Stratum> = strata.iter().filter(|stratum| stratum.left > 0).collect();
    let lost = |s: &&Stratum| s.left as f64 * s.texts as f64 / s.drawn as f64;
    let estimate = strata.iter().map(lost).sum();
    let mut random = Random::new(0x5EED);
    // A stratum without a hit may hide some, but is no evidence of any: it counts for the upper end only.
    let (mut least, mut most) = (vec![0.0; DRAWS], vec![0.0; DRAWS]);
    for stratum in strata {
        for (least, most) in least.iter_mut().zip(&mut most) {
            let share = random.beta(stratum.hits as f64 + 0.5, (stratum.drawn - stratum.hits) as f64 + 0.5);
            let lost = random.binomial(stratum.left as f64, share) * stratum.size();
            *least += if stratum.hits > 0 { lost } else { 0.0 };
            *most += lost;
        }
    }
    let quantile = |sums: &mut [f64], share: f64| {
        sums.sort_by(f64::total_cmp);
        sums[((DRAWS as f64 * share) as usize).min(DRAWS - 1)]
    };
    let (low, high) = (quantile(&mut least, 0.025).floor(), quantile(&mut most, 0.975).ceil());
    Some(Lost { estimate, low: low.min(estimate), high: high.max(estimate) })
}

/// The same numbers every time.
struct Random(fastrand::Rng);

impl Random {
    fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    /// In 0..1, but not 0, which has no logarithm.
    fn uniform(&mut self) -> f64 {
        1.0 - self.0.f64()
    }

    /// Box and Muller's method.
    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Marsaglia and Tsang's method (TOMS 26, 2000); shapes below one by their boost.
    fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            return self.gamma(shape + 1.0) * self.uniform().powf(1.0 / shape);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && self.uniform().ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
                return d * v;
            }
        }
    }

    fn beta(&mut self, a: f64, b: f64) -> f64 {
        let (x, y) = (self.gamma(a), self.gamma(b));
        x / (x + y)
    }

    /// By its normal limit, or where that is none (few hits are expected) by counting exponential gaps.
    fn binomial(&mut self, trials: f64, share: f64) -> f64 {
        let (mean, variance) = (trials * share, trials * share * (1.0 - share));
        if variance > 30.0 {
            return (mean + variance.sqrt() * self.normal()).round().clamp(0.0, trials);
        }
        if share > 0.5 {
            return trials - self.binomial(trials, 1.0 - share);
        }
        let (mut hits, mut passed) = (0.0, 0.0);
        let rate = -(-share).ln_1p();
        loop {
            passed += 1.0 + (-self.uniform().ln() / rate).floor();
            if passed > trials {
                return hits;
            }
            hits += 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A population with so many lost ones of which some are drawn.
    fn draw(random: &mut Random, units: u64, lost: u64, drawn: u64) -> (Stratum, u64) {
        let (mut left, mut bad, mut hits) = (units, lost, 0);
        for _ in 0..drawn {
            if random.uniform() * (left as f64) < bad as f64 {
                (bad, hits) = (bad - 1, hits + 1);
            }
            left -= 1;
        }
        (Stratum { left, drawn, hits, texts: hits }, bad)
    }

    #[test]
    fn the_interval_covers_the_truth_and_the_estimate_is_unbiased() {
        let mut random = Random::new(7);
        for (covered, others) in [((16_000, 0), (900, 150)), ((5_000, 20), (400, 10)), ((3_000, 0), (50, 50))] {
            let (mut inside, mut error, mut truth) = (0, 0.0, 0.0);
            let runs = 200;
            for _ in 0..runs {
                let (first, lost_first) = draw(&mut random, covered.0, covered.1, 300);
                let (second, lost_second) = draw(&mut random, others.0, others.1, others.0 / 4);
                let lost = (lost_first + lost_second) as f64;
                let told = estimate(&[first, second]).unwrap();
                inside += u32::from(told.low <= lost && lost <= told.high);
                error += told.estimate - lost;
                truth += lost;
            }
            assert!(inside * 100 >= runs * 93, "{inside} of {runs} cover {covered:?} {others:?}");
            assert!(error.abs() <= truth.max(200.0) * 0.15, "off by {} of {truth}", error / f64::from(runs));
        }
    }

    #[test]
    fn without_a_sample_nothing_is_known_and_with_all_of_them_everything() {
        let all = Stratum { left: 0, drawn: 10, hits: 3, texts: 3 };
        assert!(estimate(&[Stratum { left: 5, ..Stratum::default() }]).is_none());
        let told = estimate(&[all]).unwrap();
        assert_eq!((told.estimate, told.low, told.high), (0.0, 0.0, 0.0));
        let none = estimate(&[Stratum { left: 1_000, drawn: 100, hits: 0, texts: 0 }]).unwrap();
        assert_eq!((none.estimate, none.low), (0.0, 0.0));
        assert!(none.high > 10.0 && none.high < 40.0, "{none:?}");
    }
}
