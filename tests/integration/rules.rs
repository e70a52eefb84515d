//! Learned rules in whole crawls: what they save, that they lose nothing, that they outlive the process, and the
//! estimate of the loss.

use std::collections::BTreeMap;
use std::sync::Arc;

use crawler::clock::Clock;
use crawler::crawl::CrawlDir;
use crawler::demo::web::{Features, Options, Web};
use crawler::engine::{self, StopReason};
use frontier::rules::{Rule, RuleStatus, stored};
use serde_json::Value;
use tests::crawl::{Crawled, crawl_with, settings, text};
use tests::memory::MemoryFetch;

struct Run {
    dir: tempfile::TempDir,
    crawled: Crawled,
    fetch: MemoryFetch,
}

impl Run {
    fn rules(&self) -> anyhow::Result<Vec<Rule>> {
        Ok(stored(CrawlDir::open(self.dir.path())?.session())?)
    }
}

fn run(web: &Arc<Web>, more: &[(&str, &str)]) -> anyhow::Result<Run> {
    go_on(web, tempfile::tempdir()?, more)
}

fn go_on(web: &Arc<Web>, dir: tempfile::TempDir, more: &[(&str, &str)]) -> anyhow::Result<Run> {
    let clock = Clock::at(1_700_000_000_000);
    let fetch = MemoryFetch::new(Arc::clone(web)).with_clock(clock.clone());
    let crawled = crawl_with(fetch.clone(), &clock, dir.path(), &web.seeds(), &settings(more)?)?;
    Ok(Run { dir, crawled, fetch })
}

/// A web with mirrors that are large enough to learn from.
fn mirrors(seed: u64) -> Arc<Web> {
    let copies = Options { pages: 1_500, hosts: 6, mirrors: 2, page_bytes: 7_000, ..Options::benchmark(seed) };
    Arc::new(Web::new(copies))
}

#[test]
fn demote_with_rules_finds_all_sooner_and_fetches_the_rest_last() -> anyhow::Result<()> {
    let web = mirrors(3);
    let found = |rules: &str| -> anyhow::Result<(u64, u64)> {
        let run = run(&web, &[("dedup.on-duplicate", "demote"), ("dedup.rules", rules)])?;
        let tally = run.fetch.record().tally();
        assert_eq!((tally.contents, run.crawled.reason), (web.contents(), StopReason::Done));
        Ok((tally.found_at.last().copied().unwrap_or_default(), tally.pages))
    };
    let ((with, all), (without, all_without)) = (found("true")?, found("false")?);
    assert_eq!(all, all_without, "nothing is lost");
    assert!(with <= without, "{with} fetches with rules, {without} without");
    Ok(())
}

#[test]
fn rules_survive_and_what_they_stop_is_told_and_kept() -> anyhow::Result<()> {
    let web = mirrors(4);
    // The order of a crawl depends on its secret. In a few orders, no mirror is proven by then. So the crawl is
    // repeated with other orders.
    let begun = || run(&web, &[("dedup.on-duplicate", "demote"), ("limits.max-pages", "900")]);
    let mut first = begun()?;
    for _ in 0..20 {
        if first.rules()?.iter().any(|rule| rule.kind() == "mirror") {
            break;
        }
        first = begun()?;
    }
    let before = first.rules()?;
    assert!(before.iter().any(|rule| rule.kind() == "mirror"), "{before:?}");
    // In the next run, with `drop`, the rules stop the URLs that are still queued.
    let second = go_on(&web, first.dir, &[("dedup.on-duplicate", "drop")])?;
    let after = second.rules()?;
    assert!(before.iter().zip(&after).all(|(before, after)| before.to_string() == after.to_string()));
    let stopped: Vec<&Value> =
        second.crawled.skipped.iter().filter(|line| matches!(text(line, "reason"), "rule" | "mirror")).collect();
    assert!(!stopped.is_empty());
    for line in &stopped {
        assert!(text(line, "rule").contains(" = "), "{line}");
    }
    // Later, in `demote`, all these URLs are fetched.
    let third = go_on(&web, second.dir, &[("dedup.on-duplicate", "demote")])?;
    let fetched: Vec<&str> = third.crawled.urls();
    assert!(stopped.iter().all(|line| fetched.contains(&text(line, "url"))));
    let mut times = BTreeMap::<&str, u32>::new();
    fetched.iter().for_each(|url| *times.entry(url).or_default() += 1);
    assert!(times.values().all(|times| *times == 1), "each URL once");
    Ok(())
}

