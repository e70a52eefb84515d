//! How the last fetches of a host were divided between new URLs and visits.

/// Fetches of a host. Older fetches count less.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Balance {
    new: f64,
    visits: f64,
}

/// The share is that of about this many fetches. A fetch that is so old counts little more than a third.
const WINDOW: f64 = 32.0;

impl Balance {
    /// A URL was fetched for the first time.
    pub fn fetched_new(&mut self) {
        self.forget();
        self.new += 1.0;
    }

    /// A page was visited again.
    pub fn visited(&mut self) {
        self.forget();
        self.visits += 1.0;
    }

    /// The share of the visits, 0..1; 0 while nothing was fetched.
    pub fn share(&self) -> f64 {
        let all = self.new + self.visits;
        if all == 0.0 { 0.0 } else { self.visits / all }
    }

    fn forget(&mut self) {
        (self.new, self.visits) = (self.new * (1.0 - 1.0 / WINDOW), self.visits * (1.0 - 1.0 / WINDOW));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_kept_by_whoever_asks_before_each_fetch() {
        for wanted in [0.1, 0.3, 0.9] {
            let (mut balance, mut visits) = (Balance::default(), 0);
            for _ in 0..1_000 {
                if balance.share() < wanted {
                    balance.visited();
                    visits += 1;
                } else {
                    balance.fetched_new();
                }
            }
            assert!((f64::from(visits) / 1_000.0 - wanted).abs() < 0.03, "{wanted}: {visits} visits of 1,000");
        }
    }
}
