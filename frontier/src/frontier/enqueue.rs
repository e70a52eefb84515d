//! Puts a URL into a lane of its host, and puts a host into the schedule.

use dedup_stage::store::{Result, Session};
use dedup_stage::url::SiteId;
use url::Url;

use super::Frontier;
use crate::host::addresses::HostAddresses;
use crate::host::entry::Entry;
use crate::host::hosts;
use crate::host::lane::{LaneKey, band};
use crate::numbers::{HostId, rank};
use crate::process::{Counted, Line};
use crate::schedule::HostPhase;
use crate::url::Visit;

impl Frontier {
    /// Most sitemaps of one host in one run of the program, because sitemaps can name sitemaps without end.
    const SITEMAPS: u32 = config::bounds::SITEMAPS;

    /// Queues an entry. False if its host has no room for the origin of the URL, or has named too many sitemaps.
    /// `fixed`: there is room for the origin in any case. If `queued` is given, the URL comes into the state `Queued`,
    /// with this last visit. Otherwise the URL is `Queued` already.
    pub(super) fn enqueue(
        &mut self,
        url: &Url,
        entry: Entry,
        fixed: bool,
        queued: Option<Option<Visit>>,
        session: &mut Session,
    ) -> Result<bool> {
        let Some(id) = self.host(url, entry.id.site, session)? else { return Ok(false) };
        let host = self.hosts.get_mut(id);
        if entry.sitemap && !fixed {
            if host.sitemaps >= Self::SITEMAPS {
                return Ok(false);
            }
            host.sitemaps += 1;
        }
        let Some(origin) = host.origin(url, fixed, session) else { return Ok(false) };
        let band = band(entry.priority);
        if let Some(before) = queued {
            self.urls.queue(entry.id, before, band, session)?;
        } else if !entry.sitemap {
            self.urls.place(entry.id.url, band);
        }
        let groups = host.groups.len();
        let group = host.groups.of(url, origin, host.site, session);
        let key = LaneKey { site: host.site, group, band };
        let packed = host.pack(&entry, url, group);
        self.queues.push(&mut host.lanes, key, packed, session);
        let score = host.score(group, key.band);
        self.schedule.raise_awaited(id, &mut host.awaited, rank(score));
        self.hosts.weigh(groups, id);
        self.awake(id);
        self.make_room(session);
        Ok(true)
    }

    /// The number of the host of a URL; `None` if the URL has no host. The host is read into memory if it is not there.
    pub(super) fn host(&mut self, url: &Url, site: SiteId, session: &mut Session) -> Result<Option<HostId>> {
        let name = dedup_stage::url::host(url);
        if name.is_empty() { Ok(None) } else { self.wake_host(site, name, session).map(Some) }
    }

    /// Like [`Frontier::host`], for a host with this identity and name.
    pub(super) fn wake_host(&mut self, site: SiteId, name: &str, session: &mut Session) -> Result<HostId> {
        let (id, came) = self.hosts.of(site, name, &mut self.queues, session)?;
        if came != hosts::Came::WasThere {
            self.came(id);
        }
        Ok(id)
    }

    /// A host has come into memory.
    pub(super) fn came(&mut self, id: HostId) {
        let host = self.hosts.get_mut(id);
        if self.conduct.expects {
            host.expect(&self.conduct.priority);
        }
        if let Some(restarted) = self.restarted {
            host.pace.ended(restarted, &self.conduct.politeness);
        }
        if let HostAddresses::Known { ips, ids, .. } = &mut host.addresses {
            *ids = self.addresses.enter(ips, host.site.host);
        }
        self.troubled += u64::from(host.pace.is_troubled());
        self.settle(id);
    }

    /// A host has something new to do.
    pub(super) fn awake(&mut self, id: HostId) {
        let host = self.hosts.get_mut(id);
        match host.phase {
            HostPhase::Idle(_) => self.settle(id),
            HostPhase::Ready(..) => {
                let rank = host.rank();
                self.schedule.make_ready(id, &mut host.phase, host.site.domain, rank);
            }
            HostPhase::Benched(line, ..) => {
                let rank = host.rank();
                self.schedule.make_ready(id, &mut host.phase, host.site.domain, rank);
                // A host waits in the line of sitemaps only while its next job is a sitemap. The new entry may come
                // first, so the host is ready again.
                if line != Line::Sitemaps {
                    self.schedule.bench(id, &mut host.phase, line);
                }
            }
            // The host waits for a robots.txt, and the new entry may not need that file.
            HostPhase::Waiting(due, _) if due > host.pace.not_before => self.settle(id),
            HostPhase::Waiting(..) | HostPhase::Parked(..) | HostPhase::Fetching => {}
        }
    }

    /// Puts an idle or waiting host into the schedule if it has something to do. Otherwise it rests.
    pub(super) fn settle(&mut self, id: HostId) {
        let host = self.hosts.get_mut(id);
        let rank = (host.has_work() && !host.pace.is_troubled()).then(|| host.rank());
        self.schedule.set_awaited(id, &mut host.awaited, rank);
        let counted = rank.map(|_| Counted {
            proven: host.progress.is_proven(),
            light: self.shares.is_light(host.progress, host.usage.share(self.now)),
        });
        self.shares.count(&mut host.counted, counted.unwrap_or_default());
        if host.has_work() {
            // The first look-up of an address is no request and need not wait. A look-up after a failed one waits.
            let early = matches!(host.addresses, HostAddresses::Unknown) && !host.pace.is_troubled();
            let due = if early { 0 } else { host.pace.not_before };
            self.schedule.wait(id, &mut host.phase, due);
        } else {
            self.schedule.rest(id, &mut host.phase);
        }
    }
}
