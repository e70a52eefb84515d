//! Whose turn it is: hosts, bands, groups, sitemaps.

use config::Robots;
use frontier::Millis;

use crate::sim::{Answered, Sim, polite};

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
fn sitemaps_are_read_first_where_they_are_wanted_and_once() {
    let mut settings = polite(10);
    settings.scope.sitemaps = true;
    let mut sim = Sim::new(&settings);
    let robots = "user-agent: *\ndisallow: /map\nsitemap: http://a.test/map.xml";
    sim.robots.insert("http://a.test/robots.txt".into(), Answered::Says(robots));
    sim.add("http://a.test/", 1.0);
    sim.add("http://a.test/2", 0.5);
    sim.run(500, usize::MAX);
    sim.sitemap("http://a.test/map.xml");
    sim.run(Millis::MAX, usize::MAX);
    let mut pages = sim.pages();
    assert_eq!(pages.pop(), Some("http://a.test/2"));
    pages.sort_unstable();
    assert_eq!(pages, ["http://a.test/", "http://a.test/map.xml"]);
}

/// Catches a host that falls back because a page also links to a worse URL of it.
#[test]
fn a_worse_url_does_not_make_its_host_wait() {
    let mut sim = Sim::new(&polite(10));
    sim.slots = 1;
    sim.add("http://first.test/good", 0.9);
    sim.add("http://second.test/", 0.5);
    sim.add("http://first.test/bad", 0.1);
    sim.run(60_000, usize::MAX);
    let hosts: Vec<bool> = sim.log.iter().map(|(.., url)| url.contains("first.test")).collect();
    assert!(hosts[0], "{:?}", sim.log);
}

/// Catches a host that loses its turn because more of its URLs are found while it waits for a slot.
#[test]
fn a_host_keeps_its_turn_when_more_of_its_urls_are_found() {
    let mut settings = polite(10);
    settings.politeness.robots = Robots::Ignore;
    let mut sim = Sim::new(&settings);
    sim.slots = 1;
    sim.add("http://slow.test/", 0.5);
    sim.run(2_000, usize::MAX);
    sim.add("http://first.test/1", 0.5);
    sim.add("http://second.test/1", 0.5);
    sim.add("http://first.test/2", 0.5);
    sim.run(60_000, usize::MAX);
    let others: Vec<&str> = sim.log.iter().map(|(.., url)| &**url).filter(|url| !url.contains("slow")).collect();
    assert_eq!(others[..2], ["http://first.test/1", "http://second.test/1"]);
}
