//! Rescue: when nothing is queued any more, the crawl fetches a sample of the URLs that are *held back* (held or
//! stopped). In `demote`, these are only URLs in traps, and, in a crawl that began in
//! `drop`, links of pages that a known corpus has; `keep` has no rescue. The
//! sample finds pages that are no copies. At the end, the rescue estimates the number of pages that were lost.
//!
//! Held and stopped URLs that most likely share their fate are a *lot* ([`frontier::UrlSets::lot`]). A page is *new* if
//! it is no copy, and has text or media that its host has not shown. A trial *led* to a new page if its page is a copy
//! that links to one, directly or through further copies. A lot *gained* something if a trial of it was new or led to a
//! new page. A page *opened* a link if the URL of the link was not met before. A lot that *falls* is released: all its
//! URLs are queued, and those that are found later are followed. The rescue works in rounds:
//!
//! 1. A *round* draws one or two URLs from each of as many lots as the budget allows, and queues them as trials. Each
//!    family of lots ([`frontier::UrlSets::family`]) has about an equal share of the round, and at least two URLs.
//!    First come URLs whose siblings have brought something ([`siblings`]). Next come those of lots whose pages had the
//!    most links that were not found before, and of lots that were not tried yet ([`order::Order`]). Of these, URLs
//!    that are farthest from the seeds come first; of those that are equally far, the ones whose counterparts led to
//!    the most pages ([`led`]).
//! 2. When all trials are fetched, each lot with a new page falls ([`frontier::Frontier::fall`]). A lot with a page
//!    that only led to a new page has gained something, too. (For example, a list that two hosts share may lead to
//!    pages that only one of them has.) It waits until nothing else is left to try ([`falls`]). If at least
//!    [`Rescue::ALIKE`] lots of a family have gained something, and these are at least one in [`Rescue::ALIKE_ONE_IN`]
//!    of those that were tried, the whole family falls. URLs that are held for one counterpart fall in a similar way
//!    ([`siblings`]).
//! 3. A lot that was tried without a gain is tried again in the next rounds only if its pages have links that were not
//!    found before. So the rescue follows lists to the pages that they list. Most rounds try only those of these lots
//!    whose pages had the most such links ([`order::retain_opening`]). A second URL of a lot is tried after all other
//!    lots.
//! 4. When two thirds of the budget are spent, after [`Rescue::ROUNDS`] rounds, or when nothing is left to try, the
//!    last round draws single URLs from everything that is still held or stopped, the same share from each section of
//!    each lot ([`frontier::Strata`]). The share of pages in this sample that were new, or led to new ones, gives the
//!    estimate ([`last`]). A lot that has gained something, in any round, falls now if its trials of all rounds gained
//!    at least one page for each [`Rescue::WORTH`] URLs that the newest round drew from it, or if at most
//!    [`Rescue::FEW`] of its URLs are left. If it does not fall, each of its sections that has gained something is
//!    tested in the same way.
//!
//! The budget bounds the number of URLs that are drawn. The URLs of fallen lots are fetched in addition; [`falls`] says
//! what bounds these for a lot that falls before it has gained anything. Rounds and trials are part of the state, so a
//! crawl that was killed continues its rescue.

mod crowd;
mod falls;
mod last;
mod led;
mod looks;
mod open_ends;
mod order;
mod record;
mod results;
mod siblings;
mod state;

use std::collections::{BTreeMap, HashSet};

use config::Settings;
use dedup_stage::store::{self, Session};
use frontier::{Draw, Drawn, Frontier, Job, Sample, SampleSpec, UrlSet, UrlSets, Via};

use super::error::Result;
use super::ledger::Ledger;
use crate::estimate::{LastEstimate, Lost};
use crowd::Crowd;
use falls::Falls;
use last::LastRound;
use led::Led;
use looks::{counterparts, draw_from_each, left_of};
pub(super) use open_ends::OpenEnds;
use order::{Order, done_with, retain_opening};
use record::{TrialRecord, put, read};
use results::{Results, SetResults, families};
use state::{RescuePhase, RescueState};

/// The rescue of a crawl.
#[derive(Debug)]
pub(super) struct Rescue {
    state: RescueState,
    /// The numbers of lots and families from which the latest round could draw.
    crowd: Option<Crowd>,
    /// The pages that led to others. They are read when the first round is drawn.
    led: Option<Led>,
}

/// The estimate of the pages that were lost, from the last rescue that came to its end.
pub fn lost(session: &Session) -> store::Result<Option<Lost>> {
    Ok(found(session)?.map(|found| found.lost))
}

/// The estimate of the last rescue, with the number of URLs that were held or stopped then.
pub fn found(session: &Session) -> store::Result<Option<LastEstimate>> {
    let state = RescueState::read(session)?;
    let held_back = state.held_back;
    Ok(state.lost().map(|[estimate, low, high]| LastEstimate { lost: Lost { estimate, low, high }, held_back }))
}

