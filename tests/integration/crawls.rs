//! Whole crawls of the synthetic web in memory: what the gate saves and loses, politeness, budgets, limits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crawler::clock::Clock;
use crawler::demo::web::{Features, Options, Web};
use crawler::engine::StopReason;
use tests::crawl::{Crawled, crawl_with, settings};
use tests::memory::MemoryFetch;
use tests::watch::Watch;

/// A web of copies, small enough for a debug build.
fn copies(seed: u64) -> Arc<Web> {
    Arc::new(Web::new(Options { pages: 1_200, hosts: 10, page_bytes: 9_000, ..Options::benchmark(seed) }))
}

struct Run {
    crawled: Crawled,
    fetch: MemoryFetch,
}

fn run(web: &Arc<Web>, overrides: &[(&str, &str)]) -> anyhow::Result<Run> {
    let dir = tempfile::tempdir()?;
    let clock = Clock::at(1_700_000_000_000);
    let fetch = MemoryFetch::new(Arc::clone(web)).with_clock(clock.clone());
    let crawled = crawl_with(fetch.clone(), &clock, dir.path(), &web.seeds(), &settings(overrides)?)?;
    Ok(Run { crawled, fetch })
}

#[test]
fn keep_fetches_every_url_once() -> anyhow::Result<()> {
    let web = copies(1);
    let Run { crawled, fetch } = run(&web, &[("dedup.on-duplicate", "keep")])?;
    assert_eq!(crawled.reason, StopReason::Done);
    let tally = fetch.record().tally();
    assert_eq!((tally.pages, tally.contents, tally.missing), (1_200, web.contents(), 0));
    let urls: BTreeSet<&str> = crawled.urls().into_iter().collect();
    assert_eq!(urls.len(), crawled.pages.len());
    assert_eq!(urls, web.urls().iter().map(String::as_str).collect());
    Ok(())
}

#[test]
fn drop_saves_fetches_and_finds_all_contents() -> anyhow::Result<()> {
    for seed in 1..4 {
        let web = copies(seed);
        // The fetches of the rescue are counted apart.
        let Run { crawled, fetch } = run(&web, &[("dedup.on-duplicate", "drop"), ("dedup.rescue", "0%")])?;
        let (tally, ideal) = (fetch.record().tally(), web.ideal_gate());
        assert_eq!(tally.contents, web.contents(), "seed {seed}");
        assert!(
            tally.pages * 100 <= ideal.pages * 105,
            "seed {seed}: {} fetches, ideally {}",
            tally.pages,
            ideal.pages
        );
        assert_eq!(crawled.stats.unique, web.contents());
    }
    Ok(())
}

#[test]
fn demote_loses_nothing() -> anyhow::Result<()> {
    let web = copies(2);
    let Run { fetch, .. } = run(&web, &[("dedup.on-duplicate", "demote")])?;
    assert_eq!((fetch.record().tally().pages, fetch.record().tally().contents), (1_200, web.contents()));
    Ok(())
}

#[test]
fn hosts_are_asked_one_request_at_a_time_and_never_too_soon() -> anyhow::Result<()> {
    let features = Features { robots: true, redirects: true, ..Features::COPIES };
    let web = Arc::new(Web::new(Options { pages: 300, hosts: 6, mirrors: 1, features, ..Options::benchmark(6) }));
    let clock = Clock::at(1_700_000_000_000);
    let watch = Watch::new(MemoryFetch::new(Arc::clone(&web)).with_clock(clock.clone()), clock.clone());
    let settings = settings(&[
        ("dedup.on-duplicate", "keep"),
        ("politeness.delay", "300ms"),
        ("politeness.max-crawl-delay", "60s"),
        ("limits.patience", "1h"),
    ])?;
    let dir = tempfile::tempdir()?;
    let crawled = crawl_with(watch.clone(), &clock, dir.path(), &web.seeds(), &settings)?;
    assert_eq!(crawled.reason, StopReason::Done);
    let seen = watch.seen();
    assert_eq!(seen.most_open_to_one, 1);
    assert!(seen.most_open > 1, "hosts do not wait for each other");
    assert_eq!(seen.requests.len(), 6);
    for (host, requests) in &seen.requests {
        assert_eq!(requests[0].1, "/robots.txt", "robots.txt comes first");
        let robots = web.answer(host, "/robots.txt").expect("a host").body;
        let delay = if robots.contains("Crawl-delay") { 1_000 } else { 300 };
        // The answer that says how long to wait comes before the first wait.
        for pair in requests.windows(2) {
            let waited = pair[1].0 - pair[0].0;
            assert!(waited >= delay, "{host}: {waited} ms between {} and {}", pair[0].1, pair[1].1);
        }
        let private = robots.lines().find_map(|line| line.strip_prefix("Disallow: ")).expect("a forbidden folder");
        assert!(requests.iter().all(|(_, path)| !path.starts_with(private)), "{host}");
    }
    assert!(crawled.skipped.iter().any(|skipped| skipped["reason"] == "robots"));
    Ok(())
}

#[test]
fn a_small_body_budget_slows_but_loses_nothing() -> anyhow::Result<()> {
    let web = copies(7);
    let Run { crawled, fetch } =
        run(&web, &[("dedup.on-duplicate", "keep"), ("fetch.max-body", "40KiB"), ("fetch.body-budget", "40KiB")])?;
    assert_eq!(fetch.record().tally().contents, web.contents());
    assert_eq!(crawled.pages.len(), 1_200);
    assert_eq!(crawled.stats.failed, 0);
    Ok(())
}

#[test]
fn the_page_limit_is_exact_and_the_next_run_goes_on() -> anyhow::Result<()> {
    let web = copies(8);
    let dir = tempfile::tempdir()?;
    let clock = Clock::at(1_700_000_000_000);
    let fetch = MemoryFetch::new(Arc::clone(&web)).with_clock(clock.clone());
    let mut pages = 0;
    for limit in ["100", "500", "0"] {
        let settings = settings(&[("dedup.on-duplicate", "keep"), ("limits.max-pages", limit)])?;
        let crawled = crawl_with(fetch.clone(), &clock, dir.path(), &web.seeds(), &settings)?;
        pages = crawled.pages.len();
        match limit {
            "0" => assert_eq!(crawled.reason, StopReason::Done),
            limit => assert_eq!((crawled.reason, pages.to_string().as_str()), (StopReason::PageLimit, limit)),
        }
        let mut times: BTreeMap<&str, u32> = BTreeMap::new();
        crawled.urls().into_iter().for_each(|url| *times.entry(url).or_default() += 1);
        assert!(times.values().all(|times| *times == 1));
    }
    assert_eq!(pages, 1_200);
    Ok(())
}
