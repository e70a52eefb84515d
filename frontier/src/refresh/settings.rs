//! The settings of the user, and constants that were chosen by simulations.

use serde::{Deserialize, Serialize};

use super::time::Seconds;

/// The settings of the user.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Visits a day, over all hosts.
    pub budget: f32,
    /// The time from a visit to the next visit of the same page, at least.
    pub min_age: Seconds,
    /// The time from a visit until the page is due again, at most.
    pub max_age: Seconds,
    /// The lowest price of a fetch, in days of freshness. A visit that buys less is not made, even if the host allows
    /// it.
    pub least_price: f32,
    /// Whether visits are made that only teach a change rate (lessons).
    pub lessons: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { budget: 10_000.0, min_age: 0, max_age: Seconds::MAX, least_price: 0.0, lessons: true }
    }
}

/// Reviews of a host in the time that the budget takes to visit every page once.
pub const REVIEWS: f32 = 8.0;
/// Days between two reviews of a host, at least.
pub const REVIEW_DAYS: f32 = 0.5;
/// A *lesson* is a visit that is made only to learn a change rate. It must bring its price within this many days,
/// because the rate may change after that.
pub const LESSON_DAYS: f32 = 100.0;
/// The share of the budget that lessons may take.
pub const LESSON_SHARE: f32 = 0.9;
/// A *test* is the lesson of a page that was visited once. It comes this many times the price after that visit, in
/// days. (The price is in days of freshness.) A page that changes about once in that time is just worth visiting, so
/// the test tells on which side of this border the page is.
pub const TEST: f32 = 1.0;
/// The share of pages without a second visit that are tested in any case, so that the prior can be learned.
pub const PILOT: f32 = 0.1;
/// By how much the prices of two pages differ at most (natural logarithm). So pages that are alike are not due at the
/// same time.
pub const JITTER: f32 = 0.15;
/// The share of the planned visits after the next one that take place before the next review. Often the next visit
/// shows that the page is not worth the others.
pub const AGAIN: f32 = 0.4;
/// The time between two readings of a sitemap, in seconds, that the estimates assume. A continuous crawl reads a
/// sitemap at least so often if it is believed.
pub const READING: Seconds = 86_400;
/// If nothing is due, a visit may come early: after this share of its interval.
pub const EARLY: f32 = 0.5;
/// If nothing is due, hosts whose delay binds come before the others, as if their visits were due this much sooner. A
/// fetch that such a host allows, and that is not made, cannot be made up for.
pub const LEAD: Seconds = 3 * 3_600;
