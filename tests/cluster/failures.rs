//! Workers and brokers die: no page is missing, none is found twice, and no host gets requests faster than it allows.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::Value;
use tests::background::Background;
use tests::cluster::{Brokers, Cable, Found, Shape, Team, Town, Worker};
use tests::crawl::{lines, text};
use tests::programs::beside;

use super::{Test, goes_wrong};

/// The tests.
pub const TESTS: &[Test] = &[
    ("a_worker_that_is_killed_with_its_disk_is_replaced", a_worker_that_is_killed_with_its_disk_is_replaced),
    ("a_worker_that_was_frozen_finds_that_it_is_shut_out", a_worker_that_was_frozen_finds_that_it_is_shut_out),
    (
        "without_the_fence_a_frozen_worker_goes_on_and_asks_nobody",
        without_the_fence_a_frozen_worker_goes_on_and_asks_nobody,
    ),
    ("without_the_deadline_either_it_asks_hosts_of_another", without_the_deadline_either_it_asks_hosts_of_another),
    ("a_worker_that_is_cut_off_is_replaced", a_worker_that_is_cut_off_is_replaced),
    ("brokers_that_die_lose_nothing", brokers_that_die_lose_nothing),
    ("a_worker_that_starts_while_brokers_fail_waits_for_them", a_worker_that_starts_while_brokers_fail_waits_for_them),
    ("workers_that_are_restarted_in_turn_lose_nothing", workers_that_are_restarted_in_turn_lose_nothing),
];

const LIMIT: Duration = Duration::from_secs(240);
const DELAY: Duration = Duration::from_millis(100);
const LEASE: Duration = Duration::from_secs(3);
const SHAPE: Shape = Shape { originals: 30, mirrors: 10, pages: 40 };
/// The number of requests after which a worker or broker dies.
const HALF: usize = 600;

/// A running crawl.
struct Scene {
    brokers: Brokers,
    town: Arc<Town>,
    team: Team,
    _server: Background,
    _base: tempfile::TempDir,
}

impl Scene {
    fn new(name: &str, workers: usize) -> anyhow::Result<Self> {
        let brokers = Brokers::start("always")?;
        let town = Town::new(SHAPE);
        let server = Background::start(|listener| Arc::clone(&town).run(listener))?;
        let base = tempfile::tempdir()?;
        let team = Team { name: name.into(), workers, delay: DELAY, lease: LEASE, base: base.path().into() };
        team.create(&brokers, &SHAPE, &server.connect_to())?;
        Ok(Self { brokers, town, team, _server: server, _base: base })
    }

    fn start(&self, workers: usize, more: &[&str]) -> anyhow::Result<Vec<Worker>> {
        (0..workers).map(|worker| self.team.start(&self.brokers, worker, more)).collect()
    }

