//! What robots.txt says, and what becomes of a host while it cannot be had.

use std::collections::BTreeMap;

use dedup_stage::url::Sites;
use frontier::robots::{Answer, RobotsRules};
use frontier::{Asker, End, Errand, JobKind, Millis, Next, Outcome, SkipReason, State, Visit, Walk};
use url::Url;

use crate::sim::{Answered, Sim, id, polite};

#[test]
fn what_robots_txt_forbids_is_skipped_once_and_remembered() {
    let mut sim = Sim::new(&polite(10));
    sim.robots.insert("http://a.test/robots.txt".into(), Answered::Says("user-agent: *\ndisallow: /no"));
    for url in ["http://a.test/no/1", "http://a.test/yes", "http://a.test/no/2"] {
        sim.add(url, 0.5);
    }
    sim.run(Millis::MAX, usize::MAX);
    assert_eq!(sim.pages(), ["http://a.test/yes"]);
    let no = |n| (format!("http://a.test/no/{n}"), SkipReason::Robots);
    assert_eq!(sim.skipped(), [no(1), no(2)]);
    let state = |url| sim.frontier.state(id(url), &sim.session).unwrap();
    assert!(matches!(state("http://a.test/no/1"), Some(State::Refused { reason: SkipReason::Robots, .. })));
    let answered = |visit: Visit| visit.number == 1 && visit.end == End::Answered { status: 200 };
    assert!(matches!(state("http://a.test/yes"), Some(State::Done(visit)) if answered(visit)));
    assert!(state("http://a.test/other").is_none());
    assert_eq!(sim.frontier.counts().queued, 0);
}

#[test]
fn nothing_is_fetched_while_robots_txt_cannot_be_had_but_other_origins_are() {
    let mut sim = Sim::new(&polite(10));
    sim.robots.insert("http://a.test/robots.txt".into(), Answered::Status(500));
    sim.add("http://a.test/", 0.5);
    sim.run(30_000, usize::MAX);
    assert_eq!(sim.pages(), [""; 0]);
    sim.add("https://a.test/", 0.5);
    sim.run(50_000, usize::MAX);
    assert_eq!(sim.pages(), ["https://a.test/"]);
    sim.robots.clear();
    sim.run(300_000, usize::MAX);
    assert_eq!(sim.pages(), ["https://a.test/", "http://a.test/"]);
    let asked = sim.log.iter().filter(|(.., url)| url == "http://a.test/robots.txt").count();
    assert_eq!(asked, 2, "once in vain, once a minute later");
}

#[test]
fn a_robots_txt_that_asks_for_time_is_heeded_for_the_whole_host() {
    let mut sim = Sim::new(&polite(50));
    sim.robots.insert("http://a.test/robots.txt".into(), Answered::Busy(7_000));
    sim.add("http://a.test/x", 0.9);
    sim.add("https://a.test/y", 0.1);
    sim.run(60_000, 3);
    let urls: Vec<_> = sim.log.iter().map(|(.., url)| url.as_str()).collect();
    assert_eq!(urls, ["http://a.test/robots.txt", "https://a.test/robots.txt", "https://a.test/y"]);
    assert!(sim.log[1].0 >= sim.log[0].1 + 7_000, "{:?}", sim.log);
}

#[test]
fn what_its_host_holds_back_can_be_walked_over_once() {
    let mut sim = Sim::new(&polite(50));
    sim.robots.insert("http://broken.test/robots.txt".into(), Answered::Status(503));
    sim.robots.insert("http://moved.test/robots.txt".into(), Answered::Moved("http://nowhere.test/robots.txt"));
    let mut expected = BTreeMap::new();
    for (host, reason) in [
        ("broken", Some(SkipReason::Robots)),
        ("moved", Some(SkipReason::Robots)),
        ("nowhere", Some(SkipReason::Address)),
        ("fine", None),
    ] {
        // In two groups and two bands, more than a lane holds in memory.
        for n in 0..200 {
            let url = format!("http://{host}.test/{}/{n}", n % 2);
            sim.add(&url, if n % 3 == 0 { 0.9 } else { 0.1 });
            reason.map(|reason| expected.insert(url, reason));
        }
    }
    sim.run(20_000, 100);
    sim.session.commit().unwrap();
    let queued = sim.frontier.counts().queued;
    for most in [1, 7, 10_000] {
        let (mut walk, mut found) = (Walk::new(true), BTreeMap::new());
        loop {
            let held = sim.frontier.skipped(&mut walk, most, &sim.session).unwrap();
            if held.is_empty() {
                break;
            }
            assert!(held.len() <= most);
            for held in held {
                assert_eq!(held.id, id(&held.url));
                assert_eq!(found.insert(held.url.to_string(), held.reason), None, "{} twice", held.url);
            }
        }
        assert_eq!(found, expected);
    }
    assert_eq!(sim.frontier.counts().queued, queued, "it stays queued");
}

