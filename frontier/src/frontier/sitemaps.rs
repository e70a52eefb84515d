//! How sitemaps enter the frontier. A sitemap that somebody names causes a request to a host, even outside the scope,
//! and before the robots.txt of that host is read. So there are limits on who may name which sitemap.
//!
//! A robots.txt may name sitemaps anywhere, because sites keep them on other hosts. A sitemap index may name sitemaps
//! on its own host, and on hosts of its registrable domain that are in the scope. A sitemap elsewhere has to be named
//! by the robots.txt of its own host (sitemaps.org, "Sitemaps & Cross Submits"). If it is named there, it is queued
//! when that robots.txt is read.

use std::collections::HashMap;

use dedup_stage::store::{Result, Session};
use dedup_stage::url::{SiteId, UrlId};
use url::Url;
use xxhash_rust::xxh3;

use super::Frontier;
use crate::host::entry::Entry;
use crate::host::lane::band;
use crate::host::origins::Awaited;
use crate::job::{Admission, Job, Merits, Via};
use crate::numbers::Millis;
use crate::reason::SkipReason;

/// Milliseconds of a day.
const DAY: Millis = 86_400_000;

/// Who names a sitemap.
#[derive(Clone, Copy, Debug)]
pub enum NamedBy<'a> {
    /// The robots.txt of the host of this URL.
    Robots(&'a Url),
    /// The sitemap at this URL, which is an index, or redirects.
    Sitemap(&'a Url),
    /// A host of another frontier, which has checked that it may be named.
    Peer,
}

/// How many new sitemaps hosts have named in this run.
#[derive(Debug, Default)]
pub(super) struct Naming {
    by_host: HashMap<u64, Names>,
    /// The number of sitemaps that robots.txt files named and that were not queued, since this was asked last.
    left: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Names {
    /// All sitemaps.
    all: u32,
    /// Those on other hosts that the robots.txt of the host named.
    elsewhere: u32,
}

impl Naming {
    /// At most this many hosts are counted.
    const HOSTS: usize = config::bounds::HOSTS;
    /// Most sitemaps that one host names.
    const MOST: u32 = config::bounds::SITEMAPS;
    /// Most sitemaps that its robots.txt names on other hosts.
    const ELSEWHERE: u32 = config::bounds::SITEMAPS_ELSEWHERE;
    /// When there are more hosts, those that have named at most this many sitemaps are forgotten first.
    const MANY: u32 = Self::ELSEWHERE / 10;

    /// A host names one more sitemap. False if it has named too many.
    fn count(&mut self, host: u64, elsewhere: bool) -> bool {
        if self.by_host.len() >= Self::HOSTS && !self.by_host.contains_key(&host) {
            self.by_host.retain(|_, names| names.all > Self::MANY);
            if self.by_host.len() >= Self::HOSTS {
                // Otherwise, hosts that name many sitemaps could keep all others from naming any.
                self.by_host.clear();
            }
        }
        let names = self.by_host.entry(host).or_default();
        if names.all >= Self::MOST || elsewhere && names.elsewhere >= Self::ELSEWHERE {
            return false;
        }
        names.all += 1;
        names.elsewhere += u32::from(elsewhere);
        true
    }
}

impl Frontier {
    /// Queues a sitemap that someone names, if it was never met and may be named by them. (The frontier itself queues
    /// the sitemaps that robots.txt names.) A sitemap is fetched before any page of its host if its own registrable
    /// domain names it, and robots.txt does not hold for it. `depth` is the number of sitemaps that lead to it, each of
    /// them named by the one before. A chain of sitemaps that is too long is a trap, and so is a host that names too
    /// many. If the sitemap may not be named, it is refused for [`SkipReason::Scope`].
    pub fn add_sitemap(&mut self, url: &Url, by: NamedBy<'_>, depth: u32, session: &mut Session) -> Result<Admission> {
        if depth >= config::bounds::SITEMAPS_IN_A_ROW {
            return Ok(Admission::Refused(SkipReason::Trap));
        }
        let site = self.keys.site(url);
        let entry = match self.sitemap_entry(url, site, depth) {
            Ok(entry) => entry,
            Err(reason) => return Ok(Admission::Refused(reason)),
        };
        if self.hosts.has_met_sitemap(entry.id.url) {
            return Ok(Admission::Seen);
        }
        let mut priority = 0.5;
        if let NamedBy::Robots(namer) | NamedBy::Sitemap(namer) = by {
            let namer = self.keys.site(namer);
            let elsewhere = namer.host != site.host;
            let may_be_named = matches!(by, NamedBy::Robots(_))
                || !elsewhere
                || namer.domain == site.domain && self.bounds.scope.as_ref().is_none_or(|scope| scope.has_host(url));
            if !may_be_named {
                return Ok(Admission::Refused(SkipReason::Scope));
            }
            if !self.naming.count(namer.host, elsewhere && matches!(by, NamedBy::Robots(_))) {
                return Ok(Admission::Refused(SkipReason::Trap));
            }
            // A host that others name takes turns like any other.
            priority = if namer.domain == site.domain { 1.0 } else { priority };
        }
        if self.is_elsewhere(site) {
            return Ok(Admission::Elsewhere);
        }
        let namer = match by {
            NamedBy::Robots(namer) | NamedBy::Sitemap(namer) => Some(self.keys.site(namer).domain),
            NamedBy::Peer => None,
        };
        if !self.hosts.may_come(site, namer) {
            return Ok(Admission::LeftOut);
        }
        self.queue_sitemap(url, Entry { priority, ..entry }, false, session)
    }

    /// Queues a sitemap that was read before. The job has the identity that it had then.
    pub fn poll_sitemap(&mut self, url: &Url, session: &mut Session) -> Result<Admission> {
        let site = self.keys.site(url);
        if self.is_elsewhere(site) {
            return Ok(Admission::Elsewhere);
        }
        match self.sitemap_entry(url, site, 0) {
            Ok(entry) => self.queue_sitemap(url, entry, true, session),
            Err(reason) => Ok(Admission::Refused(reason)),
        }
    }

    /// Queues a file that says what may be done with the pages of an origin. No page of the origin is handed out before
    /// the file was answered or given up. `job` is the job of such a page: the caller reports [`Outcome::Later`] for
    /// it. False if the file cannot be queued.
    ///
    /// The wait is not on record. After a restart, the first page of the origin is handed out again, and the caller
    /// asks for the file again.
    ///
    /// [`Outcome::Later`]: crate::Outcome::Later
    pub fn await_file(&mut self, job: &Job, file: &Url, session: &mut Session) -> Result<bool> {
        let site = job.page.url.site;
        let Ok(entry) = self.sitemap_entry(file, site, 0) else { return Ok(false) };
        let (identity, band) = (entry.id.url, band(entry.priority));
        if self.queue_sitemap(file, entry, true, session)? != Admission::Queued {
            return Ok(false);
        }
        let Some(id) = self.hosts.find(site) else { return Ok(false) };
        let host = self.hosts.get_mut(id);
        let Some(number) = host.origins.find(file) else { return Ok(false) };
        let lane = (host.groups.of(file, number, site, session), band);
        let Some(origin) = host.origins.get_mut(number) else { return Ok(false) };
        origin.wait_for(Awaited { file: identity, lane });
        Ok(true)
    }

    /// What is known of sitemaps that were met is forgotten: they are queued once more when they are named again.
    pub fn forget_sitemaps(&mut self) {
        self.hosts.forget_sitemaps();
    }

    /// Queues a sitemap that the robots.txt of the host of a URL names.
    pub(super) fn add_sitemap_of_robots(&mut self, sitemap: &Url, of: &Url, session: &mut Session) -> Result<()> {
        if self.is_elsewhere(self.keys.site(sitemap)) {
            // The caller sends it to its frontier, and has asked whether it may be named.
            return Ok(());
        }
        let admission = self.add_sitemap(sitemap, NamedBy::Robots(of), 0, session)?;
        self.naming.left += u64::from(matches!(admission, Admission::Refused(SkipReason::Trap) | Admission::LeftOut));
        Ok(())
    }

    /// The number of sitemaps that robots.txt files named and that were not queued, because their host, or the host
    /// that names them, has too many. A sitemap counts each time that it is named.
    pub fn take_sitemaps_left(&mut self) -> u64 {
        std::mem::take(&mut self.naming.left)
    }

    /// The queue entry of a sitemap, or why it has none.
    fn sitemap_entry(&self, url: &Url, site: SiteId, depth: u32) -> std::result::Result<Entry, SkipReason> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(SkipReason::Scheme);
        }
        if url.as_str().len() > self.conduct.max_length {
            return Err(SkipReason::TooLong);
        }
        // The hash need not have the crawl's secret, because a collision made on purpose hides no more than another
        // sitemap.
        let hash = xxh3::xxh3_64_with_seed(url.as_str().as_bytes(), u64::from_be_bytes(*b"sitemaps"));
        Ok(Entry {
            id: UrlId { site, url: hash },
            url: url.as_str().into(),
            depth,
            priority: 1.0,
            merits: Merits::default(),
            source: None,
            via: Via::Sitemap,
            attempts: 0,
            returned: 0,
            sitemap: true,
            trial: None,
        })
    }

    /// Queues a sitemap. One that is refused is not remembered, because there can be sitemaps without end. `again`: it
    /// was read before.
    fn queue_sitemap(&mut self, url: &Url, entry: Entry, again: bool, session: &mut Session) -> Result<Admission> {
        let id = entry.id;
        if !self.enqueue(url, entry, again, None, session)? {
            return Ok(Admission::Refused(SkipReason::Trap));
        }
        self.hosts.meet_sitemap(id.site, id.url, (self.now / DAY) as u32, session);
        Ok(Admission::Queued)
    }
}
