//! How a job leaves the frontier: the best host whose turn it is takes its next step.

use std::net::IpAddr;
use std::sync::Arc;

use config::OnDuplicate;
use dedup_stage::store::{Error, Result, Session};
use dedup_stage::url::{PageId, UrlId};
use url::Url;

use super::admit::hops;
use super::next_step::{HostAction, Refusal};
use super::{Frontier, JobTask, Open};
use crate::hold::ladder::{Ladder, LadderKey, Step};
use crate::host::addresses::HostAddresses;
use crate::host::entry::Entry;
use crate::host::lane::{LaneKey, Seq};
use crate::job::{Job, JobKind, Merits, Next, Via};
use crate::numbers::{HostId, Millis, score};
use crate::process::Counted;
use crate::reason::{Detail, SkipReason};
use crate::robots::RobotsRules;
use crate::schedule::HostPhase;
use crate::trial::Stop;
use crate::url::{KeptLink, State};

impl Frontier {
    /// At most this many URLs are refused in one call of [`Frontier::next`].
    const REFUSALS: usize = 1_000;
    /// A host waits for better hosts for at most its delay, divided by this.
    const HELD_BACK: Millis = 10;
    /// A host that is due within this time is due soon.
    const SOON: Millis = 10_000;

    /// URLs that were queued for another visit and were refused when their turn came, with the reasons. Their last
    /// visit stands, and no report comes. Each of them is returned once.
    pub fn take_withdrawn(&mut self) -> Vec<(UrlId, SkipReason)> {
        std::mem::take(&mut self.jobs.withdrawn)
    }

    /// The next job that may start at `now`. On the way, URLs are refused that robots.txt forbids, and URLs
    /// are stopped by learned rules. URLs whose budget is spent are refused, or in `drop` stopped.
    ///
    /// # Complexity
    ///
    /// O(log hosts + lanes of the host) amortised, whatever is queued.
    pub fn next(&mut self, now: Millis, session: &mut Session) -> Result<Next> {
        self.now = self.now.max(now);
        self.call_sleepers(now, session)?;
        self.wake(now);
        self.pass_on_places(now);
        let hosts = self.schedule.waiting() + self.addresses.parked() + self.schedule.fetching();
        self.shares.set_hosts(hosts as usize);
        let mut refusals = 0;
        let behind = self.shares.is_behind(self.jobs.costly);
        while let Some((id, room)) = self.schedule.best(&self.shares, behind) {
            if self.must_wait_in_line(id, room) {
                continue;
            }
            if self.must_wait_for_better_host(id, now) || behind && self.must_wait_until_read(id) {
                break;
            }
            let host = self.hosts.get_mut(id);
            host.retries.look(now);
            let mut action = self.plan(id, now, session)?;
            let host = self.hosts.get(id);
            if let Some(due) = host.retries.due().filter(|_| host.has_pages()) {
                // What is left may be URLs whose next attempt waits.
                action = match action {
                    HostAction::Nothing => HostAction::Wait(due),
                    HostAction::Wait(later) if later > host.pace.not_before => HostAction::Wait(later.min(due)),
                    other => other,
                };
            }
            match action {
                HostAction::Resolve(url) => {
                    return Ok(Next::Job(self.start(id, JobKind::Resolve, url, JobTask::Resolve, None)));
                }
                HostAction::Robots(_) | HostAction::Errand if behind && self.has_costly_files(id) => break,
                HostAction::Robots(errand) => {
                    if let Err(later) = self.request(id, now) {
                        return Ok(Next::Wait(later));
                    }
                    let url = errand.url.clone();
                    return Ok(Next::Job(self.start(id, JobKind::Robots, url, JobTask::Robots(errand), None)));
                }
                HostAction::Errand => {
                    if let Err(later) = self.request(id, now) {
                        return Ok(Next::Wait(later));
                    }
                    let Some(errand) = self.hosts.get_mut(id).errands.take() else { continue };
                    let url = errand.url.clone();
                    return Ok(Next::Job(self.start(id, JobKind::Robots, url, JobTask::Robots(errand), None)));
                }
                HostAction::Forsake => self.forsake(id, now, session)?,
                HostAction::Fetch(_, entry, ..) if entry.sitemap && self.waits_for_sitemaps(id) => {}
                HostAction::Fetch(lane, entry, url, trial) => {
                    if let Err(later) = self.request(id, now) {
                        return Ok(Next::Wait(later));
                    }
                    if let Some(ladder_key) = trial {
                        step(ladder_key, Step::Try, session)?;
                    }
                    return self.fetch(id, lane, *entry, url, session).map(Next::Job);
                }
                HostAction::Refuse(lane, entry, refusal) => {
                    let (key, _) = self.take(id, lane)?;
                    self.queues.finish(&mut self.hosts.get_mut(id).lanes, key, session);
                    self.pass_over(*entry, refusal, session)?;
                    refusals += 1;
                    if refusals == Self::REFUSALS {
                        return Ok(Next::Wait(now));
                    }
                }
                HostAction::Wait(due) => {
                    let host = self.hosts.get_mut(id);
                    if due > host.pace.not_before.saturating_add(Self::SOON) {
                        // The host waits for a robots.txt, so no other host waits for this one.
                        self.schedule.set_awaited(id, &mut host.awaited, None);
                    }
                    host.called = false;
                    self.schedule.wait(id, &mut host.phase, due.max(now + 1));
                }
                HostAction::Park(address) => {
                    let host = self.hosts.get_mut(id);
                    host.called = false;
                    let (proven, domain) = (host.progress.is_proven(), host.site.domain);
                    let place = self.addresses.park(id, address, proven, domain, host.rank());
                    self.schedule.park(id, &mut host.phase, place);
                }
                HostAction::Nothing => {
                    let host = self.hosts.get_mut(id);
                    self.schedule.set_awaited(id, &mut host.awaited, None);
                    self.schedule.rest(id, &mut host.phase);
                    self.shares.count(&mut host.counted, Counted::default());
                    host.called = false;
                }
            }
        }
        if self.release_late(now, session) || self.overtake(now, session) {
            return Ok(Next::Wait(now));
        }
        let asleep = self.hosts.sleep.first(now, false, session)?.map(|first| first.due.max(now + 1));
        let due = [self.schedule.next_due(), self.addresses.next_call(), self.next_place(), asleep];
        let due = due.into_iter().flatten().min();
        // A look at the hosts that wait for others may come earlier. It is needed even if nothing else is due: the open
        // job may be of the slow host that they wait for.
        let is_open = !self.jobs.open.is_empty();
        let look = self.overtaking.next_look().filter(|_| is_open || due.is_some());
        let look = look.into_iter().chain(self.next_late().filter(|_| due.is_some())).min();
        let next = due.into_iter().chain(look).min();
        Ok(next.map_or(Next::Idle, |next| Next::Wait(next.max(now + 1))))
    }

