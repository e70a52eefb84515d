//! The frontier against a naive model of what it promises, under random links, answers, crashes and commits.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use crate::robots::{Answer, Rules};
use crate::{Admission, Found, Frontier, Job, JobKind, Merits, Millis, Next, Outcome, Via};
use config::{Duration, Robots, Settings};
use dedup_stage::store::{Double, Session};
use proptest::prelude::*;
use url::Url;

const HOSTS: u8 = 4;

#[derive(Clone, Debug)]
enum Step {
    /// A link to page `page` of `host`, in steps of priority.
    Add { host: u8, page: u8, priority: u8 },
    /// Time goes on.
    Wait(u16),
    /// The frontier is asked for jobs until it has none.
    Ask,
    /// The open job with this number (modulo their count) ends.
    End { job: u8, how: How },
    /// What happened so far becomes durable.
    Commit,
    /// The process dies, and comes back.
    Crash,
}

#[derive(Clone, Copy, Debug)]
enum How {
    Fine,
    Busy,
    Fail { transient: bool },
    Return,
}

fn step() -> impl Strategy<Value = Step> {
    let how = prop_oneof![
        12 => Just(How::Fine),
        1 => Just(How::Busy),
        1 => any::<bool>().prop_map(|transient| How::Fail { transient }),
        1 => Just(How::Return),
    ];
    prop_oneof![
        8 => (0..HOSTS, 0..40u8, 0..5u8).prop_map(|(host, page, priority)| Step::Add { host, page, priority }),
        4 => (0..3_000u16).prop_map(Step::Wait),
        8 => Just(Step::Ask),
        8 => (any::<u8>(), how).prop_map(|(job, how)| Step::End { job, how }),
        2 => Just(Step::Commit),
        1 => Just(Step::Crash),
    ]
}

fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.politeness.delay = Duration(500);
    settings.politeness.delay_factor = 0.0;
    settings.politeness.address_delay = Duration(100);
    settings.politeness.attempts = 3;
    settings.politeness.robots = Robots::Obey;
    settings
}

/// What the frontier must know, kept in the plainest way.
#[derive(Clone, Debug, Default)]
struct Model {
    met: BTreeSet<u64>,
    /// Queued or in flight, with the attempts so far.
    queued: BTreeMap<u64, u32>,
}

struct World {
    disk: Double,
    session: Session,
    frontier: Frontier,
    model: Model,
    durable: Model,
    now: Millis,
    open: Vec<Job>,
    /// Earliest next request, by host.
    not_before: BTreeMap<String, Millis>,
    last_start: Option<Millis>,
}

fn hash(host: u8, page: u8) -> u64 {
    u64::from(host) << 8 | u64::from(page) | 1 << 40
}

fn url(host: u8, page: u8) -> Url {
    Url::parse(&format!("http://host{host}.test/{}/{page}", page % 3)).unwrap()
}

impl World {
    fn new() -> Self {
        let disk = Double::default();
        let mut session = Session::new(Box::new(disk.clone()));
        let frontier = Frontier::open(&settings(), &mut session, 0).unwrap();
        session.commit().unwrap();
        Self {
            disk,
            session,
            frontier,
            model: Model::default(),
            durable: Model::default(),
            now: 0,
            open: Vec::new(),
            not_before: BTreeMap::new(),
            last_start: None,
        }
    }

    fn add(&mut self, host: u8, page: u8, priority: u8) {
        let (url, hash) = (url(host, page), hash(host, page));
        let found = Found {
            url: &url,
            hash,
            depth: 1,
            priority: f32::from(priority) / 4.0,
            merits: Merits::default(),
            source: Some(7),
            via: Via::Link,
        };
        let admission = self.frontier.add(&found, &mut self.session).unwrap();
        if self.model.met.insert(hash) {
            assert_eq!(admission, Admission::Queued);
            self.model.queued.insert(hash, 0);
        } else {
            assert_eq!(admission, Admission::Seen);
        }
    }

    fn ask(&mut self) -> Next {
        loop {
            let next = self
                .frontier
                .next(self.now, &mut self.session, &mut |job, reason| panic!("{job:?} skipped: {reason:?}"))
                .unwrap();
            let Next::Job(job) = next else { return next };
            let host = job.url.host_str().unwrap().to_owned();
            assert!(self.open.iter().all(|open| open.url.host_str() != Some(&host)), "two jobs open for {host}");
            if job.kind != JobKind::Resolve {
                let due = self.not_before.get(&host).copied().unwrap_or(0);
                assert!(self.now >= due, "{host} asked at {}, not before {due}", self.now);
                assert!(!job.addresses.is_empty());
                // All hosts share one address.
                assert!(self.last_start.is_none_or(|last| self.now >= last + 100), "the address has a floor");
                self.last_start = Some(self.now);
            }
            if job.kind == JobKind::Page {
                assert!(self.model.queued.contains_key(&job.hash), "not queued, or handed out twice: {job:?}");
                assert!(self.open.iter().all(|open| open.hash != job.hash));
            }
            self.open.push(job);
        }
    }