/// The number of URLs that are still held or stopped and whose lots were not tried, although other lots of their
/// families have gained something. These URLs are also likely to lead to new pages.
pub fn untried(frontier: &mut Frontier, session: &Session) -> store::Result<u64> {
    let lots = Results::read(session)?.lots();
    let mut families = families(&lots);
    families.retain(|_, found| found.gained > 0);
    let mut untried = 0;
    if !families.is_empty() {
        frontier.each_held_back(session, &mut |Drawn { sets: of, .. }| {
            untried += u64::from(families.contains_key(&of.family) && !lots.contains_key(&of.lot));
        })?;
    }
    Ok(untried)
}

impl Rescue {
    /// The smallest number of URLs that may be drawn, however small the crawl is.
    const LEAST: u64 = 40;
    /// At least this much of the budget is left for the last round.
    const LAST: u64 = Self::LEAST / 4;
    /// A round may draw at least this many URLs, however small the budget is.
    const OF_ROUND: u64 = 5;
    /// The largest number of rounds before the last one. Each of them reads all URLs that are held or stopped.
    const ROUNDS: u32 = 60;
    /// One round in this many draws from all lots alike. The others draw only from lots whose pages had the most links
    /// that were not found before.
    const ALL_LOTS: u32 = 8;
    /// A new page counts for at most this many pages on the way to it.
    const MOST_STEPS: u32 = 64;

    /// Reads the state of the rescue from `session`.
    pub fn open(session: &Session) -> store::Result<Self> {
        Ok(Self { state: RescueState::read(session)?, crowd: None, led: None })
    }

    /// Records the result of a fetched URL: whether its page is `new`, and how many links of the page were not found
    /// before (`opened`). The result is recorded if the URL was drawn, or if its lot has fallen. It is also recorded if
    /// the page is not new, and the page that linked to it is on record and is not new either. A new page counts for
    /// the pages on the way to it, too.
    pub fn fetched(&self, job: &Job, new: bool, opened: u32, frontier: &mut Frontier, session: &mut Session) {
        if self.state.number == 0 {
            // Nothing was drawn yet. Most pages of a crawl come before the rescue; for these, the state is not read
            // here.
            return;
        }
        let source = job.source.map(|page| page.url);
        let during = self.state.number;
        let result = |trial| TrialRecord { new: Some(new), opened, source, during, ..trial };
        if job.via == Via::Rescue
            && let Some(trial) = read(job.page.url, session)
        {
            put(job.page.url, result(trial), session);
        } else if let Some(frontier::Trial::Fallen(set)) = job.trial.as_deref() {
            put(job.page.url, result(TrialRecord { set: *set, ..TrialRecord::default() }), session);
            frontier.fallen_brought(*set, job.page.url.site, new, session);
        } else if !new
            && source.and_then(|id| read(id, session)).is_some_and(|trial| trial.new != Some(true))
            && read(job.page.url, session).is_none_or(|trial| trial.round == 0)
        {
            // A page on the way from a trial to the pages behind it. (A page that was drawn may be visited again. It
            // keeps its record.)
            put(job.page.url, result(TrialRecord::default()), session);
        }
        let (mut at, mut steps) = (source.filter(|_| new), 0);
        while let Some(id) = at
            && let Some(trial) = read(id, session)
            && trial.new != Some(true)
            && !trial.led
            && steps < Self::MOST_STEPS
        {
            put(id, TrialRecord { led: true, ..trial }, session);
            if trial.round == 0 {
                frontier.fallen_led(trial.set, id.site, steps == 0, session);
            }
            (at, steps) = (trial.source, steps + 1);
        }
    }

    /// Is called when everything queued is done. Begins the next round, or ends the last one. Returns true if there is
    /// something to fetch.
    pub fn next(&mut self, settings: &Settings, frontier: &mut Frontier, ledger: &mut Ledger) -> Result<bool> {
        let results = Results::read(&ledger.session)?;
        let mut lots = results.lots_without(&self.state.excused);
        let mut falls = Falls::default();
        let any = match self.state.phase {
            RescuePhase::Rounds => {
                falls = Falls::of(&lots, frontier);
                self.let_fall(&falls, &results, frontier, ledger)?
            }
            RescuePhase::LastRound | RescuePhase::Done(_) => self.let_fall_at_last(&results, frontier, ledger)?,
        };
        if any {
            return Ok(true);
        }
        // Pages that the rescue has fetched in vain do not make it larger. Otherwise it might not end.
        let of_rescue = self.state.spent + frontier.fallen_in_vain();
        let budget = budget(settings, ledger.stats.pages.saturating_sub(of_rescue));
        if self.state.phase != RescuePhase::Rounds {
            if !self.goes_on(budget, &results, frontier) {
                self.estimate(&results, frontier, ledger)?;
                return Ok(false);
            }
            let RescueState { number, spent, excused, .. } = std::mem::take(&mut self.state);
            self.state = RescueState { number, spent, excused, ..RescueState::default() };
        }
        if let Some(sample) = self.round(budget, &lots, &results, &falls.waiting, frontier, ledger)? {
            return self.begin(false, sample, frontier, ledger);
        }
        if self.count_again(&results) {
            lots = results.lots_without(&self.state.excused);
        }
        let falls = Falls::of(&lots, frontier).end_wait(&lots, frontier, ledger)?;
        if self.let_fall(&falls, &results, frontier, ledger)? {
            return Ok(true);
        }
        let left = budget.saturating_sub(self.state.spent);
        let sample = draw_from_each(count(left), self.state.number, frontier, ledger)?;
        self.crowd = None;
        self.begin(true, sample, frontier, ledger)
    }

