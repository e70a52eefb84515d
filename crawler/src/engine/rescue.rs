//! Rescue: when nothing is queued any more, `drop` mode fetches a sample of the URLs that are held or stopped. This finds
//! pages that are no copies. At the end it gives an estimate of the pages that were lost.
//!
//! Held and stopped URLs that most likely share their fate are a *lot* ([`frontier::Lot`]). The rescue goes in rounds:
//!
//! 1. A *round* draws a few URLs from each of as many lots as the budget allows, and queues them as trials.
//! 2. When all of them are fetched, each lot that gained something *falls*: all its URLs are queued, and those that are met
//!    later are followed ([`frontier::Frontier::fall`]). A lot has gained something if a page of it is new, or led to a new
//!    page: a list that two hosts share may lead to pages that only one of them has.
//! 3. A lot that was tried without a gain is tried again in the next rounds only if its pages have links that were not
//!    met before. In this way the rescue goes down through lists to what they list.
//! 4. When two thirds of the budget are spent, after [`Rescue::ROUNDS`] rounds, or when nothing is left to try, the last
//!    round draws single URLs from everything that is still held or stopped. The share of new pages in this sample gives
//!    the estimate ([`crate::estimate`]). A lot that gained something in the last round falls, too, if at least one in
//!    [`Rescue::WORTH`] of its drawn URLs did, or if at most [`Rescue::FEW`] of its URLs are left.
//!
//! The budget bounds the URLs that are drawn. The URLs of fallen lots are fetched beyond it.
//!
//! Rounds and trials are part of the state, so a crawl that was killed continues its rescue.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use config::Settings;
use dedup_stage::store::{self, Session, Space, codec};
use dedup_stage::url::{SiteId, UrlId};
use frontier::{Draw, Frontier, Job, Lot, Via};
use serde::{Deserialize, Serialize};

use super::Result;
use super::ledger::Ledger;
use crate::estimate::{Lost, Sample, estimate};
use crate::spaces;

/// Key in [`Space::META`].
const STATE: &[u8] = b"rescue";

/// The state of the rescue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Round {
    /// Number of the round that is under way, from 1; 0 before the first.
    number: u32,
    /// Whether it is the last round, from which the estimate is made.
    last: bool,
    /// URLs drawn so far, in all rounds.
    spent: u64,
    /// URLs that were held or stopped when the last estimate was made, or when the round was drawn.
    held: u64,
    /// Whether lots fell because of the last round.
    released: bool,
    /// Estimate, lower and upper end of the 95 % interval of the pages that were lost. `None` until the last round is done.
    lost: Option<[f64; 3]>,
    /// URLs that the sample of the last round was drawn from.
    population: u64,
}

/// A URL that was drawn, or followed because its lot has fallen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Trial {
    /// The round that drew it; 0 if its lot had fallen.
    round: u32,
    lot: u64,
    /// Whether it brought a new page; `None` until it was answered. In the results, a trial that was never answered
    /// counts as one that brought nothing.
    new: Option<bool>,
    /// Whether its page led to a new page.
    led: bool,
    /// Whether its page had links that were not met before.
    opened: bool,
    /// The page that linked to it.
    source: Option<UrlId>,
}

/// The rescue of a crawl.
#[derive(Debug)]
pub(super) struct Rescue {
    round: Round,
}

/// The estimate of the pages that were lost, from the last run that came to its end.
pub fn lost(session: &Session) -> store::Result<Option<Lost>> {
    let round = stored(session)?;
    Ok(round.lost.map(|[estimate, low, high]| Lost { estimate, low, high }))
}

fn stored(session: &Session) -> store::Result<Round> {
    let bytes = session.get(Space::META, STATE)?;
    let Some(bytes) = bytes else { return Ok(Round::default()) };
    codec::decode(&bytes, "the rescue").or_else(|error| {
        // As earlier versions wrote it.
        let (number, last, spent, held, released, lost) = codec::decode(&bytes, "the rescue").map_err(|_| error)?;
        Ok(Round { number, last, spent, held, released, lost, population: held })
    })
}