    fn end(&mut self, at: usize, how: How) {
        let job = self.open.swap_remove(at);
        let host = job.url.host_str().unwrap().to_owned();
        let (outcome, wait) = match (job.kind, how) {
            (_, How::Return) => (Outcome::Returned, 500),
            (JobKind::Resolve, How::Fail { .. }) => (Outcome::Unresolved { forbidden: false }, 1_000),
            (JobKind::Resolve, _) => (Outcome::Resolved(vec![IpAddr::from([192, 0, 2, 1])]), 0),
            (JobKind::Robots, How::Fail { .. }) => (Outcome::Robots(Rules::unreachable(self.now, None)), 500),
            (_, How::Fail { transient }) => (Outcome::Failed { transient }, 500),
            (JobKind::Robots, _) => (Outcome::Robots(rules(&job.url, self.now)), 500),
            (_, How::Busy) => (Outcome::Done { status: 503, elapsed: 10, retry_after: Some(4_000), row: 1 }, 4_000),
            (_, How::Fine) => (Outcome::Done { status: 200, elapsed: 10, retry_after: None, row: 1 }, 500),
        };
        let again = self.frontier.report(&job, outcome, self.now, &mut self.session).unwrap();
        if job.kind != JobKind::Resolve {
            let due = self.not_before.entry(host).or_default();
            *due = (*due).max(self.now + wait);
        }
        if job.kind == JobKind::Page {
            let attempts = self.model.queued.get_mut(&job.hash).unwrap();
            let expected = match how {
                How::Return => true,
                How::Fine | How::Fail { transient: false } => false,
                How::Busy | How::Fail { transient: true } => {
                    *attempts += 1;
                    *attempts < 3
                }
            };
            assert_eq!(again, expected, "{how:?}");
            if !again {
                self.model.queued.remove(&job.hash);
            }
        }
    }

    fn commit(&mut self) {
        self.session.commit().unwrap();
        self.durable = self.model.clone();
    }

    fn crash(&mut self) {
        self.session = Session::new(Box::new(self.disk.clone()));
        self.frontier = Frontier::open(&settings(), &mut self.session, self.now).unwrap();
        self.model = self.durable.clone();
        self.open.clear();
        for host in 0..HOSTS {
            self.not_before.insert(format!("host{host}.test"), self.now + 500);
        }
        self.check();
    }

    fn check(&self) {
        let counts = self.frontier.counts();
        let open = self.open.iter().filter(|job| job.kind == JobKind::Page).count() as u64;
        assert_eq!(counts.seen, self.model.met.len() as u64);
        assert_eq!(counts.queued + open, self.model.queued.len() as u64);
        assert_eq!(counts.hosts_fetching, self.open.len() as u64);
        for host in 0..HOSTS {
            for page in 0..40 {
                assert_eq!(self.frontier.seen(hash(host, page)), self.model.met.contains(&hash(host, page)));
            }
        }
    }

    /// Everything that is queued is handed out, once, in bounded time.
    fn drain(&mut self) {
        for _ in 0..10_000 {
            match self.ask() {
                _ if !self.open.is_empty() => self.end(0, How::Fine),
                Next::Wait(time) => {
                    assert!(time > self.now, "a wait for the past");
                    self.now = time;
                }
                Next::Idle => {
                    assert!(self.model.queued.is_empty(), "lost: {:?}", self.model.queued);
                    return;
                }
                Next::Job(_) => unreachable!("ask ends where there is no job"),
            }
        }
        panic!("no end");
    }
}

fn rules(url: &Url, at: Millis) -> Rules {
    Rules::read(&Answer { url, status: 404, retry_after: None, body: &[], at }, "once")
}

#[test]
fn the_store_is_rid_of_what_is_done() {
    let mut world = World::new();
    for round in 0..20u8 {
        for page in 0..40 {
            world.add(round, page, page % 5);
        }
        world.drain();
        world.commit();
    }
    let mut left = 0;
    let count = &mut |_: &[u8], _: &[u8]| {
        left += 1;
        std::ops::ControlFlow::Continue(())
    };
    world.session.scan(crate::spaces::QUEUE, &[], &[], count).unwrap();
    assert!(left < 100, "{left} of 800 left");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_frontier_keeps_its_promises(steps in proptest::collection::vec(step(), 1..300)) {
        let mut world = World::new();
        for step in steps {
            match step {
                Step::Add { host, page, priority } => world.add(host, page, priority),
                Step::Wait(time) => world.now += Millis::from(time),
                Step::Ask => _ = world.ask(),
                Step::End { job, how } if !world.open.is_empty() => {
                    let at = usize::from(job) % world.open.len();
                    world.end(at, how);
                }
                Step::End { .. } => {}
                Step::Commit => world.commit(),
                Step::Crash => world.crash(),
            }
            world.check();
        }
        world.drain();
    }
}
