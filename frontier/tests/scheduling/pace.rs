//! How fast: delays, floors of addresses, the rate over all hosts.

use std::collections::BTreeMap;

use config::{Duration, Robots};
use frontier::Millis;

use crate::sim::{Answered, RESPONSE, Sim, hash, polite};

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

/// Catches a site that asks for time and is asked at its old pace afterwards, and one that is believed for a year.
#[test]
fn a_host_that_asks_for_time_gets_some_and_is_asked_more_slowly_then() {
    const DAY: u64 = 24 * 3_600_000;
    let mut sim = Sim::new(&polite(10));
    for n in 0..5 {
        sim.add(&format!("http://busy.test/{n}"), 0.5);
    }
    sim.run(3 * DAY, usize::MAX);
    let pages = sim.log.iter().filter(|(.., url)| !url.ends_with("/robots.txt"));
    let times: Vec<u64> = pages.map(|(start, ..)| *start).collect();
    let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(gaps.len(), 5, "all pages came, the first one twice: {gaps:?}");
    assert!((DAY..DAY + 60_000).contains(&gaps[0]), "{gaps:?}");
    assert!(gaps[1] >= 500 && gaps[4] < gaps[1], "the penalty is part of the delay, and falls: {gaps:?}");
}
