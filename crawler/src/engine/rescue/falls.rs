//! Which lots fall after a round of the rescue.
//!
//! A lot with a page that is new falls at once. A lot whose pages were copies that only *led* to new pages waits
//! ([`Falls::waiting`]), because another lot may lead to the same new pages with fewer fetches. For example, two sites
//! have most of their articles in common. Each common article links to a few articles that only one site has, and the
//! lists of that site link to all of them. If the lot of the common articles fell, all common articles would be fetched
//! twice.
//!
//! So other lots are tried first. A page *opens* a link if the URL of the link was not found before. When nothing else
//! is left to try, the waiting lots whose pages opened the most links fall: in the example, the lists come before the
//! articles. If the budget ends before that, lots that still open links and have few URLs left fall all the same, with
//! a limit on the fetches that bring nothing. This limit is their *credit*. Such a lot is mostly a *chain*: each list
//! links to the next one, and only the next one is known. All chains together get half of the fetches that the waiting
//! lots would cost. If a chain is held for pages of another host, it is not longer than the chain there, and its credit
//! is at least 5 % of the pages fetched, even if no lot waits.
//!
//! Whenever a lot falls, the lots that still wait are *excused*: their earlier trials do not decide any more. When
//! everything that the fallen lot leads to is fetched, the excused lots are tried again. If they lead to new pages even
//! then, no other lot leads to these pages, so the excused lots fall. If the budget ends before they are tried again,
//! their earlier trials decide after all.

use std::collections::{BTreeMap, HashSet};

use dedup_stage::url::{SiteId, UrlId};
use frontier::{Drawn, Frontier, UrlSet, UrlSets};

use super::Rescue;
use super::looks::left_of;
use super::results::{Results, SetResults, families};
use super::siblings;
use super::state::Excused;
use crate::engine::error::Result;
use crate::engine::ledger::Ledger;

/// A lot or a section that falls.
#[derive(Clone, Copy, Debug)]
struct Fall {
    /// The host of one of its URLs.
    site: SiteId,
    /// The number of good pages with which its results begin ([`Frontier::fall`]).
    good: u64,
}

impl Fall {
    /// It falls because of what it gained.
    fn gained(result: &SetResults) -> Self {
        Self { site: result.site, good: result.gained }
    }

    /// It falls on credit: so many of its URLs may be fetched although none of them brings anything.
    fn on_credit(result: &SetResults, credit: u64) -> Self {
        Self { site: result.site, good: credit / Frontier::ONE_GOOD_IN }
    }
}

/// The lots that gained something in a round before the last one, and have not fallen.
#[derive(Clone, Debug, Default)]
pub(super) struct Falls {
    /// Those that fall now.
    now: BTreeMap<UrlSet, Fall>,
    /// Those that wait.
    pub waiting: HashSet<UrlSet>,
}

impl Falls {
    /// A lot falls together with the best one if its pages opened at least 1 / `AS_GOOD` as many links. Two lists of
    /// one kind often differ by so much, because links of the list that was found later were known already.
    const AS_GOOD: f64 = 2.0;
    /// For this many pages fetched, a lot gets one fetch of credit, if its URLs are held or stopped for pages of
    /// another host. This is the share that the rescue may cost by default. (A lot without credit may cost `WORTH`
    /// fetches.)
    const CREDIT: u64 = 20;

    /// The lots that fall because pages of them are new, and those that wait.
    pub fn of(lots: &BTreeMap<UrlSet, SetResults>, frontier: &Frontier) -> Self {
        let mut now = lots.clone();
        now.retain(|lot, result| result.gained > 0 && !frontier.has_fallen(*lot));
        let waiting: HashSet<_> = now.iter().filter(|(_, result)| result.new == 0).map(|(lot, _)| *lot).collect();
        now.retain(|lot, _| !waiting.contains(lot));
        Self { now: now.iter().map(|(lot, result)| (*lot, Fall::gained(result))).collect(), waiting }
    }

