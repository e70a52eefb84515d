//! One command of the operator tells what all workers know, both while they run and after they have ended.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::Value;
use tests::background::Background;
use tests::cluster::{Brokers, Shape, Team, Town, Worker};
use tests::crawl::{lines, text};
use tests::programs::beside;

use super::Test;

/// The tests.
pub const TESTS: &[Test] = &[
    ("what_workers_know_is_told_while_they_run_and_after", what_workers_know_is_told_while_they_run_and_after),
    ("a_worker_that_says_nothing_is_named_soon_and_its_heir_answers", a_worker_that_says_nothing_is_named_soon),
];

const LIMIT: Duration = Duration::from_secs(240);
const SHAPE: Shape = Shape { originals: 16, mirrors: 6, pages: 30 };

fn what_workers_know_is_told_while_they_run_and_after() -> anyhow::Result<()> {
    let brokers = Brokers::start("always")?;
    let town = Town::new(SHAPE);
    let server = Background::start(|listener| Arc::clone(&town).run(listener))?;
    let base = tempfile::tempdir()?;
    let (delay, lease) = (Duration::from_millis(100), Duration::from_secs(30));
    let team = Team { name: "asked".into(), workers: 2, delay, lease, base: base.path().into() };
    team.create(&brokers, &SHAPE, &server.connect_to())?;
    let ask = |words: &[&str]| -> anyhow::Result<String> {
        let all = [&["cluster"], words].concat();
        let output = brokers.command(beside("crawler-under-test")?, &all, "asked").output()?;
        ensure!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    };
    for words in [&["status"][..], &["pause"], &["export"]] {
        let all = [&["cluster"], words].concat();
        let output = brokers.command(beside("crawler-under-test")?, &all, "nobody").output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let names = said.contains("no crawl named nobody at nats://") && said.contains("crawler cluster create");
        ensure!(output.status.code() == Some(2) && names, "{words:?}: {said}");
    }
    let parsed = |told: &str| -> anyhow::Result<Vec<Value>> {
        told.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
    };

    let started: anyhow::Result<Vec<Worker>> = (0..2).map(|worker| team.start(&brokers, worker, &[])).collect();
    let mut workers = started?;
    let begin = Instant::now();
    while town.asked().len() < 300 {
        ensure!(begin.elapsed() < LIMIT, "{} requests", town.asked().len());
        std::thread::sleep(Duration::from_millis(20));
    }
    let pages = parsed(&ask(&["export"])?)?;
    let hosts: BTreeSet<&str> = pages.iter().filter_map(|page| text(page, "url").split('/').nth(2)).collect();
    println!("while it runs: {} pages of {} hosts", pages.len(), hosts.len());
    ensure!(pages.len() > 100 && hosts.len() > SHAPE.hosts() / 2, "{} pages of {} hosts", pages.len(), hosts.len());
    for host in [0, 1, 2, 3] {
        let url = format!("http://{}/", Shape::name(host));
        let told = ask(&["why", &url])?;
        ensure!(
            told.starts_with(&url) && !told.contains("another directory") && !told.contains("never seen"),
            "{told}"
        );
    }
    let never = ask(&["why", "http://h001.test/p/999"])?;
    ensure!(never.contains("never seen"), "{never}");

    team.wait(&mut workers, 0, LIMIT)?;
    let written = [lines(&team.dir(0), "pages.jsonl")?, lines(&team.dir(1), "pages.jsonl")?];
    let told = parsed(&ask(&["export", "--what", "pages"])?)?;
    let sorted = |pages: &[Value]| pages.iter().map(Value::to_string).collect::<BTreeSet<_>>();
    ensure!(sorted(&told) == sorted(&written.concat()), "{} lines told", told.len());
    let table = ask(&["export", "--format", "csv"])?;
    ensure!(table.lines().count() == told.len() + 1, "{} rows", table.lines().count());
    let clusters = parsed(&ask(&["export", "--what", "clusters"])?)?;
    let copies: usize = clusters.iter().filter_map(|cluster| Some(cluster["pages"].as_array()?.len())).sum();
    let duplicates = told.iter().filter(|page| page["duplicate_of"].is_string()).count();
    ensure!(duplicates > 0 && copies == duplicates, "{copies} copies in clusters, {duplicates} duplicates");

    let report: Value = serde_json::from_str(&ask(&["report", "--json"])?)?;
    let unique = told.iter().filter(|page| page["verdict"] == "unique").count();
    println!("after: {} pages, {unique} unique, {} clusters", told.len(), clusters.len());
    let expected = (told.len() as u64, unique as u64, Some("done"));
    let reported = (report["pages"].as_u64(), report["unique"].as_u64(), report["stop_reason"].as_str());
    ensure!(reported == (Some(expected.0), Some(expected.1), expected.2), "{reported:?}, {expected:?}");
    let copy =
        told.iter().find(|page| page["duplicate_of"].is_string()).map(|page| text(page, "url")).unwrap_or_default();
    let why = ask(&["why", copy])?;
    ensure!(why.contains("verdict exact") || why.contains("verdict near"), "{why}");
    Ok(())
}