    /// Waits until the web has received this many requests.
    fn wait_for(&self, requests: usize) -> anyhow::Result<()> {
        let begin = Instant::now();
        while self.town.asked().len() < requests {
            ensure!(begin.elapsed() < LIMIT, "{} requests", self.town.asked().len());
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Checks that these directories together have the whole crawl, and that no host got a request too soon.
    fn check(&self, what: &str, dirs: &[PathBuf]) -> anyhow::Result<()> {
        let found = Found::of(dirs, &SHAPE)?;
        let asked = self.town.asked();
        let pages: Vec<(usize, &str)> = asked
            .iter()
            .filter(|asked| asked.path != "/robots.txt")
            .map(|asked| (asked.host, asked.path.as_str()))
            .collect();
        let distinct: BTreeSet<_> = pages.iter().collect();
        let (overlapping, early) = self.town.impolite(DELAY);
        println!(
            "{what}: {} lines, {} unique of {} contents, {} pages asked for again, {overlapping} overlapping, {early} early",
            found.lines,
            found.unique,
            SHAPE.contents(),
            pages.len() - distinct.len(),
        );
        found.check(&SHAPE)?;
        ensure!((overlapping, early) == (0, 0), "{overlapping} requests overlapped, {early} came early");
        Ok(())
    }

    fn dirs(&self, workers: &[usize]) -> Vec<PathBuf> {
        workers.iter().map(|worker| self.team.dir(*worker)).collect()
    }

    /// Waits until one of these hosts gets a request again. Returns the time from `since` (a time of the town) to that
    /// request.
    fn taken_over(&self, hosts: &BTreeSet<usize>, since: Duration) -> anyhow::Result<Duration> {
        let begin = Instant::now();
        loop {
            let asked = self.town.asked();
            // Requests that were open when the worker died arrived before this.
            let again = asked.iter().find(|asked| hosts.contains(&asked.host) && asked.arrived > since + DELAY);
            if let Some(again) = again {
                return Ok(again.arrived - since);
            }
            ensure!(begin.elapsed() < LIMIT, "nobody took over");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The hosts from which a worker has pages.
    fn hosts_of(&self, worker: usize) -> anyhow::Result<BTreeSet<usize>> {
        let host = |url: &str| url.strip_prefix("http://h")?.split('.').next()?.parse().ok();
        let lines = lines(&self.team.dir(worker), "pages.jsonl")?;
        lines.iter().map(|line| host(text(line, "url")).context("a host")).collect()
    }

    fn now(&self) -> Duration {
        self.town.asked().last().map_or(Duration::ZERO, |asked| asked.arrived)
    }
}

fn signal(worker: &Worker, signal: &str) -> anyhow::Result<()> {
    let status = Command::new("kill").arg(format!("-{signal}")).arg(worker.0.id().to_string()).status()?;
    ensure!(status.success(), "kill -{signal}");
    Ok(())
}

fn a_worker_that_is_killed_with_its_disk_is_replaced() -> anyhow::Result<()> {
    let scene = Scene::new("killed", 2)?;
    let mut workers = scene.start(2, &[])?;
    scene.wait_for(HALF)?;
    let hosts = scene.hosts_of(0)?;
    workers[0].0.kill()?;
    workers[0].0.wait()?;
    let since = scene.now();
    std::fs::remove_dir_all(scene.team.dir(0))?;
    let heir = scene.team.start(&scene.brokers, 2, &[])?;
    let took = scene.taken_over(&hosts, since)?;
    println!("killed: taken over after {:.1} s, with a lease of {} s", took.as_secs_f64(), LEASE.as_secs());
    ensure!(took < LEASE + Duration::from_secs(10), "{took:?}");
    let mut living = vec![workers.pop().context("a worker")?, heir];
    scene.team.wait(&mut living, 0, LIMIT)?;
    scene.check("killed", &scene.dirs(&[1, 2]))
}

/// Freezes a worker for longer than its lease, lets another worker take its share, and thaws it. Returns the crawl, its
/// workers, and the exit code of the frozen worker if that has ended.
fn freeze(name: &str, more: &[&str]) -> anyhow::Result<(Scene, Vec<Worker>, Option<i32>)> {
    let scene = Scene::new(name, 2)?;
    let workers = scene.start(2, more)?;
    scene.wait_for(HALF)?;
    let hosts = scene.hosts_of(0)?;
    signal(&workers[0], "STOP")?;
    let since = scene.now();
    let heir = scene.team.start(&scene.brokers, 2, more)?;
    scene.taken_over(&hosts, since)?;
    signal(&workers[0], "CONT")?;
    let begin = Instant::now();
    let mut workers: Vec<Worker> = workers.into_iter().chain([heir]).collect();
    let mut status = None;
    while status.is_none() && begin.elapsed() < LEASE * 2 {
        status = workers[0].0.try_wait()?;
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok((scene, workers, status.map(|status| status.code().unwrap_or(-1))))
}

fn a_worker_that_was_frozen_finds_that_it_is_shut_out() -> anyhow::Result<()> {
    let (scene, mut workers, ended) = freeze("frozen", &[])?;
    ensure!(ended == Some(1), "the worker that was frozen ended with {ended:?}");
    scene.team.wait(&mut workers[1..], 0, LIMIT)?;
    scene.check("frozen", &scene.dirs(&[1, 2]))
}

fn without_the_fence_a_frozen_worker_goes_on_and_asks_nobody() -> anyhow::Result<()> {
    let (scene, _workers, ended) = freeze("unfenced", &["--without-fence"])?;
    ensure!(ended.is_none(), "the worker that was frozen ended with {ended:?}");
    // It sends no requests, because its deadline has passed.
    let (overlapping, early) = scene.town.impolite(DELAY);
    ensure!((overlapping, early) == (0, 0), "{overlapping} requests overlapped, {early} came early");
    Ok(())
}

fn without_the_deadline_either_it_asks_hosts_of_another() -> anyhow::Result<()> {
    goes_wrong(|| {
        let (scene, _workers, ended) = freeze("undated", &["--without-fence", "--without-deadline"])?;
        ensure!(ended.is_none(), "the worker that was frozen ended with {ended:?}");
        let (overlapping, early) = scene.town.impolite(DELAY);
        println!("undated: {overlapping} overlapping, {early} early");
        Ok(overlapping + early > 0)
    })
}

fn a_worker_that_is_cut_off_is_replaced() -> anyhow::Result<()> {
    let scene = Scene::new("cut", 2)?;
    let cable = Cable::to(&scene.brokers.ports())?;
    let cut_off = scene.team.start_by(&scene.brokers, &cable.address(), 0, &[])?;
    let other = scene.team.start(&scene.brokers, 1, &[])?;
    scene.wait_for(HALF)?;
    let hosts = scene.hosts_of(0)?;
    cable.cut(true);
    let (begin, since) = (Instant::now(), scene.now());
    let heir = scene.team.start(&scene.brokers, 2, &[])?;
    let took = scene.taken_over(&hosts, since + LEASE * 6 / 10)?;
    println!("cut: taken over after {:.1} s, with a lease of {} s", took.as_secs_f64(), LEASE.as_secs());
    ensure!(took < LEASE + Duration::from_secs(10), "{took:?}");
    while begin.elapsed() < LEASE * 2 {
        std::thread::sleep(Duration::from_millis(20));
    }
    // The messages that it sent while it was cut off arrive now.
    cable.cut(false);
    let mut cut_off = [cut_off];
    scene.team.wait(&mut cut_off, 1, LIMIT)?;
    scene.team.wait(&mut [other, heir], 0, LIMIT)?;
    scene.check("cut", &scene.dirs(&[1, 2]))
}

fn brokers_that_die_lose_nothing() -> anyhow::Result<()> {
    let mut scene = Scene::new("brokers", 2)?;
    let mut workers = scene.start(2, &[])?;
    scene.wait_for(HALF / 2)?;
    scene.brokers.kill(0)?;
    scene.wait_for(HALF)?;
    scene.brokers.revive(0)?;
    scene.brokers.wait()?;
    for broker in 0..3 {
        scene.brokers.kill(broker)?;
    }
    // The brokers are away for long enough that every lease ends.
    std::thread::sleep(LEASE);
    for broker in 0..3 {
        scene.brokers.revive(broker)?;
    }
    scene.team.wait(&mut workers, 0, LIMIT)?;
    scene.check("brokers", &scene.dirs(&[0, 1]))
}

/// A worker starts while no broker runs. When it has come and waits for the other worker, it is cut off for longer than
/// the time in which brokers should answer.
fn a_worker_that_starts_while_brokers_fail_waits_for_them() -> anyhow::Result<()> {
    let mut scene = Scene::new("begins", 2)?;
    let program = beside("crawler-under-test")?;
    let cable = Cable::to(&scene.brokers.ports())?;
    for broker in 0..3 {
        scene.brokers.kill(broker)?;
    }
    let mut first = scene.team.start_by(&scene.brokers, &cable.address(), 0, &[])?;
    let log = scene.team.dir(0).with_extension("log");
    let mut wait_until = |what: &str, is_so: &dyn Fn(&str) -> bool| -> anyhow::Result<()> {
        let begin = Instant::now();
        while !is_so(&std::fs::read_to_string(&log)?) {
            ensure!(begin.elapsed() < LIMIT, "not so: {what}");
            let ended = first.0.try_wait()?;
            ensure!(ended.is_none(), "the worker ended before {what}: {ended:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    };
    let asks_again =
        |log: &str, what: &str| log.lines().any(|line| line.contains(what) && line.contains("asking again"));
    wait_until("it misses the brokers", &|log| asks_again(log, "--cluster"))?;
    for broker in 0..3 {
        scene.brokers.revive(broker)?;
    }
    wait_until("it has come", &|_| {
        // While the brokers choose leaders, this fails.
        let status = scene.brokers.command(program.as_path(), &["cluster", "status", "--json"], "begins").output();
        let status = status.ok().and_then(|status| serde_json::from_slice::<Value>(&status.stdout).ok());
        status.is_some_and(|status| status["workers"].as_array().is_some_and(|workers| workers.len() == 1))
    })?;
    cable.cut(true);
    wait_until("it gets no answer", &|log| asks_again(log, "reading the board"))?;
    cable.cut(false);
    let second = scene.team.start(&scene.brokers, 1, &[])?;
    scene.team.wait(&mut [first, second], 0, LIMIT)?;
    scene.check("begins", &scene.dirs(&[0, 1]))
}

fn workers_that_are_restarted_in_turn_lose_nothing() -> anyhow::Result<()> {
    let scene = Scene::new("rolling", 3)?;
    let mut workers = scene.start(3, &[])?;
    for worker in 0..3 {
        scene.wait_for(HALF / 3 * (worker + 1))?;
        signal(&workers[worker], "TERM")?;
        scene.team.wait(&mut workers[worker..=worker], 11, LIMIT)?;
        workers[worker] = scene.team.start(&scene.brokers, worker, &[])?;
    }
    scene.team.wait(&mut workers, 0, LIMIT)?;
    scene.check("rolling", &scene.dirs(&[0, 1, 2]))
}
