//! How a round of visits leaves room for new URLs. On each host, visits come before new URLs. But while a host has new
//! URLs in the queue, its visits get only their share of the fetches (`--refresh-share`). So a round with a small
//! budget finds new pages, too.

use std::collections::HashMap;

use dedup_stage::url::SiteId;
use frontier::Frontier;
use frontier::refresh::turns::{HostNumber, Turns};

use super::share::Balance;

/// What the fetches of each host were spent on, and the hosts whose visits wait for new URLs.
#[derive(Debug)]
pub(super) struct Waiting {
    /// The share of the visits, at most, while new URLs wait.
    most: f64,
    balances: HashMap<SiteId, Balance>,
    hosts: HashMap<SiteId, HostNumber>,
}

impl Waiting {
    /// Visits get at most this share while new URLs wait. With 1, they never wait.
    pub fn new(most: f64) -> Self {
        Self { most, balances: HashMap::new(), hosts: HashMap::new() }
    }

    /// Whether the visits of a host must wait now. If so, they wait until [`Waiting::fetched`] or [`Waiting::check`]
    /// ends that.
    pub fn must_wait(&mut self, site: SiteId, host: HostNumber, turns: &mut Turns, frontier: &Frontier) -> bool {
        let waits = self.has_its_share(site) && frontier.queued_of(site) > 0;
        if waits {
            turns.hold(host);
            self.hosts.insert(site, host);
        }
        waits
    }

    /// A page of a host was fetched, for the first time or again.
    pub fn fetched(&mut self, site: SiteId, is_new: bool, turns: &mut Turns) {
        let balance = self.balances.entry(site).or_default();
        match is_new {
            true => balance.fetched_new(),
            false => balance.visited(),
        }
        if !self.has_its_share(site)
            && let Some(host) = self.hosts.remove(&site)
        {
            turns.rest(host, 0);
        }
    }

    /// If a host has no URL in the queue any more, its visits go on. New URLs may leave the queue without a
    /// fetch (robots.txt forbids them, for example), and then there is no report. The queue is searched only if it has
    /// fewer URLs than hosts wait, because then at least one of these hosts has none.
    pub fn check(&mut self, turns: &mut Turns, frontier: &Frontier) {
        if frontier.counts().queued < self.hosts.len() as u64 {
            self.hosts.retain(|site, host| {
                let waits = frontier.queued_of(*site) > 0;
                if !waits {
                    turns.rest(*host, 0);
                }
                waits
            });
        }
    }

    fn has_its_share(&self, site: SiteId) -> bool {
        self.most < 1.0 && self.balances.get(&site).is_some_and(|balance| balance.share() >= self.most)
    }
}
