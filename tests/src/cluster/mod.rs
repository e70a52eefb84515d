//! A crawl on many machines, simulated on one with real processes: brokers, workers, and a web that records what the
//! workers do.

mod brokers;
mod cable;
mod lone;
mod web;
mod worker;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
pub use brokers::{Brokers, server};
pub use cable::Cable;
pub use lone::Lone;
pub use web::{Asked, Content, Shape, Town};
pub use worker::{Worker, last_words};

use crate::crawl::{lines, text};
use crate::programs::beside;
use crate::sound::sound_at;

/// A crawl by several workers.
#[derive(Clone, Debug)]
pub struct Team {
    /// The name of the crawl.
    pub name: String,
    /// The number of workers.
    pub workers: usize,
    /// The delay between two requests to a host.
    pub delay: Duration,
    /// The length of the lease.
    pub lease: Duration,
    /// The folder with the directories of the workers.
    pub base: PathBuf,
}

impl Team {
    /// Creates the crawl, with every host as a seed.
    pub fn create(&self, brokers: &Brokers, shape: &Shape, connect_to: &str) -> anyhow::Result<()> {
        self.create_with(brokers, shape, connect_to, &[])
    }

    /// Like [`Self::create`], with more settings.
    pub fn create_with(&self, brokers: &Brokers, shape: &Shape, connect_to: &str, more: &[&str]) -> anyhow::Result<()> {
        std::fs::create_dir_all(&self.base)?;
        let seeds = self.base.join("seeds.txt");
        let urls: String = (0..shape.hosts()).map(|host| format!("http://{}/\n", Shape::name(host))).collect();
        std::fs::write(&seeds, urls)?;
        let mut create = brokers.command(beside("crawler-under-test")?, &["cluster", "create"], &self.name);
        create.arg("--seeds").arg(&seeds).arg("--connect-to").arg(connect_to);
        create.args(["--scope", "any", "--allow-private", "--address-delay", "0ms"]);
        create.arg("--delay").arg(format!("{}ms", self.delay.as_millis()));
        create.arg("--workers").arg(self.workers.to_string()).args(more);
        create.arg("--lease").arg(format!("{}ms", self.lease.as_millis()));
        let output = create.output()?;
        ensure!(output.status.success(), "create: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// The directory of a worker.
    pub fn dir(&self, worker: usize) -> PathBuf {
        self.base.join(format!("worker-{worker}"))
    }

    /// Starts a worker.
    pub fn start(&self, brokers: &Brokers, worker: usize, more: &[&str]) -> anyhow::Result<Worker> {
        self.start_by(brokers, &brokers.address(), worker, more)
    }

    /// Starts a worker that reaches the brokers at another address.
    pub fn start_by(&self, brokers: &Brokers, address: &str, worker: usize, more: &[&str]) -> anyhow::Result<Worker> {
        let dir = self.dir(worker);
        let mut command = brokers.command_by(address, beside("crawler-under-test")?, &["worker"], &self.name);
        command.arg("--dir").arg(&dir).args(["--progress", "none"]).args(more);
        let file = dir.with_extension("log");
        let log = std::fs::OpenOptions::new().create(true).append(true).open(&file)?;
        let length = log.metadata()?.len();
        command.stdout(Stdio::null()).stderr(log);
        Ok(Worker::new(command.spawn()?, [(file.as_path(), length)]))
    }

    /// Waits until these workers have ended by themselves, each with this exit code.
    pub fn wait(&self, workers: &mut [Worker], code: i32, limit: Duration) -> anyhow::Result<()> {
        let begin = Instant::now();
        loop {
            let mut running = None;
            for (at, worker) in workers.iter_mut().enumerate() {
                match worker.0.try_wait()? {
                    // If one has failed, the others would wait for it for ever.
                    Some(status) if status.code() != Some(code) => {
                        bail!("worker {at} ended with {status}: {}", self.logs())
                    }
                    Some(_) => {}
                    None => running = Some(at),
                }
            }
            let Some(at) = running else { return Ok(()) };
            ensure!(begin.elapsed() <= limit, "worker {at} still runs after {limit:?}: {}", self.logs());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn logs(&self) -> String {
        let log = |worker| std::fs::read_to_string(self.dir(worker).with_extension("log")).unwrap_or_default();
        (0..self.workers).map(|worker| format!("\n--- worker {worker}\n{}", log(worker))).collect()
    }

    /// Reads the outputs of all workers. Each directory must be sound.
    pub fn found(&self, shape: &Shape) -> anyhow::Result<Found> {
        let dirs: Vec<PathBuf> = (0..self.workers).map(|worker| self.dir(worker)).collect();
        Found::of(&dirs, shape)
    }
}

/// The outputs of all workers, counted together.
#[derive(Debug, Default)]
pub struct Found {
    /// The number of lines about pages.
    pub lines: usize,
    /// The URLs that have several lines.
    pub twice: Vec<String>,
    /// The number of pages that were judged unique.
    pub unique: usize,
    /// The number of pages that were judged unique, for each content.
    pub by_content: BTreeMap<Content, usize>,
    /// The number of duplicates that name no twin.
    pub nameless: usize,
    /// The number of duplicates.
    pub duplicates: usize,
    /// The number of duplicates whose twin was fetched by another worker.
    pub across: usize,
}

impl Found {
    /// Reads these crawl directories.
    pub fn of(dirs: &[PathBuf], shape: &Shape) -> anyhow::Result<Self> {
        let (mut found, mut times) = (Self::default(), BTreeMap::<String, (usize, usize)>::new());
        let mut twins = Vec::new();
        for (worker, dir) in dirs.iter().enumerate() {
            sound_at(dir)?;
            for line in lines(dir, "pages.jsonl")? {
                let url = text(&line, "url").to_owned();
                found.lines += 1;
                match line["verdict"].as_str() {
                    Some("unique") => {
                        found.unique += 1;
                        let content = shape.content(&url).with_context(|| format!("{url} is no page"))?;
                        *found.by_content.entry(content).or_default() += 1;
                    }
                    Some("exact" | "near") => {
                        found.duplicates += 1;
                        match line["duplicate_of"].as_str() {
                            Some(twin) => twins.push((worker, twin.to_owned())),
                            None => found.nameless += 1,
                        }
                    }
                    _ => {}
                }
                let entry = times.entry(url).or_insert((0, worker));
                entry.0 += 1;
            }
        }
        found.across =
            twins.iter().filter(|(worker, twin)| times.get(twin).is_some_and(|(_, by)| by != worker)).count();
        found.twice = times.into_iter().filter(|(_, (count, _))| *count > 1).map(|(url, _)| url).collect();
        Ok(found)
    }

    /// Checks that each content was judged unique once, and that each URL has one line.
    pub fn check(&self, shape: &Shape) -> anyhow::Result<()> {
        ensure!(self.twice.is_empty(), "URLs with several lines: {:?}", &self.twice[..self.twice.len().min(9)]);
        ensure!(self.nameless == 0, "{} duplicates name no twin", self.nameless);
        let often = self.by_content.values().filter(|count| **count > 1).count();
        let missing = shape.contents() - self.by_content.len();
        ensure!(
            (often, missing) == (0, 0),
            "of {} contents {missing} are missing, {often} were judged unique more than once ({} unique)",
            shape.contents(),
            self.unique
        );
        Ok(())
    }
}