#[test]
fn keep_learns_nothing_and_stops_nothing() -> anyhow::Result<()> {
    let web = mirrors(5);
    let run = run(&web, &[("dedup.on-duplicate", "keep")])?;
    assert_eq!(run.fetch.record().tally().pages, web.urls().len() as u64);
    assert!(run.rules()?.is_empty());
    Ok(())
}

#[test]
fn an_honest_web_of_templates_loses_nothing() -> anyhow::Result<()> {
    let features = Features { templates: Some(40), ..Features::NONE };
    let options = Options {
        pages: 800,
        duplicates: 0.0,
        hosts: 4,
        mirrors: 0,
        page_bytes: 6_000,
        features,
        ..Options::benchmark(6)
    };
    let web = Arc::new(Web::new(options));
    let run = run(&web, &[("dedup.on-duplicate", "drop")])?;
    assert_eq!(run.fetch.record().tally().contents, web.contents());
    assert!(run.rules()?.is_empty(), "{:?}", run.rules()?);
    Ok(())
}

#[test]
fn traps_end_and_what_lies_beside_them_is_found() -> anyhow::Result<()> {
    let web = Arc::new(Web::new(Options { page_bytes: 4_000, ..Options::traps(1) }));
    // Trials come last, and so do the pages that only trials find.
    let limit = (web.oracle().pages * 3 / 2).to_string();
    for mode in ["drop", "demote"] {
        let run = run(&web, &[("dedup.on-duplicate", mode), ("limits.max-pages", &limit)])?;
        let contents = run.fetch.record().tally().contents;
        assert!(contents * 100 >= web.contents() * 99, "{mode}: {contents} of {}", web.contents());
        // In `drop`, trials end most traps before a rule is proven.
        let rules = run.rules()?;
        let trap = rules.iter().any(|rule| rule.kind() == "trap" && rule.status == RuleStatus::Proven);
        assert!(trap || mode == "drop", "{rules:?}");
    }
    Ok(())
}

#[test]
fn the_loss_is_estimated_from_a_sample() -> anyhow::Result<()> {
    // The copies have all words of their originals. To the estimate, a text with another date in it is another text.
    let features = Features { archives: true, sessions: true, ..Features::NONE };
    let options = mirrors(7).options().clone();
    let web = Arc::new(Web::new(Options { features, ..options }));
    let lost = |run: &Run| -> anyhow::Result<_> { Ok(engine::lost(CrawlDir::open(run.dir.path())?.session())?) };
    let few = run(&web, &[("dedup.on-duplicate", "drop"), ("dedup.rescue", "0%")])?;
    let told = lost(&few)?.expect("there is always an estimate");
    assert_eq!((told.estimate, told.low), (0.0, 0.0), "without a sample nothing is known");
    assert_eq!(told.high, (few.crawled.stats.held + few.crawled.stats.stopped) as f64);
    let run = run(&web, &[("dedup.on-duplicate", "drop")])?;
    let told = lost(&run)?.expect("an estimate");
    let truth = (web.contents() - run.fetch.record().tally().contents) as f64;
    assert!(told.low <= truth && truth <= told.high, "{told:?} for {truth}");
    assert!(run.crawled.pages.len() > few.crawled.pages.len());
    let duplicates = run.crawled.pages.iter().filter(|page| matches!(text(page, "verdict"), "exact" | "near"));
    assert!(duplicates.clone().count() > 0);
    for page in duplicates {
        assert_eq!(page["links_admitted"], 0, "{page}");
    }
    // The same command again makes no more trials.
    let pages = run.crawled.pages.len();
    let again = go_on(&web, run.dir, &[("dedup.on-duplicate", "drop")])?;
    assert_eq!(again.crawled.pages.len(), pages);
    Ok(())
}
