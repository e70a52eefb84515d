//! The results of the rescue's trials, by section, lot, siblings and family.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use dedup_stage::store::{self, Session};
use dedup_stage::url::{SiteId, UrlId};
use frontier::{UrlSet, UrlSets};

use super::record::{TrialRecord, decode};
use super::siblings::{NewPages, SiblingResults};
use super::state::Excused;
use crate::spaces;

/// The results of all trials.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// The results of each section that was tried.
    sections: BTreeMap<UrlSet, (UrlSets, SetResults)>,
    /// The results of the siblings that were tried.
    pub siblings: BTreeMap<UrlSet, SiblingResults>,
    /// The results of all pages that were drawn and are new.
    pub new: NewPages,
    /// For each lot that has fallen: of the URLs that were followed because of this, the number of those whose pages
    /// were new or led to new ones.
    after_fall: BTreeMap<UrlSet, u64>,
}

impl Results {
    /// Reads the trials of a crawl.
    pub fn read(session: &Session) -> store::Result<Self> {
        let (mut results, mut damaged) = (Self::default(), None);
        session.scan(spaces::TRIALS, &[], &[], &mut |key, value| match (UrlId::read(key), decode(value)) {
            (Some(id), Ok(trial)) => {
                results.add(id.site, trial);
                ControlFlow::Continue(())
            }
            (_, Err(error)) => {
                damaged = Some(error);
                ControlFlow::Break(())
            }
            (None, _) => ControlFlow::Continue(()),
        })?;
        damaged.map_or(Ok(results), Err)
    }

    fn add(&mut self, site: SiteId, trial: TrialRecord) {
        let TrialRecord { set, family, section, siblings, .. } = trial;
        if trial.round > 0 {
            if siblings != UrlSet(0) {
                self.siblings.entry(siblings).or_default().add(site, trial);
            }
            self.new.add(trial);
            let sets = UrlSets { section, lot: set, family, siblings: UrlSet::default() };
            let new = || (sets, SetResults { site, lot: set, family, ..SetResults::default() });
            self.sections.entry(section).or_insert_with(new).1.add(trial);
        } else if trial.gained() && set != UrlSet(0) {
            *self.after_fall.entry(set).or_default() += 1;
        }
    }

    /// The results of each section.
    pub fn sections(&self) -> impl Iterator<Item = (UrlSets, SetResults)> {
        self.sections.values().copied()
    }

    /// The results of each lot.
    pub fn lots(&self) -> BTreeMap<UrlSet, SetResults> {
        self.by(|sets| sets.lot)
    }

    /// The results of each lot, without those trials that are `excused`. A lot all of whose trials are excused counts
    /// as one that was not tried.
    pub fn lots_without(&self, excused: &BTreeMap<UrlSet, Excused>) -> BTreeMap<UrlSet, SetResults> {
        let mut lots = self.lots();
        lots.retain(|lot, result| {
            let Some(Excused { trials, gained, opened }) = excused.get(lot) else { return true };
            // A page of an earlier trial may have led to a new page meanwhile.
            let is_new = result.trials > *trials || result.gained > *gained;
            result.trials = result.trials.saturating_sub(*trials);
            result.gained = result.gained.saturating_sub(*gained);
            result.opened = result.opened.saturating_sub(*opened);
            is_new
        });
        lots
    }

    /// The results of other sets. `of` says to which of them a section belongs.
    pub fn by(&self, of: impl Fn(UrlSets) -> UrlSet) -> BTreeMap<UrlSet, SetResults> {
        let mut results = BTreeMap::<UrlSet, SetResults>::new();
        for (sets, result) in self.sections.values() {
            results.entry(of(*sets)).and_modify(|all| all.join(result)).or_insert(*result);
        }
        for (set, result) in &mut results {
            result.after_fall = self.after_fall.get(set).copied().unwrap_or_default();
        }
        results
    }
}

/// The results of a family.
#[derive(Clone, Copy, Debug, Default)]
pub struct FamilyResults {
    /// The host of one of its URLs.
    pub site: SiteId,
    /// The number of its lots that were tried.
    pub tried: u64,
    /// The number of its lots that gained something.
    pub gained: u64,
}

