//! The frontier itself: what every part of it holds, and how a URL passes through them.
//!
//! A URL is met once ([`Seen`]), queued in a lane of its host ([`Queues`]), and handed out when its host's turn comes
//! ([`Schedule`]): after the host's address is known, after its robots.txt was read, not before the host's pace and its
//! address's floor allow it. The report of the job ends all this, or queues the URL again.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use config::{Politeness, Robots, Settings};
use dedup_stage::judge::Row;
use dedup_stage::store::{Error, Result, Session, Space};
use url::Url;

use crate::addresses::Addresses;
use crate::hosts::{Hosts, Place};
use crate::job::{Admission, Found, Job, JobKind, Millis, Next, Outcome, SkipReason, Via};
use crate::origins::{Access, Origin};
use crate::queue::{self, Entry, HostId, LaneKey, Queues, Seq};
use crate::rate::Rate;
use crate::schedule::{Phase, Schedule};
use crate::seen::{self, Seen, UrlState};

/// The frontier; owned by the engine.
#[derive(Debug)]
pub struct Frontier {
    settings: Politeness,
    max_length: usize,
    /// Every URL met.
    seen: Seen,
    /// Where each host is, what it allows, what is queued for it.
    hosts: Hosts,
    /// What the lanes of all hosts share.
    queues: Queues,
    /// Whose turn it is.
    schedule: Schedule,
    /// Floors of shared addresses.
    addresses: Addresses,
    /// Caps over all hosts.
    rate: Rate,
    /// Jobs handed out and not reported.
    open: BTreeMap<u64, Open>,
    next_job: u64,
    /// When this process took over from an earlier one, if it did.
    restarted: Option<Millis>,
}

/// Key in [`Space::Hosts`] by which a restart is known.
const STARTED: &[u8] = b"started";

/// A job handed out.
#[derive(Debug)]
struct Open {
    host: HostId,
    /// Pages and sitemaps: the entry, and where it stands in the store.
    entry: Option<(LaneKey, Seq, Entry)>,
}

