//! Who may hold how many slots.

use config::{Duration, bounds};
use frontier::{Admission, Detail, SkipReason, State};

use crate::sim::{Sim, id, polite};

/// Requests for pages of healthy hosts between 10 s and 20 s, beside this many hosts whose name begins like this.
fn beside(kind: &str, count: usize, delay: u64) -> usize {
    let mut settings = polite(delay);
    settings.fetch.concurrency = 8;
    settings.politeness.address_delay = Duration(0);
    let mut sim = Sim::new(&settings);
    sim.slots = 8;
    for host in 0..count {
        (0..5).for_each(|page| _ = sim.add(&format!("http://{kind}{host}.test/{page}"), 0.5));
    }
    for host in 0..4 {
        (0..500).for_each(|page| _ = sim.add(&format!("http://well{host}.test/{page}"), 0.5));
    }
    sim.run(20_000, usize::MAX);
    let is_healthy = |url: &str| url.starts_with("http://well") && !url.ends_with("/robots.txt");
    sim.log.iter().filter(|(start, _, url)| *start >= 10_000 && is_healthy(url)).count()
}

/// Catches a schedule that gives a slot to any host that is ready, the best first: the hosts that hold it longest then
/// hold them all.
#[test]
fn slow_hosts_cost_healthy_ones_nothing() {
    let (alone, among) = (beside("slow", 0, 50), beside("slow", 16, 50));
    assert!(alone > 600, "{alone}");
    assert!(among * 100 >= alone * 95, "{among} requests; alone {alone}");
}

/// Catches a schedule in which hosts that answer each page late, and lose no slot, hold nearly all slots. (A healthy host
/// holds a slot for a twentieth of the time. Its equal share is a third.)
#[test]
fn hosts_that_answer_late_cost_healthy_ones_little() {
    let (alone, among) = (beside("late", 0, 200), beside("late", 20, 200));
    assert!(among * 100 >= alone * 90, "{among} requests; alone {alone}");
}

