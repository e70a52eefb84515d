//! How a job leaves the frontier: the best host whose turn it is, and what it may do now.

use std::net::IpAddr;
use std::sync::Arc;

use config::Robots;
use dedup_stage::store::{Error, Result, Session};
use url::Url;

use crate::addresses::AddressId;
use crate::frontier::{Frontier, Open, Task};
use crate::hosts::{Errand, Host, Place};
use crate::job::{Job, JobKind, Merits, Millis, Next, SkipReason};
use crate::origins::{Access, Origin};
use crate::queue::{Entry, HostId, LaneKey, Queues, Seq};
use crate::robots::Rules;
use crate::rules::{Passage, Stop};
use crate::schedule::{self, Phase};
use crate::seen::{self, UrlState};

/// What a ready host can do.
enum Plan {
    /// Find its address; any URL of it.
    Resolve(Url),
    /// Ask for a robots.txt.
    Robots(Errand),
    /// Give up on its errand: it has no address that may be asked.
    Forsake(Errand),
    /// Fetch the first entry of this lane, perhaps as an audit.
    Fetch(usize, Url, Option<Arc<Stop>>),
    /// Refuse the first entry of this lane, perhaps because of rules.
    Refuse(usize, Url, SkipReason, Option<Arc<Stop>>),
    /// Wait until this time.
    Wait(Millis),
    /// Stand in the line of an address.
    Park(AddressId),
    /// There is nothing to do.
    Nothing,
}

impl Frontier {
    /// At most so many URLs are refused in one call of [`Frontier::next`].
    const REFUSALS: usize = 1_000;
    /// For how long a host may wait for better ones.
    const LONGEST_HOLD: Millis = 60_000;
    /// How soon a better host must be due, where none is being asked.
    const SOON: Millis = 10_000;

    /// The next job that may start at `now`. URLs found forbidden by robots.txt on the way, without budget, or stopped by a
    /// learned rule (which [`Job::stop`] then names) are passed to `skipped`.
    ///
    /// # Complexity
    ///
    /// O(log hosts + lanes of the host) amortised, whatever is queued.
    pub fn next(
        &mut self,
        now: Millis,
        session: &mut Session,
        skipped: &mut dyn FnMut(&Job, SkipReason),
    ) -> Result<Next> {
        self.wake(now);
        let mut refusals = 0;
        while let Some(id) = self.schedule.best() {
            if self.is_held_back(id, now) {
                break;
            }
            match self.plan(id, now, session)? {
                Plan::Resolve(url) => return Ok(Next::Job(self.start(id, JobKind::Resolve, url, Task::Resolve))),
                Plan::Robots(errand) => {
                    if let Err(later) = self.request(id, now) {
                        return Ok(Next::Wait(later));
                    }
                    self.hosts.get_mut(id).errands.retain(|waiting| waiting.url != errand.url);
                    let url = errand.url.clone();
                    return Ok(Next::Job(self.start(id, JobKind::Robots, url, Task::Robots(errand))));
                }
                Plan::Forsake(errand) => {
                    self.hosts.get_mut(id).errands.pop_front();
                    self.rules_known(&errand, Rules::unreachable(now, None), session)?;
                }
                Plan::Fetch(lane, url, stop) => {
                    if let Err(later) = self.request(id, now) {
                        return Ok(Next::Wait(later));
                    }
                    let (key, seq, entry) = self.take(id, lane)?;
                    let kind = if entry.sitemap { JobKind::Sitemap } else { JobKind::Page };
                    let job = self.start(id, kind, url, Task::Entry(key, seq, entry));
                    return Ok(Next::Job(Job { stop, ..job }));
                }
                Plan::Refuse(lane, url, reason, stop) => {
                    let (key, _, entry) = self.take(id, lane)?;
                    let kind = if entry.sitemap { JobKind::Sitemap } else { JobKind::Page };
                    skipped(&Job { stop, ..self.job(id, kind, url, Some(&entry)) }, reason);
                    self.queues.finish(&mut self.hosts.get_mut(id).lanes, key, session);
                    seen::set_state(entry.hash, UrlState::Refused(reason), session);
                    refusals += 1;
                    if refusals == Self::REFUSALS {
                        return Ok(Next::Wait(now));
                    }
                }
                Plan::Wait(due) => {
                    let host = self.hosts.get_mut(id);
                    if due > host.pace.not_before.saturating_add(Self::SOON) {
                        // It waits for rules: nobody waits for it.
                        self.schedule.stands(id, &mut host.standing, None);
                    }
                    self.schedule.wait(id, &mut host.phase, due.max(now + 1));
                }
                Plan::Park(address) => {
                    self.schedule.set_aside(id, &mut self.hosts.get_mut(id).phase, Phase::Parked);
                    self.addresses.park(id, address);
                }
                Plan::Nothing => {
                    let host = self.hosts.get_mut(id);
                    self.schedule.stands(id, &mut host.standing, None);
                    self.schedule.set_aside(id, &mut host.phase, Phase::Idle);
                }
            }
        }
        let due = [self.schedule.next_due(), self.addresses.next_call()].into_iter().flatten().min();
        Ok(due.map_or(Next::Idle, Next::Wait))
    }