/// The results of each family.
pub fn families(lots: &BTreeMap<UrlSet, SetResults>) -> BTreeMap<UrlSet, FamilyResults> {
    let mut families = BTreeMap::<UrlSet, FamilyResults>::new();
    // Trials of earlier versions have no family.
    for result in lots.values().filter(|result| result.family != UrlSet(0)) {
        let family = families.entry(result.family).or_default();
        family.site = result.site;
        family.tried += 1;
        family.gained += u64::from(result.gained > 0);
    }
    families
}

/// The results of the trials of one lot, or of one section.
#[derive(Clone, Copy, Debug, Default)]
pub struct SetResults {
    /// The host of one of its URLs.
    pub site: SiteId,
    /// The lot itself, or the lot to which the section belongs.
    pub lot: UrlSet,
    /// The family of the lot.
    pub family: UrlSet,
    /// The newest round that drew a URL of it. The fields that end in `_newest` are about this round. It need not be
    /// the last round of the rescue, from which the estimate is made.
    pub round: u32,
    /// The number of URLs that this round drew and that were answered or given up.
    pub drawn_newest: u64,
    /// The number of URLs that this round drew and whose pages were new, or led to new ones.
    pub gained_newest: u64,
    /// The number of URLs that were drawn in all rounds.
    pub trials: u64,
    /// The number of URLs, of all rounds, whose pages were new, or led to new ones.
    pub gained: u64,
    /// The number of URLs, of all rounds, whose pages were new themselves.
    pub new: u64,
    /// The number of links of its pages, in all rounds, that were not found before.
    pub opened: u64,
    /// The number of such links on the pages that the newest round drew.
    pub opened_newest: u64,
    /// Of the URLs that were followed because the lot had fallen: the number of those whose pages were new or led to
    /// new ones.
    pub after_fall: u64,
}

impl SetResults {
    /// Adds one trial.
    fn add(&mut self, trial: TrialRecord) {
        let gained = u64::from(trial.gained());
        let (drawn_newest, gained_newest) = if trial.new.is_some() { (1, gained) } else { (0, 0) };
        let (round, opened, new) = (trial.round, trial.opened.into(), u64::from(trial.new == Some(true)));
        let opened_newest = opened;
        self.join(&Self { round, drawn_newest, gained_newest, trials: 1, gained, new, opened, opened_newest, ..*self });
    }

    /// Adds the results of other URLs of the same lot.
    fn join(&mut self, other: &Self) {
        if other.round > self.round {
            (self.round, self.drawn_newest, self.gained_newest, self.opened_newest) = (other.round, 0, 0, 0);
        }
        if other.round == self.round {
            self.drawn_newest += other.drawn_newest;
            self.gained_newest += other.gained_newest;
            self.opened_newest += other.opened_newest;
        }
        self.trials += other.trials;
        self.gained += other.gained;
        self.new += other.new;
        self.opened += other.opened;
    }

    /// The mean number of links of its pages that were not found before.
    pub fn opens(&self) -> f64 {
        self.opened as f64 / self.trials.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lot_counts_by_what_it_gained_since_it_was_excused() {
        let mut results = Results::default();
        let trial = |lot, led| TrialRecord {
            round: 1,
            set: UrlSet(lot),
            section: UrlSet(lot),
            new: Some(false),
            led,
            opened: 2,
            ..TrialRecord::default()
        };
        let tried = |results: &mut Results, lot, led| results.add(SiteId::default(), trial(lot, led));
        (1..=4).for_each(|lot| tried(&mut results, lot, true));
        let excused = [1, 2, 3].map(|lot| (UrlSet(lot), Excused { trials: 1, gained: 1, opened: 2 })).into();
        tried(&mut results, 2, false);
        tried(&mut results, 3, true);
        let lots = results.lots_without(&excused);
        let gained: Vec<_> = lots.iter().map(|(lot, result)| (lot.0, result.trials, result.gained)).collect();
        assert_eq!(gained, [(2, 1, 0), (3, 1, 1), (4, 1, 1)], "lot 1 is to be tried again");
        assert_eq!(results.lots()[&UrlSet(1)].gained, 1, "its earlier trial is still known");
    }
}