/// What a ready host can do.
enum Plan {
    /// Ask for its address; any URL of it.
    Resolve(Url),
    /// Ask an origin for its robots.txt.
    Robots(Url),
    /// Fetch the first entry of this lane.
    Fetch(usize, Url),
    /// Refuse the first entry of this lane.
    Refuse(usize, Url, SkipReason),
    /// Wait until this time.
    Wait(Millis),
    /// Stand in the line of an address.
    Park(crate::addresses::AddressId),
    /// Nothing is queued.
    Nothing,
}

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
    /// For how long an address is used before it is asked for again.
    const ADDRESS_LIFE: Millis = 3_600_000;
    /// At most so many URLs are refused in one call of [`Frontier::next`].
    const REFUSALS: usize = 1_000;
    /// Most redirect hops.
    const HOPS: u8 = 10;
    /// A URL that was not attempted waits at least so long.
    const RETURNED: Millis = 100;

    /// A frontier with what `session` remembers. After a restart every host waits one full delay from `now`, a host that
    /// the store does not know yet included: it may have been asked just before the crash. (So that a crash right after the
    /// first start is known as one, commit before the first request.)
    pub fn open(settings: &Settings, session: &mut Session, now: Millis) -> Result<Self> {
        let mut queues = Queues::default();
        let mut frontier = Self {
            settings: settings.politeness.clone(),
            max_length: settings.urls.max_length,
            seen: Seen::open(session)?,
            hosts: Hosts::open(&mut queues, session)?,
            queues,
            schedule: Schedule::default(),
            addresses: Addresses::default(),
            rate: Rate::new(&settings.politeness, now),
            open: BTreeMap::new(),
            next_job: 0,
            restarted: None,
        };
        if session.get(Space::Hosts, STARTED)?.is_some() {
            frontier.restarted = Some(now);
        } else {
            session.put(Space::Hosts, STARTED, []);
        }
        for id in 0..frontier.hosts.len() as HostId {
            let host = frontier.hosts.get_mut(id);
            host.pace.ended(now, &frontier.settings);
            if !host.lanes.is_empty() {
                // It is due at once, for its address; the pace keeps requests back.
                frontier.schedule.wait(id, &mut host.phase, now);
            }
        }
        Ok(frontier)
    }

    /// A link asks to be queued.
    pub fn add(&mut self, found: &Found<'_>, session: &mut Session) -> Result<Admission> {
        self.admit(found, false, session)
    }

    /// A sitemap asks to be queued, exempt from robots rules; `hash` is that of its key, as for a page.
    pub fn add_sitemap(&mut self, found: &Found<'_>, session: &mut Session) -> Result<Admission> {
        self.admit(found, true, session)
    }

    fn admit(&mut self, found: &Found<'_>, sitemap: bool, session: &mut Session) -> Result<Admission> {
        let (hops, exempt) = match found.via {
            Via::Redirect { hops, same_key } => (hops, same_key),
            Via::Seed | Via::Link | Via::Sitemap => (0, false),
        };
        if !self.seen.insert(found.hash, session) && !exempt {
            return Ok(Admission::Seen);
        }
        let name = match found.url.host_str() {
            Some(name) if matches!(found.url.scheme(), "http" | "https") => name,
            _ => return Ok(self.refuse(found.hash, SkipReason::Scheme, session)),
        };
        if found.url.as_str().len() > self.max_length {
            return Ok(self.refuse(found.hash, SkipReason::TooLong, session));
        }
        if hops > Self::HOPS {
            return Ok(self.refuse(found.hash, SkipReason::Trap, session));
        }
        let known = self.hosts.len();
        let id = self.hosts.of(name);
        let host = self.hosts.get_mut(id);
        if let Some(restarted) = self.restarted
            && id as usize == known
        {
            host.pace.ended(restarted, &self.settings);
        }
        let origins = host.origins.len();
        let Some(origin) = host.origin(found.url) else {
            return Ok(self.refuse(found.hash, SkipReason::Trap, session));
        };
        if host.origins.len() > origins {
            host.record(id, session);
        }
        let group = host.groups.of(found.url, origin, id, session);
        let entry = Entry {
            url: found.url.as_str().into(),
            hash: found.hash,
            depth: found.depth,
            priority: found.priority,
            source: found.source,
            hops,
            attempts: 0,
            sitemap,
        };
        let key = LaneKey { host: id, group, band: queue::band(found.priority) };
        self.queues.push(&mut host.lanes, key, entry, session);
        match host.phase {
            Phase::Idle => self.settle(id),
            Phase::Ready(..) => {
                let rank = host.rank();
                self.schedule.make_ready(id, &mut host.phase, rank);
            }
            // It waits for a robots.txt; that of this URL's origin may be at hand.
            Phase::Waiting(due, _) if due > host.pace.not_before => self.settle(id),
            Phase::Waiting(..) | Phase::Parked | Phase::Fetching => {}
        }
        Ok(Admission::Queued)
    }

    fn refuse(&self, hash: u64, reason: SkipReason, session: &mut Session) -> Admission {
        seen::set_state(hash, UrlState::Refused(reason), session);
        Admission::Refused(reason)
    }

    /// A sitemap named by a sitemap index asks to be fetched (those that robots.txt names, the frontier knows itself).
    pub fn add_sitemap(&mut self, _url: &url::Url, _session: &mut Session) -> Result<()> {
        unimplemented!()
    }

    /// Whether a URL was met before (queued, done or refused).
    pub fn seen(&self, hash: u64) -> bool {
        self.seen.contains(hash)
    }

    /// The next job that may start at `now`. URLs found forbidden by robots.txt on the way are passed to `skipped`.
    pub fn next(
        &mut self,
        now: Millis,
        session: &mut Session,
        skipped: &mut dyn FnMut(&Job, SkipReason),
    ) -> Result<Next> {
        self.wake(now);
        let mut refusals = 0;
        while let Some(id) = self.schedule.best() {
            match self.plan(id, now, session)? {
                Plan::Resolve(url) => return Ok(Next::Job(self.start(id, JobKind::Resolve, url, None))),
                Plan::Robots(url) => {
                    if let Err(later) = self.rate.request(now) {
                        return Ok(Next::Wait(later));
                    }
                    self.request(id, now);
                    return Ok(Next::Job(self.start(id, JobKind::Robots, url, None)));
                }
                Plan::Fetch(lane, url) => {
                    if let Err(later) = self.rate.request(now) {
                        return Ok(Next::Wait(later));
                    }
                    self.request(id, now);
                    let (key, seq, entry) = self.take(id, lane)?;
                    let kind = if entry.sitemap { JobKind::Sitemap } else { JobKind::Page };
                    return Ok(Next::Job(self.start(id, kind, url, Some((key, seq, entry)))));
                }
                Plan::Refuse(lane, url, reason) => {
                    let (key, seq, entry) = self.take(id, lane)?;
                    let kind = if entry.sitemap { JobKind::Sitemap } else { JobKind::Page };
                    skipped(&Job { id: 0, ..self.job(id, kind, url, Some(&entry)) }, reason);
                    self.queues.finish(&mut self.hosts.get_mut(id).lanes, key, seq, session);
                    seen::set_state(entry.hash, UrlState::Refused(reason), session);
                    refusals += 1;
                    if refusals == Self::REFUSALS {
                        return Ok(Next::Wait(now));
                    }
                }
                Plan::Wait(due) => self.schedule.wait(id, &mut self.hosts.get_mut(id).phase, due.max(now + 1)),
                Plan::Park(address) => {
                    self.schedule.set_aside(id, &mut self.hosts.get_mut(id).phase, Phase::Parked);
                    self.addresses.park(id, address);
                }
                Plan::Nothing => self.schedule.set_aside(id, &mut self.hosts.get_mut(id).phase, Phase::Idle),
            }
        }
        let due = [self.schedule.next_due(), self.addresses.next_call()].into_iter().flatten().min();
        Ok(due.map_or(Next::Idle, Next::Wait))
    }

    /// Moves the hosts that are due at `now` among the ready ones.
    fn wake(&mut self, now: Millis) {
        while let Some(id) = self.schedule.due(now).or_else(|| self.addresses.call(now)) {
            let host = self.hosts.get_mut(id);
            let rank = host.rank();
            self.schedule.make_ready(id, &mut host.phase, rank);
        }
    }

    /// What a ready host can do at `now`.
    fn plan(&mut self, id: HostId, now: Millis, session: &mut Session) -> Result<Plan> {
        let host = self.hosts.get_mut(id);
        let mut blocked = Vec::new();
        loop {
            let choice = choose(host, id, &blocked, &mut self.queues, session)?;
            let Some(lane) = choice else {
                let again = blocked.iter().map(|(_, again)| *again).min();
                return Ok(again.map_or(Plan::Nothing, Plan::Wait));
            };
            let Some(entry) = host.lanes[lane].front() else { return Ok(Plan::Nothing) };
            let url = Url::parse(&entry.url)
                .map_err(|error| Error::Damaged(format!("a queued URL, {:?}, is none: {error}", entry.url)))?;
            match &host.place {
                Place::Unknown => return Ok(Plan::Resolve(url)),
                Place::Forbidden => return Ok(Plan::Refuse(lane, url, SkipReason::Address)),
                Place::Known { until, .. } if *until <= now => return Ok(Plan::Resolve(url)),
                Place::Known { ids, .. } => {
                    if host.pace.not_before > now {
                        return Ok(Plan::Wait(host.pace.not_before));
                    }
                    if let Some(address) = self.addresses.blocked(ids, now) {
                        return Ok(Plan::Park(address));
                    }
                }
            }
            if entry.sitemap || self.settings.robots == Robots::Ignore {
                return Ok(Plan::Fetch(lane, url));
            }
            let origin = host.groups.get(host.lanes[lane].group).map_or(0, |group| group.origin);
            match host.origins[usize::from(origin)].access(&url, now, session)? {
                Access::Allowed => return Ok(Plan::Fetch(lane, url)),
                Access::Forbidden => return Ok(Plan::Refuse(lane, url, SkipReason::Robots)),
                Access::Ask => return Ok(Plan::Robots(Origin::robots_url(&url))),
                Access::Wait(again) => blocked.push((origin, again)),
            }
        }
    }

    /// Takes the first entry of a lane.
    fn take(&mut self, id: HostId, lane: usize) -> Result<(LaneKey, Seq, Entry)> {
        let lane = &mut self.hosts.get_mut(id).lanes[lane];
        let key = LaneKey { host: id, group: lane.group, band: lane.band };
        let (seq, entry) = self.queues.take(lane).ok_or_else(|| Error::Damaged("a lane lost its front".into()))?;
        Ok((key, seq, entry))
    }

    /// A request to the host leaves.
    fn request(&mut self, id: HostId, now: Millis) {
        if let Place::Known { ids, .. } = &self.hosts.get(id).place {
            let floor = self.settings.address_delay.0.min(self.settings.delay.0);
            self.addresses.started(ids, now, floor);
        }
    }

    fn start(&mut self, id: HostId, kind: JobKind, url: Url, entry: Option<(LaneKey, Seq, Entry)>) -> Job {
        let job = self.job(id, kind, url, entry.as_ref().map(|(.., entry)| entry));
        self.schedule.set_aside(id, &mut self.hosts.get_mut(id).phase, Phase::Fetching);
        self.next_job += 1;
        self.open.insert(job.id, Open { host: id, entry });
        job
    }

    fn job(&self, id: HostId, kind: JobKind, url: Url, entry: Option<&Entry>) -> Job {
        let addresses: Arc<[IpAddr]> = match &self.hosts.get(id).place {
            Place::Known { ips, .. } if kind != JobKind::Resolve => Arc::clone(ips),
            _ => Arc::new([]),
        };
        Job {
            id: self.next_job + 1,
            kind,
            url,
            hash: entry.map_or(0, |entry| entry.hash),
            depth: entry.map_or(0, |entry| entry.depth),
            priority: entry.map_or(0.0, |entry| entry.priority),
            source: entry.and_then(|entry| entry.source),
            hops: entry.map_or(0, |entry| entry.hops),
            addresses,
        }
    }

    /// A job ended at `at`. True if its URL was queued again.
    pub fn report(&mut self, job: &Job, outcome: Outcome, at: Millis, session: &mut Session) -> Result<bool> {
        let Some(Open { host: id, entry }) = self.open.remove(&job.id) else { return Ok(false) };
        let again = match entry {
            Some((key, seq, entry)) => self.page_ended(key, seq, entry, &outcome, at, session),
            None if job.kind == JobKind::Resolve => {
                self.resolved(id, outcome, at);
                false
            }
            None => {
                self.robots_ended(id, &job.url, outcome, at, session);
                false
            }
        };
        let host = self.hosts.get_mut(id);
        if host.pace.is_troubled() {
            host.record(id, session);
        }
        self.schedule.set_aside(id, &mut host.phase, Phase::Idle);
        self.settle(id);
        Ok(again)
    }

    /// An idle host that has something queued waits for its time.
    fn settle(&mut self, id: HostId) {
        let host = self.hosts.get_mut(id);
        if host.lanes.iter().any(|lane| lane.len() > 0) {
            // A first look at the address is no request, and need not wait; after a failed one it does.
            let early = matches!(host.place, Place::Unknown) && !host.pace.is_troubled();
            let due = if early { 0 } else { host.pace.not_before };
            self.schedule.wait(id, &mut host.phase, due);
        }
    }

    fn page_ended(
        &mut self,
        key: LaneKey,
        seq: Seq,
        entry: Entry,
        outcome: &Outcome,
        at: Millis,
        session: &mut Session,
    ) -> bool {
        let host = self.hosts.get_mut(key.host);
        let last = entry.attempts + 1 >= self.settings.attempts;
        let (state, retry) = match *outcome {
            Outcome::Done { status, elapsed, retry_after } => {
                let busy = matches!(status, 429 | 503);
                if busy || retry_after.is_some() {
                    host.pace.slowed(at, retry_after, &self.settings);
                } else {
                    host.pace.answered(at, elapsed, &self.settings);
                }
                (UrlState::Done { status, row: None, duplicate: false }, busy)
            }
            Outcome::Failed { transient } => {
                host.pace.failed(at, &self.settings);
                (UrlState::Failed, transient)
            }
            _ => {
                host.pace.ended(at, &self.settings);
                host.pace.wait_until(at + Self::RETURNED);
                self.queues.put_back(&mut host.lanes, key, seq, entry);
                return true;
            }
        };
        self.queues.finish(&mut host.lanes, key, seq, session);
        if retry && !last {
            let again = Entry { attempts: entry.attempts + 1, ..entry };
            self.queues.push(&mut host.lanes, key, again, session);
            return true;
        }
        seen::set_state(entry.hash, state, session);
        false
    }

    fn resolved(&mut self, id: HostId, outcome: Outcome, at: Millis) {
        let host = self.hosts.get_mut(id);
        if let Place::Known { ids, .. } = &host.place {
            self.addresses.leave(ids);
        }
        host.place = match outcome {
            Outcome::Resolved(ips) if !ips.is_empty() => {
                let ids = self.addresses.enter(&ips);
                Place::Known { ips: ips.into(), ids, until: at + Self::ADDRESS_LIFE }
            }
            Outcome::Resolved(_) | Outcome::Unresolved { forbidden: true } => Place::Forbidden,
            Outcome::Returned => {
                host.pace.wait_until(at + Self::RETURNED);
                Place::Unknown
            }
            _ => {
                host.pace.failed(at, &self.settings);
                Place::Unknown
            }
        };
    }

    fn robots_ended(&mut self, id: HostId, url: &Url, outcome: Outcome, at: Millis, session: &mut Session) {
        let host = self.hosts.get_mut(id);
        let asked = Origin::of(url);
        let Some(origin) = host.origins.iter_mut().find(|origin| origin.is(&asked)) else { return };
        match outcome {
            Outcome::Robots(rules) => origin.answered(rules, url, at, session),
            Outcome::Returned => host.pace.wait_until(at + Self::RETURNED),
            _ => origin.unavailable(at),
        }
        host.pace.ended(at, &self.settings);
    }

    /// The engine's word on a page after its report: its row, and whether it was judged a duplicate.
    pub fn verdict(&mut self, job: &Job, status: u16, row: Row, duplicate: bool, session: &mut Session) {
        seen::set_state(job.hash, UrlState::Done { status, row: Some(row), duplicate }, session);
    }

    /// What was learned of a group of a host's URLs: their scores are multiplied by `factor` from now on. False if there
    /// is no such host or group. Groups are numbered as [`Frontier::groups`] gives them.
    pub fn set_factor(&mut self, host: &str, group: u8, factor: f32, session: &mut Session) -> bool {
        let Some(id) = self.hosts.find(host) else { return false };
        let host = self.hosts.get_mut(id);
        let known = host.groups.set_factor(group, factor, id, session);
        if let Phase::Ready(..) = host.phase {
            let rank = host.rank();
            self.schedule.make_ready(id, &mut host.phase, rank);
        }
        known
    }

    /// Calls `visit` with the number, label and factor of each group of a host's URLs.
    pub fn groups(&self, host: &str, visit: &mut dyn FnMut(u8, &str, f32)) {
        if let Some(id) = self.hosts.find(host) {
            for (number, group) in self.hosts.get(id).groups.iter() {
                visit(number, &group.label, group.factor);
            }
        }
    }

    /// So many body bytes were received until `at`; counts for the cap on bytes a second.
    pub fn received(&mut self, bytes: u64, at: Millis) {
        self.rate.received(bytes, at);
    }

    /// Totals.
    pub fn counts(&self) -> Counts {
        let backing_off = self.hosts.iter().filter(|host| host.phase != Phase::Idle && host.pace.is_troubled()).count();
        Counts {
            seen: self.seen.len() as u64,
            queued: self.queues.queued(),
            hosts: self.hosts.len() as u64,
            hosts_fetching: self.schedule.fetching(),
            hosts_waiting: self.schedule.waiting() + self.addresses.parked(),
            hosts_backing_off: backing_off as u64,
        }
    }

    /// Calls `visit` for each host.
    pub fn hosts(&self, visit: &mut dyn FnMut(HostView<'_>)) {
        for host in self.hosts.iter() {
            let state = match host.phase {
                Phase::Idle => HostState::Idle,
                Phase::Fetching => HostState::Fetching,
                Phase::Waiting(due, _) if host.pace.is_troubled() => HostState::BackingOff(due),
                _ if matches!(host.place, Place::Unknown) => HostState::Preparing,
                Phase::Waiting(due, _) => HostState::Waiting(due),
                Phase::Ready(..) | Phase::Parked => HostState::Waiting(host.pace.not_before),
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
}

/// The lane with a host's best URL: the highest score, the earliest arrival among equals. Its front is read. Lanes of the
/// origins in `blocked` are passed over.
fn choose(
    host: &mut crate::hosts::Host,
    id: HostId,
    blocked: &[(u8, Millis)],
    queues: &mut Queues,
    session: &Session,
) -> Result<Option<usize>> {
    loop {
        let mut best: Option<(f32, Seq, usize)> = None;
        for (at, lane) in host.lanes.iter().enumerate().filter(|(_, lane)| lane.len() > 0) {
            let origin = host.groups.get(lane.group).map(|group| group.origin);
            if blocked.iter().any(|(blocked, _)| Some(*blocked) == origin) {
                continue;
            }
            let (score, bound) = (host.score(lane), lane.bound());
            if best.is_none_or(|(s, b, _)| score > s || (score == s && bound < b)) {
                best = Some((score, bound, at));
            }
        }
        let Some((.., at)) = best else { return Ok(None) };
        if host.lanes[at].is_read() {
            return Ok(Some(at));
        }
        queues.read(&mut host.lanes[at], id, session)?;
    }
}
