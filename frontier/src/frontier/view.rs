//! The frontier for people to look at: totals, hosts, budgets, the place of a queued URL.

use std::net::IpAddr;

use config::{OnDuplicate, Robots};
use dedup_stage::store::{Result, Session};
use dedup_stage::url::{PageId, SiteId, UrlId};
use url::Url;

use super::Frontier;
use crate::host::budget::Limits;
use crate::host::entry::Packed;
use crate::host::note::HostNote;
use crate::host::{Expected, Host, Hosts};
use crate::job::{Merits, Via};
use crate::numbers::Millis;
use crate::schedule::HostPhase;
use crate::url::{Counters, Standing};

/// Totals for the progress line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Distinct URLs ever met. Each is in one of the states that `states` counts.
    pub seen: u64,
    /// URLs queued now, without those handed out.
    pub queued: u64,
    /// URLs by state.
    pub states: Counters,
    /// Hosts known.
    pub hosts: u64,
    /// Hosts with an open job.
    pub hosts_fetching: u64,
    /// Hosts with queued URLs that wait for their delay.
    pub hosts_waiting: u64,
    /// Hosts slowed down or set aside after failures.
    pub hosts_backing_off: u64,
    /// Hosts with queued URLs that sleep on disk, because memory has no room for them.
    pub hosts_asleep: u64,
}

/// What a host is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostState {
    /// Nothing queued.
    Idle,
    /// Its address or robots.txt is not known yet.
    Preparing,
    /// A job is open.
    Fetching,
    /// Waits for its delay, until the time given.
    Waiting(Millis),
    /// Slowed down or set aside after failures, until the time given.
    BackingOff(Millis),
}

/// One host, for people to look at.
#[derive(Clone, Debug)]
pub struct HostView<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is doing.
    pub state: HostState,
    /// Delay between requests now.
    pub delay: Millis,
    /// The Crawl-delay of its robots.txt, as far as it is kept, if it makes the delay what it is.
    pub crawl_delay: Option<Millis>,
    /// URLs queued.
    pub queued: u64,
    /// Addresses known.
    pub addresses: &'a [IpAddr],
}

/// A budget against traps, for people to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetView {
    /// Its host.
    pub host: String,
    /// The group of URLs: first path segment and names of parameters; `*` for all URLs of the host.
    pub group: String,
    /// Duplicates among the pages of the group, less what new pages earned back.
    pub spent: u32,
    /// The number of duplicates at which the budget is spent.
    pub limit: u32,
}

/// A queued URL, for people to look at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueuedAs {
    /// The priority with which it will be handed out.
    pub priority: f32,
    /// The parts of that priority.
    pub merits: Merits,
    /// Links from a seed.
    pub depth: u32,
    /// The page that linked to it.
    pub source: Option<PageId>,
    /// How it came to be queued.
    pub via: Via,
}

impl BudgetView {
    /// Whether the budget is spent: no further URL of the group is fetched.
    pub fn is_spent(&self) -> bool {
        self.spent >= self.limit
    }
}

/// The budgets in the store of which at least half is spent.
pub fn stored_budgets(on_duplicate: OnDuplicate, session: &Session) -> Result<Vec<BudgetView>> {
    let (mut found, limits) = (Vec::new(), Limits::of(on_duplicate));
    Hosts::read_all(session, &mut |host| budgets(host, limits, &mut found))?;
    Ok(found)
}

/// What stands out about hosts, as the store has it.
pub fn stored_notes(session: &Session) -> Result<Vec<HostNote>> {
    let mut found = Vec::new();
    Hosts::read_all(session, &mut |host| found.extend(host.note()))?;
    Ok(found)
}

fn budgets(host: &Host, limits: Limits, found: &mut Vec<BudgetView>) {
    let mut look = |group: &str, spent: u32, limit: u32| {
        if 2 * spent >= limit {
            found.push(BudgetView { host: host.name.as_ref().into(), group: group.into(), spent, limit });
        }
    };
    look("*", host.budget.spent(), limits.host);
    for group in host.groups.iter() {
        look(&group.label, group.budget.spent(), limits.group);
    }
}

impl Frontier {
    /// Totals.
    pub fn counts(&self) -> Counts {
        let states = *self.urls.counters();
        Counts {
            seen: states.met(),
            queued: states.queued,
            states,
            hosts: self.hosts.len() as u64,
            hosts_fetching: self.schedule.fetching(),
            hosts_waiting: self.schedule.waiting() + self.addresses.parked(),
            hosts_backing_off: self.troubled,
            hosts_asleep: self.hosts.sleep.count(),
        }
    }

    /// Bytes of memory that the seen-set takes: a hash and a byte for each URL ever met, and a hash for each host.
    pub fn seen_set_bytes(&self) -> usize {
        self.urls.seen_set_bytes() + self.hosts.seen_set_bytes()
    }

    /// Calls `visit` for each host in memory.
    pub fn hosts(&self, visit: &mut dyn FnMut(HostView<'_>)) {
        use crate::host::addresses::HostAddresses;
        for (_, host) in self.hosts.iter() {
            let state = match host.phase {
                HostPhase::Idle(_) => HostState::Idle,
                HostPhase::Fetching => HostState::Fetching,
                HostPhase::Waiting(due, _) if host.pace.is_troubled() => HostState::BackingOff(due),
                _ if matches!(host.addresses, HostAddresses::Unknown | HostAddresses::Unresolved(_)) => {
                    HostState::Preparing
                }
                // The host waits for a robots.txt, and not for its delay.
                HostPhase::Waiting(due, _) if due > host.pace.not_before => HostState::Preparing,
                HostPhase::Waiting(..) | HostPhase::Ready(..) | HostPhase::Benched(..) | HostPhase::Parked(..) => {
                    HostState::Waiting(host.pace.not_before)
                }
            };
            visit(HostView {
                name: &host.name,
                state,
                delay: host.pace.delay(&self.conduct.politeness),
                crawl_delay: host.pace.kept_crawl_delay(&self.conduct.politeness),
                queued: host.queued(),
                addresses: host.addresses.ips(),
            });
        }
    }

    /// What stands out about hosts in memory.
    pub fn notes(&self) -> impl Iterator<Item = HostNote> + '_ {
        self.hosts.iter().filter_map(|(_, host)| host.note())
    }

