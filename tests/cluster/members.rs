//! Workers join and leave during the crawl, and die while they do: every page is found once, no host gets a request too
//! soon, and the hosts are spread evenly over the workers afterwards.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::Value;
use tests::background::Background;
use tests::cluster::{Brokers, Found, Shape, Team, Town, Worker};
use tests::programs::beside;

use super::{Test, goes_wrong};

/// The tests.
pub const TESTS: &[Test] = &[
    ("a_worker_that_joins_gets_its_part_of_the_hosts", a_worker_that_joins_gets_its_part_of_the_hosts),
    ("workers_that_leave_hand_their_hosts_to_the_others", workers_that_leave_hand_their_hosts_to_the_others),
    ("who_gives_hosts_away_may_die_at_any_moment", who_gives_hosts_away_may_die_at_any_moment),
    ("who_takes_hosts_may_die_at_any_moment", who_takes_hosts_may_die_at_any_moment),
    ("a_worker_that_joins_late_knows_what_was_found", a_worker_that_joins_late_knows_what_was_found),
    ("a_worker_that_dies_as_it_leaves_is_replaced", a_worker_that_dies_as_it_leaves_is_replaced),
    ("links_to_hosts_that_moved_are_lost_where_nobody_sends_them_on", links_are_lost_where_nobody_sends_them_on),
];

const LIMIT: Duration = Duration::from_secs(240);
const DELAY: Duration = Duration::from_millis(300);
const LEASE: Duration = Duration::from_secs(3);
const PARTITIONS: u64 = 256;
const SHAPE: Shape = Shape { originals: 30, mirrors: 10, pages: 40 };
/// The shape of a chained web. Such a crawl needs a commit for each link that leads to another worker.
const CHAINED: Shape = Shape { originals: 40, mirrors: 0, pages: 12 };
/// The text in the log of a worker that stands still in the middle of a move.
const STANDS: &str = "it stands still";

/// A running crawl.
struct Scene {
    brokers: Brokers,
    town: Arc<Town>,
    team: Team,
    shape: Shape,
    _server: Background,
    _base: tempfile::TempDir,
}

impl Scene {
    fn new(name: &str, workers: usize, shape: Shape, town: Arc<Town>) -> anyhow::Result<Self> {
        let brokers = Brokers::start("always")?;
        let serving = Arc::clone(&town);
        let server = Background::start(|listener| serving.run(listener))?;
        let base = tempfile::tempdir()?;
        let team = Team { name: name.into(), workers, delay: DELAY, lease: LEASE, base: base.path().into() };
        team.create(&brokers, &shape, &server.connect_to())?;
        Ok(Self { brokers, town, team, shape, _server: server, _base: base })
    }

    fn start(&self, worker: usize, more: &[&str]) -> anyhow::Result<Worker> {
        self.team.start(&self.brokers, worker, more)
    }

    fn start_all(&self, workers: usize, more: &[&str]) -> anyhow::Result<Vec<Worker>> {
        (0..workers).map(|worker| self.start(worker, more)).collect()
    }