/// A command of the operator that has ended.
struct Told {
    code: Option<i32>,
    out: String,
    said: String,
    took: Duration,
}

/// Catches commands that wait long for a worker that is frozen or gone, that do not tell what the others know, or that
/// do not ask a worker that has taken over.
fn a_worker_that_says_nothing_is_named_soon() -> anyhow::Result<()> {
    let brokers = Brokers::start("always")?;
    let town = Town::new(SHAPE);
    let server = Background::start(|listener| Arc::clone(&town).run(listener))?;
    let base = tempfile::tempdir()?;
    let (delay, lease) = (Duration::from_millis(400), Duration::from_secs(6));
    let team = Team { name: "silent".into(), workers: 2, delay, lease, base: base.path().into() };
    team.create(&brokers, &SHAPE, &server.connect_to())?;
    let ask = |words: &[&str]| -> anyhow::Result<Told> {
        let begin = Instant::now();
        let all = [&["cluster"], words].concat();
        let output = brokers.command(beside("crawler-under-test")?, &all, "silent").output()?;
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let (out, said) = (text(&output.stdout), text(&output.stderr));
        println!("{words:?}: {:?} after {:.1?}; {}", output.status.code(), begin.elapsed(), said.trim_end());
        Ok(Told { code: output.status.code(), out, said, took: begin.elapsed() })
    };
    let mut frozen = team.start(&brokers, 0, &[])?;
    let mut other = team.start(&brokers, 1, &[])?;
    let begin = Instant::now();
    let pages = |worker| lines(&team.dir(worker), "pages.jsonl").map_or(0, |lines| lines.len());
    while pages(0) < 20 || pages(1) < 20 {
        ensure!(begin.elapsed() < LIMIT, "{} and {} pages", pages(0), pages(1));
        std::thread::sleep(Duration::from_millis(20));
    }
    let first = |worker| -> anyhow::Result<String> {
        Ok(text(lines(&team.dir(worker), "pages.jsonl")?.first().context("a page")?, "url").to_owned())
    };
    let (url, url_of_other) = (first(0)?, first(1)?);

    let status = Command::new("kill").arg("-STOP").arg(frozen.0.id().to_string()).status()?;
    ensure!(status.success(), "kill -STOP");
    let names_it = |told: &Told| {
        let dir = team.dir(0).display().to_string();
        told.code == Some(1) && told.said.contains(&dir) && told.said.contains("nothing was heard of it for")
    };
    let why = ask(&["why", &url])?;
    ensure!(names_it(&why) && why.said.contains("within 16 s") && why.out.is_empty(), "{}", why.said);
    // The lease is late after half of its length.
    ensure!(why.took < lease, "{:?}", why.took);
    let why = ask(&["why", &url_of_other])?;
    ensure!(why.code == Some(0) && why.out.starts_with(&url_of_other) && why.said.is_empty(), "{}", why.said);
    let export = ask(&["export"])?;
    ensure!(names_it(&export) && export.took < lease, "{:?}: {}", export.took, export.said);
    // The lines of the other worker may name pages of this one as their twins.
    let has = |url: &str| export.out.contains(&format!("\"url\":\"{url}\""));
    let (has_own, has_other) = (has(&url), has(&url_of_other));
    ensure!((has_own, has_other) == (false, true), "{has_own}, {has_other}");
    let file = base.path().join("pages.csv");
    let written = ask(&["export", "--format", "csv", "--output", &file.display().to_string()])?;
    ensure!(names_it(&written) && !file.exists(), "{}", written.said);
    let report = ask(&["report", "--json"])?;
    ensure!(report.code == Some(0) && report.said.contains("nothing was heard of its worker"), "{}", report.said);

    // The worker stays frozen while another one takes its place.
    let _heir = team.start(&brokers, 2, &[])?;
    let begin = Instant::now();
    loop {
        let why = ask(&["why", &url])?;
        if why.code == Some(0) {
            ensure!(why.out.starts_with(&url), "{}", why.out);
            break;
        }
        ensure!(begin.elapsed() < lease + Duration::from_secs(10), "{}", why.said);
    }
    ensure!(frozen.0.try_wait()?.is_none(), "the frozen worker has ended");
    other.0.kill()?;
    other.0.wait()?;
    let why = ask(&["why", &url_of_other])?;
    ensure!(why.code == Some(0) && why.took < lease, "its directory is here: {}", why.said);
    std::fs::remove_dir_all(team.dir(1))?;
    let why = ask(&["why", &url_of_other])?;
    let is_named = why.said.contains(&team.dir(1).display().to_string());
    ensure!(why.code == Some(1) && is_named && why.took < lease, "{:?}: {}", why.took, why.said);
    Ok(())
}