    /// Whether the best ready host should wait, because another has something much better that is due soon: where
    /// fetches are few, they go to what is worth most. No host waits longer than [`Frontier::LONGEST_HOLD`] for others.
    fn is_held_back(&self, id: HostId, now: Millis) -> bool {
        let host = self.hosts.get(id);
        let (Phase::Ready(rank, _), Some(best)) = (host.phase, self.schedule.best_standing()) else { return false };
        self.holds_back
            && schedule::score(rank) < self.priority.hold_back * schedule::score(best)
            && now < host.pace.not_before.saturating_add(Self::LONGEST_HOLD)
            && (self.schedule.fetching() > 0 || self.schedule.next_due().is_some_and(|due| due < now + Self::SOON))
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
        if let Some(errand) = self.hosts.get(id).errands.front() {
            let errand = errand.clone();
            return Ok(match self.hosts.get(id).place {
                Place::Forbidden => Plan::Forsake(errand),
                _ => self.hold(id, &errand.url, now).unwrap_or(Plan::Robots(errand)),
            });
        }
        let mut blocked: Vec<(u8, Millis)> = Vec::new();
        loop {
            let host = self.hosts.get_mut(id);
            let Some(at) = choose(host, id, &blocked, &mut self.queues, session)? else {
                let again = blocked.iter().map(|(_, again)| *again).min();
                return Ok(again.map_or(Plan::Nothing, Plan::Wait));
            };
            let lane = &host.lanes[at];
            let Some(entry) = lane.front() else { return Ok(Plan::Nothing) };
            if !entry.sitemap && !self.waiting.is_live(entry.hash, lane.band) {
                // It was queued again with a better priority, and that is done or still to come.
                let key = LaneKey { host: id, group: lane.group, band: lane.band };
                self.queues.take(&mut host.lanes[at]);
                self.queues.finish(&mut host.lanes, key, session);
                continue;
            }
            let (sitemap, group, hash) = (entry.sitemap, lane.group, entry.hash);
            let url = Url::parse(&entry.url)
                .map_err(|error| Error::Damaged(format!("{:?} is queued, and no URL: {error}", entry.url)))?;
            if let Place::Forbidden = host.place {
                return Ok(Plan::Refuse(at, url, SkipReason::Address, None));
            }
            if !sitemap && host.is_spent(group, self.limits) {
                return Ok(Plan::Refuse(at, url, SkipReason::Budget, None));
            }
            let mut audit = None;
            if let Some(rules) = self.rules.as_mut().filter(|_| !sitemap) {
                match rules.meet(&url, hash, &self.seen, session)? {
                    Passage::Fetch => {}
                    Passage::Audit(stop) => audit = Some(Arc::new(stop)),
                    Passage::Stop(stop) => return Ok(Plan::Refuse(at, url, stop.reason, Some(Arc::new(stop)))),
                }
            }
            if let Some(plan) = self.hold(id, &url, now) {
                return Ok(plan);
            }
            if sitemap || self.settings.robots == Robots::Ignore {
                return Ok(Plan::Fetch(at, url, audit));
            }
            let host = self.hosts.get_mut(id);
            let number = host.groups.get(group).map_or(0, |group| group.origin);
            let origin = host
                .origins
                .get_mut(usize::from(number))
                .ok_or_else(|| Error::Damaged(format!("the origins of {} cannot be read", host.name)))?;
            match origin.access(&url, now, session)? {
                Access::Allowed => return Ok(Plan::Fetch(at, url, audit)),
                Access::Forbidden => return Ok(Plan::Refuse(at, url, SkipReason::Robots, None)),
                Access::Ask => {
                    return Ok(Plan::Robots(Errand { url: Origin::robots_url(&url), of: url, asker: id, moves: 0 }));
                }
                Access::Wait(again) => blocked.push((number, again)),
            }
        }
    }

