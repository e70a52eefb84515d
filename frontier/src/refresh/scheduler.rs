//! The scheduler: it has the hosts, their queues and the prices, and says which page is visited next.

use super::belief::Belief;
use super::cluster::CopyCluster;
use super::copies::{Care, Cared, Copy, Pair, Pairs};
use super::history::Dated;
use super::host::{Host, Learned, Shared};
use super::next_visit::plan;
use super::prior::{Prior, PriorKey};
use super::review::{Review, belief, due};
use super::settings::{EARLY, LEAD, LESSON_DAYS, READING, REVIEW_DAYS, REVIEWS, Settings};
use super::signals::Source;
use super::time::{DAY, Seconds, UrlHash, after, days};
use super::turns::{HostNumber, VisitTurn, VisitTurns};

/// Decides what is visited next. The records of pages stay with the caller.
#[derive(Debug, Default)]
pub struct Refresh {
    settings: Settings,
    shared: Shared,
    hosts: Vec<Host>,
    turns: VisitTurns,
    /// The review under way.
    review: Option<(HostNumber, Review)>,
    /// The host whose review comes next.
    next: HostNumber,
    /// What checks of copies have shown.
    pub pairs: Pairs,
}

/// What a visit has shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VisitFinding {
    /// Whether the page says something else than at the last visit.
    pub changed: bool,
    /// Its `Last-Modified`.
    pub modified: Option<Seconds>,
}

/// What is done with a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitDecision {
    /// Visit the page.
    Visit,
    /// The visit must not come before this moment. Defer the host, and ask for the next turn.
    Wait(Seconds),
    /// The entry is out of date, because the page has a later one. Drop it.
    Stale,
}

impl Refresh {
    /// A scheduler without hosts. `prior` and `pairs` come from an earlier process, or are the defaults.
    pub fn new(settings: Settings, prior: Prior, pairs: Pairs) -> Self {
        let shared = Shared { prior, ..Shared::default() };
        Self { settings, shared, pairs, ..Self::default() }
    }

    /// What all hosts share. The caller may store it.
    pub fn prior(&self) -> &Prior {
        &self.shared.prior
    }

    /// Adds a host that may be asked once in `delay` seconds. `learned` comes from an earlier process, or is the
    /// default.
    pub fn add_host(&mut self, delay: f32, learned: Learned) -> HostNumber {
        let mut host = Host { learned, allows: DAY / delay.max(1e-3), ..Host::default() };
        host.reprice(&self.shared, &self.settings);
        self.hosts.push(host);
        self.turns.add_host()
    }

    /// What was learned of a host. The caller may store it.
    pub fn learned(&self, host: HostNumber) -> &Learned {
        &self.hosts[host as usize].learned
    }

    /// Adds a cluster: at its first fetch, or from the store.
    pub fn add(&mut self, host: HostNumber, page: UrlHash, cluster: &CopyCluster) {
        self.hosts[host as usize].pages += 1;
        self.shared.pages += 1;
        self.queue(host, page, cluster);
    }

    /// Removes a cluster: its page is gone, or has become a copy of another page.
    pub fn remove(&mut self, host: HostNumber) {
        self.hosts[host as usize].pages -= 1;
        self.shared.pages -= 1;
    }

    /// Puts a page into the queue of its host, at the due time that follows from its record. This is needed only if the
    /// caller has changed the record: made it urgent, for example.
    pub fn queue(&mut self, host: HostNumber, page: UrlHash, cluster: &CopyCluster) {
        self.push(host, self.due(host, page, cluster), page);
    }

    /// The due time of a page, which follows from its record. It is 0 if the page is urgent.
    pub fn due(&self, host: HostNumber, page: UrlHash, cluster: &CopyCluster) -> Seconds {
        due(cluster, self.interval(host, page, cluster))
    }

    /// Puts a page that is no cluster into the queue of its host: a copy that is to be checked, or a page that was
    /// missing. If `due` is 0, its turn comes as soon as the host may be asked. Each review must hear of such a page
    /// ([`Self::pass_fixed`]).
    pub fn queue_fixed(&mut self, host: HostNumber, page: UrlHash, due: Seconds) {
        self.push(host, due, page);
    }

