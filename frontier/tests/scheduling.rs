//! Whose turn it is, and when: order, fairness, pace, floors, robots rules, seen from outside on a simulated clock.

use std::collections::BTreeMap;
use std::net::IpAddr;

use config::{Duration, Robots, Settings};
use dedup_stage::store::{Double, Session, Space};
use frontier::robots::{Answer, Rules};
use frontier::{
    Admission, Found, Frontier, Job, JobKind, Merits, Millis, Next, Outcome, SkipReason, UrlState, Via, Walk,
};
use url::Url;

/// Answers jobs on a simulated clock; every answer takes `RESPONSE`.
struct Sim {
    frontier: Frontier,
    session: Session,
    now: Millis,
    /// What a robots.txt says, by its URL; 404 where there is nothing.
    robots: BTreeMap<String, Answered>,
    /// The address of a host.
    address: fn(&str) -> [u8; 4],
    /// Requests: start, end, URL.
    log: Vec<(Millis, Millis, String)>,
    /// Jobs not answered yet, by the time of the answer.
    open: BTreeMap<(Millis, u64), Job>,
    skipped: Vec<(String, SkipReason)>,
}

#[derive(Clone)]
enum Answered {
    Says(&'static str),
    Status(u16),
    /// 503, with a Retry-After.
    Busy(Millis),
    Moved(&'static str),
}

const RESPONSE: Millis = 10;

fn polite(delay: Millis) -> Settings {
    let mut settings = Settings::default();
    settings.politeness.delay = Duration(delay);
    settings.politeness.delay_factor = 0.0;
    settings
}

fn hash(url: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(url.as_bytes())
}

impl Sim {
    fn new(settings: &Settings) -> Self {
        let mut session = Session::new(Box::new(Double::default()));
        let frontier = Frontier::open(settings, &mut session, 0).unwrap();
        let address = |name: &str| {
            let number = hash(name) as u16;
            [10, 0, (number >> 8) as u8, number as u8]
        };
        Self {
            frontier,
            session,
            now: 1_000,
            robots: BTreeMap::new(),
            address,
            log: vec![],
            open: BTreeMap::new(),
            skipped: vec![],
        }
    }

    fn add(&mut self, url: &str, priority: f32) -> Admission {
        let (hash, url) = (hash(url), Url::parse(url).unwrap());
        let found =
            Found { url: &url, hash, depth: 0, priority, merits: Merits::default(), source: None, via: Via::Seed };
        self.frontier.add(&found, &mut self.session).unwrap()
    }

    fn answer(&self, job: &Job) -> Outcome {
        match job.kind {
            JobKind::Resolve if job.url.host_str().unwrap().starts_with("nowhere") => {
                Outcome::Unresolved { forbidden: false }
            }
            JobKind::Resolve => Outcome::Resolved(vec![IpAddr::from((self.address)(job.url.host_str().unwrap()))]),
            JobKind::Robots => {
                let answer_after = |status, retry_after, body: &'static str| {
                    let answer = Answer { url: &job.url, status, retry_after, body: body.as_bytes(), at: self.now };
                    Outcome::Robots(Rules::read(&answer, "once"))
                };
                let answer = |status, body| answer_after(status, None, body);
                match self.robots.get(job.url.as_str()) {
                    Some(Answered::Busy(wait)) => answer_after(503, Some(*wait), ""),
                    None => answer(404, ""),
                    Some(Answered::Says(text)) => answer(200, text),
                    Some(Answered::Status(status)) => answer(*status, ""),
                    Some(Answered::Moved(target)) => Outcome::RobotsMoved(Url::parse(target).unwrap()),
                }
            }
            JobKind::Page | JobKind::Sitemap => {
                Outcome::Done { status: 200, elapsed: RESPONSE, retry_after: None, row: 0 }
            }
        }
    }

    /// Runs until nothing is due before `end`, or `requests` were made.
    fn run(&mut self, end: Millis, requests: usize) {
        while self.now < end && self.log.len() < requests {
            let skipped = &mut self.skipped;
            let next = self
                .frontier
                .next(self.now, &mut self.session, &mut |job, reason| {
                    skipped.push((job.url.to_string(), reason));
                })
                .unwrap();
            let wake = match next {
                Next::Job(job) => {
                    let took = if job.kind == JobKind::Resolve { 1 } else { RESPONSE };
                    if job.kind != JobKind::Resolve {
                        self.log.push((self.now, self.now + took, job.url.to_string()));
                    }
                    self.open.insert((self.now + took, job.id), job);
                    continue;
                }
                Next::Wait(time) => Some(time),
                Next::Idle => None,
            };
            let Some(time) = wake.into_iter().chain(self.open.keys().next().map(|(time, _)| *time)).min() else {
                return;
            };
            self.now = self.now.max(time).min(end);
            while let Some(entry) = self.open.first_entry()
                && entry.key().0 <= self.now
            {
                let job = entry.remove();
                let outcome = self.answer(&job);
                self.frontier.report(&job, outcome, self.now, &mut self.session).unwrap();
            }
        }
    }

    fn pages(&self) -> Vec<&str> {
        self.log.iter().map(|(.., url)| url.as_str()).filter(|url| !url.ends_with("/robots.txt")).collect()
    }
}

#[test]
fn the_delays_are_kept_and_nothing_else_is_waited_for() {
    let mut sim = Sim::new(&polite(50));
    const DELAYS: [(Millis, &str); 4] = [
        (50, ""),
        (300, "user-agent: *\ncrawl-delay: 0.3"),
        (1_000, "user-agent: *\ncrawl-delay: 1"),
        (2_000, "user-agent: *\ncrawl-delay: 2"),
    ];
    for host in 0..200 {
        let robots = Answered::Says(DELAYS[host % 4].1);
        sim.robots.insert(format!("http://h{host}.test/robots.txt"), robots);
        for page in 0..400 {
            sim.add(&format!("http://h{host}.test/{page}"), 0.5);
        }
    }
    const SPAN: Millis = 20_000;
    sim.run(1_000 + SPAN, usize::MAX);
    let mut by_host: BTreeMap<&str, Vec<(Millis, Millis)>> = BTreeMap::new();
    for (start, end, url) in &sim.log {
        by_host.entry(url.split('/').nth(2).unwrap()).or_default().push((*start, *end));
    }
    assert_eq!(by_host.len(), 200);
    for (host, times) in by_host {
        let number: usize = host[1..host.find('.').unwrap()].parse().unwrap();
        let delay = DELAYS[number % 4].0;
        for pair in times.windows(2) {
            assert!(pair[1].0 >= pair[0].1 + delay, "{host}: {pair:?}, delay {delay}");
        }
        let allowed = (SPAN / (delay + RESPONSE)).min(401);
        assert!(times.len() as u64 * 100 >= allowed * 95, "{host}: {} of {allowed}", times.len());
    }
}

#[test]
fn hosts_of_one_address_share_a_floor_and_the_address_is_not_left_idle() {
    let mut settings = polite(400);
    settings.politeness.address_delay = Duration(100);
    settings.politeness.robots = Robots::Ignore;
    let mut sim = Sim::new(&settings);
    sim.address = |name| [10, 0, 0, (hash(name) % 3) as u8];
    for host in 0..60 {
        for page in 0..50 {
            sim.add(&format!("http://h{host}.test/{page}"), 0.5);
        }
    }
    sim.run(11_000, usize::MAX);
    let mut by_address: BTreeMap<[u8; 4], Vec<Millis>> = BTreeMap::new();
    for (start, _, url) in &sim.log {
        by_address.entry((sim.address)(url.split('/').nth(2).unwrap())).or_default().push(*start);
    }
    assert_eq!(by_address.len(), 3);
    for (address, starts) in by_address {
        assert!(starts.windows(2).all(|pair| pair[1] >= pair[0] + 100), "{address:?}: {starts:?}");
        assert!(starts.len() >= 95, "{address:?}: {} of 100", starts.len());
    }
}

#[test]
fn a_host_alone_at_its_address_knows_no_floor() {
    let mut settings = polite(20);
    settings.politeness.address_delay = Duration(5_000);
    let mut sim = Sim::new(&settings);
    for page in 0..20 {
        sim.add(&format!("http://a.test/{page}"), 0.5);
    }
    sim.run(3_000, usize::MAX);
    assert_eq!(sim.pages().len(), 20);
}

#[test]
fn a_host_with_many_urls_takes_no_others_turn() {
    let mut settings = polite(0);
    settings.politeness.robots = Robots::Ignore;
    let mut sim = Sim::new(&settings);
    for page in 0..50_000 {
        sim.add(&format!("http://huge.test/{page}"), 0.5);
    }
    for host in 0..10 {
        for page in 0..20 {
            sim.add(&format!("http://small{host}.test/{page}"), 0.5);
        }
    }
    sim.run(Millis::MAX, 300);
    let small = sim.pages().iter().filter(|url| url.contains("small")).count();
    assert_eq!(small, 200, "all of them among the first 300 requests");
}

#[test]
fn the_best_band_goes_first_and_arrival_decides_among_equals() {
    let mut settings = polite(10);
    settings.politeness.robots = Robots::Ignore;
    let mut sim = Sim::new(&settings);
    let mut expected: Vec<(u8, usize, String)> = Vec::new();
    for n in 0..300usize {
        let band = (n * 7 % 5) as u8;
        let url = format!("http://a.test/dir{}/{n}?k{}=1", n % 4, n % 3);
        sim.add(&url, f32::from(band) / 5.0);
        expected.push((u8::MAX - band, n, url));
    }
    expected.sort();
    sim.run(Millis::MAX, 300);
    let expected: Vec<_> = expected.iter().map(|(.., url)| url.as_str()).collect();
    assert_eq!(sim.pages(), expected);
}

#[test]
fn a_factor_acts_on_what_is_queued_and_touches_nothing_queued() {
    let mut settings = polite(10);
    settings.politeness.robots = Robots::Ignore;
    let mut sim = Sim::new(&settings);
    for n in 0..500 {
        sim.add(&format!("http://a.test/bad/{n}"), 0.9);
        sim.add(&format!("http://a.test/good/{n}"), 0.5);
    }
    sim.session.commit().unwrap();
    let mut groups = Vec::new();
    sim.frontier.groups("a.test", &mut |number, label, factor| groups.push((number, label.to_owned(), factor)));
    assert_eq!(groups, [(0, "/bad/".to_owned(), 1.0), (1, "/good/".to_owned(), 1.0)]);
    sim.run(Millis::MAX, 10);
    assert!(sim.pages().iter().all(|url| url.contains("bad")));
    sim.session.commit().unwrap();
    assert!(sim.frontier.set_factor("a.test", 0, 0.1, &mut sim.session));
    assert_eq!(sim.session.pending(), 1, "one record, whatever is queued");
    sim.run(Millis::MAX, 510);
    assert!(sim.pages()[10..].iter().all(|url| url.contains("good")));
    assert!(!sim.frontier.set_factor("a.test", 9, 0.1, &mut sim.session));
    assert!(!sim.frontier.set_factor("b.test", 0, 0.1, &mut sim.session));
}

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
    assert_eq!(sim.skipped, [no(1), no(2)]);
    let state = |url| frontier::url_state(hash(url), &sim.session).unwrap();
    assert_eq!(state("http://a.test/no/1"), Some(UrlState::Refused(SkipReason::Robots)));
    assert_eq!(state("http://a.test/yes"), Some(UrlState::Done { status: 200, row: Some(0) }));
    assert_eq!(state("http://a.test/other"), None);
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
        let (mut walk, mut found) = (Walk::default(), BTreeMap::new());
        loop {
            let held = sim.frontier.held(&mut walk, most, &sim.session).unwrap();
            if held.is_empty() {
                break;
            }
            assert!(held.len() <= most);
            for held in held {
                assert_eq!(held.hash, hash(&held.url));
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
    assert_eq!(sim.skipped, [("http://a.test/no".to_owned(), SkipReason::Robots)]);
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
fn sitemaps_are_read_first_where_they_are_wanted_and_once() {
    let mut settings = polite(10);
    settings.scope.sitemaps = true;
    let mut sim = Sim::new(&settings);
    let robots = "user-agent: *\ndisallow: /map\nsitemap: http://a.test/map.xml";
    sim.robots.insert("http://a.test/robots.txt".into(), Answered::Says(robots));
    sim.add("http://a.test/", 1.0);
    sim.add("http://a.test/2", 0.5);
    sim.run(500, usize::MAX);
    sim.frontier.add_sitemap(&Url::parse("http://a.test/map.xml").unwrap(), &mut sim.session).unwrap();
    sim.run(Millis::MAX, usize::MAX);
    let mut pages = sim.pages();
    assert_eq!(pages.pop(), Some("http://a.test/2"));
    pages.sort_unstable();
    assert_eq!(pages, ["http://a.test/", "http://a.test/map.xml"]);
}

#[test]
fn the_rate_over_all_hosts_is_capped() {
    let mut settings = polite(0);
    settings.politeness.robots = Robots::Ignore;
    settings.politeness.requests_per_second = 20;
    let mut sim = Sim::new(&settings);
    for host in 0..50 {
        for page in 0..10 {
            sim.add(&format!("http://h{host}.test/{page}"), 0.5);
        }
    }
    sim.run(11_000, usize::MAX);
    let starts: Vec<_> = sim.log.iter().map(|(start, ..)| *start).collect();
    assert!(starts.windows(21).all(|w| w[20] - w[0] >= 1_000));
    assert!(starts.len() >= 190, "{} of 200", starts.len());
}

#[test]
fn a_url_that_cannot_be_fetched_is_refused_with_its_reason() {
    let mut sim = Sim::new(&polite(10));
    assert_eq!(sim.add("ftp://a.test/", 0.5), Admission::Refused(SkipReason::Scheme));
    assert_eq!(sim.add(&format!("http://a.test/{}", "x".repeat(5_000)), 0.5), Admission::Refused(SkipReason::TooLong));
    for port in 1..=32 {
        assert_eq!(sim.add(&format!("http://a.test:{}/", 8_000 + port), 0.5), Admission::Queued);
    }
    assert_eq!(sim.add("http://a.test:9000/", 0.5), Admission::Refused(SkipReason::Trap), "a host with so many ports");
    assert_eq!(sim.add("http://a.test:9000/", 0.5), Admission::Seen);
}

#[test]
fn a_host_whose_addresses_are_forbidden_has_its_urls_refused() {
    let mut sim = Sim::new(&polite(10));
    for n in 0..3 {
        sim.add(&format!("http://a.test/{n}"), 0.5);
    }
    let Next::Job(job) = sim.frontier.next(0, &mut sim.session, &mut |_, _| ()).unwrap() else { panic!() };
    assert_eq!(job.kind, JobKind::Resolve);
    let outcome = Outcome::Unresolved { forbidden: true };
    sim.frontier.report(&job, outcome, 0, &mut sim.session).unwrap();
    sim.run(Millis::MAX, usize::MAX);
    assert_eq!(sim.skipped.len(), 3);
    assert!(sim.skipped.iter().all(|(_, reason)| *reason == SkipReason::Address));
    assert_eq!(sim.log, []);
}

#[test]
fn an_endless_space_of_copies_ends_and_the_rest_of_the_site_does_not() {
    let mut settings = polite(0);
    settings.politeness.robots = Robots::Ignore;
    let mut sim = Sim::new(&settings);
    let (mut next, mut copies, mut honest) = (0u64, 0u64, 0u64);
    let job = |frontier: &mut Frontier, session: &mut Session, skipped: &mut u64| loop {
        match frontier.next(1_000, session, &mut |_, reason| {
            assert_eq!(reason, SkipReason::Budget);
            *skipped += 1;
        }) {
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
    let mut cut = 0;
    while let Some(job) = job(&mut sim.frontier, &mut sim.session, &mut cut) {
        let outcome = Outcome::Done { status: 200, elapsed: 1, retry_after: None, row: 0 };
        sim.frontier.report(&job, outcome, 1_000, &mut sim.session).unwrap();
        let copy = job.url.path().starts_with("/calendar");
        sim.frontier.verdict(&job, Some(copy), f32::from(u8::from(!copy)), &mut sim.session);
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
    assert_eq!(copies + cut, next + 1, "every URL was fetched or refused");
    let mut traps = Vec::new();
    sim.frontier.traps(&mut |host, label, spent| traps.push((host.to_owned(), label.to_owned(), spent)));
    assert_eq!(traps, [("a.test".to_owned(), "/calendar/?day".to_owned(), 1_000)]);
}

#[test]
fn damage_in_the_store_is_told_and_not_crawled_over() {
    for space in [Space::Urls, Space::Hosts, Space::Queue] {
        let disk = Double::default();
        let mut session = Session::new(Box::new(disk.clone()));
        let mut frontier = Frontier::open(&polite(0), &mut session, 0).unwrap();
        let url = Url::parse("http://a.test/").unwrap();
        let found = Found {
            url: &url,
            hash: 1,
            depth: 0,
            priority: 0.5,
            merits: Merits::default(),
            source: None,
            via: Via::Seed,
        };
        frontier.add(&found, &mut session).unwrap();
        session.commit().unwrap();
        let mut keys = Vec::new();
        let collect = &mut |key: &[u8], value: &[u8]| {
            if !value.is_empty() {
                keys.push(key.to_vec());
            }
            std::ops::ControlFlow::Continue(())
        };
        session.scan(space, &[], &[], collect).unwrap();
        assert!(!keys.is_empty());
        for key in keys {
            let kept = session.get(space, &key).unwrap().unwrap();
            disk.damage(space, &key, &[0xff]);
            let mut session = Session::new(Box::new(disk.clone()));
            let outcome = Frontier::open(&polite(0), &mut session, 0)
                .and_then(|mut frontier| frontier.next(100_000, &mut session, &mut |_, _| ()));
            assert!(
                matches!(outcome, Err(dedup_stage::store::Error::Damaged(_))),
                "{space:?} {}: {outcome:?}",
                String::from_utf8_lossy(&key)
            );
            disk.damage(space, &key, &kept);
        }
    }
}
