//! The terminal at the end of a crawl, `report`, `report --json`, the page, `/metrics` and the files must give the same
//! numbers.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::Context;
use crawler::clock::Clock;
use crawler::crawl::CrawlDir;
use crawler::dashboard::Dashboard;
use crawler::demo::record::Record;
use crawler::demo::server::serve_web;
use crawler::demo::web::{Options, Web};
use crawler::engine::{self, Observer};
use serde_json::Value;
use tests::background::Background;
use tests::client::get;
use tests::crawl::{lines, settings, text};
use tests::memory::MemoryFetch;
use tests::sound::sound_at;

/// Numbers by name.
type Numbers = BTreeMap<String, u64>;

/// The verdicts that every place counts.
const VERDICTS: [&str; 5] = ["unique", "near", "exact", "unchanged", "unjudged"];

fn program(name: &str, dir: &Path, flags: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_crawl")).arg(name).arg(dir).args(flags).output()?;
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// The numbers in the output files.
fn of_files(dir: &Path) -> anyhow::Result<Numbers> {
    let mut numbers: Numbers = VERDICTS.iter().map(|verdict| ((*verdict).to_owned(), 0)).collect();
    let mut add = |name: &str| *numbers.entry(name.to_owned()).or_default() += 1;
    for page in lines(dir, "pages.jsonl")? {
        if page["status"].is_null() {
            add("failed");
            continue;
        }
        add("pages");
        add(text(&page, "verdict"));
    }
    for skipped in lines(dir, "skipped.jsonl")? {
        match text(&skipped, "reason") {
            "duplicate_source" => add("held"),
            // A trap that was learned, or the shape of a URL in a trap.
            "rule" | "mirror" => add("stopped"),
            reason => add(&format!("skipped {reason}")),
        }
    }
    Ok(numbers)
}

/// The numbers of `report --json`.
fn of_json(dir: &Path) -> anyhow::Result<(Numbers, Value)> {
    let report: Value = serde_json::from_str(&program("report", dir, &["--json"])?)?;
    let names = VERDICTS.iter().chain(&["pages", "failed", "held", "stopped", "frontier", "urls_seen"]);
    let numbers =
        names.map(|name| Ok(((*name).to_owned(), report[*name].as_u64().with_context(|| (*name).to_owned())?)));
    Ok((numbers.collect::<anyhow::Result<_>>()?, report))
}

/// The number in the line of a summary with this meaning; 0 if there is no such line.
fn in_line(summary: &str, meaning: &str) -> u64 {
    let line = summary.lines().find(|line| line.contains(meaning)).unwrap_or_default();
    line.split_whitespace().find_map(|word| word.replace(',', "").parse().ok()).unwrap_or(0)
}

/// The numbers of a summary for people.
fn of_summary(summary: &str) -> Numbers {
    let rows = [
        ("pages", " decoded. "),
        ("unique", "unique: say something new"),
        ("near", "near-duplicates: say"),
        ("exact", "exact duplicates: have"),
        ("unchanged", "unchanged: say"),
        ("unjudged", "not compared: redirects"),
        ("failed", "failed: no answer"),
        ("held", "held: only duplicates"),
        ("stopped", "stopped by a rule or a spent budget"),
        ("frontier", "URLs still queued"),
    ];
    rows.iter().map(|(name, meaning)| ((*name).to_owned(), in_line(summary, meaning))).collect()
}

/// The numbers of the page of a report.
fn of_page(html: &str) -> Numbers {
    let rows = [
        ("pages", "Pages fetched"),
        ("unique", "Unique"),
        ("near", "Near-duplicates"),
        ("exact", "Exact duplicates"),
        ("unjudged", "Not compared"),
        ("failed", "Failed"),
        ("urls_seen", "URLs met"),
        ("frontier", "Still queued"),
    ];
    let value = |name: &str| {
        let rest = html.split_once(&format!("<dt>{name}</dt><dd class=\"value\">"))?.1;
        rest.split('<').next()?.replace(',', "").parse().ok()
    };
    rows.iter().filter_map(|(name, row)| Some(((*name).to_owned(), value(row)?))).collect()
}

/// The numbers of `/metrics`.
fn of_metrics(metrics: &str) -> Numbers {
    let value = |line: &str| metrics.lines().find_map(|found| found.strip_prefix(line)?.trim().parse::<f64>().ok());
    let named = |name: &str, line: String| Some((name.to_owned(), value(&line)? as u64));
    let verdicts =
        VERDICTS.iter().filter_map(|name| named(name, format!("crawler_pages_total{{verdict=\"{name}\"}} ")));
    let gauges = [
        ("held", "crawler_urls_held "),
        ("stopped", "crawler_urls_stopped "),
        ("frontier", "crawler_frontier_urls "),
        ("urls_seen", "crawler_urls_seen "),
    ];
    verdicts.chain(gauges.iter().filter_map(|(name, line)| named(name, (*line).to_owned()))).collect()
}

/// Compares the numbers that two places give. They must have at least `least` numbers in common.
fn agree(one: &Numbers, other: &Numbers, least: usize, what: &str) {
    let both: Vec<&String> = one.keys().filter(|name| other.contains_key(*name)).collect();
    assert!(both.len() >= least, "{what}: {one:?} {other:?}");
    for name in both {
        assert_eq!(one[name], other[name], "{name}: {what}: {one:?} {other:?}");
    }
}

/// A web with copies, sessions, redirects, private folders and missing pages.
fn web() -> Arc<Web> {
    Arc::new(Web::new(Options::demo(21).with_pages(500)))
}

/// Catches a place that counts in its own way.
#[test]
fn terminal_report_json_page_and_files_give_the_same_numbers() -> anyhow::Result<()> {
    let web = web();
    let record = Arc::new(Record::default());
    let server = Background::start(|listener| serve_web(listener, Arc::clone(&web), record))?;
    for (mode, limit) in [("drop", "600"), ("drop", "0"), ("demote", "600"), ("keep", "600")] {
        let base = tempfile::tempdir()?;
        let dir = base.path().join("crawl");
        let mut crawl = Command::new(env!("CARGO_BIN_EXE_crawl"));
        crawl.arg("crawl").arg("--dir").arg(&dir).args(["--allow-private", "--delay", "0s", "--delay-factor", "0"]);
        crawl.args(["--address-delay", "0s", "--max-crawl-delay", "0s", "--patience", "1s", "--scope", "host"]);
        crawl.args(["--connect-to", &server.connect_to(), "--progress", "none"]);
        crawl.args(["--on-duplicate", mode, "--max-pages", limit, "--max-depth", "12"]);
        let output = crawl.args(web.seeds()).stdin(Stdio::null()).output()?;
        let terminal = String::from_utf8_lossy(&output.stderr);
        sound_at(&dir)?;
        let (json, report) = of_json(&dir)?;
        assert!(json["unique"] > 0 && json["near"] + json["exact"] > 0, "{report:#}");
        let summary = program("report", &dir, &[])?;
        let html = std::fs::read_to_string(dir.join("report.html"))?;
        let files = of_files(&dir)?;
        let what = format!("{mode}, at most {limit} pages");
        agree(&json, &of_summary(&terminal), 10, &format!("{what}: terminal\n{terminal}"));
        agree(&json, &of_summary(&summary), 10, &format!("{what}: summary\n{summary}"));
        agree(&json, &of_page(&html), 8, &format!("{what}: page"));
        agree(&json, &files, 6, &format!("{what}: files"));
        let kept = files
            .iter()
            .filter(|(name, _)| name.starts_with("skipped ") || matches!(name.as_str(), "held" | "stopped"));
        let withheld: u64 =
            report["withheld"].as_object().map_or(0, |all| all.values().filter_map(Value::as_u64).sum());
        let (kept, skipped) = (kept.map(|(_, count)| count).sum::<u64>(), report["skipped"].as_u64().unwrap_or(0));
        assert!(
            (skipped..=skipped + withheld).contains(&kept),
            "{what}: {kept} lines in skipped.jsonl, {skipped} skipped"
        );
    }
    Ok(())
}

/// Catches metrics that differ from the report. The live page is asked when the run is over: it still shows the last
/// state that it was given.
#[test]
fn metrics_and_report_give_the_same_numbers() -> anyhow::Result<()> {
    let web = web();
    let dir = tempfile::tempdir()?;
    let clock = Clock::at(1_700_000_000_000);
    let settings = settings(&[("limits.max-pages", "600"), ("scope.max-depth", "12")])?;
    let (control_in, control) = crossbeam_channel::unbounded();
    let seeds = web.seeds().iter().map(|seed| seed.parse()).collect::<Result<_, _>>()?;
    let parts = CrawlDir::open(dir.path())?.start(&settings, seeds, clock.clone(), control)?;
    let mut live = Dashboard::start("127.0.0.1:0".parse()?, dir.path(), control_in)?;
    let observer: &mut dyn Observer = &mut live;
    let (_, stats) = engine::run(parts, MemoryFetch::new(Arc::clone(&web)).with_clock(clock), observer)?;
    let metrics = get(live.address(), &live.address().to_string(), "/metrics", "")?.text();
    drop(live);
    let (json, report) = of_json(dir.path())?;
    agree(&json, &of_metrics(&metrics), 9, &format!("{metrics}\n{report:#}"));
    for (status, count) in &stats.statuses {
        let line = format!("crawler_answers_total{{status=\"{status}\"}} {count}");
        assert!(metrics.lines().any(|found| found == line), "{line}\n{metrics}");
        assert_eq!(report["statuses"][status.to_string()], *count);
    }
    for (reason, count) in &stats.refused {
        let line = format!("crawler_urls_refused{{reason=\"{reason}\"}} {count}");
        assert!(metrics.lines().any(|found| found.trim_end_matches(".0") == line), "{line}\n{metrics}");
    }
    Ok(())
}
