//! How a round of visits leaves room for new URLs. On each host, visits come before new URLs. But while a host has new
//! URLs in the queue, its visits get only their share of the fetches (`--refresh-share`). So a round with a small
//! budget finds new pages, too.

use std::collections::{HashMap, HashSet};

use dedup_stage::url::SiteId;
use frontier::refresh::turns::{HostNumber, VisitTurns};
use frontier::{Frontier, Millis};

use super::share::Balance;

/// What the fetches of each host were spent on, and the hosts whose visits wait for new URLs.
#[derive(Debug)]
pub(super) struct RoomForNew {
    /// The share of the visits, at most, while new URLs wait.
    most: f64,
    balances: HashMap<SiteId, Balance>,
    /// The hosts whose visits wait, with the time since which they do.
    hosts: HashMap<SiteId, (HostNumber, Millis)>,
    /// Hosts that may make one visit, although it is the turn of their new URLs.
    exempt: HashSet<SiteId>,
    /// The number of hosts that [`RoomForNew::check`] may look at.
    looks: usize,
}

impl RoomForNew {
    /// After this time without a fetch, a host makes a visit. Its new URLs may have to wait longer than the visits (for
    /// the next attempt, say).
    const LONGEST: Millis = 30_000;
    /// [`RoomForNew::check`] may look at so many hosts at each call.
    const LOOKS: usize = 256;

    /// Visits get at most this share while new URLs wait. With 1, they never wait.
    pub fn new(most: f64) -> Self {
        let (balances, hosts, exempt) = Default::default();
        Self { most, balances, hosts, exempt, looks: 0 }
    }

    /// Whether the visits of a host must wait now. If so, they wait until [`RoomForNew::fetched`] or [`RoomForNew::check`]
    /// ends that.
    pub fn must_wait(
        &mut self,
        site: SiteId,
        host: HostNumber,
        now: Millis,
        turns: &mut VisitTurns,
        frontier: &Frontier,
    ) -> bool {
        let waits = self.has_its_share(site) && frontier.queued_of(site) > 0 && !self.exempt.remove(&site);
        if waits {
            turns.hold(host);
            self.hosts.insert(site, (host, now));
        }
        waits
    }

    /// A page of a host was fetched, for the first time or again.
    pub fn fetched(&mut self, site: SiteId, is_new: bool, now: Millis, turns: &mut VisitTurns) {
        let balance = self.balances.entry(site).or_default();
        match is_new {
            true => balance.fetched_new(),
            false => balance.visited(),
        }
        let goes_on = !self.has_its_share(site);
        if let Some((host, since)) = self.hosts.get_mut(&site) {
            *since = now;
            if goes_on {
                turns.rest(*host, 0);
                self.hosts.remove(&site);
            }
        }
    }

    /// If a host has no URL in the queue any more, its visits go on. (A new URL may also leave the queue without a
    /// fetch, because robots.txt forbids it, for example.) If the host has fetched nothing for some time, it makes one
    /// visit. If many hosts wait, not every call looks at them.
    pub fn check(&mut self, now: Millis, turns: &mut VisitTurns, frontier: &Frontier) {
        self.looks += Self::LOOKS;
        // With fewer URLs than hosts, at least one of the hosts has none.
        if self.looks < self.hosts.len() && frontier.counts().queued >= self.hosts.len() as u64 {
            return;
        }
        self.looks = 0;
        let exempt = &mut self.exempt;
        self.hosts.retain(|site, (host, since)| {
            let has_new = frontier.queued_of(*site) > 0;
            let is_idle = now.saturating_sub(*since) >= Self::LONGEST;
            if has_new && is_idle {
                exempt.insert(*site);
            }
            let waits = has_new && !is_idle;
            if !waits {
                turns.rest(*host, 0);
            }
            waits
        });
    }

    fn has_its_share(&self, site: SiteId) -> bool {
        self.most < 1.0 && self.balances.get(&site).is_some_and(|balance| balance.share() >= self.most)
    }
}

#[cfg(test)]
mod tests {
    use config::Settings;
    use dedup_stage::store::{Memory, Session};
    use dedup_stage::url::{Canonicalizer, KeyHasher, Keys};
    use frontier::{FoundLink, Merits, Via};
    use url::Url;

    use super::*;

    /// The new URL of the host stays in the queue for the whole time, as if its next attempt were far away.
    #[test]
    fn a_host_that_fetches_nothing_makes_one_visit_now_and_then() {
        let keys = Keys { canonicalizer: Canonicalizer::default(), hasher: KeyHasher::new([9; KeyHasher::SECRET]) };
        let mut session = Session::new(Box::new(Memory::default()));
        let mut frontier = Frontier::open(&Settings::default(), &keys, &mut session, 0).unwrap();
        let url = Url::parse("http://a.test/new").unwrap();
        let (id, merits) = (keys.id(&url), Merits::default());
        let found = FoundLink { url: &url, id, depth: 0, priority: 0.5, merits, source: None, via: Via::Seed };
        frontier.add(&found, &mut session).unwrap();

        let (mut turns, mut waiting) = (VisitTurns::default(), RoomForNew::new(0.5));
        let host = turns.add_host();
        (0..9).for_each(|page| turns.push(host, 0, page));
        waiting.fetched(id.site, false, 0, &mut turns);
        let mut visited = Vec::new();
        for now in (0..100_000).step_by(1_000) {
            waiting.check(now, &mut turns, &frontier);
            // The host is asked again only after a visit is done or given up.
            while let Some(turn) = turns.peek(0) {
                if !waiting.must_wait(id.site, host, now, &mut turns, &frontier) {
                    turns.take(turn);
                    waiting.fetched(id.site, false, now, &mut turns);
                    turns.rest(host, 0);
                    visited.push(now);
                }
            }
        }
        assert_eq!(visited, [30_000, 60_000, 90_000]);
    }
}
