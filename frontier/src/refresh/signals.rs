//! What a host says about changes of its pages, and how far that is true. Visits show whether it is.
//!
//! Sitemaps and feeds say that a page *has changed* before it is visited. Two things are learned of each: how often the page
//! had indeed changed (precision), and how many of the changes were told (recall). The `Last-Modified` header of an answer says
//! *when* the page changed. Of this header is learned how often it agrees with what the visit shows.
//!
//!
//! - Busa-Fekete et al.: A scalable crawling algorithm utilizing noisy change-indicating signals. 2025 (arXiv 2502.02430).
//! - Kolobov, Peres, Lu, Horvitz: Staying up to date with online content changes. NeurIPS 2019: mixed observability.

use serde::{Deserialize, Serialize};

use super::belief::Belief;
use super::time::Seconds;

/// A source that tells of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Source {
    /// `lastmod` of a sitemap.
    Sitemap,
    /// An entry of a feed.
    Feed,
}

/// How often something was true, and how often it was not. Old cases count less and less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Tally {
    yes: u8,
    no: u8,
}

impl Tally {
    fn add(&mut self, yes: bool) {
        if self.yes == u8::MAX || self.no == u8::MAX {
            (self.yes, self.no) = (self.yes / 2, self.no / 2);
        }
        *if yes { &mut self.yes } else { &mut self.no } += 1;
    }

    /// The share of cases that were true, as if there had been `cases` more with this share.
    fn share(self, cases: f32, share: f32) -> f32 {
        (f32::from(self.yes) + cases * share) / (f32::from(self.yes) + f32::from(self.no) + cases)
    }
}

/// What is known of a sitemap or feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Told {
    /// Of the changes it told, those that had taken place.
    precision: Tally,
    /// Of the changes seen on pages that it lists, those that it had told.
    recall: Tally,
}

/// What is known of a host's signals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signals {
    sitemap: Told,
    feed: Told,
    /// Of the visits that could tell, those with which `Last-Modified` agreed.
    dates: Tally,
}

/// Dates count as evidence if this share of them was right.
const DATES_FROM: f32 = 0.9;
/// A date that is so close to the time of the answer was made for the answer.
const NOW: Seconds = 60;
/// A source counts as missing at least this share of the changes.
const MISSED: f32 = 0.1;

impl Signals {
    fn of(&mut self, source: Source) -> &mut Told {
        match source {
            Source::Sitemap => &mut self.sitemap,
            Source::Feed => &mut self.feed,
        }
    }

    /// A page that this source lists was visited. `told`: the source had said that the page has changed.
    pub fn visited(&mut self, source: Source, told: bool, changed: bool) {
        let of = self.of(source);
        if told {
            of.precision.add(changed);
        }
        if changed {
            of.recall.add(told);
        }
    }

    /// Probability that a change that the source tells of has taken place.
    pub fn precision(mut self, source: Source) -> f32 {
        self.of(source).precision.share(4.0, 0.25)
    }

    /// Share of the changes that the source tells.
    pub fn recall(mut self, source: Source) -> f32 {
        self.of(source).recall.share(4.0, 0.0)
    }

    /// A visit at `at` had this `Last-Modified`; the visit before was at `before`. Returns the date if it tells when the page
    /// changed last, and the dates of this host are trusted.
    pub fn dated(&mut self, before: Seconds, at: Seconds, changed: bool, date: Seconds) -> Option<Seconds> {
        if date.saturating_add(NOW) >= at {
            // The date is in the future, or was made for this answer. If the page has not changed, the date is wrong.
            if !changed {
                self.dates.add(false);
            }
            return None;
        }
        let moved = date > before;
        if moved || changed {
            self.dates.add(moved == changed);
        }
        (self.trusts_dates() && moved == changed).then_some(date)
    }

    /// Whether this host's dates count as evidence.
    pub fn trusts_dates(self) -> bool {
        self.dates.share(2.0, 0.5) >= DATES_FROM
    }

    /// The days after which a visit buys `price` days of freshness, for a page that a source lists. `told`: the source has said
    /// that the page has changed since its last visit.
    pub fn interval(self, source: Source, told: bool, belief: &Belief, price: f32) -> f32 {
        let precision = self.precision(source);
        let if_told = precision * belief.gain_if_changed();
        if told {
            // Two cases, each with its probability: the page has changed, or the source has said nothing that counts.
            return if if_told >= price { 0.0 } else { belief.interval((price - if_told) / (1.0 - precision)) };
        }
        // If the source will tell of a change, the page is visited then. So only changes that it does not tell of count: a
        // share `a` of them. A visit after t at the rate `a r` buys what a visit after `a t` at the rate r buys, divided by
        // `a`.
        let untold = if if_told >= price { (1.0 - self.recall(source)).max(MISSED) } else { 1.0 };
        belief.interval(price * untold) / untold
    }
}