    fn push(&mut self, host: HostNumber, due: Seconds, page: UrlHash) {
        if let Some((reviewed, review)) = &mut self.review
            && *reviewed == host
        {
            review.also(due, page);
        }
        self.turns.push(host, due, page);
    }

    /// The first turn of the hosts that may be asked now.
    pub fn next(&mut self, now: Seconds) -> Option<VisitTurn> {
        self.turns.peek(now)
    }

    /// When the next turn comes. A fetch that is open may change that.
    pub fn next_due(&mut self, now: Seconds) -> Option<Seconds> {
        self.turns.next_due(now)
    }

    /// Whether the cluster whose turn it is should be visited.
    pub fn judge(&self, turn: VisitTurn, cluster: &CopyCluster, now: Seconds) -> VisitDecision {
        let planned = self.interval(turn.host, turn.page, cluster);
        // If no other page is due, a page may be visited early: after half of its interval, and no sooner.
        let earliest =
            after(cluster.visited, planned * EARLY).max(cluster.visited.saturating_add(self.settings.min_age));
        match (earliest <= now, turn.due <= now) {
            (true, _) => VisitDecision::Visit,
            (false, true) => VisitDecision::Stale,
            (false, false) => VisitDecision::Wait(earliest.min(turn.due)),
        }
    }

    /// Takes a turn out of the queue. The host has an open fetch until [`Self::rest`] is called.
    pub fn take(&mut self, turn: VisitTurn) {
        self.turns.take(turn);
        self.pairs.fetched();
    }

    /// Defers the host of a turn until this moment, or until one of its pages is due sooner.
    pub fn defer(&mut self, turn: VisitTurn, until: Seconds) {
        self.turns.defer(turn.host, until);
    }

    /// Drops a turn that is stale.
    pub fn drop(&mut self, turn: VisitTurn) {
        self.turns.drop_first(turn.host);
    }

    /// The host may be asked again from `until` on.
    pub fn rest(&mut self, host: HostNumber, until: Seconds) {
        self.turns.rest(host, until);
    }

    /// The representative of a cluster was visited. This changes its record, and queues its next visit.
    pub fn visited(
        &mut self,
        host: HostNumber,
        page: UrlHash,
        cluster: &mut CopyCluster,
        at: Seconds,
        seen: VisitFinding,
    ) {
        let dated = self.heard(host, cluster, at, seen);
        let span = at.saturating_sub(cluster.visited);
        match (seen.changed, dated) {
            (true, Some(dated)) => cluster.history.change_dated(dated),
            (true, None) => cluster.history.change(span),
            (false, _) => cluster.history.unchanged(span),
        }
        if seen.changed {
            cluster.changed = at;
        }
        cluster.visited = at;
        cluster.told = None;
        cluster.flags = super::cluster::Flags { listed: cluster.flags.listed, ..Default::default() };
        self.queue(host, page, cluster);
    }

    /// A page was visited: compares what its host said of it with what the visit shows. The record is that from before
    /// the visit. If the page has changed, returns what is known of the time of the change.
    pub fn heard(&mut self, host: HostNumber, cluster: &CopyCluster, at: Seconds, seen: VisitFinding) -> Option<Dated> {
        let told = cluster.told;
        if let Some(source) = cluster.flags.listed {
            let expected = 1.0 - self.belief(host, cluster).unchanged(days(cluster.visited, at));
            let signals = &mut self.hosts[host as usize].learned.signals;
            signals.visited(source, told.is_some(), seen.changed, expected);
        }
        let signals = &mut self.hosts[host as usize].learned.signals;
        let date = seen.modified.and_then(|date| signals.dated(cluster.visited, at, seen.changed, date));
        if !seen.changed {
            return None;
        }
        // If a source tells of a change, there was none before the reading at which it told of none. To count all the
        // time as one in which the change may have come would make the page seem to change more often.
        let is_believed = cluster.flags.listed.is_some_and(|source| signals.believes(source));
        let told = told.filter(|_| is_believed).map(|told| {
            let span = told.saturating_sub(cluster.visited);
            let within = span.min(READING);
            Dated { within, quiet: span - within }
        });
        told.or(date.map(|date| Dated { within: 0, quiet: at - date }))
    }

