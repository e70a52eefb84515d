//! How a job ends: what its outcome says of the URL, of the host's health, of its address and of its rules.

use config::Robots;
use dedup_stage::judge::Row;
use dedup_stage::store::{Result, Session};
use url::Url;

use crate::frontier::{Frontier, Open, Task};
use crate::hosts::{Errand, Place};
use crate::job::{Job, Millis, Outcome};
use crate::origins::Origin;
use crate::queue::{Entry, HostId, LaneKey, Seq};
use crate::robots::{Answer, Rules};
use crate::schedule::Phase;
use crate::seen::{self, UrlState};

impl Frontier {
    /// For how long an address is used before it is asked for again.
    const ADDRESS_LIFE: Millis = 3_600_000;
    /// What was not attempted waits at least so long.
    const RETURNED: Millis = 100;
    /// How often a robots.txt may move (RFC 9309, section 2.3.1.2).
    const MOVES: u8 = 5;

    /// A job ended at `at`. True if its URL was queued again. A job that is not open is nobody's: nothing happens.
    pub fn report(&mut self, job: &Job, outcome: Outcome, at: Millis, session: &mut Session) -> Result<bool> {
        let Some(Open { host: id, task }) = self.open.remove(&job.id) else { return Ok(false) };
        let troubled = self.hosts.get(id).pace.is_troubled();
        let again = match task {
            Task::Resolve => {
                self.resolved(id, outcome, at);
                false
            }
            Task::Robots(errand) => {
                self.robots_ended(id, errand, outcome, at, session)?;
                false
            }
            Task::Entry(key, seq, entry) => {
                let again = self.entry_ended(key, seq, entry, &outcome, at, session);
                self.sweep.step(&self.hosts, self.queues.arrivals(), session)?;
                again
            }
        };
        let host = self.hosts.get_mut(id);
        if host.pace.is_troubled() {
            host.record(id, session);
        }
        self.troubled += u64::from(host.pace.is_troubled());
        self.troubled -= u64::from(troubled);
        self.schedule.set_aside(id, &mut host.phase, Phase::Idle);
        self.settle(id);
        Ok(again)
    }

