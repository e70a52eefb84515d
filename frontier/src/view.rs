//! The frontier for people to look at: totals, hosts, budgets.

use std::net::IpAddr;

use config::OnDuplicate;
use dedup_stage::store::{Result, Session};

use crate::job::Millis;
use crate::url::Counters;

/// Totals for the progress line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Distinct URLs ever met: each stands in one of the states that `states` counts.
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
pub fn stored_budgets(_on_duplicate: OnDuplicate, _session: &Session) -> Result<Vec<BudgetView>> {
    todo!()
}