    /// What must come before a request for `url` to a host that may be asked: its address, its pace, its address's floor.
    fn hold(&self, id: HostId, url: &Url, now: Millis) -> Option<Plan> {
        let host = self.hosts.get(id);
        match &host.place {
            Place::Known { ids, until, .. } if *until > now => {
                if host.pace.not_before > now {
                    return Some(Plan::Wait(host.pace.not_before));
                }
                self.addresses.blocked(ids, now).map(Plan::Park)
            }
            _ => Some(Plan::Resolve(url.clone())),
        }
    }

    /// Takes the first entry of a lane.
    fn take(&mut self, id: HostId, lane: usize) -> Result<(LaneKey, Seq, Entry)> {
        let lane = &mut self.hosts.get_mut(id).lanes[lane];
        let key = LaneKey { host: id, group: lane.group, band: lane.band };
        let (seq, entry) = self.queues.take(lane).ok_or_else(|| Error::Damaged("a lane lost its front".into()))?;
        self.waiting.taken(entry.hash);
        Ok((key, seq, entry))
    }

    /// A request to the host leaves, if the caps over all hosts allow it; else says when to ask again.
    fn request(&mut self, id: HostId, now: Millis) -> std::result::Result<(), Millis> {
        self.rate.request(now)?;
        if let Place::Known { ids, .. } = &self.hosts.get(id).place {
            // One host alone may be asked once a delay; hosts that share an address need not be gentler than that.
            let floor = self.settings.address_delay.0.min(self.settings.delay.0);
            self.addresses.started(ids, now, floor);
        }
        Ok(())
    }

    fn start(&mut self, id: HostId, kind: JobKind, url: Url, task: Task) -> Job {
        self.next_job += 1;
        let entry = match &task {
            Task::Entry(.., entry) => Some(entry),
            Task::Resolve | Task::Robots(_) => None,
        };
        let job = self.job(id, kind, url, entry);
        self.schedule.set_aside(id, &mut self.hosts.get_mut(id).phase, Phase::Fetching);
        self.open.insert(job.id, Open { host: id, task });
        job
    }

    fn job(&self, id: HostId, kind: JobKind, url: Url, entry: Option<&Entry>) -> Job {
        let addresses: Arc<[IpAddr]> = match &self.hosts.get(id).place {
            Place::Known { ips, .. } if kind != JobKind::Resolve => Arc::clone(ips),
            _ => Arc::new([]),
        };
        Job {
            id: self.next_job,
            kind,
            url,
            hash: entry.map_or(0, |entry| entry.hash),
            depth: entry.map_or(0, |entry| entry.depth),
            priority: entry.map_or(0.0, |entry| entry.priority),
            merits: entry.map_or(Merits::default(), |entry| entry.merits),
            source: entry.and_then(|entry| entry.source),
            hops: entry.map_or(0, |entry| entry.hops),
            addresses,
            stop: None,
        }
    }
}

/// The lane with a host's best URL: the highest score, the earliest arrival among equals. Its front is read. Lanes of the
/// origins in `blocked` are passed over, but for sitemaps, which need no rules.
fn choose(
    host: &mut Host,
    id: HostId,
    blocked: &[(u8, Millis)],
    queues: &mut Queues,
    session: &Session,
) -> Result<Option<usize>> {
    loop {
        let mut best: Option<(f32, Seq, usize)> = None;
        for (at, lane) in host.lanes.iter().enumerate().filter(|(_, lane)| lane.len() > 0) {
            let origin = host.groups.get(lane.group).map(|group| group.origin);
            let sitemap = lane.front().is_some_and(|entry| entry.sitemap);
            if !sitemap && blocked.iter().any(|(blocked, _)| Some(*blocked) == origin) {
                continue;
            }
            let (score, bound) = (host.score(lane.group, lane.band), lane.bound());
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
