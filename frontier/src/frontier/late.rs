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
//!
//! More URLs lie behind the stopped ones: if the lists of a mirror are stopped, nobody has met its articles yet. A host
//! that mirrors another one has about as many URLs as that one, so these are expected of it. (This is not done if
//! `--max-pages` is given: the copies that come early would take the place of new pages.)

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
    /// Those of each host.
    stopped: HashMap<SiteId, StoppedUrls>,
    /// Hosts with URLs that wait.
    hosts: usize,
    /// When the hosts were compared …
    looked_at: Millis,
    /// … and when they are compared again.
    look_at: Millis,
}

/// The URLs of one host that rewrites have stopped.
#[derive(Clone, Copy, Debug, Default)]
struct StoppedUrls {
    /// Those that wait to be released.
    waiting: u64,
    all: u64,
    /// How many of all stand for URLs of another host …
    mirrored: u64,
    /// … and the last such host.
    original: Option<SiteId>,
}

impl StoppedUrls {
    /// The host that this one mirrors.
    fn mirrors(self) -> Option<SiteId> {
        self.original.filter(|_| 2 * self.mirrored > self.all)
    }
}

impl Late {
    /// At most so many hosts are counted. URLs of other hosts are released at the end of the crawl.
    const HOSTS: usize = 10_000;
    /// Hosts may mirror each other in a circle. At most so many are followed.
    const CHAIN: usize = 8;
    /// Milliseconds between two comparisons of the hosts: at least, and at most.
    const LOOKS: (Millis, Millis) = (100, 1_000);

    /// The number of URLs that a host has which `mirror` mirrors, as far as it is known: those of this host, or of one
    /// that it mirrors itself. Hosts that share an address with the mirror do not count: they take turns with it.
    fn urls_of<'h>(&self, original: SiteId, mirror: &Host, find: &impl Fn(SiteId) -> Option<&'h Host>) -> u64 {
        let (mut at, mut most) = (Some(original), 0);
        for _ in 0..Self::CHAIN {
            let Some(host) = at.and_then(find) else { break };
            let shares_address = mirror.addresses.ids().iter().any(|id| host.addresses.ids().contains(id));
            most = most.max(if shares_address { 0 } else { host.pages + host.queued() });
            at = self.stopped.get(&host.site).and_then(|urls| urls.mirrors());
        }
        most
    }

    /// A rewrite has stopped a URL of this host, whose representative is of the host `original`.
    pub(super) fn count(&mut self, site: SiteId, original: SiteId) {
        if self.stopped.len() < Self::HOSTS || self.stopped.contains_key(&site) {
            let urls = self.stopped.entry(site).or_default();
            self.hosts += usize::from(urls.waiting == 0);
            urls.waiting += 1;
            urls.all += 1;
            if original != site {
                urls.mirrored += 1;
                urls.original = Some(original);
            }
            // With one more URL, the host needs more time, so its URLs may have to be released sooner.
            self.look_at = self.look_at.min(self.looked_at + Self::LOOKS.0);
        }
    }
}

impl Frontier {
    /// Releases the stopped URLs of the hosts whose time has come. True if there are such hosts: [`Frontier::step`]
    /// does the work.
    pub(super) fn release_late(&mut self, now: Millis, session: &mut Session) -> bool {
        if self.late.hosts == 0 || now < self.late.look_at || !self.works.is_empty() {
            return false;
        }
        let politeness = &self.conduct.politeness;
        let needs = |host: &Host| host.queued().saturating_mul(host.pace.delay(politeness));
        let healthy = self.hosts.iter().map(|(_, host)| host).filter(|host| !host.pace.is_troubled());
        let longest = healthy.map(needs).max().unwrap_or(0);
        let hosts = &self.hosts;
        let find = |site: SiteId| hosts.find(site).map(|id| hosts.get(id));
        let has_room = self.conduct.has_room;
        let mut nearest = Millis::MAX;
        let mut is_due = |site: &SiteId, urls: StoppedUrls| {
            let host = find(*site);
            let delay = host.map_or(politeness.delay.0, |host| host.pace.delay(politeness));
            let expected = host.filter(|_| has_room).map_or(0, |host| {
                let all = urls.mirrors().map_or(0, |original| self.late.urls_of(original, host, &find));
                all.saturating_sub(host.pages)
            });
            let time = urls.waiting.max(expected).saturating_mul(delay);
            let early = longest.saturating_sub(time);
            nearest = nearest.min(early);
            // At the next look it would be too late.
            time > 0 && early < Late::LOOKS.0 && !host.is_some_and(Host::has_work)
        };
        let mut due: Vec<SiteId> = self
            .late
            .stopped
            .iter()
            .filter(|(site, urls)| urls.waiting > 0 && is_due(site, **urls))
            .map(|(site, _)| *site)
            .collect();
        self.late.looked_at = now;
        self.late.look_at = now + nearest.clamp(Late::LOOKS.0, Late::LOOKS.1);
        due.sort_unstable();
        for site in &due {
            if let Some(urls) = self.late.stopped.get_mut(site) {
                (urls.waiting, self.late.hosts) = (0, self.late.hosts - 1);
            }
            self.works.add(Task::Records { of: Some(*site), which: Which::Late }, session);
        }
        !due.is_empty()
    }

    /// When [`Frontier::release_late`] is to be called again, while other hosts have work.
    pub(super) fn next_late(&self) -> Option<Millis> {
        (self.late.hosts > 0).then_some(self.late.look_at)
    }
}
