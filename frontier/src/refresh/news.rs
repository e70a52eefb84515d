//! How often a list is read: a sitemap, a feed, or a page that lists new pages. A list is worth reading for its *news*:
//! URLs that the crawl has not met, and changes of pages that it tells of and that are believed.
//!
//! News waits on the list until the list is read. If news comes at a rate r, then r t of it has come t days after a
//! reading, and has waited for t / 2 days each. So a reading after t days ends r t² / 2 days of waiting. The price of a
//! fetch is in days, too. A reading is due when the waiting that it ends equals the price: after √(2 price / r) days.
//! This is the square-root law of stocks (Harris 1913, "How many parts to make at once").
//!
//! The rate is learned (Poisson, with a gamma prior), and old readings count less. So a list that brings nothing is
//! read less and less often, down to a bound. A list that begins to bring news is soon read often.

use serde::{Deserialize, Serialize};

/// What readings of one list have brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct News {
    /// News, in weighted pages.
    brought: f32,
    /// Days in which it came.
    days: f32,
}

/// Before anything is known, this much news …
const BROUGHT: f32 = 0.1;
/// … is assumed to have come in this many days.
const DAYS: f32 = 1.0;
/// After this many days, a reading counts half.
const HALF: f32 = 90.0;
/// A reading that shows a changed list counts as at least this much news, even if nothing on the list is new.
const CHANGED: f32 = 0.05;

impl News {
    /// The list was read this many days after the last time, and brought this much news. `changed`: its entries have
    /// changed.
    pub fn read(&mut self, days: f32, brought: f32, changed: bool) {
        let left = 0.5_f32.powf(days / HALF);
        let brought = if changed { brought.max(CHANGED) } else { 0.0 };
        *self = Self { brought: self.brought * left + brought, days: self.days * left + days };
    }

    /// News a day.
    pub fn rate(self) -> f32 {
        (BROUGHT + self.brought) / (DAYS + self.days)
    }

    /// What a reading buys this many days after the last one: the days of waiting that it ends.
    pub fn gain(self, days: f32) -> f32 {
        self.rate() * days * days / 2.0
    }

    /// Days from one reading to the next, at this price of a fetch.
    pub fn interval(self, price: f32) -> f32 {
        (2.0 * price / self.rate()).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A quarter of an hour.
    const PRICE: f32 = 1.0 / 96.0;

    /// The intervals at which a list is read within `horizon` days, if it brings news at this rate.
    fn intervals(horizon: f32, rate: impl Fn(f32) -> f32) -> Vec<f32> {
        let (mut news, mut at, mut waits, mut all) = (News::default(), 0.0, 0.0, Vec::new());
        while at < horizon {
            let days = news.interval(PRICE);
            at += days;
            waits += days * rate(at);
            let brought = f32::floor(waits);
            waits -= brought;
            news.read(days, brought, brought > 0.0);
            all.push(days);
        }
        all
    }

    #[test]
    fn a_list_that_brings_nothing_is_read_ever_more_seldom() {
        let silent = intervals(365.0, |_| 0.0);
        assert!(silent.is_sorted(), "{silent:?}");
        let (first, last) = (silent[0], silent[silent.len() - 1]);
        assert!(first < 0.5 && last > 8.0 * first && last < 7.0, "{first} to {last} days");
    }

    #[test]
    fn the_interval_follows_the_square_root_law() {
        for rate in [0.3, 3.0, 30.0] {
            let all = intervals(100.0, |_| rate);
            let last = &all[all.len() / 2..];
            let mean = last.iter().sum::<f32>() / last.len() as f32;
            let law = (2.0 * PRICE / rate).sqrt();
            assert!((mean / law - 1.0).abs() < 0.1, "{mean} days at rate {rate}, {law} by the law");
        }
    }

    #[test]
    fn a_list_that_wakes_up_is_soon_read_often() {
        let all = intervals(220.0, |at| if at < 200.0 { 0.0 } else { 5.0 });
        let asleep = all.iter().copied().fold(0.0, f32::max);
        assert!(asleep > 10.0 * all[all.len() - 1], "{asleep} days, then {}", all[all.len() - 1]);
    }

    #[test]
    fn a_list_that_only_says_now_is_not_read_often() {
        let mut news = News::default();
        for _ in 0..500 {
            news.read(news.interval(PRICE), 0.0, true);
        }
        assert!(news.interval(PRICE) > 0.3, "every {} days", news.interval(PRICE));
    }
}
