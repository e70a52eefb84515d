//! The output files have exactly the fields that `crawler/OUTPUT.md` names.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::Arc;

use crawler::clock::Clock;
use crawler::demo::web::{Options, Web};
use frontier::SkipReason;
use serde_json::Value;
use tests::crawl::{crawl_with, settings};
use tests::memory::MemoryFetch;

const MANUAL: &str = include_str!("../../crawler/OUTPUT.md");

/// The words between backquotes in the first cells of the tables of a section.
fn documented(section: &str) -> BTreeSet<&'static str> {
    let text = MANUAL.split("\n## ").find(|text| text.starts_with(section)).unwrap_or_default();
    let cells = text.lines().filter_map(|line| line.strip_prefix("| `")?.split(" |").next());
    cells.flat_map(|cell| cell.split('`').step_by(2)).filter(|name| !name.is_empty()).collect()
}

fn fields<'a>(objects: impl IntoIterator<Item = &'a Value>) -> BTreeSet<&'a str> {
    objects.into_iter().filter_map(Value::as_object).flat_map(|object| object.keys()).map(String::as_str).collect()
}

#[test]
fn every_field_is_documented_and_there() -> anyhow::Result<()> {
    let web = Arc::new(Web::new(Options { pages: 200, hosts: 4, ..Options::benchmark(1) }));
    let dir = tempfile::tempdir()?;
    let clock = Clock::at(1_700_000_000_000);
    let settings = settings(&[("scope.max-depth", "2")])?;
    let crawled = crawl_with(
        MemoryFetch::new(web.clone()).with_clock(clock.clone()),
        &clock,
        dir.path(),
        &web.seeds(),
        &settings,
    )?;
    assert_eq!(fields(&crawled.pages), documented("Fields of `pages.jsonl`"));
    assert!(fields(&crawled.skipped).is_subset(&documented("Fields of `skipped.jsonl`")));
    assert!(!crawled.skipped.is_empty());

    let mut report = Command::new(env!("CARGO_BIN_EXE_crawl"));
    let report = report.arg("report").arg(dir.path()).arg("--json").output()?;
    let report: Value = serde_json::from_slice(&report.stdout)?;
    assert_eq!(fields([&report]), documented("Fields of `crawler report"));
    Ok(())
}

#[test]
fn every_reason_is_documented() {
    let reasons = MANUAL.split("Reasons: ").nth(1).and_then(|text| text.split("\n\n").next()).unwrap_or_default();
    for reason in SkipReason::ALL {
        assert!(reasons.contains(&format!("`{}`", reason.name())), "{}", reason.name());
    }
}
