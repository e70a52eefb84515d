//! The trials of the rescue: the result of each URL that was drawn, or followed because its lot had fallen, and the
//! results of lots and families.

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

use dedup_stage::store::{self, Session, codec};
use dedup_stage::url::{SiteId, UrlId};
use frontier::{Drawn, Lot, Lots, Prospect};
use serde::{Deserialize, Serialize};

use super::siblings::{NewPages, SiblingResults};
use super::state::Excused;
use crate::spaces;

/// The record of a URL that the rescue fetched. There are three kinds:
///
/// 1. The URL was drawn (`round` is not 0).
/// 2. It was fetched because its lot has fallen (`round` is 0, `lot` is not).
/// 3. A page of the first two kinds links to it (both are 0).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// The round that drew it; 0 if it was not drawn.
    pub round: u32,
    /// Its lot, or the section or family that had fallen; 0 if it lies behind a trial.
    pub lot: Lot,
    /// Whether it brought a new page; `None` until it was answered or given up after its attempts. A trial that ended
    /// otherwise (robots.txt forbids it, for example) stays `None`, and is no evidence.
    pub new: Option<bool>,
    /// Whether its page led to a new page.
    pub led: bool,
    /// The number of links of its page that were not found before. (Earlier versions wrote 1 for any number, in the
    /// same format.)
    pub opened: u32,
    /// The page that linked to it.
    pub source: Option<UrlId>,
    /// The family of its lot; 0 if it was not drawn.
    pub family: Lot,
    /// Its section of the lot; 0 if it was not drawn.
    pub section: Lot,
    /// Its siblings; 0 if it was not drawn, or is not held for a counterpart.
    pub siblings: Lot,
}

impl TrialRecord {
    /// Whether its page was new, or led to a new one. A list has little text of its own, but the pages that it lists
    /// would be lost.
    pub fn gained(&self) -> bool {
        self.new == Some(true) || self.led
    }
}

