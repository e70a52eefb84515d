//! Orders of the operator that come while a crawl runs, is paused or has ended: another limit, new seeds, a pause. And
//! directories of workers that are used in a wrong way.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::Value;
use tests::background::Background;
use tests::cluster::{Brokers, Shape, Team, Town, Worker};
use tests::programs::beside;

use super::Test;

/// The tests.
pub const TESTS: &[Test] = &[
    (
        "a_lowered_limit_ends_the_crawl_and_a_raised_one_needs_all_shares",
        a_lowered_limit_ends_the_crawl_and_a_raised_one_needs_all_shares,
    ),
    ("a_paused_crawl_sends_no_request_and_rests", a_paused_crawl_sends_no_request_and_rests),
    ("a_directory_of_a_worker_is_used_by_one_worker_alone", a_directory_of_a_worker_is_used_by_one_worker_alone),
];

const LIMIT: Duration = Duration::from_secs(120);
const DELAY: Duration = Duration::from_millis(200);
const LEASE: Duration = Duration::from_secs(3);
const SHAPE: Shape = Shape { originals: 24, mirrors: 0, pages: 20 };
/// The exit code of a crawl that stopped at `--max-pages`.
const PAGE_LIMIT: i32 = 14;

struct Scene {
    brokers: Brokers,
    town: Arc<Town>,
    team: Team,
    _server: Background,
    _base: tempfile::TempDir,
}

impl Scene {
    fn new(name: &str) -> anyhow::Result<Self> {
        let (brokers, town) = (Brokers::start("always")?, Town::new(SHAPE));
        let serving = Arc::clone(&town);
        let server = Background::start(|listener| serving.run(listener))?;
        let base = tempfile::tempdir()?;
        let team = Team { name: name.into(), workers: 2, delay: DELAY, lease: LEASE, base: base.path().into() };
        team.create(&brokers, &SHAPE, &server.connect_to())?;
        Ok(Self { brokers, town, team, _server: server, _base: base })
    }

    fn start(&self, worker: usize) -> anyhow::Result<Worker> {
        self.team.start(&self.brokers, worker, &[])
    }

    fn both(&self) -> anyhow::Result<[Worker; 2]> {
        Ok([self.start(0)?, self.start(1)?])
    }

    /// Runs a command of the operator.
    fn ask(&self, words: &[&str]) -> anyhow::Result<String> {
        let all = [&["cluster"], words].concat();
        let output = self.brokers.command(beside("crawler-under-test")?, &all, &self.team.name).output()?;
        ensure!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }

    fn json(&self, what: &str) -> anyhow::Result<Value> {
        Ok(serde_json::from_str(&self.ask(&[what, "--json"])?)?)
    }