/// Catches an address whose turns go to the hosts that came first, or that are most.
#[test]
fn the_domains_at_an_address_take_turns() {
    let mut settings = polite(1_000);
    settings.politeness.address_delay = Duration(100);
    let mut sim = Sim::new(&settings);
    sim.address = |_| [192, 0, 2, 1];
    for host in 0..1_000 {
        sim.add(&format!("http://s{host}.wild.test/"), 1.0);
    }
    for host in 0..6 {
        (0..100).for_each(|page| _ = sim.add(&format!("http://well{host}.test/{page}"), 0.5));
    }
    sim.run(40_000, usize::MAX);
    let of = |name: &str| sim.log.iter().filter(|(start, _, url)| *start >= 10_000 && url.contains(name)).count();
    let (well, wild) = (of("well"), of("wild.test"));
    // The address has 300 turns in this time, and the six hosts want 180 of them.
    assert!(well >= 150 && wild >= 60, "{well} requests to the hosts, {wild} to the domain");
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

/// Catches a domain that fills the state with the hosts that it names.
#[test]
fn a_domain_may_add_no_more_hosts_than_its_places() {
    let mut sim = Sim::new(&polite(10));
    let mut left = 0;
    for host in 0..30_000 {
        left += usize::from(sim.link(&format!("http://s{host}.wild.test/")) == Admission::LeftOut);
    }
    assert_eq!(left, 30_000 - (bounds::NEW_HOSTS as usize + bounds::HOSTS_OF_DOMAIN + 1));
}

/// Catches a schedule in which a domain with thousands of hosts has nearly all turns, because each of its hosts counts
/// as much as a host of another domain.
#[test]
fn a_domain_with_many_hosts_takes_turns_with_all_others() {
    let mut settings = polite(50);
    settings.politeness.address_delay = Duration(0);
    let mut sim = Sim::new(&settings);
    sim.slots = 1;
    for host in 0..3_000 {
        sim.add(&format!("http://s{host}.wild.test/"), 0.5);
    }
    (0..500).for_each(|page| _ = sim.add(&format!("http://well.test/{page}"), 0.5));
    sim.run(10_000, usize::MAX);
    let of = |name: &str| sim.log.iter().filter(|(start, _, url)| *start >= 1_000 && url.contains(name)).count();
    let (well, wild) = (of("well.test"), of("wild.test"));
    // The host has a request every 60 ms or so, if it is asked as soon as its delay allows it.
    assert!(well >= 100, "{well} requests to the host, {wild} to the domain");
    assert!(wild >= 100, "{well} requests to the host, {wild} to the domain");
}

/// Catches a schedule that gives the turns to the host that has waited longest while this machine cannot read as fast
/// as it fetches: domains with many hosts, or with pages that cost much time, then have nearly all of it.
#[test]
fn while_the_machine_is_behind_domains_take_turns_by_cost() {
    let pages_of = |costly: usize| {
        let mut settings = polite(50);
        settings.fetch.concurrency = 8;
        settings.politeness.address_delay = Duration(0);
        let mut sim = Sim::new(&settings);
        (sim.slots, sim.lag) = (8, 200);
        sim.cost = |url| if url.starts_with("http://well") { 500 } else { 50_000 };
        for domain in 0..costly {
            // One of them has many more hosts than the others.
            for host in 0..if domain == 0 { 500 } else { 10 } {
                (0..50).for_each(|page| _ = sim.add(&format!("http://s{host}.costly{domain}.test/{page}"), 0.5));
            }
        }
        for host in 0..4 {
            (0..500).for_each(|page| _ = sim.add(&format!("http://well{host}.test/{page}"), 0.5));
        }
        sim.run(20_000, usize::MAX);
        sim.log.into_iter().filter(|(start, ..)| *start >= 10_000).collect::<Vec<_>>()
    };
    let of = |log: &[(_, _, String)], name: &str| log.iter().filter(|(.., url)| url.contains(name)).count();
    let (alone, among) = (pages_of(0), pages_of(40));
    let (alone, healthy) = (of(&alone, "well"), of(&among, "well"));
    assert!(alone > 600, "{alone}");
    assert!(healthy * 100 >= alone * 95, "{healthy} requests; alone {alone}");
    let each: Vec<_> = (0..40).map(|domain| of(&among, &format!("costly{domain}.test"))).collect();
    let (least, most) = (each.iter().min().unwrap(), each.iter().max().unwrap());
    assert!(*least > 20 && *most <= 2 * *least, "each domain has its share, however many hosts it has: {each:?}");
    // Two answers keep the page workers busy. If there were more, each page would wait for all of them.
    let mut ends = Vec::new();
    for (start, end, _) in among.iter().filter(|(.., url)| url.contains("costly") && !url.ends_with("/robots.txt")) {
        ends.retain(|end| end > start);
        ends.push(*end);
        assert!(ends.len() <= 2, "{} costly pages at once", ends.len());
    }
}

/// Requests for pages of healthy hosts between 5 s and 20 s, beside this many new domains, whose robots.txt files cost
/// 20 ms each. Answers are read one after the other.
fn beside_new_domains(new: usize, of_one_domain: bool) -> (usize, usize) {
    let mut settings = polite(200);
    settings.politeness.address_delay = Duration(0);
    let mut sim = Sim::new(&settings);
    (sim.slots, sim.reads_in_turn) = (settings.fetch.concurrency, true);
    sim.cost = |url| if url.contains("new") && url.ends_with("/robots.txt") { 20_000 } else { 500 };
    for host in 0..12 {
        (0..200).for_each(|page| _ = sim.add(&format!("http://well{host}.test/{page}"), 0.5));
    }
    sim.run(3_000, usize::MAX);
    // Their URLs are better than those of the healthy hosts.
    for domain in 0..new {
        let host = if of_one_domain { format!("s{domain}.new.test") } else { format!("new{domain}.test") };
        (0..3).for_each(|page| _ = sim.add(&format!("http://{host}/{page}"), 0.9));
    }
    sim.run(20_000, usize::MAX);
    let pages = sim.log.iter().filter(|(start, _, url)| *start >= 5_000 && !url.ends_with("/robots.txt"));
    let healthy = pages.filter(|(.., url)| url.starts_with("http://well")).count();
    (healthy, sim.log.iter().filter(|(.., url)| url.contains("new") && url.ends_with("/robots.txt")).count())
}

/// Catches new domains that come before all others, each with a robots.txt that costs much. One page can link to any
/// number of them.
#[test]
fn new_domains_with_large_files_cost_others_nothing() {
    let (alone, _) = beside_new_domains(0, false);
    for of_one_domain in [false, true] {
        let (among, files) = beside_new_domains(2_000, of_one_domain);
        assert!(among * 100 >= alone * 95, "{among} requests; alone {alone}");
        assert!(files > 400, "{files} files: they have the rest of the time");
    }
}

/// Catches sitemaps that are all asked for at once. Each can name 50,000 hosts, and pages wait until all are read.
#[test]
fn few_sitemaps_are_read_at_once_unless_they_are_read_in_time() {
    for (lag, most) in [(500, 2), (0, 16)] {
        let mut sim = Sim::new(&polite(50));
        sim.lag = lag;
        for host in 0..200 {
            sim.sitemap(&format!("http://h{host}.test/map.xml"));
            sim.add(&format!("http://h{host}.test/"), 0.5);
        }
        sim.run(60_000, usize::MAX);
        let maps: Vec<_> = sim.log.iter().filter(|(.., url)| url.ends_with("/map.xml")).collect();
        assert_eq!(maps.len(), 200, "each in its time");
        let at_once = |start| maps.iter().filter(|(from, to, _)| (*from..*to).contains(start)).count();
        let at_once = maps.iter().map(|(start, ..)| at_once(start)).max().unwrap();
        // Pages wait, so sitemaps have a quarter of the 64 slots at most.
        assert!(if lag > 0 { at_once <= most } else { at_once == most }, "{at_once} at once");
        assert_eq!(sim.pages().len(), 400);
    }
}

/// Catches places for sitemaps that a few slow servers keep for as long as they like.
#[test]
fn sitemaps_that_come_slowly_do_not_keep_others_waiting() {
    let mut sim = Sim::new(&polite(50));
    (0..20).for_each(|host| sim.sitemap(&format!("http://drip{host}.test/map.xml")));
    (0..100).for_each(|host| sim.sitemap(&format!("http://h{host}.test/map.xml")));
    sim.run(25_000, usize::MAX);
    let maps = sim.log.iter().filter(|(.., url)| url.contains("//h") && url.ends_with("/map.xml"));
    assert_eq!(maps.count(), 100, "in the first 25 s, while the others come");
}

/// Catches a held URL that cannot be queued, stays held, and is released again at each end of the queue.
#[test]
fn a_held_url_of_a_domain_without_places_is_refused_when_it_is_released() {
    let mut sim = Sim::new(&polite(10));
    for host in 0..30_000 {
        sim.link(&format!("http://s{host}.wild.test/"));
    }
    let held = "http://further.wild.test/";
    assert_eq!(sim.hold(held, "http://s0.wild.test/"), Admission::Held);
    assert!(sim.frontier.drain(&mut sim.session).unwrap());
    while sim.frontier.step(&mut sim.session).unwrap() {}
    let state = sim.frontier.state(id(held), &sim.session).unwrap();
    assert!(matches!(state, Some(State::Refused { reason: SkipReason::Trap, detail: Detail::Hosts, .. })), "{state:?}");
    assert!(!sim.frontier.drain(&mut sim.session).unwrap(), "the end of the queue finds the same work again");
}
