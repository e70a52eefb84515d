//! What is not fetched: refused URLs, forbidden addresses, traps, a damaged store.

use std::net::IpAddr;

use config::{OnDuplicate, Robots};
use dedup_stage::store::{Double, Session};
use frontier::{
    Admission, Brought, Failure, FoundLink, Frontier, JobKind, Merits, Millis, Next, Outcome, SkipReason, Taught, Via,
    stored_budgets,
};
use url::Url;

use crate::sim::{Sim, id, keys, polite};
use frontier::robots::{Answer, RobotsRules};
use frontier::spaces;

#[test]
fn a_url_that_cannot_be_fetched_is_refused_with_its_reason() {
    let mut sim = Sim::new(&polite(10));
    assert_eq!(sim.add("ftp://a.test/", 0.5), Admission::Refused(SkipReason::Scheme));
    assert_eq!(sim.add(&format!("http://a.test/{}", "x".repeat(5_000)), 0.5), Admission::Refused(SkipReason::TooLong));
}

#[test]
fn of_a_host_with_many_ports_the_default_ones_are_fetched() {
    let mut sim = Sim::new(&polite(10));
    for port in 1..=40 {
        assert_eq!(sim.link(&format!("http://a.test:{}/", 8_000 + port)), Admission::Queued);
    }
    assert_eq!(sim.link("http://a.test/"), Admission::Queued);
    assert_eq!(sim.link("https://a.test/"), Admission::Queued);
    sim.run(Millis::MAX, usize::MAX);
    let skipped = sim.skipped();
    assert_eq!(skipped.len() + sim.pages().len(), 42);
    assert!((1..=10).contains(&skipped.len()), "{skipped:?}");
    assert!(skipped.iter().all(|(url, reason)| *reason == SkipReason::Trap && url.contains(":80")), "{skipped:?}");
}

#[test]
fn a_host_whose_addresses_are_forbidden_has_its_urls_refused() {
    let mut sim = Sim::new(&polite(10));
    for n in 0..3 {
        sim.add(&format!("http://a.test/{n}"), 0.5);
    }
    let Next::Job(job) = sim.frontier.next(0, &mut sim.session).unwrap() else { panic!() };
    assert_eq!(job.kind, JobKind::Resolve);
    let outcome = Outcome::Failed(Failure::Address);
    sim.frontier.report(&job, outcome, 0, &mut sim.session).unwrap();
    sim.run(Millis::MAX, usize::MAX);
    let skipped = sim.skipped();
    assert_eq!(skipped.len(), 3);
    assert!(skipped.iter().all(|(_, reason)| *reason == SkipReason::Address));
    assert_eq!(sim.log, []);
}

#[test]
fn an_endless_space_of_copies_ends_and_the_rest_of_the_site_does_not() {
    let mut settings = polite(0);
    settings.politeness.robots = Robots::Ignore;
    let mut sim = Sim::new(&settings);
    let (mut next, mut copies, mut honest) = (0u64, 0u64, 0u64);
    let job = |frontier: &mut Frontier, session: &mut Session| loop {
        match frontier.next(1_000, session) {
            Ok(Next::Job(job)) if job.kind == JobKind::Resolve => {
                let outcome = Outcome::Resolved(vec![IpAddr::from([10, 0, 0, 1])]);
                frontier.report(&job, outcome, 1_000, session).unwrap();
            }
            Ok(Next::Job(job)) => return Some(job),
            // So many were refused that it takes a second call.
            Ok(Next::Wait(1_000)) => {}
            Ok(_) => return None,
            Err(error) => panic!("{error}"),
        }
    };
    for n in 0..3_000 {
        sim.add(&format!("http://a.test/honest/{n}"), 0.1);
    }
    sim.add("http://a.test/calendar/?day=0", 0.9);
    while let Some(job) = job(&mut sim.frontier, &mut sim.session) {
        let outcome = Outcome::Done { status: 200, elapsed: 1, retry_after: None, target: None, cut: false };
        sim.frontier.report(&job, outcome, 1_000, &mut sim.session).unwrap();
        let copy = job.url.path().starts_with("/calendar");
        let brought = if copy { Brought::Nothing } else { Brought::Content };
        let taught = Taught::Page { brought, novelty: f32::from(u8::from(!copy)) };
        sim.frontier.teach(&job, taught, true, &mut sim.session).unwrap();
        if copy {
            copies += 1;
            // Every copy leads to two more, and all of them go before the honest pages.
            for _ in 0..2 {
                next += 1;
                sim.add(&format!("http://a.test/calendar/?day={next}"), 0.9);
            }
        } else {
            honest += 1;
        }
    }
    assert_eq!(honest, 3_000);
    assert_eq!(copies, 1_000);
    let skipped = sim.skipped();
    assert!(skipped.iter().all(|(_, reason)| *reason == SkipReason::Budget));
    assert_eq!(copies + skipped.len() as u64, next + 1, "every URL was fetched or refused");
    let budgets = sim.frontier.budgets();
    assert_eq!(stored_budgets(OnDuplicate::Drop, &sim.session).unwrap(), budgets);
    let told: Vec<_> = budgets.iter().map(|b| (&*b.host, &*b.group, b.spent, b.is_spent())).collect();
    assert_eq!(told, [("a.test", "/calendar/?day", 1_000, true)]);
}

