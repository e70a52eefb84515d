//! What a host says about changes of its pages, and how far that is true. Visits show whether it is.
//!
//! Sitemaps and feeds *tell* of a change before the page is visited. Two shares are learned for each of them: of the
//! visits that showed a change, the share that had been told (recall), and of the visits that showed none, the share
//! that had been told too (false alarms). A source is trusted as far as the first share exceeds the second. A sitemap
//! that says "now" at each reading tells of a change as often if nothing has changed as if something has. So it is not
//! trusted, however often its pages change.
//!
//! After a long time, a page has likely changed, and a source has likely told something, even if the two have nothing
//! to do with each other. So a visit counts more if its result was less expected: a visit with a change counts with the
//! expected probability of no change, and a visit without a change counts with the probability of a change (overlap
//! weights).
//!
//! The `Last-Modified` header of an answer says *when* the page changed. It is learned how often this header agrees
//! with what the visit shows.
//!
//! # References
//!
//! - Busa-Fekete et al.: A scalable crawling algorithm utilizing noisy change-indicating signals. 2025 (arXiv
//!   2502.02430).
//! - Kolobov, Peres, Lu, Horvitz: Staying up to date with online content changes. NeurIPS 2019: mixed observability.
//! - Li, Morgan, Zaslavsky: Balancing covariates via propensity score weighting. JASA 2018: overlap weights.

use serde::{Deserialize, Serialize};

use super::belief::Belief;
use super::settings::READING;
use super::time::{DAY, Seconds};

/// A source that tells of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Source {
    /// `lastmod` of a sitemap.
    Sitemap,
    /// An entry of a feed.
    Feed,
}

/// The weight of the cases in which something was true, and of those in which it was not. Old cases count less and
/// less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Tally {
    yes: f32,
    no: f32,
}

impl Tally {
    /// If the weight of all cases exceeds this, it is halved.
    const FULL: f32 = 255.0;

    fn add(&mut self, yes: bool, weight: f32) {
        if self.yes + self.no > Self::FULL {
            (self.yes, self.no) = (self.yes / 2.0, self.no / 2.0);
        }
        *if yes { &mut self.yes } else { &mut self.no } += weight;
    }

    /// The share of cases that were true, as if there had been `cases` more with this share.
    fn share(self, cases: f32, share: f32) -> f32 {
        (self.yes + cases * share) / (self.yes + self.no + cases)
    }
}

/// What is known of a sitemap or feed: whether it had told of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct ListTally {
    /// Of visits that showed a change.
    of_changed: Tally,
    /// Of visits that showed none.
    of_unchanged: Tally,
}

/// What is known of a host's signals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Signals {
    sitemap: ListTally,
    feed: ListTally,
    /// Of the visits that could tell, those with which `Last-Modified` agreed.
    dates: Tally,
}

/// Before anything is known, this many cases speak against a source.
const CASES: f32 = 2.0;
/// A source is believed if its trust is at least this. Otherwise what it tells counts for nothing. The reason: a page
/// that hardly ever changes is worth a visit at any small chance of a change. So a little trust in a source that always
/// tells would cost a visit at each reading.
const BELIEVED: f32 = 0.5;
/// Dates count as evidence if this share of them was right.
const DATES_FROM: f32 = 0.9;
/// A date that is so close to the time of the answer was made for the answer.
const NOW: Seconds = 60;
/// A source counts as missing at least this share of the changes.
const MISSED: f32 = 0.1;

impl Signals {
    fn of(&mut self, source: Source) -> &mut ListTally {
        match source {
            Source::Sitemap => &mut self.sitemap,
            Source::Feed => &mut self.feed,
        }
    }

    /// A page that this source lists was visited. `told`: the source had said that the page has changed. `expected`:
    /// the probability of a change, as far as it was known without the source.
    pub fn visited(&mut self, source: Source, told: bool, changed: bool, expected: f32) {
        let of = self.of(source);
        if changed {
            of.of_changed.add(told, 1.0 - expected);
        } else {
            of.of_unchanged.add(told, expected);
        }
    }

    /// How far a change that the source tells of is to be believed, 0..1: the excess of its probability over one half,
    /// doubled, for a page of which nothing else is known.
    pub fn trust(mut self, source: Source) -> f32 {
        let (right, wrong) = (self.recall(source), self.of(source).of_unchanged.share(CASES, 0.5));
        ((right - wrong) / (right + wrong)).max(0.0)
    }

    /// Share of the changes that the source tells.
    pub fn recall(mut self, source: Source) -> f32 {
        self.of(source).of_changed.share(CASES, 0.0)
    }

    /// Whether what the source tells counts.
    pub fn believes(self, source: Source) -> bool {
        self.trust(source) >= BELIEVED
    }

    /// A visit at `at` had this `Last-Modified`; the visit before was at `before`. Returns the date if it tells when
    /// the page changed last, and the dates of this host are trusted.
    pub fn dated(&mut self, before: Seconds, at: Seconds, changed: bool, date: Seconds) -> Option<Seconds> {
        if date.saturating_add(NOW) >= at {
            // The date is in the future, or was made for this answer. If the page has not changed, the date is wrong.
            if !changed {
                self.dates.add(false, 1.0);
            }
            return None;
        }
        let moved = date > before;
        if moved || changed {
            self.dates.add(moved == changed, 1.0);
        }
        (self.trusts_dates() && moved == changed).then_some(date)
    }

