//! The review of a host. It looks at each cluster of the host once, in any order: it counts the demand at each price,
//! teaches the prior, and computes the due time of each page at the present price.
//!
//! A review costs about a microsecond for each cluster. In the time in which the budget visits each page once, a host
//! has a fixed number of reviews. So the cost for each visit is O(1). Between two reviews, only the records of visited
//! pages are read.

use super::belief::Belief;
use super::cluster::CopyCluster;
use super::host::{Host, Shared};
use super::market::{Demand, prices};
use super::next_visit::{plan, scale};
use super::prior::Census;
use super::queue::Entries;
use super::settings::{AGAIN, READING, Settings};
use super::time::{DAY, Seconds, UrlHash, after, days, spread};

/// A review under way.
#[derive(Debug)]
pub(super) struct Review {
    /// A copy of the host, with new prices.
    host: Host,
    demand: Demand,
    census: Census,
    seen: u32,
    unknown: u32,
    entries: Entries,
}

impl Review {
    /// Begins at `now`. The next review comes `window` days later.
    pub fn new(host: &Host, shared: &Shared, settings: &Settings, now: Seconds, window: f32) -> Self {
        let mut host = host.clone();
        // At the start, a host is reviewed twice at the same moment.
        host.is_first_review = host.reviewed == 0 || host.is_first_review && host.reviewed == now;
        (host.reviewed, host.window) = (now, window);
        host.reprice(shared, settings);
        host.catch_up = (host.pages as f32 / host.allows).max(shared.pages as f32 / settings.budget);
        let entries = Entries::with_capacity(host.pages as usize);
        Self { host, demand: Demand::default(), census: Census::default(), seen: 0, unknown: 0, entries }
    }

    /// Looks at a cluster.
    pub fn pass(&mut self, page: UrlHash, cluster: &CopyCluster, shared: &Shared, settings: &Settings) {
        let effects = &self.host.learned.effects;
        let belief = belief(shared, &self.host, cluster);
        if !cluster.history.is_empty() {
            self.seen += 1;
            self.census.add(&shared.prior, effects, cluster.prior_key, &belief);
        }
        self.count(page, cluster, &belief, settings);
        let plan = plan(&self.host, page, cluster, &belief, settings);
        self.unknown += u32::from(plan.unknown);
        self.entries.push(due(cluster, plan.days), page);
    }

    /// Adds the visits to the page that are wanted until the next review, at each price.
    fn count(&mut self, page: UrlHash, cluster: &CopyCluster, belief: &Belief, settings: &Settings) {
        let scale = scale(spread(page, cluster.visited), cluster);
        let age = days(cluster.visited, self.host.reviewed);
        let window = self.host.window;
        let (least, most) = (settings.min_age as f32 / DAY, settings.max_age as f32 / DAY);
        let intervals = belief.intervals(prices().iter().map(|price| price * scale));
        let told = cluster.flags.listed.filter(|source| self.host.learned.signals.believes(*source));
        let buys = told.map_or(0.0, |source| self.host.learned.signals.gain_if_told(source, belief));
        for (at, interval) in intervals.map(|interval| interval.clamp(least, most)).enumerate() {
            if prices()[at] * scale <= buys && interval * DAY > READING as f32 {
                // It is visited once for each change that is told.
                let now = if cluster.told.is_some() { 1.0 / window } else { 0.0 };
                self.demand.add(at, now + belief.told_a_day());
                continue;
            }
            let left = window - (interval - age).max(0.0);
            if left <= 0.0 {
                break;
            }
            self.demand.add(at, (1.0 + AGAIN * left / interval) / window);
        }
    }

    /// A page was visited, or put into the queue, while the review was under way.
    pub fn also(&mut self, due: Seconds, page: UrlHash) {
        self.entries.push(due, page);
    }

    /// Ends the review. Returns the changed host and its queue.
    pub fn finish(self, shared: &mut Shared, hosts: usize, settings: &Settings) -> (Host, Entries) {
        let Self { mut host, demand, census, seen, unknown, entries } = self;
        host.counted(&demand, seen, unknown, shared, settings);
        shared.prior.learn(&mut host.learned.effects, &census, shared.seen as f32, hosts as f32);
        (host, entries)
    }
}

/// The estimate of a cluster's change rate.
pub(super) fn belief(shared: &Shared, host: &Host, cluster: &CopyCluster) -> Belief {
    let mut weights = shared.prior.weights(&host.learned.effects, cluster.prior_key);
    cluster.history.apply(&mut weights);
    Belief::new(weights)
}

/// When the page is due.
pub(super) fn due(cluster: &CopyCluster, days: f32) -> Seconds {
    if cluster.flags.urgent && days == 0.0 { 0 } else { after(cluster.visited, days) }
}
