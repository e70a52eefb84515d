//! What the user decides, and the constants that simulations have decided.

use serde::{Deserialize, Serialize};

use super::time::Seconds;

/// What the user decides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Visits a day, over all hosts.
    pub budget: f32,
    /// No page is visited again sooner than this after its last visit.
    pub min_age: Seconds,
    /// Every page is due again at the latest this long after its last visit.
    pub max_age: Seconds,
    /// Days of freshness that a fetch costs at least, however many fetches hosts allow: what buys less is not worth asking
    /// the host for.
    pub least_price: f32,
    /// Whether visits may be made for what they teach, and not only for the freshness that they bring.
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
/// In so many days a lesson must have paid for itself: rates are taken to stay what they are for about so long.
pub const LESSON_DAYS: f32 = 100.0;
/// Share of the budget that lessons may take while many are wanted.
pub const LESSON_SHARE: f32 = 0.9;
/// A test comes this many times the price after the last visit, where the price is in days of freshness. A page that
/// changes about once in that time is at the border between those that are worth visiting and those that are not.
pub const TEST: f32 = 1.0;
/// Share of the pages never visited again that are tested without any question, so that the prior is learned.
pub const PILOT: f32 = 0.1;
/// The price differs this much (natural logarithm) between the pages, so that alike pages are not due all at once.
pub const JITTER: f32 = 0.15;
/// Of the visits that would follow the first one until the next review, this share takes place: the first one often shows
/// that the page is not worth the others.
pub const AGAIN: f32 = 0.4;
/// A visit may come early where nothing is due: after this share of its interval.
pub const EARLY: f32 = 0.5;
/// Where nothing is due, a host whose delay binds is asked before the others, as if its visits were due this much sooner: what
/// it allows and is not asked for is lost.
pub const LEAD: Seconds = 3 * 3_600;
