//! How soon copies are found that diverge, told from the web's own log.

use std::f64::consts::LN_2;

use super::ours::Tally;
use super::web::{DAYS, Web};

/// What became of the copies that diverged while they were trusted.
#[derive(Clone, Debug, Default)]
pub struct Lies {
    /// Days until a copy was found whose pair of hosts was not watched yet; infinite where it was not found.
    pub before: Vec<f64>,
    /// The same once three copies of the pair were known to have diverged, in median change periods of the copy's original.
    pub after: Vec<f64>,
}

impl Lies {
    /// Periods within which a copy of a watched pair is to be found.
    pub const PERIODS: f64 = 2.0;

    /// Reads them from what a run has counted. What diverged too late to be found in time is left out.
    pub fn of(web: &Web, tally: &Tally) -> Self {
        let mut lies = Self::default();
        for (number, page) in web.pages.iter().enumerate() {
            let (Some((at, _)), number) = (page.diverges, number as u32) else { continue };
            let is_of = |(other, _): &&(u32, f64)| *other == number;
            let last = |events: &[(u32, f64)]| events.iter().filter(is_of).map(|(_, day)| *day).rfind(|day| *day < at);
            // A page that was visited for its own sake at that time deceived nobody.
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

    /// Adds those of another run.
    pub fn add(&mut self, other: Self) {
        self.before.extend(other.before);
        self.after.extend(other.after);
    }

    /// The share of copies of watched pairs that were found in time; 1 where there were none.
    pub fn in_time(&self) -> f64 {
        let found = self.after.iter().filter(|periods| **periods <= Self::PERIODS).count();
        if self.after.is_empty() { 1.0 } else { found as f64 / self.after.len() as f64 }
    }

    /// The median of the days until the others were found.
    pub fn median_before(&self) -> f64 {
        let mut days = self.before.clone();
        days.sort_unstable_by(f64::total_cmp);
        days.get(days.len() / 2).copied().unwrap_or(0.0)
    }
}
