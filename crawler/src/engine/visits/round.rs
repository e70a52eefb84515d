//! The counters of a round of visits.

use dedup_stage::judge::Changed;
use frontier::Millis;
use serde::{Deserialize, Serialize};

use super::Ended;

/// The last round of visits, or the visits of a continuous crawl: a part of the counters, which the state keeps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Round {
    /// Number of the round, from 1.
    pub number: u32,
    /// When it began, in milliseconds since 1970.
    pub started: Millis,
    /// Whether these are the visits of a continuous crawl.
    pub continuous: bool,
    /// Whether the round ended.
    pub done: bool,
    /// Whether the last run was `crawler refresh`, made this round, and ended because the budget of the round was
    /// spent.
    pub spent: bool,
    /// Visits that were not made, because their hosts could not be asked in time (`--patience`) when the run ended.
    pub put_off: u64,
    /// Whether the crawl had more to fetch when `crawler refresh` began the round. Then the run ends after the last
    /// visit.
    pub amid_crawl: bool,
    /// Visits, checks of copies included.
    pub visits: u64,
    /// Visits that showed another content than the one before.
    pub changed: u64,
    /// Visits that were answered with 404 or 410, of pages that were there before.
    pub missing: u64,
    /// Pages that were missing at their last two visits when the run ended. Each of them is asked for at growing
    /// intervals.
    pub gone: u64,
    /// Trusted copies.
    pub trusted: u64,
    /// Copies that were checked.
    pub checked: u64,
    /// Checked copies that had diverged.
    pub diverged: u64,
    /// Copies that left their clusters unchecked, because many copies of their pair have diverged.
    pub left: u64,
    /// Representatives that are missing or moved, or have not been had for some time, and whose place a copy has taken.
    pub replaced: u64,
    /// Visits that were not made because robots.txt forbids them now.
    pub forbidden: u64,
    /// Fetches that were saved: one for each trusted copy, at each visit to its representative.
    pub saved: u64,
    /// The share of pages that had not changed since their last visit, 0..1, as estimated at the beginning of the
    /// round.
    pub freshness_before: f64,
}

impl Round {
    /// Counts a visit. `was_there`: see [`super::member::Member::was_there`].
    pub(in crate::engine) fn count(&mut self, ended: Ended, was_there: bool) {
        self.visits += 1;
        self.changed += u64::from(matches!(ended, Ended::Showed { changed: Some(Changed::Content), .. }));
        self.missing += u64::from(ended == Ended::Missing && was_there);
    }
}
