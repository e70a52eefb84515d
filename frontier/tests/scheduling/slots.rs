//! Who may hold how many slots.

use config::Duration;

use crate::sim::{Sim, polite};

/// Requests for pages of healthy hosts between 10 s and 20 s, beside so many slow hosts.
fn beside(slow: usize) -> usize {
    let mut settings = polite(50);
    settings.fetch.concurrency = 8;
    settings.politeness.address_delay = Duration(0);
    let mut sim = Sim::new(&settings);
    sim.slots = 8;
    for host in 0..slow {
        (0..5).for_each(|page| _ = sim.add(&format!("http://slow{host}.test/{page}"), 0.5));
    }
    for host in 0..4 {
        (0..500).for_each(|page| _ = sim.add(&format!("http://well{host}.test/{page}"), 0.5));
    }
    sim.run(20_000, usize::MAX);
    let is_healthy = |url: &str| url.starts_with("http://well") && !url.ends_with("/robots.txt");
    sim.log.iter().filter(|(start, _, url)| *start >= 10_000 && is_healthy(url)).count()
}

/// Catches a schedule that gives a slot to whoever is ready, the best first: those who hold it longest then hold them all.
#[test]
fn slow_hosts_cost_healthy_ones_nothing() {
    let (alone, among) = (beside(0), beside(16));
    assert!(alone > 600, "{alone}");
    assert!(among * 100 >= alone * 95, "{among} requests; alone {alone}");
}

/// Catches a body for which there is no room, and which is asked for again for ever.
#[test]
fn a_body_for_which_there_is_never_room_is_given_up() {
    let mut sim = Sim::new(&polite(10));
    sim.add("http://huge.test/", 0.5);
    let asked = |sim: &Sim| sim.log.iter().filter(|(.., url)| url == "http://huge.test/").count();
    sim.run(3_600_000, usize::MAX);
    let within_an_hour = asked(&sim);
    assert!((2..=16).contains(&within_an_hour), "{within_an_hour} requests");
    sim.run(30 * 24 * 3_600_000, usize::MAX);
    assert_eq!(asked(&sim), within_an_hour);
}
