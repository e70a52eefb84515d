//! How a job ends: its outcome changes the state of the URL, the pace of the host and the address of the host.

use std::sync::Arc;

use dedup_stage::store::{Result, Session};
use dedup_stage::url::UrlId;

use super::next_step::Refusal;
use super::{Frontier, JobTask, Open};
use crate::failure::Failure;
use crate::hold::news::Showed;
use crate::hold::works::Task;
use crate::host::addresses::HostAddresses;
use crate::host::entry::Entry;
use crate::host::lane::{LaneKey, Seq};
use crate::host::retries::Retries;
use crate::job::{AnswerCost, Job, JobKind, Outcome};
use crate::numbers::{HostId, Millis};
use crate::reason::{Detail, SkipReason};
use crate::trial::Trial;
use crate::url::{End, EndedAs, Note, Standing, State, Visit};

impl Frontier {
    /// An address is used for this time before it is asked for again.
    const ADDRESS_LIFE: Millis = 3_600_000;
    /// If this machine could not ask for an address, the host waits for this time.
    const POSTPONED: Millis = 1_000;
    /// The memory may lack room for a body this often in a row. After that, each time counts as an attempt.
    const NO_ROOM: u8 = 3;
    /// If the memory lacks room for a body, the host waits for this time. The time is doubled each time.
    const ROOM: Millis = 200;

    /// A job ended at `at`. True if its URL was queued again. A job that is not open is ignored.
    pub fn report(&mut self, job: &Job, outcome: Outcome, at: Millis, session: &mut Session) -> Result<bool> {
        self.now = self.now.max(at);
        let Some(Open { host: id, task, lines, costly }) = self.jobs.open.remove(&job.id) else { return Ok(false) };
        self.jobs.costly -= usize::from(costly);
        self.shares.give_back(&lines);
        let host = self.hosts.get_mut(id);
        host.usage.ends(at);
        host.used_slot(&outcome, session);
        let site = host.site;
        if matches!((&outcome, &task), (Outcome::Done { .. }, JobTask::Entry(..))) {
            self.hosts.earn(site);
        }
        let host = self.hosts.get_mut(id);
        let troubled = host.pace.is_troubled();
        let again = match task {
            JobTask::Resolve => {
                self.resolved(id, outcome, at);
                false
            }
            JobTask::Robots(errand) => {
                self.robots_ended(id, errand, outcome, at, session)?;
                false
            }
            JobTask::Entry(key, seq, entry) => {
                let again = self.entry_ended(id, key, seq, *entry, job, &outcome, at, session)?;
                self.sweep.step(&self.hosts, self.queues.arrivals(), session)?;
                again
            }
        };
        let host = self.hosts.get_mut(id);
        if host.pace.is_troubled() {
            host.record(session);
        }
        self.troubled += u64::from(host.pace.is_troubled());
        self.troubled -= u64::from(troubled);
        self.queues.shrink(&mut host.lanes);
        self.settle(id);
        self.take_turns(id, session)?;
        Ok(again)
    }

    /// An answer was taken at `now`. While all answers wait for long, fewer costly jobs are handed out at once, and
    /// registrable domains take turns by what they cost.
    ///
    /// # Complexity
    ///
    /// O(log ready hosts), and O(ready hosts) when this machine comes to be behind, or to keep up again.
    pub fn taken(&mut self, taken: &AnswerCost, now: Millis) {
        let was_behind = self.shares.load.is_behind();
        if taken.kind != JobKind::Resolve && taken.answered {
            self.shares.load.taken(taken, self.schedule.usual_cost(), now);
        }
        let is_behind = self.shares.load.is_behind();
        self.schedule.taken(taken, is_behind);
        for id in if is_behind && !was_behind { self.schedule.in_idle_lines() } else { Vec::new() } {
            let host = self.hosts.get_mut(id);
            let rank = host.rank();
            self.schedule.make_ready(id, &mut host.phase, host.site.domain, rank);
        }
    }

