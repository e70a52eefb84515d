//! Estimates how many new pages were lost among the URLs held back, from a random sample of these URLs.
//!
//! **What is estimated**: the number of URLs still held or stopped that show a page that the judge would call unique,
//! or a page that leads to such pages. The rescue adds the URLs that lie behind these (`engine/rescue/last.rs`). If
//! pages carry a date or a counter, a copy may count as unique. Then the estimate is an upper bound.
//!
//! **How.** The last round of the rescue draws single URLs, all with the same chance, from everything that is held or
//! stopped, and fetches them. The estimate is the number of URLs that are left, times the share of new pages among the
//! drawn ones.
//!
//! **The interval** holds the number of new pages that are left with a probability of 95 %, given the sample. The share
//! of new pages has Jeffreys' prior, Beta(½, ½): a sample without a new page does not prove that there are none. The
//! number among the URLs left is then binomial. Both are simulated. A sample without a new page is no evidence that
//! there are any, so it gives the lower end 0. (L. D. Brown, T. T. Cai, A. DasGupta, "Interval Estimation for a
//! Binomial Proportion", Statistical Science 16, 2001.)

use serde::{Deserialize, Serialize};

use crate::units;

/// An estimate with its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lost {
    /// The number of unique pages among the URLs held back.
    pub estimate: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Lost {
    /// Whether a page is lost, as far as a sample can show.
    pub fn any(&self) -> bool {
        self.estimate.round() >= 1.0
    }

    /// The estimate and its interval in whole pages, such as `12 (3 to 40)`.
    pub fn short(&self) -> String {
        let [estimate, low, high] =
            [self.estimate, self.low, self.high].map(|pages| units::count(pages.round() as u64));
        format!("{estimate} ({low} to {high})")
    }
}

/// An estimate, and when it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LastEstimate {
    /// The estimate.
    pub lost: Lost,
    /// The number of URLs that were held or stopped then.
    pub held_back: u64,
}

impl LastEstimate {
    /// The estimate if `held_back` URLs are held or stopped now. Not counting the pages that lie behind them, no more
    /// pages can be lost than URLs are held or stopped. If there are fewer of these URLs than before, fewer pages lie
    /// behind them.
    pub fn now(&self, held_back: u64) -> Lost {
        let (now, then) = (held_back as f64, self.held_back as f64);
        let share = if now < then { now / then } else { 1.0 };
        let left = |pages: f64| pages.min(now.max(now + (pages - then) * share));
        let Lost { estimate, low, high } = self.lost;
        Lost { estimate: left(estimate), low: low.min(now), high: left(high) }
    }
}

/// A random sample of the URLs held back, and its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrialSample {
    /// The number of URLs that are still held back.
    pub left: u64,
    /// The number of URLs that were drawn and fetched.
    pub drawn: u64,
    /// The number of drawn URLs that showed a new page.
    pub new: u64,
}

/// The number of simulations for an interval.
const DRAWS: usize = 20_000;

/// The estimate with its interval. `None` if URLs are left and none was drawn: then nothing is known.
pub fn estimate(TrialSample { left, drawn, new }: TrialSample) -> Option<Lost> {
    if left == 0 {
        return Some(Lost { estimate: 0.0, low: 0.0, high: 0.0 });
    }
    if drawn == 0 {
        return None;
    }
    let estimate = left as f64 * new as f64 / drawn as f64;
    let mut random = Random::new(0x5EED);
    let mut lost: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let share = random.beta(new as f64 + 0.5, (drawn - new) as f64 + 0.5);
            random.binomial(left as f64, share)
        })
        .collect();
    lost.sort_by(f64::total_cmp);
    let quantile = |share: f64| lost[((DRAWS as f64 * share) as usize).min(DRAWS - 1)];
    let low = if new > 0 { quantile(0.025).floor().min(estimate) } else { 0.0 };
    Some(Lost { estimate, low, high: quantile(0.975).ceil().max(estimate) })
}

/// A source of random numbers. It gives the same numbers every time.
struct Random(fastrand::Rng);

impl Random {
    fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    /// A number in 0..1. It is never 0, which has no logarithm.
    fn uniform(&mut self) -> f64 {
        1.0 - self.0.f64()
    }

    /// A normal number, by Box and Muller's method.
    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A gamma number, by Marsaglia and Tsang's method (TOMS 26, 2000). For shapes below one, the number is made from
    /// one of the next higher shape, as that paper says.
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

    /// A binomial number, by the normal limit. If few hits are expected, this limit does not hold, and exponential gaps
    /// are counted.
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

    /// Draws `drawn` of `urls` URLs of which `lost` show a new page. Returns the sample, and the number of new pages
    /// that are left.
    fn draw(random: &mut Random, urls: u64, lost: u64, drawn: u64) -> (TrialSample, u64) {
        let (mut left, mut bad, mut new) = (urls, lost, 0);
        for _ in 0..drawn {
            if random.uniform() * (left as f64) < bad as f64 {
                (bad, new) = (bad - 1, new + 1);
            }
            left -= 1;
        }
        (TrialSample { left, drawn, new }, bad)
    }

    #[test]
    fn the_interval_covers_the_truth_and_the_estimate_is_unbiased() {
        let mut random = Random::new(7);
        for (urls, lost, drawn) in
            [(16_000, 0, 300), (5_000, 20, 300), (900, 150, 225), (50, 50, 12), (400, 10, 100), (20, 2, 10)]
        {
            let (mut inside, mut error, mut truth) = (0, 0.0, 0.0);
            let runs = 200;
            for _ in 0..runs {
                let (sample, left) = draw(&mut random, urls, lost, drawn);
                let (left, told) = (left as f64, estimate(sample).unwrap());
                inside += u32::from(told.low <= left && left <= told.high);
                error += told.estimate - left;
                truth += left;
            }
            assert!(inside * 100 >= runs * 93, "{inside} of {runs} cover {lost} of {urls}");
            assert!(error.abs() <= truth.max(200.0) * 0.15, "off by {} of {truth}", error / f64::from(runs));
        }
    }

    #[test]
    fn without_a_sample_nothing_is_known_and_with_all_of_them_everything() {
        assert!(estimate(TrialSample { left: 5, ..TrialSample::default() }).is_none());
        let told = estimate(TrialSample { left: 0, drawn: 10, new: 3 }).unwrap();
        assert_eq!((told.estimate, told.low, told.high), (0.0, 0.0, 0.0));
        let none = estimate(TrialSample { left: 1_000, drawn: 100, new: 0 }).unwrap();
        assert_eq!((none.estimate, none.low), (0.0, 0.0));
        assert!(none.high > 10.0 && none.high < 40.0, "{none:?}");
    }
}
