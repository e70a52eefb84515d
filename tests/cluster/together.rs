//! Several workers together find the same pages as one worker, and judge them the same.

use std::time::{Duration, Instant};

use anyhow::ensure;
use tests::background::Background;
use tests::cluster::{Brokers, Found, Shape, Team, Town, Worker};

use super::{Test, goes_wrong};

/// The tests.
pub const TESTS: &[Test] = &[
    ("one_two_and_four_workers_judge_as_one", one_two_and_four_workers_judge_as_one),
    ("without_the_barrier_too_many_pages_seem_to_be_unique", without_the_barrier_too_many_pages_seem_to_be_unique),
];

/// The longest time that a crawl may take.
const LIMIT: Duration = Duration::from_secs(300);
const DELAY: Duration = Duration::from_millis(20);

/// The shape of the web of these tests. `CLUSTER_PAGES` sets the number of pages of each host; 168 make 8,400 contents.
fn shape() -> anyhow::Result<Shape> {
    let pages = std::env::var("CLUSTER_PAGES").map_or(Ok(30), |pages| pages.parse())?;
    Ok(Shape { originals: 50, mirrors: 18, pages })
}

/// Crawls a web with this many workers, all started at once.
fn crawl(brokers: &Brokers, workers: usize, more: &[&str]) -> anyhow::Result<(Found, Shape)> {
    let shape = shape()?;
    let town = Town::new(shape);
    let server = Background::start(|listener| std::sync::Arc::clone(&town).run(listener))?;
    let base = tempfile::tempdir()?;
    let (name, lease) = (format!("w{workers}{}", more.len()), Duration::from_secs(30));
    let team = Team { name, workers, delay: DELAY, lease, base: base.path().into() };
    team.create(brokers, &shape, &server.connect_to())?;
    let begin = Instant::now();
    let started: anyhow::Result<Vec<Worker>> = (0..workers).map(|worker| team.start(brokers, worker, more)).collect();
    team.wait(&mut started?, 0, LIMIT)?;
    let took = begin.elapsed();
    let found = team.found(&shape)?;
    let (overlapping, early) = town.impolite(DELAY);
    println!(
        "{workers} workers: {:.1} s, {} requests, {overlapping} overlapping, {early} early, {} lines, {} unique of {} contents, \
         {} duplicates, {} of them of another worker's page",
        took.as_secs_f64(),
        town.asked().len(),
        found.lines,
        found.unique,
        shape.contents(),
        found.duplicates,
        found.across,
    );
    ensure!((overlapping, early) == (0, 0), "{overlapping} requests overlapped, {early} came early");
    Ok((found, shape))
}

fn one_two_and_four_workers_judge_as_one() -> anyhow::Result<()> {
    let brokers = Brokers::start("always")?;
    for workers in [1, 2, 4] {
        let (found, shape) = crawl(&brokers, workers, &[])?;
        found.check(&shape)?;
        ensure!(workers == 1 || found.across > 0, "no mirror was on another worker");
    }
    Ok(())
}

fn without_the_barrier_too_many_pages_seem_to_be_unique() -> anyhow::Result<()> {
    goes_wrong(|| {
        let brokers = Brokers::start("always")?;
        let (found, shape) = crawl(&brokers, 4, &["--without-barrier"])?;
        ensure!(found.twice.is_empty(), "{:?}", found.twice);
        Ok(found.unique > shape.contents() && found.check(&shape).is_err())
    })
}