    /// A request for an entry has ended. True if the entry waits in its queue again.
    #[allow(clippy::too_many_arguments)]
    fn entry_ended(
        &mut self,
        id: HostId,
        key: LaneKey,
        seq: Seq,
        mut entry: Entry,
        job: &Job,
        outcome: &Outcome,
        at: Millis,
        session: &mut Session,
    ) -> Result<bool> {
        let next = self.weigh(id, &mut entry, job, outcome, at, session);
        let host = self.hosts.get_mut(id);
        if let EntryFate::PutBack = next {
            let packed = host.pack(&entry, &job.url, key.group);
            self.queues.put_back(&mut host.lanes, key, seq, packed);
            self.waits_again(id, key, &entry, session);
            return Ok(true);
        }
        self.queues.finish(&mut host.lanes, key, session);
        match next {
            EntryFate::Refuse(reason) => {
                if entry.is_page() {
                    self.count_page(id, -1, session);
                }
                self.pass_over(entry, Refusal::Reason(reason, Detail::None), session)?;
                Ok(false)
            }
            EntryFate::End { end, retry } if !retry || entry.attempts + 1 >= self.conduct.politeness.attempts => {
                if entry.sitemap {
                    host.origins.file_ended(entry.id.url);
                } else {
                    self.visited(entry, job, end, session)?;
                }
                Ok(false)
            }
            EntryFate::End { .. } | EntryFate::PutBack => {
                entry.attempts += u32::from(matches!(next, EntryFate::End { .. }));
                let packed = host.pack(&entry, &job.url, key.group);
                self.queues.push(&mut host.lanes, key, packed, session);
                self.waits_again(id, key, &entry, session);
                Ok(true)
            }
        }
    }

    /// The entry is in its queue again.
    fn waits_again(&mut self, id: HostId, key: LaneKey, entry: &Entry, session: &mut Session) {
        if !entry.sitemap {
            self.urls.place(entry.id.url, key.band);
        }
        if entry.is_page() {
            self.count_page(id, -1, session);
        }
    }

    /// Tells the host of an entry how a request for it has ended. Returns what becomes of the entry.
    fn weigh(
        &mut self,
        id: HostId,
        entry: &mut Entry,
        job: &Job,
        outcome: &Outcome,
        at: Millis,
        session: &mut Session,
    ) -> EntryFate {
        let politeness = &self.conduct.politeness;
        let host = self.hosts.get_mut(id);
        match *outcome {
            Outcome::Done { status, elapsed, retry_after, target, cut } => {
                let busy = matches!(status, 429 | 503);
                let may_pass = !busy && (cut || Retries::is_worth(status));
                match may_pass {
                    true => host.retries.failed(),
                    false if !busy => host.retries.answered(),
                    false => {}
                }
                let again = may_pass
                    && entry.attempts + 1 < politeness.attempts
                    && host.retries.take(host.pace.back_off(at, entry.attempts, self.conduct.longest_wait));
                if busy || retry_after.is_some() {
                    host.pace.slowed(at, retry_after, politeness);
                } else if again && host.retries.strain() {
                    host.pace.strained(at, self.conduct.longest_wait, politeness);
                } else {
                    host.pace.answered(at, elapsed, politeness);
                }
                if status < 400 && host.origins.answered(&job.url) {
                    host.record(session);
                }
                let end = match target {
                    Some(target) => End::Redirected { status, target },
                    None => End::Answered { status },
                };
                EntryFate::End { end, retry: busy || again }
            }
            Outcome::Failed(failure) => {
                host.pace.failed(at, politeness);
                EntryFate::End { end: End::Failed { failure }, retry: failure.is_transient() }
            }
            Outcome::Returned { requested: true } if entry.returned >= Self::NO_ROOM => {
                host.pace.ended(at, politeness);
                host.pace.wait_until(at + (Self::ROOM << (entry.attempts + 2).min(5)));
                EntryFate::End { end: End::Failed { failure: Failure::NoRoom }, retry: true }
            }
            Outcome::Later => {
                host.pace.wait_until(at + Self::RETURNED);
                EntryFate::PutBack
            }
            Outcome::Refused(reason) => EntryFate::Refuse(reason),
            _ => {
                host.pace.ended(at, politeness);
                let requested = matches!(outcome, Outcome::Returned { requested: true });
                let wait = if requested { Self::ROOM << entry.returned.min(5) } else { Self::RETURNED };
                host.pace.wait_until(at + wait);
                entry.returned += u8::from(requested);
                EntryFate::PutBack
            }
        }
    }

    /// A visit to a page is over.
    fn visited(&mut self, entry: Entry, job: &Job, end: End, session: &mut Session) -> Result<()> {
        let before = self.urls.before(entry.id, session)?;
        let visit = Visit { number: job.page.visit, end };
        let is_missing = |end| matches!(end, End::Answered { status: 404 | 410 });
        let state = match before {
            Some(before) if is_missing(before.end) && is_missing(end) => State::Gone(visit),
            _ => State::Done(visit),
        };
        if let Some(trial) = &entry.trial {
            self.trial_ended(job, trial, end, session)?;
        }
        self.end(entry.id, &state, session)
    }