#[test]
fn damage_in_the_store_is_told_and_not_crawled_over() {
    for space in [spaces::URLS, spaces::HOSTS, spaces::QUEUE] {
        let disk = Double::default();
        let mut session = Session::new(Box::new(disk.clone()));
        let mut frontier = Frontier::open(&polite(0), &keys(), &mut session, 0).unwrap();
        let url = Url::parse("http://a.test/").unwrap();
        let found = FoundLink {
            url: &url,
            id: id(url.as_str()),
            depth: 0,
            priority: 0.5,
            merits: Merits::default(),
            source: None,
            via: Via::Seed,
        };
        frontier.add(&found, &mut session).unwrap();
        let Next::Job(job) = frontier.next(0, &mut session).unwrap() else { panic!() };
        frontier.report(&job, Outcome::Resolved(vec![[10, 0, 0, 1].into()]), 0, &mut session).unwrap();
        let Next::Job(robots) = frontier.next(0, &mut session).unwrap() else { panic!() };
        let answer = Answer { url: &robots.url, status: 404, retry_after: None, body: b"", at: 0 };
        frontier.report(&robots, Outcome::Robots(RobotsRules::read(&answer, "once")), 0, &mut session).unwrap();
        let Next::Job(page) = frontier.next(0, &mut session).unwrap() else { panic!() };
        let done = Outcome::Done { status: 200, elapsed: 1, retry_after: None, target: None, cut: false };
        frontier.report(&page, done, 0, &mut session).unwrap();
        let other = Url::parse("http://a.test/other").unwrap();
        frontier.add(&FoundLink { url: &other, id: id(other.as_str()), ..found }, &mut session).unwrap();
        session.commit().unwrap();
        let mut stored = Vec::new();
        let collect = &mut |key: &[u8], value: &[u8]| {
            if !value.is_empty() {
                stored.push(key.to_vec());
            }
            std::ops::ControlFlow::Continue(())
        };
        session.scan(space, &[], &[], collect).unwrap();
        assert!(!stored.is_empty(), "{space:?}");
        if space == spaces::QUEUE {
            // The entry of the page that is done may lie there until its lane is swept. It is not read any more.
            stored.drain(..stored.len() - 1);
        }
        for key in stored {
            let kept = session.get(space, &key).unwrap().unwrap();
            disk.damage(space, &key, &[0xff]);
            let mut session = Session::new(Box::new(disk.clone()));
            let outcome = Frontier::open(&polite(0), &keys(), &mut session, 0).and_then(|mut frontier| {
                if let Next::Job(job) = frontier.next(100_000, &mut session)? {
                    let resolved = Outcome::Resolved(vec![[10, 0, 0, 1].into()]);
                    frontier.report(&job, resolved, 100_000, &mut session)?;
                }
                frontier.next(100_000, &mut session)?;
                frontier.add(&found, &mut session)
            });
            assert!(
                matches!(outcome, Err(dedup_stage::store::Error::Damaged(_))),
                "{space:?} {}: {outcome:?}",
                String::from_utf8_lossy(&key)
            );
            disk.damage(space, &key, &kept);
        }
    }
}