impl Rescue {
    /// At least this many URLs may be drawn, however small the crawl is.
    const LEAST: u64 = 40;
    /// At most this many URLs are drawn from a lot in one round.
    const OF_LOT: usize = 2;
    /// A lot that gained something in the last round falls if at most this many of its URLs are left.
    const FEW: u64 = 40;
    /// A lot that gained something in the last round falls if at least one in this many of its drawn URLs did.
    const WORTH: u64 = 20;
    /// At most this many rounds come before the last one.
    const ROUNDS: u32 = 60;
    /// A new page counts for at most this many pages on the way to it.
    const MOST_STEPS: u32 = 64;

    /// Reads the state of the rescue from `session`.
    pub fn open(session: &Session) -> store::Result<Self> {
        Ok(Self { round: stored(session)? })
    }

    /// A URL was fetched. If it was drawn or its lot has fallen, records whether its page is `new`, and whether the page had
    /// links that were not met before (`opened`). A new page counts for the pages on the way to it, too.
    pub fn fetched(&self, job: &Job, new: bool, opened: bool, frontier: &mut Frontier, session: &mut Session) {
        if self.round.number == 0 {
            // Nothing was drawn yet. Most pages of a crawl come before the rescue, and cost no look into the state here.
            return;
        }
        let source = job.source.map(|page| page.url);
        let result = |trial| Trial { new: Some(new), opened, source, ..trial };
        if job.via == Via::Rescue
            && let Some(trial) = read(job.page.url, session)
        {
            put(job.page.url, result(trial), session);
        } else if let Some(frontier::Trial::Lot(lot)) = job.trial.as_deref() {
            put(job.page.url, result(Trial { lot: lot.0, ..Trial::default() }), session);
            frontier.lot_brought(*lot, job.page.url.site, new, session);
        }
        let (mut at, mut steps) = (source.filter(|_| new), 0);
        while let Some(id) = at
            && let Some(trial) = read(id, session)
            && trial.new != Some(true)
            && !trial.led
            && steps < Self::MOST_STEPS
        {
            put(id, Trial { led: true, ..trial }, session);
            if trial.round == 0 {
                frontier.lot_led(Lot(trial.lot), id.site, session);
            }
            (at, steps) = (trial.source, steps + 1);
        }
    }

    /// Everything queued is done: begins the next round, or ends the last one. True if there is something to fetch.
    pub fn next(&mut self, settings: &Settings, frontier: &mut Frontier, ledger: &mut Ledger) -> Result<bool> {
        let results = self.results(&ledger.session)?;
        if self.let_fall(&results, frontier, ledger)? {
            return Ok(true);
        }
        let budget = budget(settings, ledger.stats.pages.saturating_sub(self.round.spent));
        if self.round.last && self.round.lost.is_some() && 2 * self.round.spent < budget {
            // The budget was raised since, or the crawl has grown a lot.
            let Round { number, spent, .. } = self.round;
            self.round = Round { number, spent, ..Round::default() };
        }
        if self.round.last {
            let held = frontier.sample_held(0, 0, 0, &ledger.session)?.held;
            if self.round.lost.is_none() || held != self.round.held {
                let left = self.left_with_new(&results, frontier, ledger)?;
                self.conclude(&results, held, &left);
                self.save(ledger);
            }
            return Ok(false);
        }
        let left = budget.saturating_sub(self.round.spent);
        // A third of the budget is for the estimate. The rest is for finding what was lost.
        let for_rounds = left.saturating_sub(budget / 3);
        if self.round.number < Self::ROUNDS && for_rounds > 0 {
            let part = for_rounds.min((budget / 4).max(1));
            if self.begin(false, part, Self::OF_LOT, frontier, ledger)? {
                return Ok(true);
            }
        }
        self.begin(true, left, usize::MAX, frontier, ledger)
    }

