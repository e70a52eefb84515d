//! Rescue: when nothing is queued any more, `drop` mode fetches a sample of the URLs that are held or stopped. This finds
//! pages that are no copies. At the end it gives an estimate of the pages that were lost.
//!
//! Held and stopped URLs that most likely share their fate are a *lot* ([`frontier::Lot`]). The rescue goes in rounds:
//!
//! 1. A *round* draws a few URLs from each of as many lots as the budget allows, and queues them as trials.
//! 2. When all of them are fetched, each lot with a new page is released: all its URLs are queued. A lot that was tried
//!    without a new page is not tried in the next rounds.
//! 3. When half of the budget is spent, after [`Rescue::ROUNDS`] rounds, or when all lots were tried, the last round
//!    draws single URLs from everything that is still held or stopped. The share of new pages in this sample gives the
//!    estimate ([`crate::estimate`]). A lot with a new page in the last round is also released, if at least one in
//!    [`Rescue::WORTH`] of its drawn URLs was new, or if at most [`Rescue::FEW`] of its URLs are left.
//!
//! The budget bounds the URLs that are drawn. The URLs of released lots are fetched beyond it.
//!
//! Rounds and trials are part of the state, so a crawl that was killed continues its rescue.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use config::Settings;
use dedup_stage::store::{self, Session, Space, codec};
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
    /// Whether the release of lots after the last round was decided.
    released: bool,
    /// Estimate, lower and upper end of the 95 % interval of the pages that were lost. `None` until the last round is done.
    lost: Option<[f64; 3]>,
}

/// A URL that was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Trial {
    round: u32,
    lot: u64,
    /// Whether it brought a new page; `None` until it was answered. In the results, a trial that was never answered
    /// counts as one that brought nothing.
    new: Option<bool>,
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
    bytes.map_or(Ok(Round::default()), |bytes| codec::decode(&bytes, "the rescue"))
}

impl Rescue {
    /// At least this many URLs may be drawn, however small the crawl is.
    const LEAST: u64 = 40;
    /// At most this many URLs are drawn from a lot in one round.
    const OF_LOT: usize = 2;
    /// A lot with a new page in the last round is released if at most this many of its URLs are left.
    const FEW: u64 = 40;
    /// A lot with a new page in the last round is released if at least one in this many of its drawn URLs was new.
    const WORTH: u64 = 20;
    /// At most this many rounds come before the last one.
    const ROUNDS: u32 = 6;

    /// Reads the state of the rescue from `session`.
    pub fn open(session: &Session) -> store::Result<Self> {
        Ok(Self { round: stored(session)? })
    }

    /// A URL was fetched. If it was drawn, records whether it brought a new page.
    pub fn fetched(&self, job: &Job, new: bool, session: &mut Session) {
        if job.via != Via::Rescue {
            return;
        }
        let key = job.page.url.to_bytes();
        // A trial that cannot be read counts as one that brought nothing; `check` finds it.
        let trial = session.get(spaces::TRIALS, &key).ok().flatten();
        if let Some(trial) = trial.and_then(|bytes| codec::decode::<Trial>(&bytes, "a trial").ok()) {
            session.put(spaces::TRIALS, key, codec::encode(&Trial { new: Some(new), ..trial }));
        }
    }

    /// Everything queued is done: begins the next round, or ends the last one. True if there is something to fetch.
    pub fn next(&mut self, settings: &Settings, frontier: &mut Frontier, ledger: &mut Ledger) -> Result<bool> {
        let results = self.results(&ledger.session)?;
        if self.round.last {
            if !self.round.released && self.release(&results, frontier, ledger)? {
                return Ok(true);
            }
            let held = frontier.sample_held(0, 0, 0, &ledger.session)?.held;
            if self.round.lost.is_none() || held != self.round.held {
                let left = self.left_with_new(&results, frontier, ledger)?;
                self.conclude(&results, held, &left);
                self.save(ledger);
            }
            return Ok(false);
        }
        let mut released = false;
        for (lot, result) in results.iter().filter(|(_, result)| result.new > 0) {
            if result.round == self.round.number {
                frontier.release_lot(Lot(*lot), &mut ledger.session);
                released = true;
            }
        }
        let budget = budget(settings, ledger.stats.pages.saturating_sub(self.round.spent));
        let left = budget.saturating_sub(self.round.spent);
        // Half of the budget is for finding what was lost. The rest is for the estimate.
        let for_rounds = left.saturating_sub(budget / 2);
        if self.round.number >= Self::ROUNDS || for_rounds == 0 {
            return self.begin(true, left, usize::MAX, frontier, ledger).map(|drawn| drawn || released);
        }
        let part = for_rounds.min((budget / 4).max(1));
        let drawn = self.begin(false, part, Self::OF_LOT, frontier, ledger)?;
        if drawn || released {
            return Ok(true);
        }
        let left = budget.saturating_sub(self.round.spent);
        self.begin(true, left, usize::MAX, frontier, ledger)
    }

