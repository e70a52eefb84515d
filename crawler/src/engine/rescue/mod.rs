//! Rescue: when nothing is queued any more, `drop` mode fetches a sample of the URLs that are held or stopped. This finds
//! pages that are no copies. At the end it gives an estimate of the pages that were lost.
//!
//! Held and stopped URLs that most likely share their fate are a *lot* ([`frontier::Lot`]). The rescue goes in rounds:
//!
//! 1. A *round* draws a few URLs from each of as many lots as the budget allows, and queues them as trials. Of a family of lots
//!    ([`frontier::Drawn::family`]) it draws only a few as well, first those that are farthest from the seeds.
//! 2. When all of them are fetched, each lot that gained something *falls*: all its URLs are queued, and those that are met
//!    later are followed ([`frontier::Frontier::fall`]). A lot has gained something if a page of it is new, or led to a new
//!    page: a list that two hosts share may lead to pages that only one of them has. If at least [`Rescue::ALIKE`] lots of a
//!    family have gained something, and these are at least half of those that were tried, the whole family falls.
//! 3. A lot that was tried without a gain is tried again in the next rounds only if its pages have links that were not
//!    met before. In this way the rescue goes down through lists to what they list.
//! 4. When two thirds of the budget are spent, after [`Rescue::ROUNDS`] rounds, or when nothing is left to try, the last
//!    round draws single URLs from everything that is still held or stopped. The share of new pages in this sample gives
//!    the estimate ([`crate::estimate`]; for lots that fall because of it, see [`unseen`]). A lot that gained something in the last round falls, too, if at least one in
//!    [`Rescue::WORTH`] of its drawn URLs did, or if at most [`Rescue::FEW`] of its URLs are left.
//!
//! The budget bounds the URLs that are drawn. The URLs of fallen lots are fetched beyond it.
//!
//! Rounds and trials are part of the state, so a crawl that was killed continues its rescue.

mod trials;

use std::collections::BTreeMap;

use config::Settings;
use dedup_stage::store::{self, Session, Space, codec};
use dedup_stage::url::SiteId;
use frontier::{Draw, Frontier, Job, Lot, SampleSpec, Via};
use serde::{Deserialize, Serialize};

use super::Result;
use super::ledger::Ledger;
use crate::estimate::{Lost, Sample, estimate};
use trials::{LotResults, Trial, families, put, read};

/// Key in [`Space::META`].
const STATE: &[u8] = b"rescue-2";
/// Key under which earlier versions wrote it.
const EARLIER: &[u8] = b"rescue";

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
    /// Estimate, lower and upper end of the 95 % interval of the pages that were lost. `None` until the last round is done.
    lost: Option<[f64; 3]>,
    /// URLs that the sample of the last round was drawn from.
    population: u64,
    /// New pages of the last round in lots that fell, as far as they tell of lots that were not drawn: see [`unseen`].
    unseen: f64,
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
    if let Some(bytes) = session.get(Space::META, STATE)? {
        return codec::decode(&bytes, "the rescue");
    }
    let Some(bytes) = session.get(Space::META, EARLIER)? else { return Ok(Round::default()) };
    type Earlier = (u32, bool, u64, u64, bool, Option<[f64; 3]>);
    let (earlier, population): (Earlier, Option<u64>) = codec::decode(&bytes, "the rescue")
        .map(|(earlier, population)| (earlier, Some(population)))
        .or_else(|_| codec::decode(&bytes, "the rescue").map(|earlier| (earlier, None)))?;
    let (number, last, spent, held, _, lost) = earlier;
    Ok(Round { number, last, spent, held, lost, population: population.unwrap_or(held), unseen: 0.0 })
}

