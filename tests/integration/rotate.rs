//! Outputs in parts. Every reader must see one output, in whatever files it is, and a missing part must be reported.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use anyhow::{Context, ensure};
use crawler::cli::check::check;
use crawler::clock::{self, Clock};
use crawler::crawl::CrawlDir;
use crawler::demo::web::Web;
use serde_json::Value;
use tests::crawl::{Crawled, crawl_with, lines, parts, settings, text};
use tests::memory::MemoryFetch;
use tests::scripted::{Scripted, html, missing, words};

const START: u64 = 1_700_000_000_000;
const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;
const PAGES: &str = "pages.jsonl";

/// Crawls a synthetic web, this long after the start, at a pace that makes many commits.
fn crawl(dir: &Path, rotate: &str, after: u64, more: &[(&str, &str)]) -> anyhow::Result<Crawled> {
    let (web, clock) = (Arc::new(Web::demo(12)), Clock::at(START + after));
    let basic = [
        ("dedup.on-duplicate", "keep"),
        ("politeness.delay", "100ms"),
        ("limits.max-pages", "900"),
        ("scope.max-depth", "6"),
        ("output.text", "true"),
        ("output.markdown", "true"),
        ("output.warc", "true"),
        ("output.rotate", rotate),
    ];
    let all: Vec<_> = basic.iter().chain(more).copied().collect();
    let fetch = MemoryFetch::new(Arc::clone(&web)).with_clock(clock.clone());
    crawl_with(fetch, &clock, dir, &web.seeds(), &settings(&all)?)
}

fn program(dir: &Path, words: &[&str]) -> anyhow::Result<Output> {
    let (command, more) = words.split_first().context("a command")?;
    Ok(Command::new(env!("CARGO_BIN_EXE_crawl")).arg(command).arg(dir).args(more).output()?)
}