    /// A queued URL comes into another state. Work in the background decides about the URLs that are held or stopped
    /// for it.
    pub(super) fn end(&mut self, id: UrlId, state: &State, session: &mut Session) -> Result<()> {
        let note = match self.urls.get(id.url) {
            Some(Standing::Queued { note, .. } | Standing::Open { note }) => note,
            _ => Note::Again,
        };
        self.urls.change(id, state, session)?;
        let well = self.urls.get(id.url) == Some(Standing::Done(EndedAs::Well));
        let awaited = match note {
            Note::None => false,
            Note::Awaited => true,
            // It was visited before. If this visit went well, the URLs that are held for it stay held.
            Note::Again => !well,
        };
        if awaited && is_held_for(id, session)? {
            self.works.add(Task::Ended(id), session);
        }
        Ok(())
    }

    /// A visit was refused for this reason. If robots.txt forbids the URL now, its copies are asked in its place.
    pub(super) fn withdrawn(&mut self, id: UrlId, reason: SkipReason, session: &mut Session) -> Result<()> {
        if reason == SkipReason::Robots && is_held_for(id, session)? {
            self.works.add(Task::Forbidden(id), session);
        }
        Ok(())
    }

    /// The page of a trial was visited. If the visit went well, the result of a trial of rules or of a pair comes with
    /// the lesson ([`Frontier::learn`]).
    fn trial_ended(&mut self, job: &Job, trial: &Arc<Trial>, end: End, session: &mut Session) -> Result<()> {
        let well = matches!(end, End::Answered { status: 200..300 | 304 });
        match **trial {
            Trial::News { template } if well => self.news.answered(job.page, template),
            Trial::News { template } => {
                let showed = match end {
                    End::Redirected { .. } => Showed::Neither,
                    _ => Showed::Nothing,
                };
                self.news_ended(job.page.url, template, showed, session)?;
            }
            Trial::Pair { .. } | Trial::Rules(_) if well => {}
            Trial::Fallen(_) => {}
            Trial::Pair { .. } | Trial::Rules(_) => self.trial_is_off(job.page.url, &job.url, trial, session)?,
        }
        Ok(())
    }

    fn resolved(&mut self, id: HostId, outcome: Outcome, at: Millis) {
        let host = self.hosts.get_mut(id);
        self.addresses.leave(host.addresses.ids(), at);
        host.addresses = match outcome {
            Outcome::Resolved(ips) if !ips.is_empty() => {
                let ids = self.addresses.enter(&ips, host.site.host);
                HostAddresses::Known { ips: ips.into(), ids, until: at + Self::ADDRESS_LIFE }
            }
            Outcome::Resolved(_) | Outcome::Failed(Failure::Address) => {
                HostAddresses::Forbidden { until: at + Self::ADDRESS_LIFE }
            }
            Outcome::Returned { .. } => {
                host.pace.wait_until(at + Self::POSTPONED);
                HostAddresses::Postponed
            }
            Outcome::Failed(failure) => {
                host.pace.failed(at, &self.conduct.politeness);
                HostAddresses::Unresolved(failure)
            }
            _ => {
                host.pace.failed(at, &self.conduct.politeness);
                HostAddresses::Unresolved(Failure::Name)
            }
        };
        if let HostAddresses::Unresolved(_) = host.addresses {
            host.errands.give_up_own().iter().for_each(|asker| self.robots_again.answered(asker));
        }
    }

    /// Counts a page of a host that is being fetched (`change` is 1), or that was not fetched after all (-1).
    pub(super) fn count_page(&mut self, id: HostId, change: i64, session: &mut Session) {
        let host = self.hosts.get_mut(id);
        host.pages = host.pages.saturating_add_signed(change);
        if self.bounds.of_host > 0 || self.bounds.of_domain > 0 {
            host.record(session);
        }
        if self.bounds.of_domain > 0 {
            let pages = self.bounds.by_domain.entry(host.site.domain).or_default();
            *pages = pages.saturating_add_signed(change);
        }
    }
}

/// What becomes of a queue entry whose request has ended.
#[derive(Clone, Copy)]
enum EntryFate {
    /// The visit is over, unless the URL has attempts left and `retry` is set.
    End { end: End, retry: bool },
    /// It waits at the place in its queue that it had.
    PutBack,
    /// The URL is refused.
    Refuse(SkipReason),
}

/// Whether any URL is held or stopped for this one.
fn is_held_for(id: UrlId, session: &Session) -> Result<bool> {
    let mut found = false;
    let (from, to) = crate::url::held_for(id);
    session.scan(crate::spaces::HELD_FOR, &from, &to, &mut |_, _| {
        found = true;
        std::ops::ControlFlow::Break(())
    })?;
    Ok(found)
}
