//! Decides which hosts are in memory. Their number is bounded. If there are more, some hosts that have nothing to do
//! soon sleep on disk, and come back when they are due.

use dedup_stage::store::{Result, Session};

use super::Frontier;
use crate::host::{Class, FirstAsleep, Hosts};
use crate::numbers::{HostId, Millis};
use crate::process::Counted;
use crate::schedule::HostPhase;

impl Frontier {
    /// A host sleeps for this time if it waits for something that may never come.
    const LONG: Millis = 600_000;
    /// A host may have this many jobs in a row while other hosts sleep that are due.
    const IN_A_ROW: u32 = 16;

    /// Puts hosts to sleep while there are too many in memory.
    pub(super) fn make_room(&mut self, session: &mut Session) {
        while self.hosts.is_full(&self.queues) {
            let Some(id) = self.spare(&[]) else { break };
            self.put_to_sleep(id, session);
        }
    }

    /// The host that can best leave memory. It is not in `stay`. Hosts of large domains (those with many hosts in
    /// memory) leave first, then hosts that have not shown a page yet.
    fn spare(&self, stay: &[HostId]) -> Option<HostId> {
        let mut hosts = self.least().filter(|id| !stay.contains(id) && self.can_sleep(*id));
        self.spare_of_unknown(stay).or_else(|| hosts.next())
    }

    /// The host of a large domain that can best leave memory, or else a host that has not shown a page yet. It is not
    /// in `stay`.
    fn spare_of_unknown(&self, stay: &[HostId]) -> Option<HostId> {
        let mut hosts = self.least().filter(|id| !stay.contains(id) && !self.hosts.get(*id).progress.is_proven());
        self.spare_of_large(stay).or_else(|| hosts.find(|id| self.can_sleep(*id)))
    }

    /// The host of a large domain that can best leave memory. It is not in `stay`.
    fn spare_of_large(&self, stay: &[HostId]) -> Option<HostId> {
        let hosts = self.least().take_while(|_| self.hosts.has_large_domain());
        let mut hosts = hosts.filter(|id| !stay.contains(id) && self.hosts.is_of_large_domain(*id));
        hosts.find(|id| self.can_sleep(*id))
    }