    /// What stands out about the host of a URL, whether it is in memory or not.
    pub fn note(&self, url: &Url, session: &Session) -> Result<Option<HostNote>> {
        let site = self.keys.site(url);
        match self.hosts.find(site) {
            Some(id) => Ok(self.hosts.get(id).note()),
            None => Ok(Hosts::read(site, session)?.and_then(|host| host.note())),
        }
    }

    /// If the host of a URL is slowed down or set aside after failures: the time before which it is not asked.
    pub fn rests_until(&self, url: &Url, session: &Session) -> Result<Option<Millis>> {
        let site = self.keys.site(url);
        let until = |host: &Host| host.pace.is_troubled().then_some(host.pace.not_before);
        match self.hosts.find(site) {
            Some(id) => Ok(until(self.hosts.get(id))),
            None => Ok(Hosts::read(site, session)?.and_then(|host| until(&host))),
        }
    }

    /// Whether nothing can be asked of a host at `now`: it is slowed down or set aside after failures, it has no
    /// address, or none of its robots.txt files can be had. False for a host that sleeps on disk.
    pub fn is_out_of_reach(&self, site: SiteId, now: Millis) -> bool {
        let Some(host) = self.hosts.find(site).map(|id| self.hosts.get(id)) else { return false };
        let mut origins = host.groups.iter().filter_map(|group| host.origins.get(group.origin)).peekable();
        host.pace.is_troubled() && host.pace.not_before > now
            || host.addresses.withholds().is_some()
            || self.conduct.politeness.robots == Robots::Obey
                && origins.peek().is_some()
                && origins.all(|origin| origin.withholds().is_some())
    }

    /// The budgets of hosts in memory of which at least half is spent.
    pub fn budgets(&self) -> Vec<BudgetView> {
        let mut found = Vec::new();
        self.hosts.iter().for_each(|(_, host)| budgets(host, self.conduct.limits, &mut found));
        found
    }

    /// The bytes that the rules of robots.txt files hold in memory.
    pub fn bytes_of_rules(&self) -> usize {
        self.rules_kept.bytes()
    }

    /// The number of URLs queued for a host in memory; 0 if the host sleeps on disk.
    pub fn queued_of(&self, site: SiteId) -> u64 {
        self.hosts.find(site).map_or(0, |host| self.hosts.get(host).queued())
    }

    /// The queue entry of a URL, if it has one. Reads all queue entries of its host.
    pub fn queued_as(&self, id: UrlId, session: &Session) -> Result<Option<QueuedAs>> {
        let Some(Standing::Queued { band, .. }) = self.urls.get(id.url) else { return Ok(None) };
        let asleep;
        let host = match self.hosts.find(id.site) {
            Some(awake) => self.hosts.get(awake),
            None => match Hosts::read(id.site, session)? {
                Some(read) => {
                    asleep = read;
                    &asleep
                }
                None => return Ok(None),
            },
        };
        let mut found: Option<(u8, Packed)> = None;
        for lane in host.lanes.iter().filter(|lane| lane.band == band) {
            self.queues.look(lane, id.site, session, &mut |_, entry| {
                let entry = Packed::new(entry);
                if entry.url() == id.url && !entry.is_sitemap() {
                    found = Some((lane.group, entry));
                }
                found.is_none()
            })?;
        }
        let Some((group, entry)) = found else { return Ok(None) };
        let entry = entry.open(id.site, &host.authority(group))?;
        let crate::host::entry::Entry { priority, merits, depth, source, via, .. } = entry;
        Ok(Some(QueuedAs { priority, merits, depth, source, via }))
    }

    /// Calls `visit` with each queued URL: its identity, and the URL as it will be fetched. Reads the whole queue.
    pub fn each_queued(&self, session: &Session, visit: &mut dyn FnMut(UrlId, &str)) -> Result<()> {
        let mut failure = None;
        let mut look = |host: &Host| {
            for lane in host.lanes.iter() {
                let looked = self.queues.look(lane, host.site, session, &mut |_, entry| {
                    let entry = Packed::new(entry);
                    let standing = self.urls.get(entry.url());
                    let live = matches!(standing, Some(Standing::Queued { band, .. }) if band == lane.band);
                    if !entry.is_sitemap() && live {
                        match entry.open(host.site, &host.authority(lane.group)) {
                            Ok(entry) => visit(entry.id, &entry.url),
                            Err(error) => failure = Some(error),
                        }
                    }
                    failure.is_none()
                });
                looked.unwrap_or_else(|error| failure = Some(error));
            }
        };
        self.hosts.iter().for_each(|(_, host)| look(host));
        Hosts::read_all(session, &mut |host| {
            if self.hosts.find(host.site).is_none() {
                look(host);
            }
        })?;
        failure.map_or(Ok(()), Err)
    }

    /// The shares of new pages that are expected of URLs like `url`: of its host, its path prefix and its query
    /// pattern. `None` if its host is not in memory.
    pub fn expected(&self, url: &Url) -> Option<Expected> {
        let host = self.hosts.get(self.hosts.find(self.keys.site(url))?);
        host.groups.expected(url, host.origins.find(url)?)
    }
}
