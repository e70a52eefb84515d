//! How a URL comes into a lane of its host, and how a host comes to wait for its turn.

use dedup_stage::store::{Result, Session};
use dedup_stage::url::SiteId;
use url::Url;

use super::Frontier;
use crate::host::entry::Entry;
use crate::host::lane::{LaneKey, band};
use crate::host::place::Place;
use crate::host::{HostId, hosts};
use crate::schedule::{Phase, rank};
use crate::url::Visit;

impl Frontier {
    /// Most sitemaps of one host in one run of the program: sitemaps can name sitemaps without end.
    const SITEMAPS: u32 = config::bounds::SITEMAPS;

    /// Queues an entry; false where its host has no room for it. `fixed` if the port of the URL shall always have room. With
    /// `queued` its URL comes into the state of being queued, with this last visit; without, it is there already.
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
        if entry.sitemap {
            host.sitemaps += 1;
            if host.sitemaps > Self::SITEMAPS {
                return Ok(false);
            }
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
        self.schedule.stands_better(id, &mut host.standing, rank(score));
        self.hosts.weigh(groups, id);
        self.awake(id);
        self.make_room(session);
        Ok(true)
    }

    /// The number of the host of a URL, which comes into memory if need be; `None` where the URL has none.
    pub(super) fn host(&mut self, url: &Url, site: SiteId, session: &mut Session) -> Result<Option<HostId>> {
        let name = dedup_stage::url::host(url);
        if name.is_empty() { Ok(None) } else { self.wake_host(site, name, session).map(Some) }
    }

    /// As [`Frontier::host`], by identity and name.
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
        if let Place::Known { ips, ids, .. } = &mut host.place {
            *ids = self.addresses.enter(ips, host.site.host);
        }
        self.troubled += u64::from(host.pace.is_troubled());
        self.settle(id);
    }

    /// A host has something new to do.
    pub(super) fn awake(&mut self, id: HostId) {
        let host = self.hosts.get_mut(id);
        match host.phase {
            Phase::Idle(_) => self.settle(id),
            Phase::Ready(..) => {
                let rank = host.rank();
                self.schedule.make_ready(id, &mut host.phase, rank);
            }
            Phase::Benched(line, ..) => {
                let rank = host.rank();
                self.schedule.make_ready(id, &mut host.phase, rank);
                self.schedule.bench(id, &mut host.phase, line);
            }
            // It waits for a robots.txt; what is new may not need to.
            Phase::Waiting(due, _) if due > host.pace.not_before => self.settle(id),
            Phase::Waiting(..) | Phase::Parked(..) | Phase::Fetching => {}
        }
    }

    /// An idle or waiting host waits for its time if it has something to do, and rests if not.
    pub(super) fn settle(&mut self, id: HostId) {
        let host = self.hosts.get_mut(id);
        let rank = (host.has_work() && !host.pace.is_troubled()).then(|| host.rank());
        self.schedule.stands(id, &mut host.standing, rank);
        self.shares.count(&mut host.counted, rank.is_some() && host.progress.is_proven());
        if host.has_work() {
            // A first look at the address is no request, and need not wait; after a failed one it does.
            let early = matches!(host.place, Place::Unknown) && !host.pace.is_troubled();
            let due = if early { 0 } else { host.pace.not_before };
            self.schedule.wait(id, &mut host.phase, due);
        } else {
            self.schedule.rest(id, &mut host.phase);
        }
    }
}
