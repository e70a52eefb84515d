//! New URLs and visits in one currency, and the bounds of `--refresh-share`.
//!
//! The currency is days of freshness, weighted with priority, for one fetch. A visit that is due buys its host's price. A new
//! URL buys what a visit to a page would buy that is surely out of date: the time until its first change, as far as pages of
//! its place are known.

use serde::{Deserialize, Serialize};

/// What is fetched next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A URL that was never fetched.
    New,
    /// A page that was fetched before.
    Visit,
}

/// Bounds of the share of fetches that visits take, while there is something of both kinds to do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shares {
    least: f32,
    most: f32,
    /// Share of visits among the last fetches for which there was a choice.
    visits: f32,
}

/// The share is taken over about so many fetches.
const MEMORY: f32 = 100.0;

impl Shares {
    /// Visits take at least and at most so much, 0..1.
    pub fn new(least: f32, most: f32) -> Self {
        let (least, most) = (least.clamp(0.0, 1.0), most.clamp(0.0, 1.0));
        Self { least, most: most.max(least), visits: (least + most.max(least)) / 2.0 }
    }

    /// What to fetch, by what the best new URL and the best visit are worth. A choice that is made counts.
    pub fn choose(&mut self, new: Option<f32>, visit: Option<f32>) -> Option<Choice> {
        let choice = match (new, visit) {
            (None, None) => return None,
            (Some(_), None) => return Some(Choice::New),
            (None, Some(_)) => return Some(Choice::Visit),
            _ if self.visits < self.least => Choice::Visit,
            _ if self.visits > self.most => Choice::New,
            (Some(new), Some(visit)) if new > visit => Choice::New,
            _ => Choice::Visit,
        };
        let is_visit = if choice == Choice::Visit { 1.0 } else { 0.0 };
        self.visits += (is_visit - self.visits) / MEMORY;
        Some(choice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(shares: &mut Shares, new: f32, visit: f32) -> f32 {
        let choices = (0..10_000).map(|_| shares.choose(Some(new), Some(visit)));
        choices.filter(|choice| *choice == Some(Choice::Visit)).count() as f32 / 10_000.0
    }

    #[test]
    fn worth_decides_within_the_bounds() {
        let mut shares = Shares::new(0.2, 0.7);
        assert!((share(&mut shares, 2.0, 1.0) - 0.2).abs() < 0.01, "new URLs are worth more");
        assert!((share(&mut shares, 1.0, 2.0) - 0.7).abs() < 0.02, "visits are worth more");
        let mut shares = Shares::new(0.0, 1.0);
        assert_eq!(share(&mut shares, 2.0, 1.0), 0.0);
        assert_eq!(share(&mut shares, 1.0, 2.0), 1.0);
    }

    #[test]
    fn where_there_is_no_choice_nothing_is_held_back() {
        let mut shares = Shares::new(0.5, 0.5);
        assert!((0..100).all(|_| shares.choose(Some(1.0), None) == Some(Choice::New)));
        assert!((0..100).all(|_| shares.choose(None, Some(1.0)) == Some(Choice::Visit)));
        assert_eq!(shares.choose(None, None), None);
        // The hundred visits without a choice do not count against visits now.
        assert!((share(&mut shares, 1.0, 2.0) - 0.5).abs() < 0.01);
    }
}