    /// Like [`Frontier::next`], for a time in which no page may be fetched. Only errands that other frontiers wait for
    /// are handed out. Otherwise these frontiers would wait for ever.
    ///
    /// # Complexity
    ///
    /// O(hosts with such errands).
    pub fn next_errand(&mut self, now: Millis, session: &mut Session) -> Result<Next> {
        self.now = self.now.max(now);
        let (sites, mut due) = (self.afar.asked.iter().copied().collect::<Vec<_>>(), None::<Millis>);
        for site in sites {
            let host = self.hosts.find(site).map(|id| (id, self.hosts.get(id)));
            if host.is_some_and(|(_, host)| host.phase == HostPhase::Fetching) {
                continue;
            }
            // A host with errands stays in memory.
            let errand = host.and_then(|(id, host)| Some((id, host, host.errands.any()?.url.clone())));
            let Some((id, host, url)) = errand else {
                self.afar.asked.remove(&site);
                continue;
            };
            let waits = host.pace.is_troubled() && host.pace.not_before > now;
            // It does not wait for its turn at the address.
            let (job, later) = match self.first_of(id, &url, now, true) {
                _ if host.addresses.is_forbidden(now) => {
                    self.forsake(id, now, session)?;
                    continue;
                }
                // The first look-up of an address need not wait; one after a failed one does.
                Some(HostAction::Resolve(url)) if !waits => (Some((JobKind::Resolve, url, JobTask::Resolve)), 0),
                Some(HostAction::Wait(later)) => (None, later),
                Some(HostAction::Park(address)) => (None, self.addresses.not_before(address)),
                Some(_) => (None, host.pace.not_before),
                None => match self.request(id, now) {
                    Err(later) => (None, later),
                    Ok(()) => {
                        let Some(errand) = self.hosts.get_mut(id).errands.take() else { continue };
                        (Some((JobKind::Robots, url, JobTask::Robots(errand))), 0)
                    }
                },
            };
            let Some((kind, url, task)) = job else {
                due = due.into_iter().chain([later]).min();
                continue;
            };
            if let HostPhase::Parked(place) = self.hosts.get(id).phase {
                self.addresses.unpark(id, place);
            }
            return Ok(Next::Job(self.start(id, kind, url, task, None)));
        }
        Ok(due.map_or(Next::Idle, Next::Wait))
    }

