//! What a host says of its pages' changes, and how far that can be trusted: learned per host from what visits then show.
//!
//! Sitemaps and feeds say that a page *has changed* before it is visited. Two things are learned of each: how often the page
//! had indeed changed (precision), and how many of the changes were told (recall). A `Last-Modified` header says *when* a
//! page changed, once it is fetched. Of it is learned how often it agrees with what was seen.
//!
//! # References
//!
//! - Busa-Fekete et al.: A scalable crawling algorithm utilizing noisy change-indicating signals. 2025 (arXiv 2502.02430).
//! - Kolobov, Peres, Lu, Horvitz: Staying up to date with online content changes. NeurIPS 2019: mixed observability.

use serde::{Deserialize, Serialize};

use super::belief::Belief;
use super::time::Seconds;

/// Where word of a change comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Source {
    /// `lastmod` of a sitemap.
    Sitemap,
    /// An entry of a feed.
    Feed,
}

/// How often something was so, and how often not. Old cases count less and less.
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

    /// The share of yes, as if `cases` more had been seen of which `share` were yes.
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

/// A date counts as evidence once it was right so often.
const DATES_FROM: f32 = 0.9;
/// A date so close to the fetch is made up for the fetch.
const NOW: Seconds = 60;
/// However good its recall, a source is taken to miss this share of the changes.
const MISSED: f32 = 0.1;

impl Signals {
    fn of(&mut self, source: Source) -> &mut Told {
        match source {
            Source::Sitemap => &mut self.sitemap,
            Source::Feed => &mut self.feed,
        }
    }

    /// A page was visited that this source lists. `told`: it had said that the page has changed.
    pub fn visited(&mut self, source: Source, told: bool, changed: bool) {
        let of = self.of(source);
        if told {
            of.precision.add(changed);
        }
        if changed {
            of.recall.add(told);
        }
    }

    /// Probability that what the source says is so.
    pub fn precision(mut self, source: Source) -> f32 {
        self.of(source).precision.share(4.0, 0.25)
    }

    /// Share of the changes that the source tells.
    pub fn recall(mut self, source: Source) -> f32 {
        self.of(source).recall.share(4.0, 0.0)
    }

    /// A visit came with this `Last-Modified`; `before` is the visit before it. Returns the date where it tells when the
    /// page changed last, and the host's dates are to be trusted.
    pub fn dated(&mut self, before: Seconds, at: Seconds, changed: bool, date: Seconds) -> Option<Seconds> {
        if date.saturating_add(NOW) >= at {
            // Made up for this answer, or in the future. On a page that has not changed that is a lie.
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

    /// After how many days a visit is worth `price` days of freshness, to a page that a source lists. `told`: the source
    /// has said that the page has changed since its last visit.
    pub fn interval(self, source: Source, told: bool, belief: &Belief, price: f32) -> f32 {
        let precision = self.precision(source);
        let if_told = precision * belief.gain_if_changed();
        if told {
            // A mixture: changed for certain, or as if nothing was said.
            return if if_told >= price { 0.0 } else { belief.interval((price - if_told) / (1.0 - precision)) };
        }
        // A change that will be told, and visited then, needs no visit now: only the others count. At a rate of `a r` a
        // visit after t is worth what it is worth at a rate of r after `a t`, over a.
        let untold = if if_told >= price { (1.0 - self.recall(source)).max(MISSED) } else { 1.0 };
        belief.interval(price * untold) / untold
    }
}
