//! URLs that a learned rule stops, and that wait for a representative on a slow host.

use frontier::rules::RuleStatus;

use crate::sim::{Answered, Sim, hash, polite};

const PAGES: std::ops::Range<u32> = 0..60;
const SLOW: &str = "http://late.test/robots.txt";

/// Two hosts with the same pages. It is learned that `fast.test` shows what the other one shows.
fn mirror() -> Sim {
    let mut sim = Sim::new(&polite(10));
    sim.robots.insert(SLOW.into(), Answered::Says("User-agent: *\nCrawl-delay: 10"));
    sim.shows = Some(|url| hash(url.rsplit('/').next().unwrap()));
    sim.frontier.use_rules(&sim.session).unwrap();
    for host in ["late.test", "fast.test"] {
        PAGES.for_each(|page| _ = sim.link(&format!("http://{host}/f/{page}")));
        sim.run_for(1_000_000);
    }
    let rules = sim.frontier.rules().unwrap();
    assert!(rules.iter().any(|rule| rule.status == RuleStatus::Proven), "{:?}", rules.iter().collect::<Vec<_>>());
    sim
}

fn of(sim: &Sim, host: &str) -> usize {
    sim.pages().iter().filter(|url| url.contains(host)).count()
}

/// Queues pages of both hosts.
fn link(sim: &mut Sim, pages: std::ops::Range<u32>) {
    for host in ["late.test", "fast.test"] {
        pages.clone().for_each(|page| _ = sim.link(&format!("http://{host}/f/{page}")));
    }
}

/// Catches URLs that are counted as waiting although they were queued in the meantime: no other URL would wait after
/// that, and a copy of each page would be fetched.
#[test]
fn urls_that_wait_no_longer_leave_room_for_others() {
    let mut sim = mirror();
    let before = of(&sim, "fast.test");
    link(&mut sim, 1_000..21_000);
    sim.run_for(200);
    assert!(of(&sim, "fast.test") < before + 20, "they wait");
    sim.run_for(1_000_000);
    assert!(of(&sim, "fast.test") > before + 15_000, "{} have waited for long enough", of(&sim, "fast.test") - before);

    let before = of(&sim, "fast.test");
    link(&mut sim, 30_000..30_100);
    sim.run_for(200);
    assert_eq!(of(&sim, "fast.test"), before, "they wait");
}