    fn entry_ended(
        &mut self,
        key: LaneKey,
        seq: Seq,
        entry: Entry,
        outcome: &Outcome,
        at: Millis,
        session: &mut Session,
    ) -> bool {
        let host = self.hosts.get_mut(key.host);
        let (state, retry) = match *outcome {
            Outcome::Done { status, elapsed, retry_after, row } => {
                let busy = matches!(status, 429 | 503);
                if busy || retry_after.is_some() {
                    host.pace.slowed(at, retry_after, &self.settings);
                } else {
                    host.pace.answered(at, elapsed, &self.settings);
                }
                (UrlState::Done { status, row: (row != Row::MAX).then_some(row) }, busy)
            }
            Outcome::Failed { transient } => {
                host.pace.failed(at, &self.settings);
                (UrlState::Failed, transient)
            }
            _ => {
                host.pace.ended(at, &self.settings);
                host.pace.wait_until(at + Self::RETURNED);
                self.waiting.queued(entry.hash, key.band);
                self.queues.put_back(&mut host.lanes, key, seq, entry);
                return true;
            }
        };
        self.queues.finish(&mut host.lanes, key, session);
        if retry && entry.attempts + 1 < self.settings.attempts {
            let again = Entry { attempts: entry.attempts + 1, ..entry };
            self.waiting.queued(entry.hash, key.band);
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
                Place::Unresolved
            }
        };
    }

    fn robots_ended(
        &mut self,
        id: HostId,
        errand: Errand,
        outcome: Outcome,
        at: Millis,
        session: &mut Session,
    ) -> Result<()> {
        let retry_after = match &outcome {
            Outcome::Robots(rules) => rules.retry_after(),
            _ => None,
        };
        self.robots_answered(id, errand, outcome, at, session)?;
        // Only now: the answer may have named a longer delay, which holds from here on.
        let pace = &mut self.hosts.get_mut(id).pace;
        match retry_after {
            Some(wait) => pace.slowed(at, Some(wait), &self.settings),
            None => pace.ended(at, &self.settings),
        }
        Ok(())
    }

    fn robots_answered(
        &mut self,
        id: HostId,
        mut errand: Errand,
        outcome: Outcome,
        at: Millis,
        session: &mut Session,
    ) -> Result<()> {
        match outcome {
            Outcome::Robots(rules) => self.rules_known(&errand, rules, session),
            Outcome::RobotsMoved(target) if errand.moves < Self::MOVES => {
                errand.moves += 1;
                errand.url = target;
                match self.host(&errand.url, session) {
                    Some(target) => {
                        if let Some(origin) = self.asker(&errand) {
                            origin.moved();
                        }
                        self.hosts.get_mut(target).errands.push_back(errand);
                        self.awake(target);
                        Ok(())
                    }
                    None => self.rules_known(&errand, unavailable(&errand.of, at), session),
                }
            }
            Outcome::RobotsMoved(_) => self.rules_known(&errand, unavailable(&errand.of, at), session),
            Outcome::Returned => {
                let host = self.hosts.get_mut(id);
                host.pace.wait_until(at + Self::RETURNED);
                host.errands.push_front(errand);
                Ok(())
            }
            _ => self.rules_known(&errand, Rules::unreachable(at, None), session),
        }
    }

    /// The rules of an origin were answered, here or elsewhere.
    pub(crate) fn rules_known(&mut self, errand: &Errand, rules: Rules, session: &mut Session) -> Result<()> {
        let Some(origin) = self.asker(errand) else { return Ok(()) };
        let sitemaps = rules.sitemaps().to_vec();
        origin.answered(rules, &errand.of, session);
        let host = self.hosts.get_mut(errand.asker);
        let known = host.origins.iter().filter_map(|origin| origin.rules()?.crawl_delay());
        let mut delay = known.map(|delay| delay.0).max().unwrap_or(0);
        if host.origins.iter().any(Origin::is_unread) {
            // What they said in an earlier run of the program still holds.
            delay = delay.max(host.pace.crawl_delay);
        }
        if host.pace.crawl_delay != delay {
            let before = host.pace.delay(&self.settings);
            host.pace.crawl_delay = delay;
            // The wait that has begun is already the longer one.
            host.pace.not_before += host.pace.delay(&self.settings).saturating_sub(before);
            host.record(errand.asker, session);
        }
        if let Phase::Waiting(..) = host.phase {
            // It waited for this.
            self.settle(errand.asker);
        }
        if self.sitemaps && self.settings.robots == Robots::Obey {
            for sitemap in &sitemaps {
                self.add_sitemap(sitemap, session)?;
            }
        }
        Ok(())
    }

    /// The origin whose robots.txt an errand asks for.
    fn asker(&mut self, errand: &Errand) -> Option<&mut Origin> {
        let asked = Origin::of(&errand.of);
        self.hosts.get_mut(errand.asker).origins.iter_mut().find(|origin| origin.is(&asked))
    }

    /// An idle or waiting host that has something to do waits for its time.
    pub(crate) fn settle(&mut self, id: HostId) {
        let host = self.hosts.get_mut(id);
        let rank = (host.has_work() && !host.pace.is_troubled()).then(|| host.rank());
        self.schedule.stands(id, &mut host.standing, rank);
        if host.has_work() {
            // A first look at the address is no request, and need not wait; after a failed one it does.
            let early = matches!(host.place, Place::Unknown) && !host.pace.is_troubled();
            let due = if early { 0 } else { host.pace.not_before };
            self.schedule.wait(id, &mut host.phase, due);
        }
    }
}

/// The rules of an origin whose robots.txt moved too often: as if there were none (RFC 9309, section 2.3.1.2).
fn unavailable(url: &Url, at: Millis) -> Rules {
    Rules::read(&Answer { url, status: 404, retry_after: None, body: &[], at }, "")
}