    /// Whether this host's dates count as evidence.
    pub fn trusts_dates(self) -> bool {
        self.dates.share(2.0, 0.5) >= DATES_FROM
    }

    /// The days after which a visit buys `price` days of freshness, for a page that a source lists. `told`: the source
    /// has said that the page has changed since its last visit.
    pub fn interval(self, source: Source, told: bool, belief: &Belief, price: f32) -> f32 {
        let plain = belief.interval(price);
        if !self.believes(source) {
            return plain;
        }
        let if_told = self.gain_if_told(source, belief);
        if told {
            // Two cases, each with its probability: the page has changed, or the source has said nothing that counts.
            return if if_told >= price {
                0.0
            } else {
                belief.interval((price - if_told) / (1.0 - self.trust(source)))
            };
        }
        if if_told < price || plain * DAY <= READING as f32 {
            // Before the source is read again, the page is due anyway.
            return plain;
        }
        // If the source will tell of a change, the page is visited then. So only the changes that it does not tell of
        // count: a share `a` of all changes. A visit after t at the rate `a r` buys what a visit after `a t` at the
        // rate r buys, divided by `a`.
        let untold = self.untold(source);
        (belief.interval(price * untold) / untold).max(plain)
    }

    /// What a visit buys, in days of freshness, if it comes `days` days after the last one. See [`Self::interval`].
    pub fn gain(self, source: Source, told: bool, belief: &Belief, days: f32) -> f32 {
        if !self.believes(source) {
            return belief.gain(days);
        }
        if told {
            return self.gain_if_told(source, belief) + (1.0 - self.trust(source)) * belief.gain(days);
        }
        let untold = self.untold(source);
        belief.gain(days * untold) / untold
    }

    /// What a visit buys because the source has told of a change.
    pub fn gain_if_told(self, source: Source, belief: &Belief) -> f32 {
        self.trust(source) * belief.gain_if_changed()
    }

    /// The share of the changes that the source does not tell.
    fn untold(self, source: Source) -> f32 {
        (1.0 - self.recall(source)).max(MISSED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refresh::grid::grid;

    /// What is known of a sitemap after visits to pages that change once in ten days. `told` says whether the sitemap
    /// had told of a change, from the days since the last visit and whether there was one. The visits come after one,
    /// two, … and nineteen days, again and again.
    fn after_visits(told: impl Fn(u32, bool) -> bool) -> Signals {
        let mut signals = Signals::default();
        let mut due = 0.0_f32;
        for days in (0..400).map(|n| n % 19 + 1) {
            let expected = 1.0 - (-0.1 * days as f32).exp();
            // As many visits show a change as are expected to.
            due += expected;
            let changed = due >= 1.0;
            due -= f32::from(u8::from(changed));
            signals.visited(Source::Sitemap, told(days, changed), changed, expected);
        }
        signals
    }

    /// One change in four to eleven days.
    fn about_one_in_a_week() -> Belief {
        Belief::new(grid().rate.map(|rate| f32::from(u8::from((0.09..0.25).contains(&rate)))))
    }

    #[test]
    fn a_source_is_believed_if_it_tells_of_changes_and_of_nothing_else() {
        let honest = after_visits(|_, changed| changed);
        let (lying, silent) = (after_visits(|_, _| true), after_visits(|_, _| false));
        assert!(honest.trust(Source::Sitemap) > 0.9 && honest.believes(Source::Sitemap), "{honest:?}");
        for (name, signals) in [("lying", lying), ("silent", silent), ("unknown", Signals::default())] {
            assert!(signals.trust(Source::Sitemap) < 0.05 && !signals.believes(Source::Sitemap), "{name}: {signals:?}");
        }
        assert_eq!(honest.trust(Source::Feed), 0.0, "each source is judged by what it told itself");

        let belief = about_one_in_a_week();
        let price = belief.gain(5.0);
        let days = |signals: Signals, told| signals.interval(Source::Sitemap, told, &belief, price);
        assert_eq!(days(honest, true), 0.0, "due as soon as it is told");
        assert!(days(honest, false) > 2.0 * days(silent, false), "not due while nothing is told");
        for told in [false, true] {
            assert!((days(lying, told) / belief.interval(price) - 1.0).abs() < 0.1, "as if it had said nothing");
        }
    }

    #[test]
    fn a_sitemap_that_tells_after_some_days_whatever_happens_is_not_believed() {
        // Told at long intervals, at which most visits show a change anyway.
        let signals = after_visits(|days, _| days > 9);
        assert!(signals.trust(Source::Sitemap) < 0.15, "{}", signals.trust(Source::Sitemap));
    }

    #[test]
    fn what_a_visit_buys_reaches_the_price_when_it_is_due() {
        let belief = about_one_in_a_week();
        for signals in [after_visits(|_, changed| changed), after_visits(|_, _| true)] {
            let price = belief.gain(3.0);
            let days = signals.interval(Source::Sitemap, false, &belief, price);
            let buys = signals.gain(Source::Sitemap, false, &belief, days);
            assert!((buys / price - 1.0).abs() < 0.1, "{buys} for {price}");
        }
    }
}