    /// Hosts that can best leave memory, some of each phase.
    fn least(&self) -> impl Iterator<Item = HostId> + '_ {
        self.schedule.least(64).chain(std::iter::once_with(|| self.addresses.last_in_line()).flatten())
    }

    fn can_sleep(&self, id: HostId) -> bool {
        let host = self.hosts.get(id);
        host.errands.is_empty() && host.phase != HostPhase::Fetching
    }

    fn put_to_sleep(&mut self, id: HostId, session: &mut Session) {
        let host = self.hosts.get_mut(id);
        let due = match host.phase {
            HostPhase::Waiting(due, _) => due.min(self.now + Self::LONG),
            HostPhase::Parked(place) => {
                self.addresses.unpark(id, place);
                host.pace.not_before.max(self.now)
            }
            // A host that was never asked is not due before those that wait longer.
            HostPhase::Idle(_) | HostPhase::Ready(..) | HostPhase::Benched(..) | HostPhase::Fetching => {
                host.pace.not_before.max(self.now)
            }
        };
        self.schedule.leave(id, host.phase);
        self.schedule.set_awaited(id, &mut host.awaited, None);
        self.shares.count(&mut host.counted, Counted::default());
        self.troubled -= u64::from(host.pace.is_troubled());
        self.addresses.leave(host.addresses.ids(), self.now);
        let due = host.has_work().then_some(due);
        self.hosts.put_to_sleep(id, due, &mut self.queues, session);
    }

    /// Wakes as many sleeping hosts as there is room for. If there is no room, a host that is due takes the place of a
    /// host of a large domain, unless it belongs to such a domain itself. If it has shown pages, it may also take the
    /// place of a host that has not. If all hosts in memory wait, one host that is due wakes in any case.
    pub(super) fn call_sleepers(&mut self, now: Millis, session: &mut Session) -> Result<()> {
        // A host that comes back here stays for this call. Otherwise two hosts could take each other's room without
        // end.
        let mut back = Vec::new();
        loop {
            let has_room = self.hosts.has_room(&self.queues);
            let first = self.hosts.sleep.first(now, has_room, session)?;
            let Some(FirstAsleep { due, site, class }) = first else { break };
            if !has_room {
                let idle = self.schedule.is_calm() && self.schedule.next_due().is_none_or(|next| due < next);
                let spare = match class {
                    _ if due > now => None,
                    _ if idle => self.spare(&back),
                    Class::Shown => self.spare_of_unknown(&back),
                    Class::Unknown => self.spare_of_large(&back),
                    Class::Crowd => None,
                };
                let Some(id) = spare else { break };
                self.put_to_sleep(id, session);
            }
            back.push(self.wake_host(site, "", session)?);
        }
        Ok(())
    }

    /// A host has had a job. If sleeping hosts were due before it, it makes room for them now and then. It makes room
    /// for a host of a large domain only if it belongs to a large domain itself. If it has shown pages, it makes room
    /// for hosts that have not only if most hosts in memory have: otherwise those take the places of each other.
    pub(super) fn take_turns(&mut self, id: HostId, session: &mut Session) -> Result<()> {
        let host = self.hosts.get_mut(id);
        host.jobs += 1;
        let (jobs, due, is_proven) = (host.jobs, host.pace.not_before, host.progress.is_proven());
        if self.hosts.sleep.count() == 0 || jobs < Self::IN_A_ROW {
            return Ok(());
        }
        let class = if is_proven && 2 * self.shares.proven() <= Hosts::MOST { Class::Shown } else { Class::Unknown };
        let first = match self.hosts.is_of_large_domain(id) {
            true => self.hosts.sleep.first(self.now, false, session)?,
            false => self.hosts.sleep.first_up_to(class, session)?,
        };
        if self.can_sleep(id) && first.is_some_and(|first| first.due < due) {
            self.put_to_sleep(id, session);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use config::{Duration, Robots, Settings};
    use dedup_stage::store::{Memory, Session};
    use dedup_stage::url::{Canonicalizer, KeyHasher};
    use url::Url;

    use crate::host::domains::Domains;
    use crate::robots::{Answer, RobotsRules};
    use crate::{
        Failure, FoundLink, Frontier, Job, JobKind, Keys, Merits, Millis, Next, Outcome, SkipReason, Via, Walk,
    };

    const DELAY: Millis = 1_000;

    struct World {
        frontier: Frontier,
        session: Session,
        now: Millis,
        /// The number of requested pages, by host.
        asked: BTreeMap<String, usize>,
        subdomains: usize,
    }

    impl World {
        fn new(robots: Robots) -> Self {
            let mut settings = Settings::default();
            settings.politeness.delay = Duration(DELAY);
            settings.politeness.delay_factor = 0.0;
            settings.politeness.address_delay = Duration(0);
            settings.politeness.robots = robots;
            let keys = Keys { canonicalizer: Canonicalizer::default(), hasher: KeyHasher::new([9; KeyHasher::SECRET]) };
            let mut session = Session::new(Box::new(Memory::default()));
            let frontier = Frontier::open(&settings, &keys, &mut session, 0).unwrap();
            Self { frontier, session, now: 0, asked: BTreeMap::new(), subdomains: 0 }
        }

        fn add(&mut self, url: &str) {
            let url = Url::parse(url).unwrap();
            let (id, merits) = (self.frontier.id(&url), Merits::default());
            let found = FoundLink { url: &url, id, depth: 0, priority: 0.5, merits, source: None, via: Via::Link };
            self.frontier.add(&found, &mut self.session).unwrap();
        }

        /// A page of the domain without end links to three more of its subdomains.
        fn answer(&mut self, job: &Job) {
            let host = job.url.host_str().unwrap().to_owned();
            let outcome = match job.kind {
                JobKind::Resolve if host.starts_with("nowhere") => Outcome::Failed(Failure::Name),
                JobKind::Page if host.starts_with("dead") => Outcome::Failed(Failure::Timeout),
                JobKind::Robots => {
                    let (url, at) = (&job.url, self.now);
                    let answer = Answer { url, status: 500, retry_after: None, body: b"", at };
                    Outcome::Robots(RobotsRules::read(&answer, "bot"))
                }
                JobKind::Resolve => Outcome::Resolved(vec!["192.0.2.1".parse().unwrap()]),
                _ => Outcome::Done { status: 200, elapsed: 1, retry_after: None, target: None, cut: false },
            };
            self.frontier.report(job, outcome, self.now, &mut self.session).unwrap();
            if job.kind == JobKind::Page {
                if host.ends_with(".wild.test") {
                    for _ in 0..3 {
                        self.subdomains += 1;
                        self.add(&format!("http://s{}.wild.test/", self.subdomains));
                    }
                }
                *self.asked.entry(host).or_default() += 1;
            }
        }

        /// Answers take four milliseconds, one after the other.
        fn run(&mut self, until: Millis) {
            while self.now < until {
                match self.frontier.next(self.now, &mut self.session).unwrap() {
                    Next::Job(job) => {
                        self.now += 4;
                        self.answer(&job);
                    }
                    Next::Wait(due) => self.now = due.max(self.now + 1),
                    Next::Idle => break,
                }
            }
        }
    }

    /// Catches hosts that sleep for ever because a domain always has further hosts that were never asked.
    #[test]
    fn a_domain_without_end_leaves_the_hosts_of_others_their_turns() {
        let mut world = World::new(Robots::Ignore);
        // Memory has no room for hosts of further domains.
        for host in ["a.test", "b.test", "s0.wild.test"] {
            for page in 0..25 {
                world.add(&format!("http://{host}/{page}"));
            }
        }
        world.run(30 * DELAY);
        let asked = |host: &str| world.asked.get(host).copied().unwrap_or(0);
        assert_eq!((asked("a.test"), asked("b.test")), (25, 25), "each of them at its own pace");
        assert!(world.asked.len() > 1_000, "{} hosts", world.asked.len());
        let pages = world.asked.values().sum::<usize>();
        let most = (Domains::PLACES + Domains::HOSTS) as usize + Domains::EARNED as usize * pages + 2;
        assert!(world.frontier.hosts.len() <= most && world.subdomains > most, "{} hosts", world.frontier.hosts.len());
    }

    /// Catches hosts that have shown pages and sleep behind hosts that a page has invented, each in a domain of its
    /// own.
    #[test]
    fn hosts_that_nobody_knows_leave_the_hosts_that_have_shown_pages_their_turns() {
        let mut world = World::new(Robots::Ignore);
        for page in 0..25 {
            world.add(&format!("http://a.test/{page}"));
            world.add(&format!("http://b.test/{page}"));
        }
        world.run(3 * DELAY);
        let asked = |world: &World, host: &str| world.asked.get(host).copied().unwrap_or(0);
        assert!(asked(&world, "a.test") > 1 && asked(&world, "b.test") > 1);
        for number in 0..6_000 {
            world.add(&format!("http://dead{number}.d{number}.test/"));
        }
        world.run(30 * DELAY);
        assert_eq!((asked(&world, "a.test"), asked(&world, "b.test")), (25, 25), "each of them at its own pace");
        assert!(world.asked.len() > 30, "the others are asked, too: {} hosts", world.asked.len());
    }

    /// Catches a report in which the hosts that cannot be asked have no reason, because they sleep on disk.
    #[test]
    fn what_sleeping_hosts_hold_back_can_be_walked_over() {
        let mut world = World::new(Robots::Obey);
        let mut expected = BTreeMap::new();
        for host in 0..20 {
            for (name, reason) in [("broken", SkipReason::Robots), ("nowhere", SkipReason::Address)] {
                for page in 0..3 {
                    let url = format!("http://{name}{host}.test/{}/{page}", page % 2);
                    world.add(&url);
                    expected.insert(url, reason);
                }
            }
        }
        world.run(20 * DELAY);
        assert!(world.frontier.hosts.sleep.count() > 30, "{} asleep", world.frontier.hosts.sleep.count());
        for most in [1, 2, 1_000] {
            let (mut walk, mut found) = (Walk::new(true), BTreeMap::new());
            loop {
                let some = world.frontier.skipped(&mut walk, most, &world.session).unwrap();
                if some.is_empty() {
                    break;
                }
                assert!(some.len() <= most);
                for skipped in some {
                    assert_eq!(found.insert(skipped.url.to_string(), skipped.reason), None, "{} twice", skipped.url);
                }
            }
            assert_eq!(found, expected);
        }
    }
}
