//! When a crawl in `demote` fetches the URLs that rewrites stop: last, but not so late that the crawl takes longer.
//!
//! A rewrite stops a URL because another URL shows the same, so the URL can wait until all else is fetched. But the
//! URLs of a host that mirrors another one are nearly all stopped. If they waited until the crawl is over elsewhere,
//! the whole crawl would take up to twice as long. So the stopped URLs of a host that has nothing else to do are
//! released when fetching them would take as long, with its delays, as the longest queue of another host still takes.
//! Then both hosts need about the same time to finish.
//!
//! The queues of other hosts grow while these are crawled. So the time for the URLs that are queued now is the least
//! time that these hosts still take, and the stopped URLs are released too early rather than too late. If there are no
//! delays, no host keeps the crawl waiting, and nothing is released before the end.

use std::collections::HashMap;

use dedup_stage::store::Session;
use dedup_stage::url::SiteId;

use super::Frontier;
use crate::hold::works::{Task, Which};
use crate::host::Host;
use crate::numbers::Millis;

/// The URLs that rewrites have stopped in this run, of a crawl in `demote`.
#[derive(Debug, Default)]
pub(super) struct Late {
    /// How many there are of each host.
    stopped: HashMap<SiteId, u64>,
    /// When the hosts were compared …
    looked_at: Millis,
    /// … and when they are compared again.
    look_at: Millis,
}

impl Late {
    /// At most so many hosts are counted. URLs of other hosts are released at the end of the crawl.
    const HOSTS: usize = 10_000;
    /// Milliseconds between two comparisons of the hosts: at least, and at most.
    const LOOKS: (Millis, Millis) = (100, 1_000);

    /// A rewrite has stopped a URL of this host.
    pub(super) fn count(&mut self, site: SiteId) {
        if self.stopped.len() < Self::HOSTS || self.stopped.contains_key(&site) {
            *self.stopped.entry(site).or_default() += 1;
            // With one more URL, the host needs more time, so its URLs may have to be released sooner.
            self.look_at = self.look_at.min(self.looked_at + Self::LOOKS.0);
        }
    }
}

impl Frontier {
    /// Releases the stopped URLs of the hosts whose time has come. True if there are such hosts: [`Frontier::step`]
    /// does the work.
    pub(super) fn release_late(&mut self, now: Millis, session: &mut Session) -> bool {
        if self.late.stopped.is_empty() || now < self.late.look_at || !self.works.is_empty() {
            return false;
        }
        let politeness = &self.conduct.politeness;
        let needs = |host: &Host| host.queued().saturating_mul(host.pace.delay(politeness));
        let healthy = self.hosts.iter().map(|(_, host)| host).filter(|host| !host.pace.is_troubled());
        let longest = healthy.map(needs).max().unwrap_or(0);
        let hosts = &self.hosts;
        let mut nearest = Millis::MAX;
        let mut is_due = |site: &SiteId, count: u64| {
            let host = hosts.find(*site).map(|id| hosts.get(id));
            let delay = host.map_or(politeness.delay.0, |host| host.pace.delay(politeness));
            let time = count.saturating_mul(delay);
            let early = longest.saturating_sub(time);
            nearest = nearest.min(early);
            // At the next look it would be too late.
            time > 0 && early < Late::LOOKS.0 && !host.is_some_and(Host::has_work)
        };
        let mut due: Vec<_> = self.late.stopped.extract_if(|site, count| is_due(site, *count)).collect();
        self.late.looked_at = now;
        self.late.look_at = now + nearest.clamp(Late::LOOKS.0, Late::LOOKS.1);
        due.sort_unstable();
        for (site, _) in &due {
            self.works.add(Task::Records { of: Some(*site), which: Which::Late }, session);
        }
        !due.is_empty()
    }

    /// When [`Frontier::release_late`] is to be called again, while other hosts have work.
    pub(super) fn next_late(&self) -> Option<Millis> {
        (!self.late.stopped.is_empty()).then_some(self.late.look_at)
    }
}
