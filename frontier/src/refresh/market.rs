//! The price of a fetch: one for all hosts, and a higher one for each host whose delay binds.
//!
//! A visit is wanted at a price if it buys at least that price. The demand of a host is the number of visits to its
//! pages that are wanted. The delay of a host allows a number of fetches. If the demand at the common price is higher
//! than this number, the host has a price of its own, at which the demand equals the number. The common price is chosen
//! so that the demand of all hosts, each cut to what its delay allows, equals the budget. So the prices are the
//! Lagrange multipliers of the optimum under one budget and a bound for each host.
//!
//! # References
//!
//! - Kolobov, Peres, Lubetzky, Horvitz: Optimal freshness crawl under politeness constraints. SIGIR 2019.

use std::array;
use std::sync::LazyLock;

/// Number of prices at which the demand is known.
pub const PRICES: usize = 104;
/// Logarithm (base 2) of the lowest known price, in weighted days of freshness for a fetch.
const FIRST: f32 = -12.0;
/// Known prices from one power of two to the next.
const STEPS: f32 = 4.0;

static KNOWN: LazyLock<[f32; PRICES]> = LazyLock::new(|| array::from_fn(|at| price_at(at as f32)));

/// The known prices, in weighted days of freshness for one fetch, from low to high.
pub fn prices() -> &'static [f32; PRICES] {
    &KNOWN
}

/// Fetches a day that are wanted, at each of the known prices. The higher the price, the fewer are wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand([f32; PRICES]);

impl Default for Demand {
    fn default() -> Self {
        Self([0.0; PRICES])
    }
}

impl Demand {
    /// This many more fetches are wanted at one of the known prices.
    pub fn add(&mut self, at: usize, fetches: f32) {
        self.0[at] += fetches;
    }

    /// The price at which `fetches` fetches a day are wanted. If fewer are wanted even at the lowest known price, that
    /// price.
    pub fn price(&self, fetches: f32) -> f32 {
        let above = self.0.partition_point(|wanted| *wanted > fetches);
        match above {
            0 => price_at(0.0),
            PRICES => price_at((PRICES - 1) as f32),
            at => {
                let (more, less) = (self.0[at - 1], self.0[at]);
                price_at((at - 1) as f32 + (more - fetches) / (more - less))
            }
        }
    }
}

/// A demand with one byte for each price, because there is one of these for every host. Eight steps make a power of
/// two.
#[derive(Clone, Debug, PartialEq)]
pub struct CompactDemand([u8; PRICES]);

impl Default for CompactDemand {
    fn default() -> Self {
        Self([0; PRICES])
    }
}

impl CompactDemand {
    /// The lowest demand that does not count as none, as a logarithm (base 2): one fetch in more than twenty years.
    const LEAST: f32 = -13.0;

    /// The short form of a demand.
    pub fn new(demand: &Demand) -> Self {
        Self(demand.0.map(|wanted| ((wanted.log2() - Self::LEAST) * 8.0 + 1.0).round() as u8))
    }

    /// The demand.
    pub fn demand(&self) -> Demand {
        Demand(self.0.map(|step| if step == 0 { 0.0 } else { ((f32::from(step) - 1.0) / 8.0 + Self::LEAST).exp2() }))
    }
}

/// The demand of all hosts together.
#[derive(Clone, Debug)]
pub struct Market {
    total: [f64; PRICES],
}

impl Default for Market {
    fn default() -> Self {
        Self { total: [0.0; PRICES] }
    }
}

impl Market {
    /// The demand of a host has changed. Beside each demand stands what the delay of the host allows, in fetches a day.
    pub fn change(&mut self, before: (&Demand, f32), after: (&Demand, f32)) {
        for (at, total) in self.total.iter_mut().enumerate() {
            *total += f64::from(after.0.0[at].min(after.1)) - f64::from(before.0.0[at].min(before.1));
        }
    }

    /// The common price for a budget of this many fetches a day.
    pub fn price(&self, fetches: f32) -> f32 {
        Demand(self.total.map(|wanted| wanted as f32)).price(fetches)
    }
}

/// The price at a place among the known ones.
fn price_at(at: f32) -> f32 {
    (FIRST + at / STEPS).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A demand that falls from `most` as a page's does.
    fn demand(most: f32) -> Demand {
        Demand(prices().map(|price| most / (1.0 + price)))
    }

    #[test]
    fn the_price_is_where_demand_meets_supply() {
        let demand = demand(10.0);
        for fetches in [0.01, 1.0, 5.0, 9.0] {
            let price = demand.price(fetches);
            assert!((10.0 / (1.0 + price) / fetches - 1.0).abs() < 0.02, "{fetches}: {price}");
        }
        assert_eq!(demand.price(11.0), prices()[0], "more than anybody wants");
        assert_eq!(demand.price(0.0), prices()[PRICES - 1], "nothing to be had");
    }

    #[test]
    fn what_is_kept_is_within_a_step() {
        let demand = demand(300.0);
        let kept = CompactDemand::new(&demand).demand();
        for (kept, exact) in kept.0.iter().zip(demand.0) {
            assert!((kept / exact).log2().abs() <= 0.07, "{kept} {exact}");
        }
        assert_eq!(CompactDemand::new(&Demand::default()).demand(), Demand::default(), "nothing is nothing");
    }

    #[test]
    fn a_host_counts_for_no_more_than_it_allows() {
        let mut market = Market::default();
        let (one, two) = (demand(10.0), demand(10.0));
        market.change((&Demand::default(), 1e9), (&one, 1e9));
        market.change((&Demand::default(), 1.0), (&two, 1.0));
        // The second host gives its one fetch at any price that is asked here, the first the other two.
        let price = market.price(3.0);
        assert!((10.0 / (1.0 + price) - 2.0).abs() < 0.05, "{price}");
        assert!(two.price(1.0) > price, "and its own price is higher");
        market.change((&two, 1.0), (&Demand::default(), 1.0));
        assert!((10.0 / (1.0 + market.price(3.0)) - 3.0).abs() < 0.05, "gone again");
    }
}