    /// Whether rounds are still to come. More of them follow the last one if the budget has become larger meanwhile.
    fn goes_on(&self, budget: u64, results: &Results, frontier: &Frontier) -> bool {
        let has_fallen = |sets: UrlSets| [sets.section, sets.lot].into_iter().any(|set| frontier.has_fallen(set));
        match self.state.phase {
            RescuePhase::Rounds => true,
            // The budget was raised in the meantime, or the crawl has grown a lot.
            RescuePhase::Done(_) => 2 * self.state.spent < budget,
            // Lots that fell in the last round have brought pages, and with them a larger budget.
            RescuePhase::LastRound => {
                self.state.spent + Self::LAST <= budget
                    && results.sections().any(|(lots, result)| result.gained > 0 && has_fallen(lots))
            }
        }
    }

    /// Estimates what was lost, after the last round. An estimate that still holds is kept.
    fn estimate(&mut self, results: &Results, frontier: &mut Frontier, ledger: &mut Ledger) -> Result<()> {
        let held_back = frontier.count_held_back(&ledger.session)?.held_back;
        if self.state.lost().is_some() && held_back == self.state.held_back {
            return Ok(());
        }
        let sections = results.by(|sets| sets.section).into_keys();
        let alone: HashSet<UrlSet> = sections.filter(|section| frontier.has_fallen(*section)).collect();
        let unit = |sets: UrlSets| if alone.contains(&sets.section) { sets.section } else { sets.lot };
        let units = results.by(unit);
        let left = self.left_with_new(&units, unit, frontier, ledger)?;
        let unmet = led::behind(&counterparts(frontier, ledger)?, &ledger.session)?;
        let followed = |set| frontier.is_followed(set);
        let RescueState { number, population, .. } = self.state;
        self.state.held_back = held_back;
        let (fetched, opened) = (ledger.stats.pages, results.new.mean_opened());
        let last = LastRound { results: &units, number, population, held_back, fetched, unmet, opened };
        self.state.phase = RescuePhase::Done(last.lost(&left, &followed));
        self.save(ledger);
        Ok(())
    }

    /// The URLs of the next round, which leaves out the lots that are `waiting`. `None` if it is time for the last one.
    fn round(
        &mut self,
        budget: u64,
        lots: &BTreeMap<UrlSet, SetResults>,
        results: &Results,
        waiting: &HashSet<UrlSet>,
        frontier: &mut Frontier,
        ledger: &Ledger,
    ) -> Result<Option<Sample>> {
        // A third of the budget is reserved for the estimate, if so many URLs are held back. The rest is for finding
        // what was lost: at the end of a chain, only one URL is held back, and the chain is followed further.
        let states = frontier.counts().states;
        let reserved = (budget / 3).min((states.held() + states.stopped()).max(Self::LAST));
        let unspent = budget.saturating_sub(self.state.spent);
        let is_again = self.state.retest || self.state.excused.keys().any(|lot| !lots.contains_key(lot));
        let again = if is_again { unspent.saturating_sub(Self::LAST).min(Self::OF_ROUND) } else { 0 };
        // If lots wait, so much is kept for trying them again.
        let kept = if is_again || waiting.is_empty() { 0 } else { Self::OF_ROUND };
        let left = unspent.saturating_sub(reserved + kept).max(again);
        if self.state.number >= Self::ROUNDS || left == 0 {
            return Ok(None);
        }
        // Small rounds get deeper into a site for the same number of fetches.
        let part = left.min((budget / 8).max(Self::OF_ROUND));
        let crowd = self.crowd(frontier, lots, ledger)?;
        let spec = crowd.spec(count(part), count(left));
        let is_open_to_all = (self.state.number + 1).is_multiple_of(Self::ALL_LOTS);
        let order = if is_open_to_all { Order::default() } else { Order::of(lots, results) };
        // If one URL of a lot was tried in vain, the lot is tried once more when no other lot is left.
        for enough in [1, 2] {
            let mut done = done_with(lots, enough);
            done.extend(waiting);
            let mut sample = self.draw(spec, &done, &order, frontier, ledger)?;
            if !sample.drawn.is_empty() {
                self.crowd = Some(Crowd { lots: sample.lots, families: sample.families });
                if !is_open_to_all {
                    retain_opening(&mut sample.drawn, lots);
                }
                return Ok(Some(sample));
            }
        }
        Ok(None)
    }

