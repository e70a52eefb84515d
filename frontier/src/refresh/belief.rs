//! The estimate of one page's change rate, and what follows from it: when the next visit is worth its price, and how
//! much a visit would teach about the rate.
//!
//! # References
//!
//! - Azar, Horvitz, Lubetzky, Peres, Shahaf: Tractable near-optimal policies for crawling. PNAS 2018: if rates are
//!   known, a visit is made when its marginal freshness reaches the price that all pages share.
//! - Upadhyay, Busa-Fekete, Kotłowski, Pál, Szörényi: Learning to crawl. AAAI 2020: rates from one bit a visit.

use super::grid::{RATES, Row, SPANS, dot, grid, log_step};
use super::settings::READING;
use super::time::DAY;

/// A probability for each rate of the grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Belief(Row);

impl Belief {
    /// From weights, whose sum may be any number above 0.
    pub fn new(weights: Row) -> Self {
        let sum: f32 = weights.iter().sum();
        Self(weights.map(|weight| weight / sum))
    }

    /// The probabilities.
    pub fn probabilities(&self) -> &Row {
        &self.0
    }

    /// Mean of the rate's logarithm.
    pub fn log_rate(&self) -> f32 {
        dot(&self.0, &grid().log_rate)
    }

    /// The median of the rate, in changes a day.
    pub fn median_rate(&self) -> f32 {
        let mut below = 0.0;
        for (k, p) in self.0.iter().enumerate() {
            if below + p >= 0.5 {
                let way = (0.5 - below) / p - 0.5;
                return grid().rate[k] * (way * log_step()).exp();
            }
            below += p;
        }
        grid().rate[RATES - 1]
    }

    /// What a visit buys, in days of freshness, if it comes `days` days after the last one.
    pub fn gain(&self, days: f32) -> f32 {
        let shortest = grid().span[0];
        // For times shorter than those of the table, the gain grows with the square of the time.
        let short = (days / shortest).min(1.0).powi(2);
        short * between(&self.0, &grid().gain, days)
    }

    /// The share of time in which the page is fresh, if it is visited at this interval.
    pub fn fresh(&self, days: f32) -> f32 {
        if days.is_infinite() { 0.0 } else { between(&self.0, &grid().fresh, days) }
    }

    /// Probability that the page has not changed `days` days after a visit.
    pub fn unchanged(&self, days: f32) -> f32 {
        let still = grid().rate.map(|rate| (-rate * days).exp());
        dot(&self.0, &still)
    }

    /// What a visit buys if the page is known to have changed, in days of freshness.
    pub fn gain_if_changed(&self) -> f32 {
        dot(&self.0, &grid().gain[SPANS - 1])
    }

    /// The number of readings of a sitemap or feed, in a day, that tell of a change, if this source tells of all
    /// changes.
    pub fn told_a_day(&self) -> f32 {
        let days = READING as f32 / DAY;
        (1.0 - self.unchanged(days)) / days
    }

    /// The number of days after which a visit buys `price` days of freshness. Infinite if it never does.
    pub fn interval(&self, price: f32) -> f32 {
        interval(&self.0, price)
    }

    /// [`Self::interval`] for each of these prices. The prices must be sorted, the lowest first.
    pub fn intervals(&self, prices: impl Iterator<Item = f32>) -> impl Iterator<Item = f32> {
        const EACH: usize = 2;
        let gain: [f32; SPANS / EACH] = std::array::from_fn(|row| dot(&self.0, &grid().gain[row * EACH]));
        let mut row = 0;
        prices.map(move |price| {
            while row < SPANS / EACH && gain[row] < price {
                row += 1;
            }
            match row {
                0 => grid().span[0],
                row if row == SPANS / EACH => f32::INFINITY,
                _ => {
                    let (before, after) = (grid().span[(row - 1) * EACH], grid().span[row * EACH]);
                    before
                        + (after - before) * (price - gain[row - 1])
                            / (gain[row] - gain[row - 1]).max(f32::MIN_POSITIVE)
                }
            }
        })
    }