    /// Lets the lots fall that gained something. In the last round, only those whose URLs are worth the fetches. True if any
    /// fell.
    fn let_fall(
        &mut self,
        results: &BTreeMap<u64, LotResults>,
        frontier: &mut Frontier,
        ledger: &mut Ledger,
    ) -> Result<bool> {
        let gained = |(lot, result): &(&u64, &LotResults)| result.gained > 0 && !frontier.has_fallen(Lot(**lot));
        let mut fall: BTreeMap<u64, SiteId> =
            results.iter().filter(gained).map(|(lot, result)| (*lot, result.site)).collect();
        if self.round.last && !fall.is_empty() {
            let left = self.left_of(fall.keys().copied(), frontier, ledger)?;
            fall.retain(|lot, _| {
                let LotResults { drawn, gained, .. } = results[lot];
                left.get(lot).is_some_and(|left| *left <= Self::FEW || gained * Self::WORTH >= drawn)
            });
        }
        for (lot, site) in &fall {
            frontier.fall(Lot(*lot), *site, &mut ledger.session);
        }
        if self.round.last && !fall.is_empty() {
            self.round.released = true;
            self.save(ledger);
        }
        Ok(!fall.is_empty())
    }

    /// The lots with a new page in the last round, each with the number of its URLs that are still held or stopped. Lots
    /// without such URLs are left out.
    fn left_with_new(
        &self,
        results: &BTreeMap<u64, LotResults>,
        frontier: &Frontier,
        ledger: &Ledger,
    ) -> Result<BTreeMap<u64, u64>> {
        let with_new = results.iter().filter(|(_, result)| result.round == self.round.number && result.new > 0);
        self.left_of(with_new.map(|(lot, _)| *lot), frontier, ledger)
    }

    /// How many URLs of these lots are still held or stopped. Lots without such URLs are left out.
    fn left_of(
        &self,
        lots: impl Iterator<Item = u64>,
        frontier: &Frontier,
        ledger: &Ledger,
    ) -> Result<BTreeMap<u64, u64>> {
        let mut left: BTreeMap<u64, u64> = lots.map(|lot| (lot, 0)).collect();
        if !left.is_empty() {
            frontier.each_held(&ledger.session, &mut |drawn| {
                if let Some(count) = left.get_mut(&drawn.lot.0) {
                    *count += 1;
                }
            })?;
        }
        left.retain(|_, count| *count > 0);
        Ok(left)
    }

    /// Draws the URLs of a round and queues them. True if there were any.
    fn begin(
        &mut self,
        last: bool,
        wanted: u64,
        of_lot: usize,
        frontier: &mut Frontier,
        ledger: &mut Ledger,
    ) -> Result<bool> {
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        // Lots that were tried are left to the last round, unless they led further.
        let mut tried = if last { BTreeMap::new() } else { self.results(&ledger.session)? };
        tried.retain(|_, result| !result.opened);
        let mut draw = Draw::new(wanted, of_lot, u64::from(self.round.number));
        frontier.each_held(&ledger.session, &mut |drawn| {
            if !tried.contains_key(&drawn.lot.0) {
                draw.show(drawn);
            }
        })?;
        let sample = draw.end();
        let held = frontier.counts().states.held() + frontier.counts().states.stopped();
        self.round.number += 1;
        (self.round.last, self.round.lost, self.round.released) = (last, None, false);
        (self.round.held, self.round.population) = (held, held);
        let mut any = false;
        for drawn in sample.drawn {
            if frontier.rescue(drawn.id, &mut ledger.session)? {
                let trial = Trial { round: self.round.number, lot: drawn.lot.0, ..Trial::default() };
                put(drawn.id, trial, &mut ledger.session);
                self.round.spent += 1;
                any = true;
            }
        }
        if last && !any {
            self.conclude(&BTreeMap::new(), held, &BTreeMap::new());
        }
        self.save(ledger);
        Ok(any)
    }