    /// The lots that gained something in the last round, each with the number of its URLs that are still held or
    /// stopped. Lots without such URLs are left out. `of` selects one of the sets of a URL.
    fn left_with_new(
        &self,
        results: &BTreeMap<UrlSet, SetResults>,
        of: impl Fn(UrlSets) -> UrlSet,
        frontier: &mut Frontier,
        ledger: &Ledger,
    ) -> Result<BTreeMap<UrlSet, u64>> {
        let with_new =
            results.iter().filter(|(_, result)| result.round == self.state.number && result.gained_newest > 0);
        left_of(with_new.map(|(lot, _)| *lot), of, frontier, ledger)
    }

    /// The approximate numbers of lots and families from which a round can draw. They are those of the round before,
    /// which saves a scan of the state.
    fn crowd(
        &mut self,
        frontier: &mut Frontier,
        lots: &BTreeMap<UrlSet, SetResults>,
        ledger: &Ledger,
    ) -> Result<Crowd> {
        if let Some(crowd) = self.crowd {
            return Ok(crowd);
        }
        let none = SampleSpec { wanted: 0, of_lot: 0, of_family: 0, best_first: false };
        let sample = self.draw(none, &done_with(lots, 1), &Order::default(), frontier, ledger)?;
        Ok(Crowd { lots: sample.lots, families: sample.families })
    }

    /// Begins a round: queues the URLs that were drawn. Returns true if there were any.
    fn begin(&mut self, is_last: bool, sample: Sample, frontier: &mut Frontier, ledger: &mut Ledger) -> Result<bool> {
        let held_back = frontier.counts().states.held() + frontier.counts().states.stopped();
        self.state.number += 1;
        self.state.phase = if is_last { RescuePhase::LastRound } else { RescuePhase::Rounds };
        self.state.retest = false;
        (self.state.held_back, self.state.population) = (held_back, held_back);
        let mut any = false;
        for drawn in sample.drawn {
            if frontier.rescue(drawn.id, &mut ledger.session)? {
                let (UrlSets { section, lot, siblings, family }, round) = (drawn.sets, self.state.number);
                let trial = TrialRecord { round, set: lot, family, section, siblings, ..TrialRecord::default() };
                put(drawn.id, trial, &mut ledger.session);
                self.state.spent += 1;
                any = true;
            }
        }
        if is_last && !any {
            let none = BTreeMap::new();
            let (number, fetched) = (self.state.number, ledger.stats.pages);
            let (population, unmet, opened) = (held_back, 0, 0.0);
            let last = LastRound { results: &none, number, population, held_back, fetched, unmet, opened };
            self.state.phase = RescuePhase::Done(last.lost(&BTreeMap::new(), &|_| false));
        }
        self.save(ledger);
        Ok(any)
    }

    /// Draws from everything that is held or stopped, except for the lots in `done`.
    fn draw(
        &mut self,
        spec: SampleSpec,
        done: &HashSet<UrlSet>,
        order: &Order,
        frontier: &mut Frontier,
        ledger: &Ledger,
    ) -> Result<Sample> {
        let states = frontier.counts().states;
        if states.held() + states.stopped() == 0 {
            return Ok(Sample::default());
        }
        let led = match &mut self.led {
            Some(led) => led,
            none => none.insert(Led::read(&ledger.session)?),
        };
        let mut draw = Draw::new(spec, u64::from(self.state.number));
        frontier.each_held_back(&ledger.session, &mut |drawn| {
            if !done.contains(&drawn.sets.lot) {
                let prospect = order.prospect(&drawn, drawn.stands_in.map_or(0, |url| led.of(url)));
                draw.show(drawn, prospect);
            }
        })?;
        Ok(draw.end())
    }

    fn save(&self, ledger: &mut Ledger) {
        self.state.put(&mut ledger.session);
    }
}

fn count(urls: u64) -> usize {
    usize::try_from(urls).unwrap_or(usize::MAX)
}

/// The largest number of URLs that are drawn in a crawl that fetched `pages` pages.
fn budget(settings: &Settings, pages: u64) -> u64 {
    match settings.dedup.rescue.0 {
        0.0 => 0,
        share => ((pages as f64 * share) as u64).max(Rescue::LEAST),
    }
}