impl Rescue {
    /// At least this many URLs may be drawn, however small the crawl is.
    const LEAST: u64 = 40;
    /// At most this many URLs are drawn from a lot in one round.
    const OF_LOT: usize = 2;
    /// At most this share of a round is drawn from one family, but [`Rescue::OF_LOT`] URLs at least.
    const OF_FAMILY: u64 = 8;
    /// A family falls if at least this many of its lots have gained something.
    const ALIKE: u64 = 3;
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
        let results = trials::results(&ledger.session)?;
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
            let held = frontier.count_held(&ledger.session)?.held;
            if self.round.lost.is_none() || held != self.round.held {
                let left = self.left_with_new(&results, frontier, ledger)?;
                let fallen = |lot| frontier.has_fallen(Lot(lot));
                self.conclude(&results, held, &left, &fallen);
                self.save(ledger);
            }
            return Ok(false);
        }
        let left = budget.saturating_sub(self.round.spent);
        // A third of the budget is for the estimate. The rest is for finding what was lost.
        let for_rounds = left.saturating_sub(budget / 3);
        if self.round.number < Self::ROUNDS && for_rounds > 0 {
            let part = for_rounds.min((budget / 4).max(1));
            let of_family = count(part / Self::OF_FAMILY).max(Self::OF_LOT);
            let spec = SampleSpec { wanted: count(part), of_lot: Self::OF_LOT, of_family, deepest_first: true };
            if self.begin(false, spec, frontier, ledger)? {
                return Ok(true);
            }
        }
        let spec = SampleSpec { wanted: count(left), of_lot: usize::MAX, of_family: usize::MAX, deepest_first: false };
        self.begin(true, spec, frontier, ledger)
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
            for (lot, left) in left.iter().filter(|(lot, _)| fall.contains_key(lot)) {
                let LotResults { drawn, new, .. } = results[lot];
                self.round.unseen += unseen(new, left + drawn, self.drawn_of(results), self.round.population);
            }
        }
        for (lot, site) in &fall {
            frontier.fall(Lot(*lot), *site, false, results[lot].gained, &mut ledger.session);
        }
        let mut families = families(results);
        families.retain(|family, found| {
            let is_alike = found.gained >= Self::ALIKE && 2 * found.gained >= found.tried;
            is_alike && !frontier.has_fallen(Lot(*family))
        });
        for (family, found) in &families {
            frontier.fall(Lot(*family), found.site, true, found.gained, &mut ledger.session);
        }
        let any = !fall.is_empty() || !families.is_empty();
        if self.round.last && any {
            self.save(ledger);
        }
        Ok(any)
    }

    /// URLs that the latest round drew and that were answered.
    fn drawn_of(&self, results: &BTreeMap<u64, LotResults>) -> u64 {
        results.values().filter(|result| result.round == self.round.number).map(|result| result.drawn).sum()
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
    fn begin(&mut self, last: bool, spec: SampleSpec, frontier: &mut Frontier, ledger: &mut Ledger) -> Result<bool> {
        // Lots that were tried are left to the last round, unless they led further.
        let mut tried = if last { BTreeMap::new() } else { trials::results(&ledger.session)? };
        tried.retain(|_, result| !result.opened);
        let mut draw = Draw::new(spec, u64::from(self.round.number));
        frontier.each_held(&ledger.session, &mut |drawn| {
            if !tried.contains_key(&drawn.lot.0) {
                draw.show(drawn);
            }
        })?;
        let sample = draw.end();
        let held = frontier.counts().states.held() + frontier.counts().states.stopped();
        self.round.number += 1;
        (self.round.last, self.round.lost) = (last, None);
        (self.round.held, self.round.population, self.round.unseen) = (held, held, 0.0);
        let mut any = false;
        for drawn in sample.drawn {
            if frontier.rescue(drawn.id, &mut ledger.session)? {
                let (lot, family) = (drawn.lot.0, drawn.family.0);
                let trial = Trial { round: self.round.number, lot, family, ..Trial::default() };
                put(drawn.id, trial, &mut ledger.session);
                self.round.spent += 1;
                any = true;
            }
        }
        if last && !any {
            self.conclude(&BTreeMap::new(), held, &BTreeMap::new(), &|_| false);
        }
        self.save(ledger);
        Ok(any)
    }

    /// Estimates from the results of the last round how many pages were lost. `held` URLs are still held or stopped.
    /// `left` are the lots with new pages that still have URLs; `fallen` tells which lots and families have fallen.
    fn conclude(
        &mut self,
        results: &BTreeMap<u64, LotResults>,
        held: u64,
        left: &BTreeMap<u64, u64>,
        fallen: &dyn Fn(u64) -> bool,
    ) {
        self.round.held = held;
        let drawn = self.drawn_of(results);
        let population = self.round.population;
        let last = || results.iter().filter(|(_, result)| result.round == self.round.number);
        let all: u64 = last().map(|(_, result)| result.new).sum();
        // What the sample says of the URLs that are left: its new pages, without those of lots that have fallen. These are
        // fetched, but they may tell of lots that were not drawn.
        let mut new = self.round.unseen;
        for (lot, result) in last() {
            if left.contains_key(lot) {
                new += result.new as f64;
            } else if !fallen(*lot) && !fallen(result.family) {
                new += unseen(result.new, result.drawn, drawn, population);
            }
        }
        let of = |new: u64| estimate(Sample { left: population.saturating_sub(drawn), drawn, new: new.min(drawn) });
        let unknown = Lost { estimate: 0.0, low: 0.0, high: held as f64 };
        // The same sample has also chosen which lots were released. So the upper end from the rest of it would be too low,
        // and the upper end from the whole sample is used.
        let lost = of(new.floor() as u64)
            .zip(of(all))
            .map_or(unknown, |(rest, whole)| Lost { high: rest.high.max(whole.high), ..rest });
        // URLs that came to be held after the sample was drawn: nothing is known about them.
        let later = held.saturating_sub(population.saturating_sub(drawn)) as f64;
        let held = held as f64;
        let point = lost.estimate.min(held);
        self.round.lost = Some([point, lost.low.min(held), (lost.high + later).min(held).max(point)]);
    }

    fn save(&self, ledger: &mut Ledger) {
        ledger.session.put(Space::META, STATE, codec::encode(&self.round));
    }
}

/// What new pages of a lot in a random sample tell of lots that were not drawn. `new` of its `lot` URLs were drawn and are new;
/// the sample has `drawn` URLs of `population`. If such a lot is large, most samples find it. If it is a single URL, there are
/// others like it that the sample has missed. Each new page counts with the probability that a sample of this size misses the
/// rest of its lot: the estimator of Horvitz and Thompson (1952) for what is in no drawn lot.
fn unseen(new: u64, lot: u64, drawn: u64, population: u64) -> f64 {
    let missed = 1.0 - (drawn as f64 / population.max(1) as f64).min(1.0);
    let rest = i32::try_from(lot.saturating_sub(1)).unwrap_or(i32::MAX);
    new as f64 * missed.powi(rest)
}

fn count(urls: u64) -> usize {
    usize::try_from(urls).unwrap_or(usize::MAX)
}

/// At most this many URLs are drawn in a crawl that fetched `pages` pages.
fn budget(settings: &Settings, pages: u64) -> u64 {
    match settings.dedup.rescue.0 {
        0.0 => 0,
        share => ((pages as f64 * share) as u64).max(Rescue::LEAST),
    }
}