    /// Gives up the first errand of a host that has no address that may be asked.
    fn forsake(&mut self, id: HostId, now: Millis, session: &mut Session) -> Result<()> {
        let Some(errand) = self.hosts.get_mut(id).errands.take() else { return Ok(()) };
        self.awake(id);
        let trouble = self.hosts.get(id).addresses.withholds().unwrap_or(Detail::ForbiddenAddress);
        self.rules_known(errand, &RobotsRules::unreachable(now, None, trouble), now, session)
    }

    /// Whether the best ready host should wait, because another host has a much better URL that is due soon. A host
    /// waits only while slots are scarce, so a slot stays idle only for a host that will need it. And it waits at most
    /// a tenth of its own delay, so no crawl takes much longer. In this way a crawl with few slots spends them on its
    /// best URLs.
    fn must_wait_for_better_host(&self, id: HostId, now: Millis) -> bool {
        let host = self.hosts.get(id);
        let (HostPhase::Ready(_, rank, _) | HostPhase::Benched(.., rank, _), Some(best)) =
            (host.phase, self.schedule.best_awaited())
        else {
            return false;
        };
        let longest = host.pace.delay(&self.conduct.politeness) / Self::HELD_BACK;
        self.conduct.holds_back
            && !self.shares.load.is_behind()
            && self.shares.are_scarce(self.jobs.open.len())
            && score(rank) < self.conduct.priority.hold_back * score(best)
            && now < host.pace.not_before.saturating_add(longest)
            && (self.schedule.fetching() > 0 || self.schedule.next_due().is_some_and(|due| due < now + Self::SOON))
    }

    /// Moves the hosts that are due at `now` among the ready ones.
    fn wake(&mut self, now: Millis) {
        loop {
            let due = self.schedule.due(now);
            let Some(id) = due.or_else(|| self.addresses.call(now)) else { break };
            let host = self.hosts.get_mut(id);
            host.called |= due.is_none();
            let rank = host.rank();
            self.schedule.make_ready(id, &mut host.phase, host.site.domain, rank);
        }
    }

    /// Takes the first entry of a lane.
    fn take(&mut self, id: HostId, lane: usize) -> Result<(LaneKey, Seq)> {
        let host = self.hosts.get_mut(id);
        let lane = &mut host.lanes[lane];
        let key = LaneKey { site: host.site, group: lane.group, band: lane.band };
        let taken = self.queues.take(lane).ok_or_else(|| Error::Damaged("a lane lost its front".into()))?;
        Ok((key, taken.0))
    }

    /// Counts a request to the host, if the caps over all hosts allow it. Otherwise returns the time at which to ask
    /// again.
    fn request(&mut self, id: HostId, now: Millis) -> std::result::Result<(), Millis> {
        self.rate.request(now)?;
        // A host that is alone at its address may be asked once in each delay. Hosts that share an address need not
        // wait longer.
        let politeness = &self.conduct.politeness;
        let floor = politeness.address_delay.0.min(politeness.delay.0);
        let host = self.hosts.get_mut(id);
        host.called = false;
        self.addresses.started(host.addresses.ids(), now, floor);
        Ok(())
    }

    /// Hands out the first entry of a lane.
    fn fetch(&mut self, id: HostId, lane: usize, mut entry: Entry, url: Url, session: &mut Session) -> Result<Job> {
        let (key, seq) = self.take(id, lane)?;
        let kind = if entry.sitemap { JobKind::Sitemap } else { JobKind::Page };
        let mut page = PageId { url: entry.id, visit: 1 };
        if kind == JobKind::Page {
            if self.jobs.chained.remove(&entry.id.url) == Some(true) {
                // A direct link leads to this URL, too, so the hops of its redirects are counted from here.
                entry.via = Via::Link;
            }
            page.visit = self.urls.before(entry.id, session)?.map_or(1, |visit| visit.number + 1);
            self.urls.open_job(entry.id.url);
            if entry.is_page() {
                self.count_page(id, 1, session);
            }
        }
        self.overtaking.forget(entry.id.url);
        self.hosts.get_mut(id).errands.page();
        Ok(self.start(id, kind, url, JobTask::Entry(key, seq, Box::new(entry)), Some(page)))
    }

