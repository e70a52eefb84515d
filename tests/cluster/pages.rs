//! Tests of `--max-pages` with several workers: they fetch exactly this many pages, even if some die or have nothing to
//! fetch.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::Value;
use tests::background::Background;
use tests::cluster::{Asked, Brokers, Found, Shape, Team, Town, Worker};
use tests::crawl::{lines, text};
use tests::programs::beside;

use super::Test;

/// The tests.
pub const TESTS: &[Test] = &[
    ("workers_fetch_exactly_as_many_pages_as_they_may", workers_fetch_exactly_as_many_pages_as_they_may),
    ("workers_that_take_pages_without_asking_fetch_too_many", workers_that_take_pages_without_asking_fetch_too_many),
    ("a_worker_that_is_killed_takes_no_pages_with_it", a_worker_that_is_killed_takes_no_pages_with_it),
    ("an_idle_worker_gives_its_pages_to_others", an_idle_worker_gives_its_pages_to_others),
    ("workers_without_pages_do_what_others_wait_for", workers_without_pages_do_what_others_wait_for),
];

const LIMIT: Duration = Duration::from_secs(120);
const DELAY: Duration = Duration::from_millis(300);
const LEASE: Duration = Duration::from_secs(3);
/// Without a limit, a crawl of this web would fetch more than twice as many pages as these crawls may.
const SHAPE: Shape = Shape { originals: 30, mirrors: 10, pages: 40 };
const MOST: usize = 500;
/// The exit code of a crawl that stopped at `--max-pages`.
const PAGE_LIMIT: i32 = 14;
/// The time for which a fetched page may stay uncommitted. Workers commit once a second; a loaded machine may take
/// twice as long.
const UNCOMMITTED: Duration = Duration::from_secs(2);

/// A crawl with a limit on the number of pages.
struct Scene {
    brokers: Brokers,
    town: Arc<Town>,
    team: Team,
    shape: Shape,
    _server: Background,
    _base: tempfile::TempDir,
}

impl Scene {
    fn new(name: &str, workers: usize, shape: Shape, most: usize) -> anyhow::Result<Self> {
        Self::with(name, workers, shape, most, Town::new(shape))
    }

    fn with(name: &str, workers: usize, shape: Shape, most: usize, town: Arc<Town>) -> anyhow::Result<Self> {
        let brokers = Brokers::start("always")?;
        let serving = Arc::clone(&town);
        let server = Background::start(|listener| serving.run(listener))?;
        let base = tempfile::tempdir()?;
        let team = Team { name: name.into(), workers, delay: DELAY, lease: LEASE, base: base.path().into() };
        team.create_with(&brokers, &shape, &server.connect_to(), &["--max-pages", &most.to_string()])?;
        Ok(Self { brokers, town, team, shape, _server: server, _base: base })
    }

    fn start(&self, more: &[&str]) -> anyhow::Result<Vec<Worker>> {
        (0..self.team.workers).map(|worker| self.team.start(&self.brokers, worker, more)).collect()
    }