#[test]
fn a_robots_txt_that_moved_is_asked_for_there() {
    let mut sim = Sim::new(&polite(100));
    sim.robots.insert("http://a.test/robots.txt".into(), Answered::Moved("http://b.test/robots.txt"));
    sim.robots.insert("http://b.test/robots.txt".into(), Answered::Moved("http://a.test/rules"));
    sim.robots.insert("http://a.test/rules".into(), Answered::Says("user-agent: *\ndisallow: /no\ncrawl-delay: 3"));
    sim.add("http://a.test/no", 0.5);
    for n in 0..5 {
        sim.add(&format!("http://a.test/{n}"), 0.5);
    }
    sim.run(Millis::MAX, usize::MAX);
    let requests: Vec<_> = sim.log.iter().map(|(.., url)| url.as_str()).take(4).collect();
    assert_eq!(
        requests,
        ["http://a.test/robots.txt", "http://b.test/robots.txt", "http://a.test/rules", "http://a.test/0"]
    );
    assert_eq!(sim.skipped(), [("http://a.test/no".to_owned(), SkipReason::Robots)]);
    assert!(sim.log.windows(2).skip(3).all(|pair| pair[1].0 >= pair[0].1 + 3_000), "the delay it names: {:?}", sim.log);
}

#[test]
fn a_robots_txt_that_moves_without_end_counts_as_none() {
    let mut sim = Sim::new(&polite(100));
    sim.robots.insert("http://a.test/robots.txt".into(), Answered::Moved("http://b.test/robots.txt"));
    sim.robots.insert("http://b.test/robots.txt".into(), Answered::Moved("http://a.test/robots.txt"));
    sim.add("http://a.test/", 0.5);
    sim.run(Millis::MAX, usize::MAX);
    assert_eq!(sim.log.len(), 7, "asked once, moved five times, then the page: {:?}", sim.log);
    assert_eq!(sim.pages(), ["http://a.test/"]);
}

#[test]
fn while_no_page_may_be_fetched_only_what_other_frontiers_wait_for_is_handed_out() {
    let mut sim = Sim::new(&polite(50));
    sim.frontier.own(Sites::of([id("http://here.test/").site, id("http://forbidden.test/").site]));
    sim.add("http://here.test/page", 0.9);
    let errand = |url: &str, of: &str| {
        let (url, of) = (Url::parse(url).unwrap(), Url::parse(of).unwrap());
        Errand { url, askers: vec![Asker { site: id(of.as_str()).site, of, moves: 1 }] }
    };
    let next = |sim: &mut Sim, now| sim.frontier.next_errand(now, &mut sim.session).unwrap();
    assert!(matches!(next(&mut sim, 1_000), Next::Idle), "nobody waits for anything");
    let own = errand("http://here.test/own", "http://here.test/page");
    sim.frontier.run_errand(own, 1_000, &mut sim.session).unwrap();
    assert!(matches!(next(&mut sim, 1_000), Next::Idle), "nobody else does");
    for (file, of) in [("here", "there"), ("forbidden", "there"), ("here", "elsewhere")] {
        let errand = errand(&format!("http://{file}.test/of/{of}"), &format!("http://{of}.test/"));
        sim.frontier.run_errand(errand, 1_000, &mut sim.session).unwrap();
    }
    let (mut now, mut asked, mut answered) = (1_000, Vec::new(), 0);
    loop {
        match next(&mut sim, now) {
            Next::Job(job) => {
                let outcome = match job.kind {
                    JobKind::Resolve if job.url.host_str() == Some("forbidden.test") => Outcome::Resolved(Vec::new()),
                    JobKind::Resolve => Outcome::Resolved(vec![[192, 0, 2, 1].into()]),
                    JobKind::Robots => {
                        asked.push((now, job.url.path().to_owned()));
                        let answer = Answer { url: &job.url, status: 404, retry_after: None, body: b"", at: now };
                        Outcome::Robots(RobotsRules::read(&answer, "once"))
                    }
                    kind => panic!("{kind:?} of {}", job.url),
                };
                sim.frontier.report(&job, outcome, now, &mut sim.session).unwrap();
            }
            Next::Wait(later) => {
                assert!(later > now);
                now = later;
            }
            Next::Idle => break,
        }
        answered += sim.frontier.take_answers().len();
    }
    let paths: Vec<&str> = asked.iter().map(|(_, path)| path.as_str()).collect();
    assert_eq!(paths, ["/own", "/of/there", "/of/elsewhere"], "in their order");
    assert!(asked.windows(2).all(|two| two[1].0 > two[0].0 + 50), "with the delay of the host: {asked:?}");
    assert_eq!(answered, 3, "no address may be asked for one of them, and that is an answer too");
    assert_eq!(sim.frontier.counts().queued, 1);
}

