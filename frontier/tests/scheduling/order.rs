//! Whose turn it is: hosts, bands, groups, sitemaps.

use config::Robots;
use frontier::Millis;
use url::Url;

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
    sim.frontier.add_sitemap(&Url::parse("http://a.test/map.xml").unwrap(), &mut sim.session).unwrap();
    sim.run(Millis::MAX, usize::MAX);
    let mut pages = sim.pages();
    assert_eq!(pages.pop(), Some("http://a.test/2"));
    pages.sort_unstable();
    assert_eq!(pages, ["http://a.test/", "http://a.test/map.xml"]);
}