    fn wait_for(&self, pages: usize) -> anyhow::Result<()> {
        let begin = Instant::now();
        while self.asked().len() < pages {
            ensure!(begin.elapsed() < LIMIT, "{} pages", self.asked().len());
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// The requests for pages, without those for robots.txt and its redirects.
    fn asked(&self) -> Vec<Asked> {
        self.town.asked().into_iter().filter(|asked| !asked.path.starts_with("/robots")).collect()
    }

    fn dirs(&self, workers: &[usize]) -> Vec<PathBuf> {
        workers.iter().map(|worker| self.team.dir(*worker)).collect()
    }

    /// Runs a command of the operator.
    fn ask(&self, words: &[&str]) -> anyhow::Result<String> {
        let all = [&["cluster"], words].concat();
        let output = self.brokers.command(beside("crawler-under-test")?, &all, &self.team.name).output()?;
        ensure!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Returns the number of pages in these directories. Checks that each was requested, and that the operator's report
    /// has the same number.
    fn written(&self, dirs: &[PathBuf]) -> anyhow::Result<usize> {
        let found = Found::of(dirs, &self.shape)?;
        ensure!(found.twice.is_empty(), "{:?}", found.twice);
        let asked: BTreeSet<String> =
            self.asked().iter().map(|asked| format!("http://{}{}", Shape::name(asked.host), asked.path)).collect();
        for dir in dirs {
            for line in lines(dir, "pages.jsonl")? {
                ensure!(asked.contains(text(&line, "url")), "{} was not asked for", text(&line, "url"));
            }
        }
        let report: Value = serde_json::from_str(&self.ask(&["report", "--json"])?)?;
        ensure!(report["pages"].as_u64() == Some(found.lines as u64), "{} lines, {report}", found.lines);
        Ok(found.lines)
    }

    /// Checks the end of a crawl that stopped at its limit.
    fn check_end(&self, most: usize) -> anyhow::Result<()> {
        let report: Value = serde_json::from_str(&self.ask(&["report", "--json"])?)?;
        ensure!(report["stop_reason"] == "page_limit", "{}", report["stop_reason"]);
        ensure!(report["frontier"].as_u64() > Some(0), "nothing is left in the queue: {report}");
        let status = self.ask(&["status"])?;
        ensure!(status.contains(&format!("{most} of {most} pages")), "{status}");
        let (overlapping, early) = self.town.impolite(DELAY);
        ensure!((overlapping, early) == (0, 0), "{overlapping} requests overlapped, {early} came early");
        Ok(())
    }
}

fn workers_fetch_exactly_as_many_pages_as_they_may() -> anyhow::Result<()> {
    let scene = Scene::new("exact", 3, SHAPE, MOST)?;
    scene.team.wait(&mut scene.start(&[])?, PAGE_LIMIT, LIMIT)?;
    let (asked, written) = (scene.asked().len(), scene.written(&scene.dirs(&[0, 1, 2]))?);
    println!("exact: {asked} pages asked for, {written} written, of {MOST} allowed");
    ensure!((asked, written) == (MOST, MOST), "{asked} asked for, {written} written");
    scene.check_end(MOST)
}

fn workers_that_take_pages_without_asking_fetch_too_many() -> anyhow::Result<()> {
    let scene = Scene::new("careless", 3, SHAPE, MOST)?;
    scene.team.wait(&mut scene.start(&["--without-quota"])?, PAGE_LIMIT, LIMIT)?;
    let (asked, written) = (scene.asked().len(), scene.written(&scene.dirs(&[0, 1, 2]))?);
    println!("careless: {asked} pages asked for, {written} written, of {MOST} allowed");
    ensure!(written > MOST && asked > MOST, "{asked} asked for, {written} written");
    Ok(())
}

fn a_worker_that_is_killed_takes_no_pages_with_it() -> anyhow::Result<()> {
    let scene = Scene::new("taken", 3, SHAPE, MOST)?;
    let mut workers = scene.start(&[])?;
    // By then the worker has sent several requests to each of its hosts, and has committed pages.
    scene.wait_for(MOST / 2)?;
    workers[0].0.kill()?;
    workers[0].0.wait()?;
    let killed = scene.asked().last().map_or(Duration::ZERO, |asked| asked.arrived);
    let pages = lines(&scene.team.dir(0), "pages.jsonl")?;
    let hosts: BTreeSet<&str> = pages.iter().filter_map(|page| text(page, "url").split('/').nth(2)).collect();
    std::fs::remove_dir_all(scene.team.dir(0))?;
    workers[0] = scene.team.start(&scene.brokers, 3, &[])?;
    scene.team.wait(&mut workers, PAGE_LIMIT, LIMIT)?;
    let (asked, written) = (scene.asked(), scene.written(&scene.dirs(&[1, 2, 3]))?);
    // Pages that were fetched but not committed are fetched again, or other pages in their place.
    let is_late = |asked: &&Asked| asked.arrived <= killed && asked.arrived + UNCOMMITTED >= killed;
    let late = asked.iter().filter(is_late);
    let lost = late.filter(|asked| hosts.contains(Shape::name(asked.host).as_str())).count();
    println!("killed: {} pages asked for, {written} written, of {MOST} allowed; {lost} may be lost", asked.len());
    ensure!(written == MOST, "{written} written");
    ensure!((MOST..=MOST + lost).contains(&asked.len()), "{} asked for", asked.len());
    scene.check_end(MOST)
}

fn an_idle_worker_gives_its_pages_to_others() -> anyhow::Result<()> {
    // One of the two workers has no hosts at all.
    let (shape, most) = (Shape { originals: 1, mirrors: 0, pages: 60 }, 50);
    let scene = Scene::new("idle", 2, shape, most)?;
    scene.team.wait(&mut scene.start(&[])?, PAGE_LIMIT, LIMIT)?;
    let (asked, written) = (scene.asked().len(), scene.written(&scene.dirs(&[0, 1]))?);
    println!("idle: {asked} pages asked for, {written} written, of {most} allowed");
    ensure!((asked, written) == (most, most), "{asked} asked for, {written} written");
    scene.check_end(most)
}

fn workers_without_pages_do_what_others_wait_for() -> anyhow::Result<()> {
    let (shape, most) = (Shape { originals: 24, mirrors: 0, pages: 20 }, 60);
    let scene = Scene::with("errands", 3, shape, most, Town::with_moved_robots(shape))?;
    scene.team.wait(&mut scene.start(&[])?, PAGE_LIMIT, LIMIT)?;
    let (asked, written) = (scene.asked().len(), scene.written(&scene.dirs(&[0, 1, 2]))?);
    println!("errands: {asked} pages asked for, {written} written, of {most} allowed");
    ensure!((asked, written) == (most, most), "{asked} asked for, {written} written");
    scene.check_end(most)?;
    // The crawl goes on when its limit is raised.
    scene.ask(&["resume", "--max-pages", "90"])?;
    scene.team.wait(&mut scene.start(&[])?, PAGE_LIMIT, LIMIT)?;
    let (asked, written) = (scene.asked().len(), scene.written(&scene.dirs(&[0, 1, 2]))?);
    println!("errands: {asked} pages asked for, {written} written, of 90 allowed");
    ensure!((asked, written) == (90, 90), "{asked} asked for, {written} written");
    scene.check_end(90)
}