/// A file of nearly 500 KiB. Its rules forbid `/no`, and take three times as much memory, because each of their letters
/// is spelled `%C3` or `%A4`.
fn large_file() -> &'static str {
    let rules = (0..90).map(|number| format!("disallow: /{number}/{}\n", "ä".repeat(2_700)));
    Box::leak(format!("user-agent: *\n{}disallow: /no\n", rules.collect::<String>()).into_boxed_str())
}

/// Catches rules that stay in memory as long as their host does. A domain can have any number of hosts with large
/// files.
#[test]
fn rules_for_which_memory_has_no_room_still_hold() {
    let (mut sim, file) = (Sim::new(&polite(10)), large_file());
    for host in 0..20 {
        sim.robots.insert(format!("http://h{host}.test/robots.txt"), Answered::Says(file));
        for page in 0..3 {
            sim.add(&format!("http://h{host}.test/yes/{page}"), 0.9);
            sim.add(&format!("http://h{host}.test/no/{page}"), 0.1);
        }
    }
    let mut most = 0;
    for second in 1..60 {
        sim.run(second * 1_000, usize::MAX);
        most = most.max(sim.frontier.bytes_of_rules());
    }
    assert!(most <= config::bounds::ROBOTS && most > config::bounds::ROBOTS / 2, "{most} bytes");
    assert_eq!(sim.pages().len(), 60);
    assert!(sim.pages().iter().all(|url| url.contains("/yes/")));
    assert_eq!(sim.skipped().len(), 60);
    let asked = sim.log.iter().filter(|(.., url)| url.ends_with("/robots.txt")).count();
    assert_eq!(asked, 20, "the store has the rules, so no file is asked for again");
}

/// Catches a large file that is copied for thousands of origins at once, because all of them are redirected to it.
#[test]
fn a_large_file_that_many_origins_are_sent_to_is_answered_to_a_few_at_a_time() {
    let (mut sim, file) = (Sim::new(&polite(10)), large_file());
    sim.robots.insert("http://t.test/rules".into(), Answered::Says(file));
    for host in 0..40 {
        sim.robots.insert(format!("http://h{host}.test/robots.txt"), Answered::Moved("http://t.test/rules"));
        sim.add(&format!("http://h{host}.test/yes"), 0.5);
    }
    let mut most = 0;
    for step in 1..2_000 {
        sim.run(1_000 + step, usize::MAX);
        most = most.max(sim.session.pending_bytes());
        sim.session.commit().unwrap();
    }
    assert!(most < 3 * config::bounds::UNCOMMITTED, "{most} bytes");
    sim.run(60_000, usize::MAX);
    assert_eq!(sim.pages().iter().filter(|url| url.ends_with("/yes")).count(), 40);
}
