//! Tests of snapshots: the state of a share is rebuilt from a snapshot and the commits after it, even though the older
//! commits were cut from the streams.

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use crawler::crawl::CrawlDir;
use dedup_stage::store::{Space, Store};
use serde_json::Value;
use tests::background::Background;
use tests::cluster::{Brokers, Found, Shape, Team, Town, Worker};

use super::Test;

/// The tests.
pub const TESTS: &[Test] = &[
    ("a_share_is_made_again_from_a_snapshot_and_the_rest", a_share_is_made_again_from_a_snapshot_and_the_rest),
    ("a_worker_that_dies_amid_snapshots_is_replaced", a_worker_that_dies_amid_snapshots_is_replaced),
];

const LIMIT: Duration = Duration::from_secs(240);
/// After a worker starts, it sends no requests for this long. That leaves time to stop it with the state with which it
/// began.
const DELAY: Duration = Duration::from_secs(3);
const LEASE: Duration = Duration::from_secs(3);
const SHAPE: Shape = Shape { originals: 30, mirrors: 10, pages: 40 };
/// Exit codes of workers.
const STOPPED: i32 = 11;
const USAGE: i32 = 2;
const FAILED: i32 = 1;
/// The text in the log of a worker whose state was made from a snapshot.
const FROM_SNAPSHOT: &str = "the state was made from a snapshot";

/// A crawl by two workers that keep snapshots.
struct Scene {
    brokers: Brokers,
    town: Arc<Town>,
    team: Team,
    folder: PathBuf,
    _server: Background,
    _base: tempfile::TempDir,
}

impl Scene {
    fn new(name: &str, delay: Duration) -> anyhow::Result<Self> {
        let brokers = Brokers::start("always")?;
        let town = Town::new(SHAPE);
        let server = Background::start(|listener| Arc::clone(&town).run(listener))?;
        let base = tempfile::tempdir()?;
        let team = Team { name: name.into(), workers: 2, delay, lease: LEASE, base: base.path().into() };
        // With small parts, the test also covers positions in outputs of several parts: they count from the start of
        // the whole output.
        team.create_with(&brokers, &SHAPE, &server.connect_to(), &["--rotate", "4KiB"])?;
        let folder = base.path().join("snapshots");
        Ok(Self { brokers, town, team, folder, _server: server, _base: base })
    }

    fn start(&self, worker: usize, every: &str) -> anyhow::Result<Worker> {
        let folder = self.folder.display().to_string();
        self.team.start(&self.brokers, worker, &["--snapshots", &folder, "--snapshot-every", every])
    }

