//! The time until diverged copies are found, according to the log of the web.

use std::f64::consts::LN_2;

use super::ours::Tally;
use super::web::{DAYS, Web};

/// The copies that diverged while they were trusted, and how soon they were found.
#[derive(Clone, Debug, Default)]
pub struct Lies {
    /// For each copy whose pair of hosts was not watched yet, the days until it was found; infinite if it was not
    /// found.
    pub before: Vec<f64>,
    /// For each copy whose pair of hosts was watched (because three of its copies were known to have diverged), the
    /// time until it was found, in median change periods of the copy's original.
    pub after: Vec<f64>,
}

impl Lies {
    /// The number of periods within which a copy of a watched pair should be found.
    pub const PERIODS: f64 = 2.0;

    /// Computes them from the tally of a run. Divergences that came too late to be found in time are left out.
    pub fn of(web: &Web, tally: &Tally) -> Self {
        let mut lies = Self::default();
        for (number, page) in web.pages.iter().enumerate() {
            let (Some((at, _)), number) = (page.diverges, number as u32) else { continue };
            let is_of = |(other, _): &&(u32, f64)| *other == number;
            let last = |events: &[(u32, f64)]| events.iter().filter(is_of).map(|(_, day)| *day).rfind(|day| *day < at);
            // A page that was not trusted as a copy at that time does not count.
            if last(&tally.left).is_some_and(|left| last(&tally.joined).is_none_or(|joined| joined < left)) {
                continue;
            }
            let period = LN_2 / web.rates[page.source as usize];
            let found = tally.left.iter().filter(is_of).map(|(_, day)| *day).find(|day| *day >= at);
            let days = found.unwrap_or(f64::INFINITY) - at;
            match tally.watched.get(&web.pair(number)) {
                Some(since) if *since <= at && at + Self::PERIODS * period < DAYS => lies.after.push(days / period),
                Some(since) if *since <= at => {}
                _ => lies.before.push(days),
            }
        }
        lies
    }

    /// Adds the results of another run.
    pub fn add(&mut self, other: Self) {
        self.before.extend(other.before);
        self.after.extend(other.after);
    }

    /// The share of the copies of watched pairs that were found in time; 1 if there are none.
    pub fn in_time(&self) -> f64 {
        let found = self.after.iter().filter(|periods| **periods <= Self::PERIODS).count();
        if self.after.is_empty() { 1.0 } else { found as f64 / self.after.len() as f64 }
    }

    /// The median number of days until a copy of a pair that was not watched was found.
    pub fn median_before(&self) -> f64 {
        let mut days = self.before.clone();
        days.sort_unstable_by(f64::total_cmp);
        days.get(days.len() / 2).copied().unwrap_or(0.0)
    }
}