    /// Nothing more can be tried except the waiting lots. If there are chains (lots that still open links), the best of
    /// them fall now, on credit. If not, the best of the waiting lots fall.
    pub fn end_wait(
        mut self,
        lots: &BTreeMap<UrlSet, SetResults>,
        frontier: &mut Frontier,
        ledger: &Ledger,
    ) -> Result<Self> {
        let is_chain = |result: &SetResults| result.opened_newest > 0;
        if self.waiting.is_empty() && !lots.values().any(is_chain) {
            return Ok(self);
        }
        let mut left = BTreeMap::<UrlSet, (u64, UrlId)>::new();
        frontier.each_held_back(&ledger.session, &mut |Drawn { id, sets: of, .. }| {
            if lots.contains_key(&of.lot) {
                left.entry(of.lot).and_modify(|(count, _)| *count += 1).or_insert((1, id));
            }
        })?;
        let price: u64 = self.waiting.iter().filter_map(|lot| left.get(lot)).map(|(count, _)| *count).sum();
        let (mut chains, mut best) = (lots.clone(), lots.clone());
        chains.retain(|lot, result| {
            let is_open = is_chain(result) && !self.waiting.contains(lot) && !frontier.has_fallen(*lot);
            is_open && left.get(lot).is_some_and(|(count, _)| *count <= Rescue::FEW)
        });
        let (of_waiting, of_copies) = (price / 2 / chains.len().max(1) as u64, ledger.stats.pages / Self::CREDIT);
        let mut credits = BTreeMap::new();
        for lot in chains.keys() {
            let Some((_, id)) = left.get(lot) else { continue };
            let has_copy = frontier.has_copy_elsewhere(*id, &ledger.session)?;
            if has_copy || price > 0 {
                credits.insert(*lot, if has_copy { of_copies.max(of_waiting) } else { of_waiting });
            }
        }
        chains.retain(|lot, _| credits.contains_key(lot));
        best.retain(|lot, _| self.waiting.contains(lot));
        let mut fall = if chains.is_empty() { best } else { chains };
        let most = fall.values().map(SetResults::opens).fold(0.0, f64::max);
        fall.retain(|_, result| result.opens() * Self::AS_GOOD >= most);
        self.waiting.retain(|lot| !fall.contains_key(lot));
        self.now.extend(fall.iter().map(|(lot, result)| {
            let on_credit = credits.get(lot).map(|credit| Fall::on_credit(result, *credit));
            (*lot, on_credit.unwrap_or_else(|| Fall::gained(result)))
        }));
        Ok(self)
    }
}

impl Rescue {
    /// A family falls if at least this many of its lots have gained something.
    const ALIKE: u64 = 3;
    /// … and if these are at least one in this many of its lots that were tried.
    const ALIKE_ONE_IN: u64 = 4;
    /// A lot that has gained something falls after the last round if at most this many of its URLs are left. A lot that
    /// falls on credit has at most as many.
    const FEW: u64 = 40;
    /// A lot that has gained something falls after the last round if it gained one page, in all rounds, for this many
    /// URLs that its last round drew.
    const WORTH: u64 = 20;

    /// Lets lots fall after a round before the last one, and families of which enough lots have gained something.
    /// Returns true if any fell. Then the lots that still wait are excused.
    pub(super) fn let_fall(
        &mut self,
        falls: &Falls,
        results: &Results,
        frontier: &mut Frontier,
        ledger: &mut Ledger,
    ) -> Result<bool> {
        let mut lots = results.lots_without(&self.state.excused);
        lots.retain(|lot, _| !falls.waiting.contains(lot));
        let any = self.release(&falls.now, &lots, results, frontier, ledger)?;
        if any {
            let all = results.lots();
            let tried = falls.waiting.iter().filter_map(|lot| all.get(lot).map(|result| (*lot, *result)));
            self.state.excused.extend(
                tried.map(|(lot, SetResults { trials, gained, opened, .. })| (lot, Excused { trials, gained, opened })),
            );
            self.state.retest = true;
            self.save(ledger);
        }
        Ok(any)
    }

