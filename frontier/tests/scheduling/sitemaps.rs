//! Which sitemaps are asked for, and who may name them.

use std::sync::Arc;

use config::{Duration, ScopeKind, Settings, bounds};
use frontier::scope::Scope;
use frontier::{Admission, SkipReason};
use url::Url;

use crate::sim::{Answered, Sim, polite};

const INDEX: &str = "http://www.a.test/index.xml";

fn with_scope(kind: ScopeKind) -> Sim {
    let (mut sim, mut settings) = (Sim::new(&polite(10)), Settings::default());
    settings.scope.scope = kind;
    let seeds = [Url::parse("http://www.a.test/").unwrap()];
    let scope = Scope::new(&settings.scope, &settings.urls, &seeds).unwrap();
    sim.frontier.use_scope(Arc::new(scope), false, &mut sim.session);
    sim
}

/// Catches an index that makes the crawler ask any host on the web for files, whatever the scope is.
#[test]
fn an_index_may_name_sitemaps_of_its_own_site_in_the_scope() {
    let elsewhere = Admission::Refused(SkipReason::Scope);
    for (kind, sister) in [
        (ScopeKind::Any, Admission::Queued),
        (ScopeKind::Domain, Admission::Queued),
        (ScopeKind::Host, elsewhere),
        (ScopeKind::Prefix, elsewhere),
    ] {
        let mut sim = with_scope(kind);
        assert_eq!(sim.sitemap_of_index("http://www.a.test/1.xml", INDEX), Admission::Queued);
        assert_eq!(sim.sitemap_of_index("https://www.a.test/1.xml", INDEX), Admission::Queued);
        assert_eq!(sim.sitemap_of_index("http://sister.a.test/1.xml", INDEX), sister, "{kind:?}");
        assert_eq!(sim.sitemap_of_index("http://victim.test/1.xml", INDEX), elsewhere, "{kind:?}");
        sim.sitemap("http://other.test/map.xml");
        let known = sim.sitemap_of_index("http://other.test/map.xml", INDEX);
        assert_eq!(known, Admission::Seen, "its own robots.txt has named it");
        sim.run(10_000, usize::MAX);
        assert!(sim.log.iter().all(|(.., url)| !url.contains("victim")), "{:?}", sim.log);
    }
}

/// Catches a robots.txt that may not name sitemaps on another host, and one that may name any number of them.
#[test]
fn a_robots_txt_may_name_some_sitemaps_on_other_hosts() {
    let mut settings = polite(10);
    settings.scope.sitemaps = true;
    let mut sim = Sim::new(&settings);
    for (file, host) in [("http://a.test/robots.txt", "b"), ("https://a.test/robots.txt", "c")] {
        let maps: String = (0..800).map(|map| format!("sitemap: http://{host}{map}.test/map.xml\n")).collect();
        sim.robots.insert(file.into(), Answered::Says(Box::leak(maps.into_boxed_str())));
        sim.add(&file.replace("robots.txt", ""), 0.5);
    }
    sim.run(60_000, usize::MAX);
    let read = sim.log.iter().filter(|(.., url)| url.ends_with("/map.xml")).count();
    assert_eq!((read, sim.frontier.take_sitemaps_left()), (bounds::SITEMAPS_ELSEWHERE as usize, 600));
}

/// Catches names of sitemaps that take memory and disk without end, although they are refused.
#[test]
fn sitemaps_beyond_the_caps_are_not_remembered() {
    let many = bounds::SITEMAPS as usize + 500;
    for hosts in [1, 3] {
        let (mut sim, mut queued) = (Sim::new(&polite(10)), 0);
        let name = |number: usize| format!("http://s{}.a.test/{number}.xml", number % hosts);
        let (mut pending, mut refused) = (0, 0);
        for number in 0..many {
            match sim.sitemap_of_index(&name(number), INDEX) {
                Admission::Queued => (queued, pending) = (queued + 1, sim.session.pending_bytes()),
                admission => {
                    assert_eq!(admission, Admission::Refused(SkipReason::Trap));
                    refused += 1;
                }
            }
        }
        assert_eq!((queued, refused), (bounds::SITEMAPS, 500), "on {hosts} hosts");
        assert_eq!(sim.session.pending_bytes(), pending);
        for _ in 0..2 {
            let again = sim.sitemap_of_index(&name(many - 1), INDEX);
            assert_eq!(again, Admission::Refused(SkipReason::Trap), "it is not known");
        }
    }
}

/// Catches sitemaps that take all slots because they come before all pages.
#[test]
fn sitemaps_leave_slots_to_pages() {
    let beside = |sitemaps: usize| {
        let mut settings = polite(100);
        settings.politeness.address_delay = Duration(0);
        settings.fetch.concurrency = 16;
        let mut sim = Sim::new(&settings);
        sim.slots = 16;
        for host in 0..4 {
            (0..300).for_each(|page| _ = sim.add(&format!("http://well{host}.test/{page}"), 0.5));
        }
        sim.run(2_000, usize::MAX);
        (0..sitemaps).for_each(|host| sim.sitemap(&format!("http://h{host}.test/map.xml")));
        sim.run(12_000, usize::MAX);
        let maps: Vec<_> = sim.log.iter().filter(|(.., url)| url.ends_with("/map.xml")).collect();
        let at_once = |start| maps.iter().filter(|(from, to, _)| (*from..*to).contains(start)).count();
        let at_once = maps.iter().map(|(start, ..)| at_once(start)).max().unwrap_or(0);
        let pages = sim.log.iter().filter(|(start, _, url)| *start >= 2_000 && url.contains("well")).count();
        (pages, at_once, maps.len())
    };
    let ((alone, ..), (among, at_once, read)) = (beside(0), beside(1_500));
    assert!(at_once <= 4, "{at_once} sitemaps at once");
    assert!(read > 1_000, "{read} sitemaps");
    assert!(among * 100 >= alone * 95, "{among} pages; alone {alone}");
}