    /// Estimates from the results of the last round how many pages were lost. `held` URLs are still held or stopped.
    /// `left` are the lots with new pages that still have URLs.
    fn conclude(&mut self, results: &BTreeMap<u64, LotResults>, held: u64, left: &BTreeMap<u64, u64>) {
        self.round.held = held;
        let unknown = Lost { estimate: 0.0, low: 0.0, high: held as f64 };
        let of = |counts: &dyn Fn(&u64, &LotResults) -> bool| {
            let last = results.iter().filter(|(lot, result)| result.round == self.round.number && counts(lot, result));
            let (drawn, new) = last.fold((0, 0), |(drawn, new), (_, result)| (drawn + result.drawn, new + result.new));
            // The drawn pages were fetched, so they are not lost. Only what is still held counts.
            estimate(Sample { left: held, drawn, new }).unwrap_or(unknown)
        };
        let lost = match self.round.released {
            false => of(&|_, _| true),
            // Released lots are not held any more, so only the results of the other lots count for the URLs that are
            // left. But the same sample has also chosen which lots were released. So the upper end from the other lots
            // would be too low, and the upper end from the whole sample is used.
            true => {
                let rest = of(&|lot, result| result.new == 0 || left.contains_key(lot));
                Lost { high: rest.high.max(of(&|_, _| true).high), ..rest }
            }
        };
        // URLs that came to be held after the sample was drawn: nothing is known about them.
        let drawn: u64 =
            results.values().filter(|result| result.round == self.round.number).map(|result| result.drawn).sum();
        let later = held.saturating_sub(self.round.population.saturating_sub(drawn));
        self.round.lost =
            Some([lost.estimate, lost.low, (lost.high + later as f64).min(held as f64).max(lost.estimate)]);
    }

    /// The results of the trials of each lot.
    fn results(&self, session: &Session) -> Result<BTreeMap<u64, LotResults>> {
        let (mut results, mut damaged) = (BTreeMap::<u64, LotResults>::new(), None);
        session.scan(spaces::TRIALS, &[], &[], &mut |key, value| match (UrlId::read(key), decode(value)) {
            (Some(id), Ok(trial)) => {
                if trial.round > 0 {
                    results.entry(trial.lot).or_default().add(id.site, trial);
                }
                ControlFlow::Continue(())
            }
            (_, Err(error)) => {
                damaged = Some(error);
                ControlFlow::Break(())
            }
            (None, _) => ControlFlow::Continue(()),
        })?;
        damaged.map_or(Ok(results), |error| Err(error.into()))
    }

    fn save(&self, ledger: &mut Ledger) {
        ledger.session.put(Space::META, STATE, codec::encode(&self.round));
    }
}

/// The results of the trials of one lot.
#[derive(Clone, Copy, Debug, Default)]
struct LotResults {
    /// The host of its URLs.
    site: SiteId,
    /// The latest round that drew from it …
    round: u32,
    /// … the URLs that this round drew …
    drawn: u64,
    /// … and those of them whose pages were new.
    new: u64,
    /// In all rounds: pages that were new, or led to new ones.
    gained: u64,
    /// Whether a page of it, in any round, had links that were not met before.
    opened: bool,
}

impl LotResults {
    fn add(&mut self, site: SiteId, trial: Trial) {
        let new = trial.new == Some(true);
        if trial.round > self.round {
            (self.round, self.drawn, self.new) = (trial.round, 0, 0);
        }
        if trial.round == self.round {
            self.drawn += 1;
            self.new += u64::from(new);
        }
        self.site = site;
        self.gained += u64::from(new || trial.led);
        self.opened |= trial.opened;
    }
}

/// The trial of a URL. One that cannot be read counts as none; `check` finds it.
fn read(id: UrlId, session: &Session) -> Option<Trial> {
    let bytes = session.get(spaces::TRIALS, &id.to_bytes()).ok().flatten();
    bytes.and_then(|bytes| decode(&bytes).ok())
}

fn put(id: UrlId, trial: Trial, session: &mut Session) {
    session.put(spaces::TRIALS, id.to_bytes(), codec::encode(&trial));
}

/// A trial as it was written, also by versions that wrote less of it.
fn decode(bytes: &[u8]) -> store::Result<Trial> {
    codec::decode(bytes, "a trial").or_else(|error| {
        let (round, lot, new) = codec::decode(bytes, "a trial").map_err(|_| error)?;
        Ok(Trial { round, lot, new, ..Trial::default() })
    })
}

/// At most this many URLs are drawn in a crawl that fetched `pages` pages.
fn budget(settings: &Settings, pages: u64) -> u64 {
    match settings.dedup.rescue.0 {
        0.0 => 0,
        share => ((pages as f64 * share) as u64).max(Rescue::LEAST),
    }
}