    /// Waits until a condition holds.
    fn wait_until(&self, what: &str, is_so: impl Fn() -> bool) -> anyhow::Result<()> {
        let begin = Instant::now();
        while !is_so() {
            ensure!(begin.elapsed() < LIMIT, "not so: {what}");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// The snapshot files of the first share with this extension, the oldest first.
    fn files(&self, ending: &str) -> Vec<PathBuf> {
        let crawls = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let folders = crawls.map(|crawl| crawl.path().join("share-1"));
        let all = folders.flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
        let is_one = |file: &PathBuf| file.extension().is_some_and(|extension| extension == ending);
        let mut files: Vec<PathBuf> = all.map(|entry| entry.path()).filter(is_one).collect();
        files.sort();
        files
    }

    fn operate(&self, words: &[&str]) -> anyhow::Result<String> {
        let program = tests::programs::beside("crawler-under-test")?;
        let all = [&["cluster"], words].concat();
        let output = self.brokers.command(program, &all, &self.team.name).output()?;
        ensure!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }

    /// The worker that has the first share. Workers look at this share first when they need one.
    fn first(&self) -> anyhow::Result<usize> {
        let is_first = |worker: &usize| self.log(*worker).contains("share 1 of 2");
        self.wait_until("a worker has the first share", || (0..2).any(|worker| is_first(&worker)))?;
        (0..2).find(is_first).context("a worker")
    }

    fn log(&self, worker: usize) -> String {
        fs::read_to_string(self.team.dir(worker).with_extension("log")).unwrap_or_default()
    }
}

/// The number of times that a worker is started until it gets the first share.
const TRIES: u32 = 5;

/// A record of the state: the number of the key space, the key, and the value.
type Record = (usize, Vec<u8>, Vec<u8>);

/// All records about URLs, hosts and pages, without those that follow from the pages of all workers, and without the
/// work in the background that each start adds (a worker that is stopped at once has not done it).
fn records(dir: &Path) -> anyhow::Result<Vec<Record>> {
    let disk = CrawlDir::open_disk(dir)?;
    let mut records = Vec::new();
    let follows = |space: Space| dedup_stage::spaces::JUDGE.contains(&space) || space == crawler::spaces::ELSEWHERE;
    for space in crawler::spaces::of_crawl().iter().filter(|space| *space != Space::META && !follows(*space)) {
        disk.scan(space, &[], &[], &mut |key, value| {
            if space != frontier::spaces::FRONTIER_OWN || key.first() != Some(&b'w') {
                records.push((space.number(), key.to_vec(), value.to_vec()));
            }
            ControlFlow::Continue(())
        })?;
    }
    Ok(records)
}

/// The lines of all parts of `pages.jsonl`.
fn pages(dir: &Path) -> anyhow::Result<Vec<Value>> {
    tests::crawl::lines(dir, "pages.jsonl")
}

fn a_share_is_made_again_from_a_snapshot_and_the_rest() -> anyhow::Result<()> {
    let scene = Scene::new("again", DELAY)?;
    let mut workers = vec![scene.start(0, "2")?, scene.start(1, "2")?];
    let first = scene.first()?;
    // Two snapshots are kept. If the oldest is gone, the streams have been cut.
    let oldest = || scene.files("manifest").into_iter().next();
    scene.wait_until("there is a snapshot", || oldest().is_some())?;
    let before = oldest();
    scene.wait_until("the first snapshot is removed", || oldest() != before && scene.files("manifest").len() >= 2)?;
    scene.operate(&["stop"])?;
    scene.team.wait(&mut workers, STOPPED, LIMIT)?;
    // Links that the other worker sent last may still wait. A worker that is started now takes them, and stops at once.
    let links_wait = || -> anyhow::Result<bool> {
        let status: Value = serde_json::from_str(&scene.operate(&["status", "--json"])?)?;
        Ok(status["workers"][0]["links_wait"] == true)
    };
    while links_wait()? {
        scene.team.wait(&mut [scene.start(first, "1000000")?], STOPPED, LIMIT)?;
    }
    let truth = records(&scene.team.dir(first))?;
    let lines = pages(&scene.team.dir(first))?;
    println!("again: {} records, {} lines of pages", truth.len(), lines.len());
    let parts = tests::crawl::parts(&scene.team.dir(first), "pages.jsonl")?;
    ensure!(parts.len() > 2, "{parts:?}");

    // A worker without snapshots cannot have the share, because the first commits are gone.
    let mut without = [scene.team.start(&scene.brokers, 2, &[])?];
    scene.team.wait(&mut without, USAGE, LIMIT)?;
    ensure!(scene.log(2).contains("--snapshots"), "{}", scene.log(2));

    let check = |worker: usize, what: &str| -> anyhow::Result<()> {
        let asked = scene.town.asked().len();
        // The crawl is stopped: a worker that starts builds its state and ends. As long as the worker before it still
        // seems to have the first share, it builds the other one.
        for _ in 0..TRIES {
            scene.team.wait(&mut [scene.start(worker, "1000000")?], STOPPED, LIMIT)?;
            if scene.log(worker).contains("share 1 of 2") {
                break;
            }
            fs::remove_dir_all(scene.team.dir(worker))?;
        }
        let log = scene.log(worker);
        ensure!(log.contains(FROM_SNAPSHOT) && log.contains("share 1 of 2"), "{what}: {log}");
        ensure!(scene.town.asked().len() == asked, "{what}: it has asked for something");
        let made = records(&scene.team.dir(worker))?;
        let known: BTreeSet<&Record> = truth.iter().collect();
        let others = made.iter().filter(|record| !known.contains(record)).count();
        println!("{what}: {} records, {others} others than before", made.len());
        ensure!(made == truth, "{what}: {} records, {} before, {others} are others", made.len(), truth.len());
        ensure!(pages(&scene.team.dir(worker))? == lines, "{what}: other pages");
        Ok(())
    };
    check(3, "the newest snapshot")?;
    // If the newest snapshot is damaged, the one before it is used.
    let mut states: Vec<_> = scene.files("manifest").iter().map(|path| path.with_extension("state")).collect();
    let newest = states.pop().context("a state")?;
    let mut bytes = fs::read(&newest)?;
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&newest, &bytes)?;
    check(4, "the one before")?;
    ensure!(scene.log(4).contains("cannot be used"), "{}", scene.log(4));
    // If both are damaged, the worker fails instead of inventing a state.
    fs::write(states.pop().context("another state")?, b"nothing")?;
    scene.team.wait(&mut [scene.start(5, "2")?], FAILED, LIMIT)?;
    ensure!(scene.log(5).contains("every snapshot of this share"), "{}", scene.log(5));
    Ok(())
}

fn a_worker_that_dies_amid_snapshots_is_replaced() -> anyhow::Result<()> {
    let delay = Duration::from_millis(100);
    let scene = Scene::new("amid", delay)?;
    let mut workers = vec![scene.start(0, "1")?, scene.start(1, "1")?];
    let first = scene.first()?;
    scene.wait_until("snapshots and 600 requests", || {
        scene.files("manifest").len() >= 2 && scene.town.asked().len() >= 600
    })?;
    workers[first].0.kill()?;
    workers[first].0.wait()?;
    fs::remove_dir_all(scene.team.dir(first))?;
    workers[first] = scene.start(2, "1")?;
    scene.team.wait(&mut workers, 0, LIMIT)?;
    ensure!(scene.log(2).contains(FROM_SNAPSHOT), "{}", scene.log(2));
    let found = Found::of(&[scene.team.dir(1 - first), scene.team.dir(2)], &SHAPE)?;
    let (overlapping, early) = scene.town.impolite(delay);
    println!("amid: {} lines, {} unique, {overlapping} overlapping, {early} early", found.lines, found.unique);
    found.check(&SHAPE)?;
    ensure!((overlapping, early) == (0, 0), "{overlapping} requests overlapped, {early} came early");
    Ok(())
}