/// The results of all trials.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// The results of each section that was tried.
    sections: BTreeMap<Lot, (Lots, LotResults)>,
    /// The results of the siblings that were tried.
    pub siblings: BTreeMap<Lot, SiblingResults>,
    /// The results of all pages that were drawn and are new.
    pub new: NewPages,
    /// For each lot that has fallen: of the URLs that were followed because of this, the number of those whose pages
    /// were new or led to new ones.
    after_fall: BTreeMap<Lot, u64>,
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
        let TrialRecord { lot, family, section, siblings, .. } = trial;
        if trial.round > 0 {
            if siblings != Lot(0) {
                self.siblings.entry(siblings).or_default().add(site, trial);
            }
            self.new.add(trial);
            let lots = Lots { section, lot, family, siblings: Lot::default() };
            let new = || (lots, LotResults { site, lot, family, ..LotResults::default() });
            self.sections.entry(section).or_insert_with(new).1.add(trial);
        } else if trial.gained() && lot != Lot(0) {
            *self.after_fall.entry(lot).or_default() += 1;
        }
    }

    /// The results of each section.
    pub fn sections(&self) -> impl Iterator<Item = (Lots, LotResults)> {
        self.sections.values().copied()
    }

    /// The results of each lot.
    pub fn lots(&self) -> BTreeMap<Lot, LotResults> {
        self.by(|lots| lots.lot)
    }

    /// The results of each lot, without those trials that are `excused`. A lot all of whose trials are excused counts
    /// as one that was not tried.
    pub fn lots_without(&self, excused: &BTreeMap<Lot, Excused>) -> BTreeMap<Lot, LotResults> {
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

    /// The results by other groups of sections. `of` says to which lot a section belongs.
    pub fn by(&self, of: impl Fn(Lots) -> Lot) -> BTreeMap<Lot, LotResults> {
        let mut groups = BTreeMap::<Lot, LotResults>::new();
        for (lots, result) in self.sections.values() {
            groups.entry(of(*lots)).and_modify(|all| all.join(result)).or_insert(*result);
        }
        for (lot, result) in &mut groups {
            result.after_fall = self.after_fall.get(lot).copied().unwrap_or_default();
        }
        groups
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
pub fn families(lots: &BTreeMap<Lot, LotResults>) -> BTreeMap<Lot, FamilyResults> {
    let mut families = BTreeMap::<Lot, FamilyResults>::new();
    // Trials of earlier versions have no family.
    for result in lots.values().filter(|result| result.family != Lot(0)) {
        let family = families.entry(result.family).or_default();
        family.site = result.site;
        family.tried += 1;
        family.gained += u64::from(result.gained > 0);
    }
    families
}

/// The results of the trials of one lot, or of one section.
#[derive(Clone, Copy, Debug, Default)]
pub struct LotResults {
    /// The host of one of its URLs.
    pub site: SiteId,
    /// The lot itself, or the lot to which the section belongs.
    pub lot: Lot,
    /// The family of the lot.
    pub family: Lot,
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
    /// Those of them on the pages that the latest round drew.
    pub opened_newest: u64,
    /// Of the URLs that were followed because the lot had fallen: the number of those whose pages were new or led to
    /// new ones.
    pub after_fall: u64,
}

impl LotResults {
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

/// How much each lot opens, for the order in which its URLs are drawn.
#[derive(Clone, Debug, Default)]
pub struct Openness {
    tried: BTreeMap<Lot, u8>,
    untried: u8,
}

impl Openness {
    /// The levels of these lots: the binary logarithm of the mean number of links that were not found before. So a list
    /// of twenty pages comes before the pages that it lists, and two lists of nearly equal length are equal.
    pub fn of(lots: &BTreeMap<Lot, LotResults>) -> Self {
        let level = |opens: f64| ((opens + 1.0).log2() as u8).min(Prospect::MOST_OPEN);
        let tried: BTreeMap<_, _> = lots.iter().map(|(lot, result)| (*lot, level(result.opens()))).collect();
        let untried = tried.values().copied().max().unwrap_or_default();
        Self { tried, untried }
    }

    /// The level of a lot. A lot that was not tried yet has the level of the best one that was. So a lot that was not
    /// tried comes first if it is farther from the seeds. A chain whose pages open one link each is followed to its end
    /// before another chain is begun.
    pub fn level(&self, lot: Lot) -> u8 {
        self.tried.get(&lot).copied().unwrap_or(self.untried)
    }
}

/// Leaves out URLs of lots that lead to little: their pages had less than half as many links that were not found before
/// as those of the best lot. (A list shows more of what lies behind it than the pages that it lists.) Lots that were
/// not tried yet stay.
pub fn retain_opening(drawn: &mut Vec<Drawn>, lots: &BTreeMap<Lot, LotResults>) {
    let opens = |drawn: &Drawn| lots.get(&drawn.lots.lot).map(LotResults::opens);
    let best = drawn.iter().filter_map(opens).fold(0.0, f64::max);
    drawn.retain(|drawn| opens(drawn).is_none_or(|opens| 2.0 * opens >= best));
}

/// The lots that need no further trial: `enough` of their URLs were tried, and none of their pages had links that were
/// not found before.
pub fn done_with(lots: &BTreeMap<Lot, LotResults>, enough: u64) -> HashSet<Lot> {
    let done = lots.iter().filter(|(_, result)| result.opened == 0 && result.trials >= enough);
    done.map(|(lot, _)| *lot).collect()
}

/// The trial of a URL. A trial that cannot be read counts as none here. The next round of the rescue will fail on it.
pub fn read(id: UrlId, session: &Session) -> Option<TrialRecord> {
    let bytes = session.get(spaces::TRIALS, &id.to_bytes()).ok().flatten();
    bytes.and_then(|bytes| decode(&bytes).ok())
}

/// Stores the trial of a URL.
pub fn put(id: UrlId, trial: TrialRecord, session: &mut Session) {
    session.put(spaces::TRIALS, id.to_bytes(), codec::encode(&trial));
}

/// Decodes a trial. Trials of earlier versions have fewer fields.
fn decode(bytes: &[u8]) -> store::Result<TrialRecord> {
    codec::decode(bytes, "a trial").or_else(|error| {
        let trial = if let Ok((round, lot, new, led, opened, source, family, section)) = codec::decode(bytes, "a trial")
        {
            TrialRecord { round, lot, new, led, opened, source, family, section, ..TrialRecord::default() }
        } else if let Ok((round, lot, new, led, opened, source, family)) = codec::decode(bytes, "a trial") {
            TrialRecord { round, lot, new, led, opened, source, family, section: lot, ..TrialRecord::default() }
        } else if let Ok((round, lot, new, led, opened, source)) = codec::decode(bytes, "a trial") {
            TrialRecord { round, lot, new, led, opened, source, section: lot, ..TrialRecord::default() }
        } else {
            let (round, lot, new) = codec::decode(bytes, "a trial").map_err(|_| error)?;
            TrialRecord { round, lot, new, section: lot, ..TrialRecord::default() }
        };
        Ok(trial)
    })
}

#[cfg(test)]
mod tests {
    use dedup_stage::url::UrlId;

    use super::*;

    #[test]
    fn a_lot_counts_by_what_it_gained_since_it_was_excused() {
        let mut results = Results::default();
        let trial = |lot, led| TrialRecord {
            round: 1,
            lot: Lot(lot),
            section: Lot(lot),
            new: Some(false),
            led,
            opened: 2,
            ..TrialRecord::default()
        };
        let tried = |results: &mut Results, lot, led| results.add(SiteId::default(), trial(lot, led));
        (1..=4).for_each(|lot| tried(&mut results, lot, true));
        let excused = [1, 2, 3].map(|lot| (Lot(lot), Excused { trials: 1, gained: 1, opened: 2 })).into();
        tried(&mut results, 2, false);
        tried(&mut results, 3, true);
        let lots = results.lots_without(&excused);
        let gained: Vec<_> = lots.iter().map(|(lot, result)| (lot.0, result.trials, result.gained)).collect();
        assert_eq!(gained, [(2, 1, 0), (3, 1, 1), (4, 1, 1)], "lot 1 is to be tried again");
        assert_eq!(results.lots()[&Lot(1)].gained, 1, "its earlier trial is still known");
    }

    #[test]
    fn lists_and_what_was_not_tried_come_before_what_lists_show() {
        let tried = |trials, opened| LotResults { trials, opened, ..LotResults::default() };
        let lots = [(1, tried(2, 50)), (2, tried(1, 24)), (3, tried(8, 16)), (4, tried(1, 0)), (5, tried(1, 0))];
        let openness = Openness::of(&lots.map(|(lot, result)| (Lot(lot), result)).into());
        let [list, other_list, page, untried] = [1, 2, 3, 6].map(|lot| openness.level(Lot(lot)));
        assert!(page < untried && untried == list && list == other_list, "{page} {untried} {list} {other_list}");
        let endless = Openness::of(&[(Lot(1), tried(1, 1 << 40))].into());
        assert_eq!((endless.level(Lot(1)), endless.level(Lot(2))), (Prospect::MOST_OPEN, Prospect::MOST_OPEN));
    }

    #[test]
    fn urls_of_lots_that_lead_to_little_are_left_out() {
        let tried = |trials, opened| LotResults { trials, opened, ..LotResults::default() };
        let lots = BTreeMap::from([(Lot(1), tried(4, 100)), (Lot(2), tried(2, 30)), (Lot(3), tried(8, 16))]);
        let drawn = |lot| {
            let lots = Lots { lot: Lot(lot), ..Lots::default() };
            Drawn { id: UrlId::default(), lots, covered: true, depth: 0, stands_in: None }
        };
        let left = |lots_drawn: &[u64], lots| {
            let mut all: Vec<Drawn> = lots_drawn.iter().map(|lot| drawn(*lot)).collect();
            retain_opening(&mut all, lots);
            all.iter().map(|drawn| drawn.lots.lot.0).collect::<Vec<_>>()
        };
        // Pages of lot 1 had 25 new links each, those of lot 2 had 15, and those of lot 3 had 2. Lot 4 was not tried.
        assert_eq!(left(&[3, 1, 2, 3, 4], &lots), [1, 2, 4]);
        assert_eq!(left(&[3, 4, 3], &lots), [3, 4, 3]);
        assert_eq!(left(&[1, 2], &BTreeMap::new()), [1, 2]);
    }
}
