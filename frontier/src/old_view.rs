//! The frontier for people to look at: totals, hosts, budgets, groups.

use std::net::IpAddr;

use config::OnDuplicate;
use dedup_stage::store::{Result, Session};
use url::Url;

use crate::budget::Limits;
use crate::evidence::Expected;
use crate::frontier::Frontier;
use crate::hosts::{Host, Hosts, Place};
use crate::job::{Merits, Millis};
use crate::origins::Origin;
use crate::queue::{HostId, LaneKey, Queues};
use crate::schedule::Phase;

/// Totals for the progress line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Distinct URLs ever met (queued, done or refused).
    pub seen: u64,
    /// URLs queued now.
    pub queued: u64,
    /// Hosts known.
    pub hosts: u64,
    /// Hosts with an open job.
    pub hosts_fetching: u64,
    /// Hosts with queued URLs that wait for their delay.
    pub hosts_waiting: u64,
    /// Hosts slowed down or set aside after failures.
    pub hosts_backing_off: u64,
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
    /// Its URLs, by first path segment and names of parameters; `*` for all of the host's.
    pub group: String,
    /// Duplicates that they have cost, less what new pages earned back.
    pub spent: u32,
    /// How many they may cost.
    pub limit: u32,
}

impl BudgetView {
    /// Whether nothing more is fetched for it.
    pub fn is_spent(&self) -> bool {
        self.spent >= self.limit
    }
}

/// The budgets in the store of which at least half is spent.
pub fn stored_budgets(on_duplicate: OnDuplicate, session: &Session) -> Result<Vec<BudgetView>> {
    let hosts = Hosts::open(&mut Queues::default(), session)?;
    Ok(budgets(&hosts, Limits::of(on_duplicate)))
}

fn budgets(hosts: &Hosts, limits: Limits) -> Vec<BudgetView> {
    let mut found = Vec::new();
    let mut look = |host: &Host, group: &str, spent: u32, limit: u32| {
        if 2 * spent >= limit {
            found.push(BudgetView { host: host.name.as_ref().into(), group: group.into(), spent, limit });
        }
    };
    for host in hosts.iter() {
        look(host, "*", host.budget.spent(), limits.host);
        for (_, group) in host.groups.iter() {
            look(host, &group.label, group.budget.spent(), limits.group);
        }
    }
    found
}

impl Frontier {
    /// Totals.
    pub fn counts(&self) -> Counts {
        Counts {
            seen: self.seen.len() as u64,
            queued: self.queues.queued(),
            hosts: self.hosts.len() as u64,
            hosts_fetching: self.schedule.fetching(),
            hosts_waiting: self.schedule.waiting() + self.addresses.parked(),
            hosts_backing_off: self.troubled,
        }
    }

    /// Calls `visit` for each host.
    pub fn hosts(&self, visit: &mut dyn FnMut(HostView<'_>)) {
        for host in self.hosts.iter() {
            let state = match host.phase {
                Phase::Idle => HostState::Idle,
                Phase::Fetching => HostState::Fetching,
                Phase::Waiting(due, _) if host.pace.is_troubled() => HostState::BackingOff(due),
                _ if matches!(host.place, Place::Unknown | Place::Unresolved) => HostState::Preparing,
                // It waits for a robots.txt, not for its delay.
                Phase::Waiting(due, _) if due > host.pace.not_before => HostState::Preparing,
                Phase::Waiting(..) | Phase::Ready(..) | Phase::Parked => HostState::Waiting(host.pace.not_before),
            };
            visit(HostView {
                name: &host.name,
                state,
                delay: host.pace.delay(&self.settings),
                queued: host.queued(),
                addresses: match &host.place {
                    Place::Known { ips, .. } => ips,
                    _ => &[],
                },
            });
        }
    }

    /// The budgets of which at least half is spent.
    pub fn budgets(&self) -> Vec<BudgetView> {
        budgets(&self.hosts, self.limits)
    }

    /// Priority, its parts and depth of a queued URL: those with which it will be handed out. Reads the whole queue.
    pub fn queued_as(&self, hash: u64, session: &Session) -> Result<Option<(f32, Merits, u32)>> {
        let mut found: Option<(f32, Merits, u32)> = None;
        for (id, host) in self.hosts.iter().enumerate() {
            for lane in &host.lanes {
                let key = LaneKey { host: id as HostId, group: lane.group, band: lane.band };
                self.queues.look(lane, key, 0, session, &mut |_, entry| {
                    if entry.hash == hash && found.is_none_or(|(priority, ..)| entry.priority > priority) {
                        found = Some((entry.priority, entry.merits, entry.depth));
                    }
                    true
                })?;
            }
        }
        Ok(found)
    }

    /// What is to be expected of a page at `url`, by what pages like it turned out to be; `None` if its host is not known.
    pub fn expected(&self, url: &Url) -> Option<Expected> {
        let host = self.hosts.get(self.hosts.find(url.host_str()?)?);
        let origin = Origin::of(url);
        let at = host.origins.iter().position(|known| known.is(&origin))?;
        host.groups.expected(url, at as u8)
    }

    /// Calls `visit` with the number, label and factor of each group of a host's URLs.
    pub fn groups(&self, host: &str, visit: &mut dyn FnMut(u8, &str, f32)) {
        if let Some(id) = self.hosts.find(host) {
            for (number, group) in self.hosts.get(id).groups.iter() {
                visit(number, &group.label, group.factor);
            }
        }
    }
}
