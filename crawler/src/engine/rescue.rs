//! Rescue: when nothing is queued any more, `drop` mode fetches a sample of what is held or stopped. This finds pages that are no
//! copies, and at the end it gives an estimate of the pages that were lost.
//!
//! Held and stopped URLs that most likely share their fate are a *cluster* ([`frontier::Cluster`]). The rescue goes in rounds:
//!
//! 1. A *round* draws a few URLs from each of as many clusters as the budget allows, and queues them as trials.
//! 2. When all of them are fetched, each cluster of which a trial brought a new page is released: all its URLs are queued.
//!    Clusters that were tried in vain are not tried again.
//! 3. When half of the budget is spent, or after [`Rescue::ROUNDS`] rounds, the last round draws from all URLs that are left,
//!    whatever their clusters are. The share of new pages in this sample gives the estimate. A cluster of which the last round
//!    brought something new is also released, if at least one in [`Rescue::WORTH`] of its drawn URLs was new, or if at most
//!    [`Rescue::FEW`] of its URLs are left.
//!
//! Rounds and trials are part of the state, so that a crawl that was killed goes on where it was.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use config::Settings;
use dedup_stage::store::{self, Session, Space, codec};
use frontier::{Cluster, Draw, Frontier, Job, Via};
use serde::{Deserialize, Serialize};

use super::Result;
use super::ledger::Ledger;
use crate::estimate::{Lost, Sample, estimate};
use crate::spaces;

/// Key in [`Space::META`].
const STATE: &[u8] = b"rescue";

/// Where the rescue stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Round {
    /// Number of the round that is under way, from 1; 0 before the first.
    number: u32,
    /// Whether it is the last one, of which the estimate is made.
    last: bool,
    /// URLs tried so far, in all rounds.
    spent: u64,
    /// URLs held or stopped when the last round was drawn.
    held: u64,
    /// Whether clusters were released after the last round.
    released: bool,
    /// What was lost, once the last round is done: estimate, lower and upper end of the 95 % interval.
    lost: Option<[f64; 3]>,
}

/// A URL that was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Trial {
    round: u32,
    cluster: u64,
    /// Whether it brought a new page; `None` until it is fetched.
    new: Option<bool>,
}

/// The rescue of a crawl.
#[derive(Debug)]
pub(super) struct Rescue {
    round: Round,
}

/// What was lost, as the last run that went to its end found.
pub fn lost(session: &Session) -> store::Result<Option<Lost>> {
    let round = stored(session)?;
    Ok(round.lost.map(|[estimate, low, high]| Lost { estimate, low, high }))
}

fn stored(session: &Session) -> store::Result<Round> {
    let bytes = session.get(Space::META, STATE)?;
    bytes.map_or(Ok(Round::default()), |bytes| codec::decode(&bytes, "the rescue"))
}

impl Rescue {
    /// A rescue may cost this many fetches, however small the crawl is.
    const LEAST: u64 = 40;
    /// URLs drawn from a cluster in one round.
    const OF_CLUSTER: usize = 2;
    /// A cluster of which the last round brought something new is released if at most this many of its URLs are left …
    const FEW: u64 = 40;
    /// … or if at least one in this many drawn URLs was new.
    const WORTH: u64 = 20;
    /// Rounds before the last one.
    const ROUNDS: u32 = 6;

    /// Goes on where the state was left.
    pub fn open(session: &Session) -> store::Result<Self> {
        Ok(Self { round: stored(session)? })
    }