    /// Releases the lots with a new page in the last round, if their release is worth the fetches. True if any were
    /// released.
    fn release(
        &mut self,
        results: &BTreeMap<u64, Outcome>,
        frontier: &mut Frontier,
        ledger: &mut Ledger,
    ) -> Result<bool> {
        let mut left = self.left_with_new(results, frontier, ledger)?;
        if left.is_empty() {
            return Ok(false);
        }
        left.retain(|lot, left| {
            let Outcome { drawn, new, .. } = results[lot];
            *left <= Self::FEW || new * Self::WORTH >= drawn
        });
        for lot in left.keys() {
            frontier.release_lot(Lot(*lot), &mut ledger.session);
        }
        self.round.released = true;
        self.save(ledger);
        Ok(!left.is_empty())
    }

    /// The lots with a new page in the last round, each with the number of its URLs that are still held or stopped. Lots
    /// without such URLs are left out.
    fn left_with_new(
        &self,
        results: &BTreeMap<u64, Outcome>,
        frontier: &Frontier,
        ledger: &Ledger,
    ) -> Result<BTreeMap<u64, u64>> {
        let with_new = results.iter().filter(|(_, result)| result.round == self.round.number && result.new > 0);
        let mut left: BTreeMap<u64, u64> = with_new.map(|(lot, _)| (*lot, 0)).collect();
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
        // Lots that were tried are left to the last round.
        let tried = if last { BTreeMap::new() } else { self.results(&ledger.session)? };
        let mut draw = Draw::new(wanted, of_lot, u64::from(self.round.number));
        frontier.each_held(&ledger.session, &mut |drawn| {
            if !tried.contains_key(&drawn.lot.0) {
                draw.show(drawn);
            }
        })?;
        let sample = draw.end();
        let held = frontier.counts().states.held() + frontier.counts().states.stopped();
        self.round.number += 1;
        (self.round.last, self.round.held, self.round.lost, self.round.released) = (last, held, None, false);
        let mut any = false;
        for drawn in sample.drawn {
            if frontier.rescue(drawn.id, &mut ledger.session)? {
                let trial = Trial { round: self.round.number, lot: drawn.lot.0, new: None };
                ledger.session.put(spaces::TRIALS, drawn.id.to_bytes(), codec::encode(&trial));
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
    fn conclude(&mut self, results: &BTreeMap<u64, Outcome>, held: u64, left: &BTreeMap<u64, u64>) {
        self.round.held = held;
        let unknown = Lost { estimate: 0.0, low: 0.0, high: held as f64 };
        let of = |counts: &dyn Fn(&u64, &Outcome) -> bool| {
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
        self.round.lost = Some([lost.estimate, lost.low, lost.high]);
    }

    /// The results of the trials of each lot.
    fn results(&self, session: &Session) -> Result<BTreeMap<u64, Outcome>> {
        let (mut results, mut damaged) = (BTreeMap::<u64, Outcome>::new(), None);
        session.scan(spaces::TRIALS, &[], &[], &mut |_, value| match codec::decode::<Trial>(value, "a trial") {
            Ok(trial) => {
                let result = results.entry(trial.lot).or_default();
                if trial.round > result.round {
                    *result = Outcome { round: trial.round, ..Outcome::default() };
                }
                result.drawn += u64::from(trial.round == result.round);
                result.new += u64::from(trial.round == result.round && trial.new == Some(true));
                ControlFlow::Continue(())
            }
            Err(error) => {
                damaged = Some(error);
                ControlFlow::Break(())
            }
        })?;
        damaged.map_or(Ok(results), |error| Err(error.into()))
    }

    fn save(&self, ledger: &mut Ledger) {
        ledger.session.put(Space::META, STATE, codec::encode(&self.round));
    }
}

/// The results of the trials of one lot in the latest round that drew from it.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    round: u32,
    drawn: u64,
    new: u64,
}

/// At most this many URLs are drawn in a crawl that fetched `pages` pages.
fn budget(settings: &Settings, pages: u64) -> u64 {
    match settings.dedup.rescue.0 {
        0.0 => 0,
        share => ((pages as f64 * share) as u64).max(Rescue::LEAST),
    }
}
