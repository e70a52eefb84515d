//! The frontier itself. (Stub: to be written.)

use std::net::IpAddr;

use config::Settings;
use dedup_stage::store::{Result, Session};

use crate::job::{Admission, Found, Job, Millis, Next, Outcome, SkipReason};

/// The frontier; owned by the engine.
#[derive(Debug)]
pub struct Frontier {}

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

impl Frontier {
    /// A frontier with what `session` remembers. After a restart every host waits one full delay from `now`.
    pub fn open(_settings: &Settings, _session: &mut Session, _now: Millis) -> Result<Self> {
        unimplemented!()
    }

    /// A link asks to be queued.
    pub fn add(&mut self, _found: &Found<'_>, _session: &mut Session) -> Result<Admission> {
        unimplemented!()
    }

    /// A sitemap named by a sitemap index asks to be fetched (those that robots.txt names, the frontier knows itself).
    pub fn add_sitemap(&mut self, _url: &url::Url, _session: &mut Session) -> Result<()> {
        unimplemented!()
    }

    /// Whether a URL was met before (queued, done or refused).
    pub fn seen(&self, _hash: u64) -> bool {
        unimplemented!()
    }

    /// The next job that may start at `now`. URLs found forbidden by robots.txt on the way are passed to `skipped`.
    pub fn next(
        &mut self,
        _now: Millis,
        _session: &mut Session,
        _skipped: &mut dyn FnMut(&Job, SkipReason),
    ) -> Result<Next> {
        unimplemented!()
    }

    /// A job ended at `at`. True if its URL was queued again.
    pub fn report(&mut self, _job: &Job, _outcome: Outcome, _at: Millis, _session: &mut Session) -> Result<bool> {
        unimplemented!()
    }

    /// Totals.
    pub fn counts(&self) -> Counts {
        unimplemented!()
    }

    /// Calls `visit` for each host.
    pub fn hosts(&self, _visit: &mut dyn FnMut(HostView<'_>)) {
        unimplemented!()
    }
}