    /// A page was fetched, and brought a new page or not.
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
        for (cluster, result) in results.iter().filter(|(_, result)| result.new > 0) {
            if result.round == self.round.number {
                frontier.release_cluster(Cluster(*cluster), &mut ledger.session);
                released = true;
            }
        }
        let budget = budget(settings, ledger.stats.pages.saturating_sub(self.round.spent));
        let left = budget.saturating_sub(self.round.spent);
        // Half of the budget finds what was lost, half of it tells how much is lost.
        let for_rounds = left.saturating_sub(budget / 2);
        if self.round.number >= Self::ROUNDS || for_rounds == 0 {
            return self.begin(true, left, usize::MAX, frontier, ledger).map(|drawn| drawn || released);
        }
        let part = for_rounds.min((budget / 4).max(1));
        let drawn = self.begin(false, part, Self::OF_CLUSTER, frontier, ledger)?;
        if drawn || released {
            return Ok(true);
        }
        let left = budget.saturating_sub(self.round.spent);
        self.begin(true, left, usize::MAX, frontier, ledger)
    }

    /// Releases the clusters of which the last round brought something new, if it is worth it. True if there are any.
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
        left.retain(|cluster, left| {
            let Outcome { drawn, new, .. } = results[cluster];
            *left <= Self::FEW || new * Self::WORTH >= drawn
        });
        for cluster in left.keys() {
            frontier.release_cluster(Cluster(*cluster), &mut ledger.session);
        }
        self.round.released = true;
        self.save(ledger);
        Ok(!left.is_empty())
    }

    /// The clusters of which the last round brought something new, each with the number of its URLs that are still held or
    /// stopped, as far as there are any.
    fn left_with_new(
        &self,
        results: &BTreeMap<u64, Outcome>,
        frontier: &Frontier,
        ledger: &Ledger,
    ) -> Result<BTreeMap<u64, u64>> {
        let with_new = results.iter().filter(|(_, result)| result.round == self.round.number && result.new > 0);
        let mut left: BTreeMap<u64, u64> = with_new.map(|(cluster, _)| (*cluster, 0)).collect();
        if !left.is_empty() {
            frontier.each_held(&ledger.session, &mut |drawn| {
                if let Some(count) = left.get_mut(&drawn.cluster.0) {
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
        of_cluster: usize,
        frontier: &mut Frontier,
        ledger: &mut Ledger,
    ) -> Result<bool> {
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        // Clusters that were tried in vain are left to the last round.
        let tried = if last { BTreeMap::new() } else { self.results(&ledger.session)? };
        let mut draw = Draw::new(wanted, of_cluster, u64::from(self.round.number));
        frontier.each_held(&ledger.session, &mut |drawn| {
            if !tried.contains_key(&drawn.cluster.0) {
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
                let trial = Trial { round: self.round.number, cluster: drawn.cluster.0, new: None };
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

    /// Estimates what was lost from the results of the last round. `held` URLs are still held or stopped. `left` are the clusters
    /// with new pages of which some URLs are.
    fn conclude(&mut self, results: &BTreeMap<u64, Outcome>, held: u64, left: &BTreeMap<u64, u64>) {
        self.round.held = held;
        let unknown = Lost { estimate: 0.0, low: 0.0, high: held as f64 };
        let of = |counts: &dyn Fn(&u64, &Outcome) -> bool| {
            let last =
                results.iter().filter(|(cluster, result)| result.round == self.round.number && counts(cluster, result));
            let (drawn, new) = last.fold((0, 0), |(drawn, new), (_, result)| (drawn + result.drawn, new + result.new));
            // The drawn pages were fetched, so they are not lost. Only what is still held counts.
            estimate(Sample { left: held, drawn, new }).unwrap_or(unknown)
        };
        let lost = match self.round.released {
            false => of(&|_, _| true),
            // Clusters that were released are not held any more, so the results of the others count for what is left. But the same
            // sample has decided which clusters are left, so its upper end would be too low: that of the whole sample is used.
            true => {
                let rest = of(&|cluster, result| result.new == 0 || left.contains_key(cluster));
                Lost { high: rest.high.max(of(&|_, _| true).high), ..rest }
            }
        };
        self.round.lost = Some([lost.estimate, lost.low, lost.high]);
    }

    /// What the trials of each cluster showed.
    fn results(&self, session: &Session) -> Result<BTreeMap<u64, Outcome>> {
        let (mut results, mut damaged) = (BTreeMap::<u64, Outcome>::new(), None);
        session.scan(spaces::TRIALS, &[], &[], &mut |_, value| match codec::decode::<Trial>(value, "a trial") {
            Ok(trial) => {
                let result = results.entry(trial.cluster).or_default();
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

/// What the trials of one cluster in its latest round showed.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    round: u32,
    drawn: u64,
    new: u64,
}

/// How many fetches the rescue may cost in a crawl that fetched so many pages.
fn budget(settings: &Settings, pages: u64) -> u64 {
    match settings.dedup.rescue.0 {
        0.0 => 0,
        share => ((pages as f64 * share) as u64).max(Rescue::LEAST),
    }
}
