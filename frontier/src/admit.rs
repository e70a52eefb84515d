//! How a URL enters the frontier: met for the first time, given a host, a group and a place in a lane.

use dedup_stage::store::{Result, Session};
use url::Url;
use xxhash_rust::xxh3;

use crate::frontier::Frontier;
use crate::job::{Admission, Found, Merits, SkipReason, Via};
use crate::queue::{self, Entry, HostId, LaneKey};
use crate::schedule::{Phase, rank};
use crate::seen::{self, UrlState};

impl Frontier {
    /// Most redirect hops.
    const HOPS: u8 = 10;
    /// Most sitemaps of one host in one run of the program: sitemaps can name sitemaps without end.
    const SITEMAPS: u32 = 50_000;

    /// A link asks to be queued. One that waits with a lower priority is queued again where such URLs are kept in mind (in
    /// `demote`, and in focused crawls); it counts as seen all the same.
    pub fn add(&mut self, found: &Found<'_>, session: &mut Session) -> Result<Admission> {
        let (hops, exempt) = match found.via {
            Via::Redirect { hops, same_key } => (hops, same_key),
            Via::Seed | Via::Link | Via::Sitemap => (0, false),
            Via::Again | Via::Released => (0, true),
        };
        let band = queue::band(found.priority);
        let new = self.seen.insert(found.hash, session);
        if !new && !exempt && !self.waiting.is_worse(found.hash, band) {
            return Ok(Admission::Seen);
        }
        if found.via == Via::Released {
            seen::forget_state(found.hash, session);
        }
        self.waiting.queued(found.hash, band);
        let entry = Entry {
            url: found.url.as_str().into(),
            hash: found.hash,
            depth: found.depth,
            priority: found.priority,
            merits: found.merits,
            source: found.source,
            hops,
            attempts: 0,
            sitemap: false,
            again: found.via == Via::Again,
        };
        let refused = if !matches!(found.url.scheme(), "http" | "https") {
            Some(SkipReason::Scheme)
        } else if entry.url.len() > self.max_length {
            Some(SkipReason::TooLong)
        } else if hops > Self::HOPS || self.enqueue(found.url, entry, session).is_none() {
            Some(SkipReason::Trap)
        } else {
            None
        };
        match refused {
            None if new || exempt => Ok(Admission::Queued),
            None => Ok(Admission::Seen),
            Some(reason) => {
                seen::set_state(found.hash, UrlState::Refused(reason), session);
                Ok(Admission::Refused(reason))
            }
        }
    }

    /// A sitemap named by a sitemap index asks to be fetched (those that robots.txt names, the frontier knows itself).
    /// It is fetched before any page of its host, and exempt from robots rules.
    pub fn add_sitemap(&mut self, url: &Url, session: &mut Session) -> Result<()> {
        // Not by the crawl's secret: the worst that a made-up collision can hide is another sitemap.
        let hash = xxh3::xxh3_64_with_seed(url.as_str().as_bytes(), u64::from_be_bytes(*b"sitemaps"));
        let fetchable = matches!(url.scheme(), "http" | "https") && url.as_str().len() <= self.max_length;
        if !fetchable || !self.seen.insert(hash, session) {
            return Ok(());
        }
        let entry = Entry {
            url: url.as_str().into(),
            hash,
            depth: 0,
            priority: 1.0,
            merits: Merits::default(),
            source: None,
            hops: 0,
            attempts: 0,
            sitemap: true,
            again: false,
        };
        self.enqueue(url, entry, session);
        Ok(())
    }

    /// Queues an entry; `None` where its host is a trap.
    fn enqueue(&mut self, url: &Url, entry: Entry, session: &mut Session) -> Option<()> {
        let id = self.host(url, session)?;
        let host = self.hosts.get_mut(id);
        if entry.sitemap {
            host.sitemaps += 1;
            if host.sitemaps > Self::SITEMAPS {
                return None;
            }
        }
        let origins = host.origins.len();
        let origin = host.origin(url)?;
        if host.origins.len() > origins {
            host.record(id, session);
        }
        let group = host.groups.of(url, origin, id, session);
        let key = LaneKey { host: id, group, band: queue::band(entry.priority) };
        self.queues.push(&mut host.lanes, key, entry, session);
        let score = host.score(group, key.band);
        self.schedule.stands_better(id, &mut host.standing, rank(score));
        self.awake(id);
        Some(())
    }

    /// The number of the host of a URL, made if need be; `None` where the URL has none.
    pub(crate) fn host(&mut self, url: &Url, session: &mut Session) -> Option<HostId> {
        let known = self.hosts.len();
        let id = self.hosts.of(url.host_str()?);
        if id as usize == known {
            let host = self.hosts.get_mut(id);
            if let Some(restarted) = self.restarted {
                host.pace.ended(restarted, &self.settings);
            }
            host.record(id, session);
        }
        Some(id)
    }

    /// A host has something new to do.
    pub(crate) fn awake(&mut self, id: HostId) {
        let host = self.hosts.get_mut(id);
        match host.phase {
            Phase::Idle => self.settle(id),
            Phase::Ready(..) => {
                let rank = host.rank();
                self.schedule.make_ready(id, &mut host.phase, rank);
            }
            // It waits for a robots.txt; what is new may not need to.
            Phase::Waiting(due, _) if due > host.pace.not_before => self.settle(id),
            Phase::Waiting(..) | Phase::Parked | Phase::Fetching => {}
        }
    }
}
