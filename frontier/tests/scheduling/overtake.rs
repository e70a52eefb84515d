//! Hosts whose links are held for counterparts on another domain that are still queued.

use crate::sim::{Answered, Sim, polite};

const PAGES: usize = 40;

/// Two hosts with the same pages. Those of `twin.test` are queued, and the links of `own.test` are held for them.
fn twins(twin_asks_for: Option<&'static str>, more: usize) -> Sim {
    twins_of(PAGES, twin_asks_for, more)
}

fn twins_of(pages: usize, twin_asks_for: Option<&'static str>, more: usize) -> Sim {
    let mut sim = Sim::new(&polite(100));
    if let Some(robots) = twin_asks_for {
        sim.robots.insert("http://twin.test/robots.txt".into(), Answered::Says(robots));
    }
    for page in 0..pages {
        sim.link(&format!("http://twin.test/{page}"));
        sim.hold(&format!("http://own.test/{page}"), &format!("http://twin.test/{page}"));
    }
    (0..more).for_each(|page| _ = sim.add(&format!("http://twin.test/more/{page}"), 0.9));
    sim
}

fn of(sim: &Sim, host: &str) -> usize {
    sim.pages().iter().filter(|url| url.contains(host)).count()
}

/// Catches a slow host that makes the pages of another host wait as long as it has any in its queue.
#[test]
fn a_host_waits_only_for_a_while_for_a_slow_one_and_each_content_is_fetched_once() {
    let mut sim = twins(Some("User-agent: *\nCrawl-delay: 10"), 0);
    sim.run(15_000, usize::MAX);
    assert!(of(&sim, "own.test") >= PAGES - 1, "{:?}", sim.pages());
    sim.run(10 * 60_000, usize::MAX);
    // Some are fetched from both: these are the trials that show that the two hosts are alike.
    let (own, twin) = (of(&sim, "own.test"), of(&sim, "twin.test"));
    assert!((PAGES..PAGES + 10).contains(&(own + twin)), "{own} and {twin}");
    assert_eq!(sim.frontier.counts().queued, 0);
}

/// Catches a host that overtakes another one of the same pace: both would be fetched.
#[test]
fn a_host_waits_for_another_one_of_the_same_pace() {
    let mut sim = twins(None, 0);
    sim.run(3_500, usize::MAX);
    assert!((4..8).contains(&of(&sim, "own.test")), "the trials of the pair: {:?}", sim.pages());
}

/// Catches a host that loses patience with a large one, although this comes to one page after the other. Then nearly all
/// pages of the two would be fetched twice.
#[test]
fn a_host_waits_on_for_a_large_one_that_comes_to_its_pages() {
    let mut sim = twins_of(400, None, 0);
    sim.run(120_000, usize::MAX);
    let (own, twin) = (of(&sim, "own.test"), of(&sim, "twin.test"));
    assert_eq!(twin, 400);
    assert!((4..30).contains(&own), "the trials of the pair: {own}");
    assert_eq!(sim.frontier.counts().queued, 0);
}

/// Catches a host that waits to the end for one that is a third as fast.
#[test]
fn a_host_overtakes_a_slower_one_after_a_while_and_each_content_is_fetched_once() {
    let mut sim = twins_of(400, Some("User-agent: *\nCrawl-delay: 0.3"), 0);
    sim.run(60_000, usize::MAX);
    let (own, twin) = (of(&sim, "own.test"), of(&sim, "twin.test"));
    assert!(own > 250, "{own} and {twin}");
    println!("{own} and {twin}");
    assert!((400..=425).contains(&(own + twin)), "{own} and {twin}");
}

/// Catches a host that is taken for slow because the crawl was paused.
#[test]
fn a_pause_of_the_crawl_is_no_time_that_a_host_waits() {
    let mut sim = twins(None, 0);
    sim.run(2_000, usize::MAX);
    sim.pause(3_600_000);
    sim.run(3_603_000, usize::MAX);
    assert!((4..8).contains(&of(&sim, "own.test")), "the trials of the pair: {:?}", sim.pages());
}

/// Catches a host that first fetches pages without end of its own, while another host waits for it.
#[test]
fn a_host_does_not_wait_for_ever_for_one_that_has_much_else_to_do() {
    let mut sim = twins(None, 10_000);
    sim.run(10_000, usize::MAX);
    assert!(of(&sim, "own.test") == 0 && of(&sim, "twin.test/more") > 80, "it waits");
    sim.run(20_000, usize::MAX);
    assert_eq!(of(&sim, "own.test"), PAGES);
}

/// Catches mirrors that overtake the same host, and each fetch what another of them fetches.
#[test]
fn of_several_hosts_that_overtake_another_one_only_one_fetches_a_page() {
    let mut sim = twins(None, 10_000);
    for host in ["second.test", "third.test"] {
        for page in 0..PAGES {
            sim.hold(&format!("http://{host}/{page}"), &format!("http://twin.test/{page}"));
        }
    }
    sim.run(30_000, usize::MAX);
    let of_each = ["own.test", "second.test", "third.test"].map(|host| of(&sim, host));
    println!("{of_each:?}");
    let all: usize = of_each.iter().sum();
    // The others are the trials that show that two hosts are alike.
    assert!((PAGES..PAGES + 30).contains(&all), "{of_each:?}");
}

/// Catches a crawl that is continued and has forgotten which hosts wait.
#[test]
fn a_crawl_that_goes_on_knows_which_hosts_wait() {
    let mut sim = twins(Some("User-agent: *\nCrawl-delay: 10"), 0);
    sim.restart(&polite(100));
    sim.run(15_000, usize::MAX);
    assert!(of(&sim, "own.test") >= PAGES - 2, "{:?}", sim.pages());
}