    /// If an excused lot was not tried again, its earlier trials decide again. Returns true if there are such lots.
    pub(super) fn count_again(&mut self, results: &Results) -> bool {
        let (lots, before) = (results.lots(), self.state.excused.len());
        self.state.excused.retain(|lot, excused| lots.get(lot).is_some_and(|result| result.trials > excused.trials));
        self.state.excused.len() < before
    }

    /// Lets lots fall after the last round. Only those lots fall whose URLs are worth the fetches. Of the other lots,
    /// those sections fall whose URLs are. Siblings and families fall as in other rounds. Returns true if any fell.
    pub(super) fn let_fall_at_last(
        &self,
        results: &Results,
        frontier: &mut Frontier,
        ledger: &mut Ledger,
    ) -> Result<bool> {
        let lots = results.lots_without(&self.state.excused);
        let mut fall = lots.clone();
        fall.retain(|lot, result| result.gained > 0 && !frontier.has_fallen(*lot));
        if !fall.is_empty() {
            let mut sections = results.by(|sets| sets.section);
            sections.retain(|section, result| {
                result.gained > 0 && fall.contains_key(&result.lot) && !frontier.has_fallen(*section)
            });
            retain_worth(&mut fall, |sets| sets.lot, frontier, ledger)?;
            sections.retain(|_, result| !fall.contains_key(&result.lot));
            retain_worth(&mut sections, |sets| sets.section, frontier, ledger)?;
            fall.append(&mut sections);
        }
        let fall = fall.iter().map(|(set, result)| (*set, Fall::gained(result))).collect();
        let any = self.release(&fall, &lots, results, frontier, ledger)?;
        if any {
            self.save(ledger);
        }
        Ok(any)
    }

    /// Lets these lots fall, the siblings that are worth it, and the families of which enough lots have gained
    /// something ([`Rescue::ALIKE`]). Returns true if any fell.
    fn release(
        &self,
        fall: &BTreeMap<UrlSet, Fall>,
        tried: &BTreeMap<UrlSet, SetResults>,
        results: &Results,
        frontier: &mut Frontier,
        ledger: &mut Ledger,
    ) -> Result<bool> {
        for (set, Fall { site, good }) in fall {
            frontier.fall(*set, *site, false, *good, &mut ledger.session);
        }
        let siblings = siblings::that_fall(&results.siblings, frontier, ledger)?;
        for (lot, of) in &siblings {
            frontier.fall(*lot, of.site, true, of.gained, &mut ledger.session);
        }
        let mut families = families(tried);
        families.retain(|family, found| {
            let is_alike = found.gained >= Self::ALIKE && found.gained * Self::ALIKE_ONE_IN >= found.tried;
            is_alike && !frontier.has_fallen(*family)
        });
        for (family, found) in &families {
            frontier.fall(*family, found.site, true, found.gained, &mut ledger.session);
        }
        Ok(!(fall.is_empty() && siblings.is_empty() && families.is_empty()))
    }
}

/// Keeps only the lots whose URLs are worth the fetches. `of` selects one of the sets of a URL.
fn retain_worth(
    lots: &mut BTreeMap<UrlSet, SetResults>,
    of: impl Fn(UrlSets) -> UrlSet,
    frontier: &mut Frontier,
    ledger: &Ledger,
) -> Result<()> {
    let left = left_of(lots.keys().copied(), of, frontier, ledger)?;
    lots.retain(|lot, result| {
        let is_worth = |left: u64| left <= Rescue::FEW || result.gained * Rescue::WORTH >= result.drawn_newest;
        left.get(lot).is_some_and(|left| is_worth(*left))
    });
    Ok(())
}