/// The stdout of the program.
fn said(dir: &Path, words: &[&str]) -> anyhow::Result<String> {
    let output = program(dir, words)?;
    ensure!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// The bytes of all parts together.
fn whole(dir: &Path, name: &str) -> anyhow::Result<String> {
    parts(dir, name)?.iter().map(|part| Ok(fs::read_to_string(part)?)).collect()
}

/// The first line of each part.
fn one_of_each(dir: &Path) -> anyhow::Result<Vec<Value>> {
    let mut first = Vec::new();
    for part in parts(dir, PAGES)? {
        if let Some(line) = fs::read_to_string(part)?.lines().next() {
            first.push(serde_json::from_str(line)?);
        }
    }
    Ok(first)
}

fn contents(pages: &[Value]) -> BTreeSet<(&str, &str)> {
    pages.iter().map(|page| (text(page, "url"), text(page, "sha256"))).collect()
}

/// Catches a reader that knows only the newest part, or counts places within a part.
#[test]
fn a_crawl_in_parts_is_read_as_one() -> anyhow::Result<()> {
    let base = tempfile::tempdir()?;
    let (one, many) = (base.path().join("one"), base.path().join("many"));
    let (plain, cut) = (crawl(&one, "off", 0, &[])?, crawl(&many, "60KiB", 0, &[])?);
    let in_parts = parts(&many, PAGES)?;
    println!("{} pages in {} parts", cut.pages.len(), in_parts.len());
    assert_eq!(parts(&one, PAGES)?.len(), 1);
    assert!(in_parts.len() >= 5 && parts(&many, "text.jsonl")?.len() >= 3 && parts(&many, "links.graph")?.len() >= 2);
    for part in &in_parts[..in_parts.len() - 1] {
        assert!(fs::metadata(part)?.len() >= 60 << 10, "{} was closed early", part.display());
    }
    assert_eq!(contents(&cut.pages), contents(&plain.pages));
    assert_eq!(cut.pages.len(), plain.pages.len(), "no line twice");
    for name in ["text.jsonl", "markdown.jsonl"] {
        assert_eq!(contents(&lines(&many, name)?).len(), contents(&lines(&one, name)?).len(), "{name}");
    }
    let archives =
        fs::read_dir(many.join("warc"))?.flatten().filter(|file| file.path().extension() == Some("gz".as_ref()));
    assert!(archives.count() >= 3, "the archive is cut at the same size");

    assert_eq!(said(&many, &["export"])?, whole(&many, PAGES)?);
    let rows = |dir: &Path, words: &[&str]| -> anyhow::Result<usize> { Ok(said(dir, words)?.lines().count()) };
    assert_eq!(rows(&many, &["links", "--json"])?, rows(&one, &["links", "--json"])?);
    assert_eq!(rows(&many, &["export", "--what", "text", "--all"])?, lines(&many, "text.jsonl")?.len());
    said(&many, &["export", "--what", "wacz"])?;
    let report: Value = serde_json::from_str(&said(&many, &["report", "--json"])?)?;
    assert_eq!(report["pages"], cut.pages.len());
    said(&many, &["report"])?;
    let html = fs::read_to_string(many.join("report.html"))?;
    for page in one_of_each(&many)? {
        let story = said(&many, &["why", text(&page, "url")])?;
        assert!(story.contains("verdict ") && story.contains(text(&page, "fetched_at")), "{story}");
        assert!(html.contains(text(&page, "url")), "{} is not in the report", page["url"]);
    }

    // The next round compares pages with those in earlier parts, and writes into new parts.
    let more = [("fetch.recrawl", "true"), ("limits.max-pages", "0"), ("scope.max-depth", "6")];
    let round = crawl(&many, "60KiB", DAY, &more)?;
    let again: Vec<_> = round.pages.iter().filter(|page| page["visit"] == 2).collect();
    assert!(again.len() >= 300, "{} visits", again.len());
    assert!(again.iter().all(|page| page["changed"] != "content" && page["links_gone"].as_u64().unwrap_or(0) == 0));
    assert!(parts(&many, PAGES)?.len() > in_parts.len());
    let diff: Value = serde_json::from_str(&said(&many, &["diff", "--json"])?)?;
    assert_eq!((&diff["changed"], &diff["parts_gone"]), (&serde_json::json!([]), &serde_json::json!([])));
    assert!(diff["unchanged"].as_u64() >= Some(again.len() as u64 / 2), "{}", diff["unchanged"]);
    Ok(())
}

/// Catches a command that says nothing about a part that was removed, and one that cannot work without it. The control
/// is the same directory before the removal.
#[test]
fn a_part_that_is_gone_is_told_by_everyone() -> anyhow::Result<()> {
    let base = tempfile::tempdir()?;
    let dir = base.path().join("crawl");
    crawl(&dir, "60KiB", 0, &[])?;
    let findings = || -> anyhow::Result<Vec<String>> { check(&mut CrawlDir::existing(&dir)?) };
    let complains = |words: &[&str]| -> anyhow::Result<bool> {
        let output = program(&dir, words)?;
        let said = [output.stdout, output.stderr].concat();
        Ok(String::from_utf8_lossy(&said).contains("pages-000002.jsonl is gone"))
    };
    let url = text(&one_of_each(&dir)?[1], "url").to_owned();
    let since = ["diff", "--since", "2020-01-01"];
    let commands: [&[&str]; 5] = [&["check"], &["export"], &["report"], &["why", &url], &since];
    assert_eq!(findings()?, Vec::<String>::new());
    for words in commands {
        assert!(!complains(words)?, "{words:?} complains of nothing");
    }
    let before = whole(&dir, PAGES)?;
    let part = dir.join("pages-000002.jsonl");
    let removed = fs::read_to_string(&part)?;
    fs::remove_file(&part)?;
    let found = findings()?;
    assert!(found.len() == 1 && found[0].contains("pages-000002.jsonl is gone"), "{found:?}");
    for words in commands {
        assert!(complains(words)?, "{words:?} says nothing");
        let code = program(&dir, words)?.status.code();
        assert_eq!(code, Some(i32::from(words == ["check"])), "{words:?}");
    }
    assert_eq!(said(&dir, &["export"])?, before.replace(&removed, ""));
    // The crawl needs no old part.
    let clock = Clock::at(START + DAY);
    let fetch = MemoryFetch::new(Arc::new(Web::demo(12))).with_clock(clock.clone());
    let settings = settings(&[("fetch.recrawl", "true"), ("output.rotate", "60KiB"), ("limits.max-pages", "1000")])?;
    let (_keep, control) = crossbeam_channel::unbounded();
    let running = CrawlDir::open(&dir)?.start(&settings, Vec::new(), clock, control)?;
    crawler::engine::run(running, fetch, &mut crawler::engine::Nobody)?;
    assert!(findings()?.iter().all(|finding| finding.contains("pages-000002.jsonl is gone")), "{:?}", findings()?);
    // A missing file of the archive is reported, too.
    let wacz = || -> anyhow::Result<String> {
        let output = program(&dir, &["export", "--what", "wacz"])?;
        ensure!(output.status.success(), "{output:?}");
        Ok(String::from_utf8(output.stderr)?)
    };
    assert!(!wacz()?.contains("warc.gz is gone"));
    let (archive, away) = (dir.join("warc/crawl-00000.warc.gz"), base.path().join("away"));
    fs::rename(&archive, &away)?;
    assert!(wacz()?.contains("note: warc/crawl-00000.warc.gz is gone, with "), "{}", wacz()?);
    assert!(
        findings()?.iter().any(|finding| finding.contains("crawl-00000.warc.gz is not there")),
        "{:?}",
        findings()?
    );
    fs::rename(&away, &archive)?;
    // A part that was cut does not count as whole.
    fs::write(&part, &removed[..removed.len() / 2])?;
    assert!(findings()?.iter().any(|finding| finding.contains("pages-000002.jsonl has")), "{:?}", findings()?);
    for words in [&["export"][..], &["export", "--what", "clusters"], &["report"], &since] {
        let output = program(&dir, words)?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{words:?}: {said}");
        assert!(said.contains("pages-000002.jsonl has"), "{words:?}: {said}");
    }
    fs::write(&part, &removed)?;
    assert_eq!(findings()?, Vec::<String>::new());
    Ok(())
}

/// Catches a crawl without end whose outputs are never cut, and cuts that come too often or too late.
#[test]
fn a_crawl_without_end_begins_new_parts_in_time() -> anyhow::Result<()> {
    let (clock, base) = (Clock::at(START), tempfile::tempdir()?);
    let (dir, now) = (base.path().join("crawl"), clock.clone());
    // A site with ten pages that change every three hours.
    let fetch = Scripted::new(&clock, move |url, _| match url.path() {
        "/robots.txt" => missing(),
        path => {
            let number = path.bytes().map(u64::from).sum::<u64>();
            let links: String = (0..10).map(|n| format!("<a href=/{n}>{n}</a> ")).collect();
            html(format!("<p>{}</p>{links}", words(number << 32 | ((now.now() - START) / (3 * HOUR)), 100)))
        }
    });
    let run = |time: &str| -> anyhow::Result<Crawled> {
        let settings = settings(&[
            ("refresh.continuous", "true"),
            ("politeness.delay", "1s"),
            ("limits.time-limit", time),
            ("output.rotate", "1d"),
            ("output.warc", "true"),
            ("dedup.rules", "false"),
        ])?;
        crawl_with(fetch.clone(), &clock, &dir, &["http://a.test/".to_owned()], &settings)
    };
    // The crawl is stopped in the middle of a day. The next run continues the same part.
    run("108h")?;
    let crawled = run("108h")?;
    let mut spans = BTreeMap::new();
    for part in parts(&dir, PAGES)? {
        let text = fs::read_to_string(&part)?;
        let times: Vec<u64> = text
            .lines()
            .filter_map(|line| clock::parse(serde_json::from_str::<Value>(line).ok()?["fetched_at"].as_str()?))
            .collect();
        spans.insert(part, (times.iter().min().copied(), times.iter().max().copied()));
    }
    // The crawl may end at the moment at which a new part begins.
    let newest = dir.join(PAGES);
    if spans.get(&newest).is_some_and(|(first, _)| first.is_none()) {
        spans.remove(&newest);
    }
    println!("{} lines in {} parts", crawled.pages.len(), spans.len());
    assert!((8..=10).contains(&spans.len()), "{spans:?}");
    for (part, (first, last)) in &spans {
        let (first, last) = first.zip(*last).context("an empty part")?;
        assert!(last - first <= DAY + HOUR, "{}: {} h", part.display(), (last - first) / HOUR);
    }
    let archives =
        fs::read_dir(dir.join("warc"))?.flatten().filter(|file| file.path().extension() == Some("gz".as_ref()));
    assert_eq!(archives.count(), spans.len());
    Ok(())
}
