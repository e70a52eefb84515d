//! Siblings: URLs that are held for one and the same counterpart ([`frontier::UrlSets::siblings`]).
//!
//! For example, each of 200 blogs of one domain has the pages `/blog` and `/contact`. The first of each kind was
//! fetched, and the others are held for it, because the front pages of the blogs are alike. Each blog is a lot of its
//! own, and all of them are one family. Most pages of this family are copies. But one blog in ten has articles. If
//! the pages `/blog` of a few hosts are new, or lead to new pages, all pages `/blog` are fetched, and no page
//! `/contact` is.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use dedup_stage::url::SiteId;
use frontier::{Frontier, UrlSet};

use super::looks::left_of;
use super::record::TrialRecord;
use crate::engine::error::Result;
use crate::engine::ledger::Ledger;

/// The results of the siblings that were drawn and answered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SiblingResults {
    /// The host of one of them.
    pub site: SiteId,
    /// The number of those that were answered or given up.
    pub tried: u64,
    /// The number of those whose pages were new, or led to new ones.
    pub gained: u64,
    /// The new pages among them.
    pub new: NewPages,
}

/// Pages that were drawn and are new.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NewPages {
    /// Their number.
    pub pages: u64,
    /// The number of links on them that were not found before.
    pub opened: u64,
}

impl SiblingResults {
    /// One trial alone says nothing about siblings. In a partial copy of a site, nearly every URL has a counterpart of
    /// its own.
    const LEAST: u64 = 2;
    /// Siblings fall if at least this many of them are new, or led to new pages …
    const ALIKE: u64 = 3;
    /// … and if these are at least one in this many of those that were tried …
    const ALIKE_ONE_IN: u64 = 4;
    /// … or if some are new, and these lead to at least this many pages for each one that was tried.
    const LEADS: u64 = 1;
    /// Siblings that have gained something are tried first as long as at least one in this many gained.
    const PROMISING_ONE_IN: u64 = 8;
    /// At most this many groups of siblings fall at once. The groups with the most URLs left fall first. For each
    /// group, all records of URLs are read.
    const AT_ONCE: usize = 16;

    /// Adds a URL that was drawn.
    pub fn add(&mut self, site: SiteId, trial: TrialRecord) {
        self.site = site;
        self.tried += u64::from(trial.new.is_some());
        self.gained += u64::from(trial.gained());
        self.new.add(trial);
    }

    /// Whether more of the siblings are to be tried, because some have gained something, but not enough of them to tell
    /// whether they are worth the fetches.
    pub fn are_promising(&self) -> bool {
        self.gained > 0 && !self.are_worth_it() && self.gained * Self::PROMISING_ONE_IN >= self.tried
    }

    /// Whether the siblings that were not tried are worth the fetches.
    pub fn are_worth_it(&self) -> bool {
        let NewPages { pages, opened } = self.new;
        if self.tried < Self::LEAST {
            return false;
        }
        let are_alike = self.gained >= Self::ALIKE && self.gained * Self::ALIKE_ONE_IN >= self.tried;
        are_alike || (pages > 0 && opened >= Self::LEADS * self.tried)
    }
}

/// The siblings that fall now: they are worth it, have not fallen, and have URLs left.
pub fn that_fall(
    results: &BTreeMap<UrlSet, SiblingResults>,
    frontier: &mut Frontier,
    ledger: &Ledger,
) -> Result<Vec<(UrlSet, SiblingResults)>> {
    let worth = results.iter().filter(|(lot, of)| of.are_worth_it() && !frontier.has_fallen(**lot));
    let worth: Vec<_> = worth.map(|(lot, of)| (*lot, *of)).collect();
    let left = left_of(worth.iter().map(|(lot, _)| *lot), |sets| sets.siblings, frontier, ledger)?;
    let mut fall: Vec<_> = worth.into_iter().filter(|(lot, _)| left.contains_key(lot)).collect();
    fall.sort_by_key(|(lot, _)| Reverse(left[lot]));
    fall.truncate(SiblingResults::AT_ONCE);
    Ok(fall)
}

impl NewPages {
    /// Adds a URL that was drawn, if its page is new.
    pub fn add(&mut self, trial: TrialRecord) {
        if trial.new == Some(true) {
            self.pages += 1;
            self.opened += u64::from(trial.opened);
        }
    }

    /// The mean number of links of such a page that were not found before.
    pub fn mean_opened(&self) -> f64 {
        self.opened as f64 / self.pages.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(trials: &[(bool, u32)]) -> SiblingResults {
        let mut results = SiblingResults::default();
        for (new, opened) in trials {
            let trial = TrialRecord { round: 1, new: Some(*new), opened: *opened, ..TrialRecord::default() };
            results.add(SiteId::default(), trial);
        }
        results
    }

    #[test]
    fn siblings_are_worth_it_if_many_gained_something_or_if_the_new_ones_lead_to_much() {
        let copy = (false, 9);
        assert!(!of(&[]).are_worth_it() && !of(&[copy; 9]).are_worth_it());
        let some = |new: &[(bool, u32)], copies| of(&[new, &vec![copy; copies]].concat()).are_worth_it();
        assert!(some(&[(true, 0); 3], 9) && !some(&[(true, 0); 3], 10) && !some(&[(true, 0); 2], 0));
        assert!(some(&[(true, 12)], 11) && !some(&[(true, 12)], 12));
        assert!(!some(&[(true, 12)], 0), "one trial");
        let led = TrialRecord { round: 1, new: Some(false), led: true, ..TrialRecord::default() };
        let mut results = SiblingResults::default();
        (0..3).for_each(|_| results.add(SiteId::default(), led));
        assert!(results.are_worth_it(), "pages that led to new ones");
    }
}