    fn start(&mut self, id: HostId, kind: JobKind, url: Url, task: JobTask, page: Option<PageId>) -> Job {
        let host = self.hosts.get_mut(id);
        let addresses: Arc<[IpAddr]> = match &host.addresses {
            HostAddresses::Known { ips, .. } if kind != JobKind::Resolve => Arc::clone(ips),
            _ => Arc::new([]),
        };
        self.jobs.last += 1;
        let of_host = PageId { url: UrlId { site: host.site, url: 0 }, visit: 0 };
        let mut job = Job {
            id: self.jobs.last,
            kind,
            url,
            page: page.unwrap_or(of_host),
            depth: 0,
            priority: 0.0,
            merits: Merits::default(),
            source: None,
            hops: 0,
            attempts: 0,
            via: Via::Link,
            addresses,
            trial: None,
        };
        if let JobTask::Entry(.., entry) = &task {
            (job.depth, job.priority, job.merits) = (entry.depth, entry.priority, entry.merits);
            (job.source, job.hops, job.via) = (entry.source, hops(entry.via), entry.via);
            job.attempts = entry.attempts;
            job.trial = entry.trial.clone();
        }
        let domain = host.site.domain;
        let costly = self.schedule.is_costly(domain, kind);
        self.jobs.costly += usize::from(costly);
        self.schedule.fetch(id, &mut host.phase, domain, kind);
        let lines = self.take_shares(id, kind, job.id);
        self.hosts.get_mut(id).usage.begins(self.now);
        self.jobs.open.insert(job.id, Open { host: id, task, lines, costly });
        job
    }

    /// An entry is not fetched. Its URL is refused or stopped. If it was visited before, it is `Done` with its last
    /// visit.
    pub(super) fn pass_over(&mut self, entry: Entry, refusal: Refusal, session: &mut Session) -> Result<()> {
        if entry.sitemap {
            if let Some(id) = self.hosts.find(entry.id.site) {
                self.hosts.get_mut(id).origins.file_ended(entry.id.url);
            }
            return Ok(());
        }
        if let Some(trial) = &entry.trial
            && let Ok(url) = Url::parse(&entry.url)
        {
            self.trial_is_off(entry.id, &url, trial, session)?;
        }
        self.jobs.chained.remove(&entry.id.url);
        if let Some(before) = self.urls.before(entry.id, session)? {
            // A URL that was visited before does not count as skipped. Its last visit stands.
            self.jobs.withdrawn.push((entry.id, refusal.reason()));
            self.urls.change(entry.id, &State::Done(before), session)?;
            return self.withdrawn(entry.id, refusal.reason(), session);
        }
        let Entry { url, depth, source, priority, merits, .. } = entry;
        let link = KeptLink { url, depth, source, priority, merits };
        let state = match refusal {
            Refusal::Reason(reason, detail) => State::Refused { reason, detail, link },
            Refusal::Spent => State::stopped_for_budget(link),
            Refusal::Overtaken(at, ladder_key) => {
                if let Some(ladder_key) = ladder_key {
                    step(ladder_key, Step::Stay, session)?;
                }
                self.overtaking.forget(entry.id.url);
                self.urls.await_end(at.url);
                self.waits_if_queued(entry.id, at);
                State::HeldFor { counterparts: vec![at], link }
            }
            Refusal::Stop(stop, ladder_key, waits) => {
                // URLs that wait are counted with the change of their states.
                if !waits {
                    step(ladder_key, Step::Stay, session)?;
                }
                if let Some(at) = stop.representative {
                    self.urls.await_end(at.url);
                    self.waits_if_queued(entry.id, at);
                }
                if self.conduct.on_duplicate == OnDuplicate::Demote
                    && let Some(representative) = stop.representative
                {
                    self.late.count(entry.id.site, representative.site);
                }
                if let Some(rules) = &mut self.rules {
                    rules.stopped(&stop, &link.url, entry.id, session);
                }
                let Stop { rules, reason, representative } = stop;
                let waits = ladder_key.wait_place().filter(|_| waits);
                State::Stopped { rules, reason, representative, waits, link }
            }
        };
        self.end(entry.id, &state, session)
    }
}

/// Counts a decision on a ladder.
fn step(ladder_key: LadderKey, step: Step, session: &mut Session) -> Result<()> {
    let mut ladder = Ladder::get(ladder_key, session)?;
    ladder.take(step);
    ladder.put(ladder_key, session);
    Ok(())
}
