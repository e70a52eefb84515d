//! What is fetched first: better priorities found later, hosts that wait for better ones, what is expected of groups.

use config::{Duration, OnDuplicate, Robots, Settings};
use dedup_stage::store::{Double, Session};
use dedup_stage::url::{Canonicalizer, KeyHasher, Keys};
use frontier::{Admission, Brought, FoundLink, Frontier, Job, JobKind, Merits, Millis, Next, Outcome, Taught, Via};
use url::Url;

fn keys() -> Keys {
    Keys { canonicalizer: Canonicalizer::default(), hasher: KeyHasher::new([9; KeyHasher::SECRET]) }
}

struct Sim {
    frontier: Frontier,
    session: Session,
    now: Millis,
}

fn settings(on_duplicate: OnDuplicate) -> Settings {
    let mut settings = Settings::default();
    settings.dedup.on_duplicate = on_duplicate;
    settings.politeness.robots = Robots::Ignore;
    settings.politeness.delay = Duration(0);
    settings.politeness.delay_factor = 0.0;
    settings
}

impl Sim {
    fn open(settings: &Settings, store: &Double) -> Self {
        let mut session = Session::new(Box::new(store.clone()));
        let frontier = Frontier::open(settings, &keys(), &mut session, 0).unwrap();
        Self { frontier, session, now: 1_000 }
    }

    fn add(&mut self, url: &str, priority: f32) -> Admission {
        let url = Url::parse(url).unwrap();
        let id = keys().id(&url);
        let merits = Merits::default();
        let found = FoundLink { url: &url, id, depth: 1, priority, merits, source: None, via: Via::Link };
        self.frontier.add(&found, &mut self.session).unwrap()
    }

    /// The next page job; addresses are found on the way.
    fn next(&mut self) -> Option<Job> {
        loop {
            match self.frontier.next(self.now, &mut self.session).unwrap() {
                Next::Job(job) if job.kind == JobKind::Resolve => {
                    let host = job.url.host_str().unwrap().as_bytes()[0];
                    let address = Outcome::Resolved(vec![[10, 0, 0, host].into()]);
                    self.frontier.report(&job, address, self.now, &mut self.session).unwrap();
                }
                Next::Job(job) => return Some(job),
                Next::Wait(due) if due <= self.now + 1 => self.now = due,
                Next::Wait(_) | Next::Idle => return None,
            }
        }
    }

    fn done(&mut self, job: &Job) {
        let outcome = Outcome::Done { status: 200, elapsed: 1, retry_after: None, target: None, cut: false };
        self.frontier.report(job, outcome, self.now, &mut self.session).unwrap();
    }

    /// Everything that is queued, in the order in which it is fetched.
    fn drain(&mut self) -> Vec<String> {
        let mut order = Vec::new();
        while let Some(job) = self.next() {
            self.done(&job);
            order.push(job.url.path().to_owned() + job.url.query().unwrap_or_default());
        }
        order
    }
}

#[test]
fn a_link_of_a_new_page_lifts_a_url_that_only_duplicates_named_and_it_is_fetched_once() {
    for restart in [false, true] {
        let store = Double::default();
        let settings = settings(OnDuplicate::Demote);
        let mut sim = Sim::open(&settings, &store);
        sim.add("http://a.test/low", 0.04);
        sim.add("http://a.test/lifted", 0.04);
        sim.add("http://a.test/high", 0.8);
        assert_eq!(sim.add("http://a.test/lifted", 0.8), Admission::Seen);
        if restart {
            sim.session.commit().unwrap();
            sim = Sim::open(&settings, &store);
        }
        assert_eq!(sim.drain(), ["/high", "/lifted", "/low"], "restart {restart}");
        assert_eq!(sim.frontier.counts().queued, 0);
    }
}

#[test]
fn what_was_lifted_and_fetched_before_a_restart_is_not_fetched_again() {
    let store = Double::default();
    let settings = settings(OnDuplicate::Demote);
    let mut sim = Sim::open(&settings, &store);
    sim.add("http://a.test/lifted", 0.04);
    sim.add("http://a.test/low", 0.04);
    sim.add("http://a.test/lifted", 0.8);
    let job = sim.next().unwrap();
    assert_eq!(job.url.path(), "/lifted");
    sim.done(&job);
    sim.session.commit().unwrap();
    assert_eq!(Sim::open(&settings, &store).drain(), ["/low"]);
}

#[test]
fn where_slots_are_scarce_a_host_waits_for_a_much_better_one_and_not_for_ever() {
    let cases = [(OnDuplicate::Demote, 1, true), (OnDuplicate::Demote, 64, false), (OnDuplicate::Drop, 1, false)];
    for (on_duplicate, slots, waits) in cases {
        let mut settings = settings(on_duplicate);
        settings.fetch.concurrency = slots;
        settings.politeness.delay = Duration(10_000);
        let mut sim = Sim::open(&settings, &Double::default());
        sim.add("http://a.test/first", 0.9);
        let first = sim.next().unwrap();
        sim.done(&first);
        sim.now += 10_000;
        sim.add("http://a.test/low", 0.04);
        sim.add("http://b.test/high", 0.8);
        sim.add("http://b.test/higher", 0.9);
        let better = sim.next().unwrap();
        assert_eq!(better.url.path(), "/higher");
        // The better host is busy, and has more.
        let second = sim.next();
        assert_eq!(second.is_none(), waits, "{on_duplicate:?}, {slots} slots");
        if waits {
            // The host waits a tenth of its own delay at most.
            sim.now += 1_000;
            assert_eq!(sim.next().unwrap().url.path(), "/low");
        }
        sim.done(&better);
        sim.now += 10_000;
        assert_eq!(sim.next().unwrap().url.path(), "/high");
    }
}

#[test]
fn pages_that_turn_out_to_be_copies_lower_what_is_queued_of_their_kind() {
    let store = Double::default();
    let settings = settings(OnDuplicate::Demote);
    let mut sim = Sim::open(&settings, &store);
    for n in 0..40 {
        sim.add(&format!("http://a.test/print/{n}"), 0.8);
        sim.add(&format!("http://a.test/story/{n}"), 0.8);
    }
    for n in 0..12 {
        let job = sim.next().unwrap();
        sim.done(&job);
        let copy = job.url.path().starts_with("/print/");
        let brought = if copy { Brought::Nothing } else { Brought::Content };
        let taught = Taught::Page { brought, novelty: f32::from(u8::from(!copy)) };
        sim.frontier.teach(&job, taught, true, &mut sim.session).unwrap();
        let expected = sim.frontier.expected(&job.url).unwrap();
        assert!(n == 0 || (expected.path < 1.0) == copy, "{n} {copy} {expected:?}");
    }
    let order = sim.drain();
    let first_copy = order.iter().position(|path| path.starts_with("/print/")).unwrap();
    let last_story = order.iter().rposition(|path| path.starts_with("/story/")).unwrap();
    assert!(first_copy > last_story, "{order:?}");
}