    /// A sitemap or feed lists the page. `told`: when it was read, if it says that the page has changed since the last
    /// visit.
    pub fn listed(
        &mut self,
        host: HostNumber,
        page: UrlHash,
        cluster: &mut CopyCluster,
        source: Source,
        told: Option<Seconds>,
    ) {
        let was_told = cluster.told.is_some();
        cluster.flags.listed = Some(source);
        cluster.told = cluster.told.or(told);
        if told.is_some() && !was_told {
            self.queue(host, page, cluster);
        }
    }

    /// What to do with a copy of a cluster that was just visited. `host` is the cluster's, `copy_host` the copy's.
    pub fn care(&self, cared: Cared, copy: &Copy, pair: &Pair, copy_host: HostNumber, now: Seconds) -> Care {
        self.pairs.care(cared, copy, pair, self.hosts[copy_host as usize].price, now)
    }

    /// Days from the last visit of a page to its next one. Infinite if no visit is worth its price.
    pub fn interval(&self, host: HostNumber, page: UrlHash, cluster: &CopyCluster) -> f32 {
        let state = &self.hosts[host as usize];
        plan(state, page, cluster, &belief(&self.shared, state, cluster), &self.settings).days
    }

    /// The estimate of a cluster's change rate.
    pub fn belief(&self, host: HostNumber, cluster: &CopyCluster) -> Belief {
        belief(&self.shared, &self.hosts[host as usize], cluster)
    }

    /// What a visit to a page buys `days` days after the last one, in days of freshness.
    pub fn gain(&self, host: HostNumber, cluster: &CopyCluster, days: f32) -> f32 {
        let belief = self.belief(host, cluster);
        match cluster.flags.listed {
            Some(source) => self.learned(host).signals.gain(source, cluster.told.is_some(), &belief, days),
            None => belief.gain(days),
        }
    }

    /// The price of a fetch on this host, in weighted days of freshness. A visit is due as soon as it buys this.
    pub fn price(&self, host: HostNumber) -> f32 {
        self.hosts[host as usize].price
    }

    /// What the first fetch of a page buys, in weighted days of freshness.
    pub fn worth_of_new(&self, host: HostNumber, key: PriorKey, priority: f32) -> f32 {
        let weights = self.shared.prior.weights(&self.hosts[host as usize].learned.effects, key);
        priority * Belief::new(weights).gain(LESSON_DAYS)
    }

    /// The host whose review is due, if any. The caller then calls [`Self::review`], [`Self::pass`] for each of the
    /// host's clusters, and [`Self::reviewed`]; other calls may come in between.
    pub fn wants_review(&self, now: Seconds) -> Option<HostNumber> {
        let host = self.hosts.get(self.next as usize)?;
        (self.review.is_none() && days(host.reviewed, now) >= self.window()).then_some(self.next)
    }

    /// Begins the review of a host.
    pub fn review(&mut self, host: HostNumber, now: Seconds) {
        let review = Review::new(&self.hosts[host as usize], &self.shared, &self.settings, now, self.window());
        self.review = Some((host, review));
        self.next = (host + 1) % self.hosts.len() as HostNumber;
    }

    /// Shows the review a cluster of its host.
    pub fn pass(&mut self, page: UrlHash, cluster: &CopyCluster) {
        if let Some((_, review)) = &mut self.review {
            review.pass(page, cluster, &self.shared, &self.settings);
        }
    }

    /// Shows the review a page of its host that is no cluster, and has a fixed due time.
    pub fn pass_fixed(&mut self, page: UrlHash, due: Seconds) {
        if let Some((_, review)) = &mut self.review {
            review.also(due, page);
        }
    }

    /// Ends the review: the host has new prices, and its pages new due times.
    pub fn reviewed(&mut self) {
        if let Some((id, review)) = self.review.take() {
            let (host, entries) = review.finish(&mut self.shared, self.hosts.len(), &self.settings);
            let lead = if host.is_bound(&self.shared, &self.settings) { LEAD } else { 0 };
            self.hosts[id as usize] = host;
            self.turns.replace(id, entries);
            self.turns.lead(id, lead);
        }
    }

    /// Days between two reviews of a host.
    fn window(&self) -> f32 {
        (self.shared.pages as f32 / self.settings.budget / REVIEWS).max(REVIEW_DAYS)
    }

    /// Bytes of memory that hosts and queues take.
    pub fn allocated(&self) -> usize {
        self.turns.allocated() + self.hosts.capacity() * size_of::<Host>()
    }
}