    /// What a page gains in a day: its freshness, less the price of its visits, if nothing more is learned about its
    /// rate.
    pub fn surplus(&self, price: f32) -> f32 {
        surplus(&self.0, price)
    }

    /// The expected growth of [`Self::surplus`] by what a visit after `days` days will show.
    pub fn lesson(&self, price: f32, days: f32) -> f32 {
        let quiet: Row = std::array::from_fn(|k| self.0[k] * (-grid().rate[k] * days).exp());
        let changed: Row = std::array::from_fn(|k| self.0[k] - quiet[k]);
        (surplus(&quiet, price) + surplus(&changed, price) - surplus(&self.0, price)).max(0.0)
    }
}

/// The value of a table at a time between two of its rows.
fn between(weights: &Row, table: &[Row; SPANS], days: f32) -> f32 {
    let (row, way) = grid().place(days);
    dot(weights, &table[row]) * (1.0 - way) + dot(weights, &table[row + 1]) * way
}

/// [`Belief::interval`] for weights of any sum.
fn interval(weights: &Row, price: f32) -> f32 {
    let grid = grid();
    let price = price * weights.iter().sum::<f32>();
    // The gain grows with time. Find the first row that reaches the price.
    let (mut low, mut high) = (0, SPANS);
    while low < high {
        let middle = (low + high) / 2;
        if dot(weights, &grid.gain[middle]) < price { low = middle + 1 } else { high = middle }
    }
    match low {
        0 => grid.span[0],
        SPANS => f32::INFINITY,
        row => {
            let (before, after) = (dot(weights, &grid.gain[row - 1]), dot(weights, &grid.gain[row]));
            grid.days(row - 1, ((price - before) / (after - before).max(f32::MIN_POSITIVE)).clamp(0.0, 1.0))
        }
    }
}

/// [`Belief::surplus`] for weights of any sum. It is proportional to the sum.
fn surplus(weights: &Row, price: f32) -> f32 {
    let days = interval(weights, price);
    if days.is_infinite() {
        return 0.0;
    }
    (between(weights, &grid().fresh, days) - price * weights.iter().sum::<f32>() / days).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A belief that is certain of the rate of the grid that is nearest to this one.
    fn certain(rate: f32) -> Belief {
        let nearest = (0..RATES).min_by(|a, b| {
            let far = |k: &usize| (grid().rate[*k] / rate).ln().abs();
            far(a).total_cmp(&far(b))
        });
        let mut weights = [0.0; RATES];
        weights[nearest.unwrap_or(0)] = 1.0;
        Belief::new(weights)
    }

    #[test]
    fn a_visit_is_due_where_it_buys_its_price() {
        for belief in [certain(0.02), certain(1.0), certain(30.0), Belief::new([1.0; RATES])] {
            let mut before = 0.0;
            for price in [1e-3, 1e-2, 0.1, 0.3, 1.0, 10.0] {
                let days = belief.interval(price);
                assert!(days >= before, "a higher price is a longer wait: {price}");
                before = days;
                if days.is_finite() && days > grid().span[1] {
                    assert!(
                        (belief.gain(days) / price - 1.0).abs() < 0.1,
                        "{price}: {days} days buy {}",
                        belief.gain(days)
                    );
                }
            }
        }
        assert!(certain(30.0).interval(1.0).is_infinite(), "what changes all the time is never worth it");
    }

    #[test]
    fn freshness_falls_with_age_and_what_a_visit_buys_grows() {
        let belief = Belief::new([1.0; RATES]);
        let ages = [0.0, 1e-6, 1e-5, 1e-4, 1e-2, 1.0, 30.0, 365.0];
        for (younger, older) in ages.iter().zip(&ages[1..]) {
            assert!(belief.gain(*younger) < belief.gain(*older), "{younger} and {older} days");
            assert!(belief.unchanged(*younger) >= belief.unchanged(*older));
        }
        assert_eq!((belief.gain(0.0), belief.unchanged(0.0).round()), (0.0, 1.0));
        assert!((certain(1.0).unchanged(1.0) - (-certain(1.0).median_rate()).exp()).abs() < 0.1);
    }
}