    /// Waits until something holds.
    fn until(&self, what: &str, mut holds: impl FnMut() -> anyhow::Result<bool>) -> anyhow::Result<()> {
        let begin = Instant::now();
        while !holds()? {
            ensure!(begin.elapsed() < LIMIT, "never: {what}\n{}", self.ask(&["status"])?);
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn asked(&self) -> usize {
        self.town.asked().len()
    }

    /// The workers in the status.
    fn workers(&self) -> anyhow::Result<Vec<Value>> {
        Ok(self.json("status")?["workers"].as_array().context("no workers")?.clone())
    }
}

/// Catches a share that counts as done although it ended under another limit, and a limit that is below the pages that
/// were fetched without one.
fn a_lowered_limit_ends_the_crawl_and_a_raised_one_needs_all_shares() -> anyhow::Result<()> {
    let scene = Scene::new("limits")?;
    let mut workers = scene.both()?;
    scene.until("100 requests", || Ok(scene.asked() >= 100))?;
    scene.ask(&["resume", "--max-pages", "40"])?;
    scene.team.wait(&mut workers, PAGE_LIMIT, LIMIT)?;
    ensure!(scene.json("report")?["stop_reason"] == "page_limit", "{}", scene.ask(&["report"])?);
    let fetched = scene.asked();

    scene.ask(&["resume", "--max-pages", "0"])?;
    let status = scene.ask(&["status"])?;
    let report = scene.json("report")?;
    ensure!(status.starts_with("running") && report["complete"] == false, "{status}\n{report}");
    let mut first = scene.start(0)?;
    // The first worker has done all that it can do alone when it is quiet, and must wait for the other one then.
    scene.until("the first worker is quiet", || {
        ensure!(first.0.try_wait()?.is_none(), "it ended without the other one");
        let quiet = |worker: &Value| ["idle", "drained"].iter().any(|phase| worker["phase"] == *phase);
        Ok(scene.asked() > fetched && scene.workers()?.iter().any(quiet))
    })?;
    scene.team.wait(&mut [first, scene.start(1)?], 0, LIMIT)?;
    scene.team.found(&SHAPE)?.check(&SHAPE)?;
    ensure!(scene.json("report")?["complete"] == true, "{}", scene.ask(&["report"])?);

    // Seeds that are added after the end make all shares begin again.
    let seed = format!("http://{}/one-more", Shape::name(0));
    scene.ask(&["add-seeds", &seed])?;
    ensure!(scene.ask(&["status"])?.starts_with("running"), "{}", scene.ask(&["status"])?);
    scene.team.wait(&mut scene.both()?, 0, LIMIT)?;
    ensure!(scene.town.asked().iter().any(|asked| asked.path == "/one-more"), "the seed was not fetched");
    Ok(())
}

/// The processor time of a process, in ticks of 10 ms.
fn ticks(worker: &Worker) -> anyhow::Result<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", worker.0.id()))?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    Ok(fields[11].parse::<u64>()? + fields[12].parse::<u64>()?)
}

/// Catches an engine that starts again for new seeds and asks all their hosts once before it hears of the pause, and an
/// engine that looks for jobs all the time while it is paused.
fn a_paused_crawl_sends_no_request_and_rests() -> anyhow::Result<()> {
    let scene = Scene::new("paused")?;
    let mut workers = scene.both()?;
    scene.until("60 requests", || Ok(scene.asked() >= 60))?;
    scene.ask(&["pause"])?;
    let mut before = 0;
    scene.until("no request is open, and none was sent for a second", || {
        let open: u64 = scene.workers()?.iter().filter_map(|worker| worker["open"].as_u64()).sum();
        let is_quiet = open == 0 && scene.asked() == before;
        before = scene.asked();
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(1) {
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(is_quiet && scene.asked() == before)
    })?;
    let queued =
        || -> anyhow::Result<u64> { Ok(scene.workers()?.iter().filter_map(|worker| worker["queued"].as_u64()).sum()) };
    let (had, spent) = (queued()?, workers.iter().map(ticks).sum::<anyhow::Result<u64>>()?);
    let begin = Instant::now();
    for round in 0..3 {
        let seeds: Vec<String> =
            (0..SHAPE.hosts()).map(|host| format!("http://{}/new/{round}", Shape::name(host))).collect();
        let words: Vec<&str> = ["add-seeds"].into_iter().chain(seeds.iter().map(String::as_str)).collect();
        scene.ask(&words)?;
        let most = had + (round + 1) * SHAPE.hosts() as u64;
        scene.until("the seeds are queued", || Ok(queued()? >= most))?;
    }
    let spent = workers.iter().map(ticks).sum::<anyhow::Result<u64>>()? - spent;
    ensure!(scene.asked() == before, "{} requests while paused", scene.asked() - before);
    let share = spent as f64 / 100.0 / begin.elapsed().as_secs_f64();
    println!("paused: {share:.2} s of processor time a second for two workers that start three times");
    ensure!(share < 0.8, "two paused workers use {share:.2} of a processor");
    scene.ask(&["resume"])?;
    scene.team.wait(&mut workers, 0, LIMIT)?;
    let paths: BTreeSet<String> = scene.town.asked().into_iter().map(|asked| asked.path).collect();
    ensure!((0..3).all(|round| paths.contains(&format!("/new/{round}"))), "a seed was not fetched");
    let (overlapping, early) = scene.town.impolite(DELAY);
    ensure!((overlapping, early) == (0, 0), "{overlapping} requests overlapped, {early} came early");
    Ok(())
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    ensure!(Command::new("cp").arg("-a").args([from, to]).status()?.success(), "not copied");
    Ok(())
}

/// Catches a copy of a directory that takes the lease of the worker that it was copied from, and a crawl by one machine
/// in the directory of a worker.
fn a_directory_of_a_worker_is_used_by_one_worker_alone() -> anyhow::Result<()> {
    let scene = Scene::new("copied")?;
    let mut workers = scene.both()?;
    scene.until("60 requests", || Ok(scene.asked() >= 60))?;
    copy(&scene.team.dir(0), &scene.team.dir(7))?;
    let mut other = scene.start(7)?;
    scene.until("the crawl goes on", || Ok(scene.asked() >= 260))?;
    for worker in workers.iter_mut().chain([&mut other]) {
        ensure!(worker.0.try_wait()?.is_none(), "it has ended");
    }
    drop(other);
    workers[1].0.kill()?;
    workers[1].0.wait()?;
    let dir = scene.team.dir(1);
    for words in [&["crawl", "--dir"][..], &["refresh"]] {
        let output = Command::new(beside("crawler-under-test")?).args(words).arg(&dir).output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.code() == Some(2) && said.contains("crawler worker"), "{words:?}: {said}");
    }
    workers[1] = scene.start(1)?;
    scene.team.wait(&mut workers, 0, LIMIT)?;
    scene.team.found(&SHAPE)?.check(&SHAPE)?;
    let (overlapping, early) = scene.town.impolite(DELAY);
    ensure!((overlapping, early) == (0, 0), "{overlapping} requests overlapped, {early} came early");
    Ok(())
}
