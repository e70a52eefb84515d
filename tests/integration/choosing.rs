//! Choosing what to fetch, on whole crawls in memory: what `demote` finds for its fetches, and crawls with a topic.

use crawler::clock::Clock;
use std::sync::Arc;
use tests::choosing::{Gate, MODES, Shelf, WebKind, World, WorldFetch, run, walk};
use tests::crawl::{crawl_with, settings, text};

#[test]
fn demote_finds_everything_with_no_more_fetches_than_the_ideal_gate() -> anyhow::Result<()> {
    let demote = MODES.into_iter().find(|mode| mode.name == "demote+rules").expect("a way of choosing");
    for seed in 1..3 {
        let world = WebKind::Copies.make(seed, 1_500)?.expect("a synthetic web");
        let ideal = walk(&*world, Gate::Truth, u64::MAX);
        let run = run(&world, demote, 0, &[])?;
        let all = run.curve.fetches_for(1.0, ideal.contents()).expect("nothing is lost");
        assert!(all * 100 <= ideal.fetches * 104, "seed {seed}: {all} fetches, ideally {}", ideal.fetches);
    }
    Ok(())
}

/// The share of pages about the topic among the first `limit`, crawled in so many runs.
fn harvest(world: &Arc<dyn World>, keys: &[(&str, &str)], limits: &[&str]) -> anyhow::Result<f64> {
    let clock = Clock::at(1_700_000_000_000);
    let dir = tempfile::tempdir()?;
    let fetch = WorldFetch::new(Arc::clone(world), clock.clone());
    let mut pages = Vec::new();
    for limit in limits {
        let settings = settings(&[keys, &[("limits.max-pages", limit)]].concat())?;
        pages = crawl_with(fetch.clone(), &clock, dir.path(), &world.seeds(), &settings)?.pages;
    }
    let about = pages.iter().filter(|page| text(page, "url").contains("/topic-")).count();
    Ok(about as f64 / pages.len() as f64)
}

#[test]
fn a_focused_crawl_keeps_to_its_topic_and_a_resumed_one_goes_on() -> anyhow::Result<()> {
    let world: Arc<dyn World> = Arc::new(Shelf { pages: 400, every: 10 });
    let topic = [("focus.topic", "lighthouse keepers"), ("dedup.on-duplicate", "keep")];
    let breadth = harvest(&world, &topic[1..], &["80"])?;
    let focused = harvest(&world, &topic, &["80"])?;
    let resumed = harvest(&world, &topic, &["25", "50", "80"])?;
    assert!(breadth < 0.2, "{breadth}");
    assert!(focused > 2.0 * breadth && resumed > 2.0 * breadth, "{breadth} {focused} {resumed}");
    Ok(())
}

#[test]
fn relevance_and_merits_are_on_record() -> anyhow::Result<()> {
    let world: Arc<dyn World> = Arc::new(Shelf { pages: 60, every: 5 });
    let clock = Clock::at(1_700_000_000_000);
    let dir = tempfile::tempdir()?;
    let settings = settings(&[("focus.topic", "lighthouse"), ("dedup.on-duplicate", "demote")])?;
    let fetch = WorldFetch::new(Arc::clone(&world), clock.clone());
    let crawled = crawl_with(fetch, &clock, dir.path(), &world.seeds(), &settings)?;
    let mean = |about: bool| {
        let pages = crawled.pages.iter().filter(|page| text(page, "url").contains("/topic-") == about);
        let (sum, n) = pages.fold((0.0, 0), |(sum, n), page| (sum + page["relevance"].as_f64().unwrap_or(-9.0), n + 1));
        sum / f64::from(n)
    };
    assert!(mean(true) > mean(false) + 0.2, "{} {}", mean(true), mean(false));
    assert!(crawled.stats.harvest().is_some_and(|harvest| harvest > 0.0));
    assert!(crawled.pages.iter().all(|page| page["merits"].as_array().is_some_and(|merits| merits.len() == 4)));
    Ok(())
}