    /// Waits until a condition holds. Returns the time that it took.
    fn wait_until(&self, what: &str, is_so: impl Fn() -> anyhow::Result<bool>) -> anyhow::Result<Duration> {
        let begin = Instant::now();
        while !is_so()? {
            ensure!(begin.elapsed() < LIMIT, "not so: {what}\n{}", self.operate(&["status"])?);
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(begin.elapsed())
    }

    fn wait_for(&self, requests: usize) -> anyhow::Result<()> {
        self.wait_until("enough requests", || Ok(self.town.asked().len() >= requests)).map(drop)
    }

    fn operate(&self, words: &[&str]) -> anyhow::Result<String> {
        let all = [&["cluster"], words].concat();
        let output = self.brokers.command(beside("crawler-under-test")?, &all, &self.team.name).output()?;
        ensure!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }

    /// The number of partitions of each share, and whether the share stays.
    fn shares(&self) -> anyhow::Result<Vec<(u64, bool)>> {
        let status: Value = serde_json::from_str(&self.operate(&["status", "--json"])?)?;
        let workers = status["workers"].as_array().context("workers")?;
        let share = |worker: &Value| Some((worker["partitions"].as_u64()?, worker["stay"] == "stays"));
        workers.iter().map(|worker| share(worker).context("a share")).collect()
    }

    /// Whether exactly this many shares stay and have all partitions, and their numbers of partitions differ by at most
    /// one.
    fn is_even(&self, staying: usize) -> anyhow::Result<bool> {
        let shares = self.shares()?;
        let counts: Vec<u64> = shares.iter().filter(|(_, stays)| *stays).map(|(count, _)| *count).collect();
        let (most, fewest) = (counts.iter().max().context("a share")?, counts.iter().min().context("a share")?);
        Ok(counts.len() == staying && counts.iter().sum::<u64>() == PARTITIONS && most - fewest <= 1)
    }

    fn log(&self, worker: usize) -> String {
        std::fs::read_to_string(self.team.dir(worker).with_extension("log")).unwrap_or_default()
    }

    fn dirs(&self, workers: usize) -> Vec<PathBuf> {
        (0..workers).map(|worker| self.team.dir(worker)).collect()
    }

    /// The number of requests for pages, and how many of them were for pages that had been requested before.
    fn asked(&self) -> (usize, usize) {
        let asked = self.town.asked();
        let pages = || asked.iter().filter(|asked| asked.path != "/robots.txt").map(|asked| (asked.host, &asked.path));
        (pages().count(), pages().count() - pages().collect::<BTreeSet<_>>().len())
    }

    /// Checks that these directories together have the whole crawl, that no host got a request too soon, and that the
    /// operator's commands report all of it. Returns the number of pages that were requested again.
    fn check(&self, what: &str, dirs: &[PathBuf]) -> anyhow::Result<usize> {
        let found = Found::of(dirs, &self.shape)?;
        let (_, again) = self.asked();
        let (overlapping, early) = self.town.impolite(DELAY);
        println!(
            "{what}: {} lines, {} unique of {} contents, {again} pages asked for again, {overlapping} overlapping, {early} early",
            found.lines,
            found.unique,
            self.shape.contents(),
        );
        found.check(&self.shape)?;
        ensure!((overlapping, early) == (0, 0), "{overlapping} requests overlapped, {early} came early");
        let told = self.operate(&["export"])?.lines().count();
        ensure!(told == found.lines, "{told} pages are told of {}", found.lines);
        let report: Value = serde_json::from_str(&self.operate(&["report", "--json"])?)?;
        let reported = (report["pages"].as_u64(), report["unique"].as_u64(), report["stop_reason"].as_str());
        ensure!(reported == (Some(found.lines as u64), Some(found.unique as u64), Some("done")), "{reported:?}");
        Ok(again)
    }
}

fn lines_in(dir: &Path) -> usize {
    tests::crawl::lines(dir, "pages.jsonl").map_or(0, |lines| lines.len())
}

fn signal(worker: &Worker, signal: &str) -> anyhow::Result<()> {
    let status = Command::new("kill").arg(format!("-{signal}")).arg(worker.0.id().to_string()).status()?;
    ensure!(status.success(), "kill -{signal}");
    Ok(())
}

fn kill(mut worker: Worker) -> anyhow::Result<()> {
    worker.0.kill()?;
    worker.0.wait()?;
    Ok(())
}

fn a_worker_that_joins_gets_its_part_of_the_hosts() -> anyhow::Result<()> {
    let scene = Scene::new("joins", 3, SHAPE, Town::new(SHAPE))?;
    let mut workers = scene.start_all(3, &[])?;
    scene.wait_for(300)?;
    workers.push(scene.start(3, &[])?);
    let took = scene.wait_until("the fourth has its part", || scene.is_even(4))?;
    println!("joins: even after {:.1} s, with a lease of {} s", took.as_secs_f64(), LEASE.as_secs());
    ensure!(took < LEASE + Duration::from_secs(10), "{took:?}");
    // If a host has moved, the worker that has it now answers for the pages that were fetched before the move.
    let why = (0..8).map(|host| scene.operate(&["why", &format!("http://{}/", Shape::name(host))]));
    for told in why.collect::<anyhow::Result<Vec<_>>>()? {
        ensure!(told.contains("fetched"), "{told}");
    }
    scene.team.wait(&mut workers, 0, LIMIT)?;
    let dirs = scene.dirs(4);
    let by_the_fourth = lines_in(&dirs[3]);
    println!("joins: {by_the_fourth} pages of the fourth");
    ensure!(by_the_fourth > 0 && scene.is_even(4)?, "{:?}", scene.shares()?);
    let again = scene.check("joins", &dirs)?;
    ensure!(again == 0, "{again} pages were asked for again");
    Ok(())
}

fn workers_that_leave_hand_their_hosts_to_the_others() -> anyhow::Result<()> {
    let scene = Scene::new("leaves", 4, SHAPE, Town::new(SHAPE))?;
    let mut workers = scene.start_all(4, &["--leave"])?;
    scene.wait_for(200)?;
    // The operator removes the second share …
    scene.operate(&["remove", "2"])?;
    let took = scene.wait_until("three have all hosts", || scene.is_even(3))?;
    println!("leaves: even after {:.1} s", took.as_secs_f64());
    let gone = |worker: &mut Worker| worker.0.try_wait().map(|status| status.is_some());
    let begin = Instant::now();
    let mut left = None;
    while left.is_none() {
        ensure!(begin.elapsed() < LIMIT, "nobody has ended");
        left = (0..4).find(|worker| gone(&mut workers[*worker]).unwrap_or(false));
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut first = [workers.remove(left.context("a worker")?)];
    scene.team.wait(&mut first, 0, LIMIT)?;
    // … and a signal stops another worker.
    signal(&workers[0], "TERM")?;
    let mut second = [workers.remove(0)];
    scene.team.wait(&mut second, 0, LIMIT)?;
    ensure!(scene.is_even(2)?, "{:?}", scene.shares()?);
    let asked = scene.asked().0;
    scene.team.wait(&mut workers, 0, LIMIT)?;
    let after = scene.asked().0 - asked;
    println!("leaves: {after} pages were asked for by those that stayed, after the second had left");
    ensure!(after > 0, "the crawl was over before");
    let again = scene.check("leaves", &scene.dirs(4))?;
    ensure!(again == 0, "{again} pages were asked for again");
    Ok(())
}

/// A worker joins two others. One of the two stands still at this step of its move and is killed. Then it is started
/// again in its directory or, if `in_place` is false, another worker with an empty disk takes its share.
fn donor_dies(at: &str, in_place: bool) -> anyhow::Result<()> {
    let scene = Scene::new(&format!("donor-{at}"), 2, CHAINED, Town::chained(CHAINED))?;
    let donor = scene.start(0, &["--halt-at", at])?;
    let mut living = vec![scene.start(1, &[])?];
    scene.wait_for(100)?;
    living.push(scene.start(2, &[])?);
    scene.wait_until("it stands still", || Ok(scene.log(0).contains(STANDS)))?;
    kill(donor)?;
    let mut dirs = scene.dirs(3);
    if in_place {
        living.push(scene.start(0, &[])?);
    } else {
        std::fs::remove_dir_all(scene.team.dir(0))?;
        living.push(scene.start(3, &[])?);
        dirs[0] = scene.team.dir(3);
    }
    scene.wait_until("three have all hosts", || scene.is_even(3))?;
    scene.team.wait(&mut living, 0, LIMIT)?;
    scene.check(at, &dirs).map(drop)
}

fn who_gives_hosts_away_may_die_at_any_moment() -> anyhow::Result<()> {
    donor_dies("noted", true)?;
    donor_dies("sent", false)?;
    donor_dies("handed-over", true)?;
    donor_dies("handed-over", false)
}

fn who_takes_hosts_may_die_at_any_moment() -> anyhow::Result<()> {
    for (at, in_place) in [("taken-in-part", true), ("taken", false)] {
        let scene = Scene::new(&format!("heir-{at}"), 2, CHAINED, Town::chained(CHAINED))?;
        let mut workers = scene.start_all(2, &[])?;
        scene.wait_for(100)?;
        let joiner = scene.start(2, &["--halt-at", at])?;
        scene.wait_until("it stands still", || Ok(scene.log(2).contains(STANDS)))?;
        kill(joiner)?;
        let mut dirs = scene.dirs(3);
        if in_place {
            workers.push(scene.start(2, &[])?);
        } else {
            std::fs::remove_dir_all(scene.team.dir(2))?;
            workers.push(scene.start(3, &[])?);
            dirs[2] = scene.team.dir(3);
        }
        scene.wait_until("three have all hosts", || scene.is_even(3))?;
        scene.team.wait(&mut workers, 0, LIMIT)?;
        scene.check(at, &dirs)?;
    }
    Ok(())
}

fn a_worker_that_dies_as_it_leaves_is_replaced() -> anyhow::Result<()> {
    let scene = Scene::new("dies-leaving", 3, CHAINED, Town::chained(CHAINED))?;
    let mut workers = scene.start_all(3, &["--halt-at", "sent"])?;
    scene.wait_for(100)?;
    scene.operate(&["remove", "1"])?;
    let stands = |worker: usize| scene.log(worker).contains(STANDS);
    scene.wait_until("one stands still", || Ok((0..3).any(stands)))?;
    let leaver = (0..3).find(|worker| stands(*worker)).context("a worker")?;
    kill(workers.remove(leaver))?;
    std::fs::remove_dir_all(scene.team.dir(leaver))?;
    // The worker that takes its place gives the hosts away, and ends.
    let mut heir = [scene.start(3, &[])?];
    scene.team.wait(&mut heir, 0, LIMIT)?;
    ensure!(scene.log(3).contains("has left the crawl") && scene.is_even(2)?, "{}", scene.log(3));
    scene.team.wait(&mut workers, 0, LIMIT)?;
    let dirs: Vec<PathBuf> = (0..4).filter(|worker| *worker != leaver).map(|worker| scene.team.dir(worker)).collect();
    scene.check("dies as it leaves", &dirs).map(drop)
}

/// The stream of pages has only the pages that are in no snapshot.
fn a_worker_that_joins_late_knows_what_was_found() -> anyhow::Result<()> {
    let scene = Scene::new("late", 2, SHAPE, Town::new(SHAPE))?;
    let folder = scene.team.base.join("snapshots").display().to_string();
    let keeps = ["--snapshots", folder.as_str(), "--snapshot-every", "1"];
    let mut workers = scene.start_all(2, &keeps)?;
    scene.wait_for(300)?;
    // A worker that cannot read snapshots gets no share. Otherwise others would give hosts to a worker that has ended.
    let mut without = [scene.start(2, &[])?];
    scene.team.wait(&mut without, 2, LIMIT)?;
    ensure!(scene.log(2).contains("--snapshots") && scene.shares()?.len() == 2, "{}", scene.log(2));
    workers.push(scene.start(3, &keeps)?);
    scene.wait_until("three have all hosts", || scene.is_even(3))?;
    scene.team.wait(&mut workers, 0, LIMIT)?;
    let dirs: Vec<PathBuf> = [0, 1, 3].map(|worker| scene.team.dir(worker)).into();
    ensure!(lines_in(&dirs[2]) > 0, "the third has fetched nothing");
    let again = scene.check("late", &dirs)?;
    ensure!(again == 0, "{again} pages were asked for again");
    Ok(())
}

/// While the worker that gives hosts away stands still, other workers go on to send it links to these hosts. The chains
/// are long, so that most of them are unfinished at that moment.
fn links_are_lost_where_nobody_sends_them_on() -> anyhow::Result<()> {
    const LONG: Shape = Shape { pages: 24, ..CHAINED };
    let careless = "--without-forwarding";
    goes_wrong(|| {
        let scene = Scene::new("unforwarded", 2, LONG, Town::chained(LONG))?;
        let donor = scene.start(0, &[careless, "--halt-at", "sent"])?;
        let mut workers = vec![scene.start(1, &[careless])?];
        scene.wait_for(100)?;
        workers.push(scene.start(2, &[careless])?);
        scene.wait_until("it stands still", || Ok(scene.log(0).contains(STANDS)))?;
        std::thread::sleep(LEASE);
        kill(donor)?;
        workers.push(scene.start(0, &[careless])?);
        scene.team.wait(&mut workers, 0, LIMIT)?;
        let found = Found::of(&scene.dirs(3), &LONG)?;
        println!("unforwarded: {} unique of {} contents", found.unique, LONG.contents());
        Ok(found.unique < LONG.contents())
    })
}
