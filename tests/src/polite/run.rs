//! Crawls the hosts with the program itself, which is killed and resumed.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::{Judgement, Process, Servers, Town};
use crate::sound::sound_at;

/// The parameters of a crawl.
#[derive(Clone, Debug)]
pub struct Course {
    /// The `crawler` program.
    pub program: PathBuf,
    /// The value of `--address-delay`.
    pub floor: Duration,
    /// The number of requests after which the crawl ends.
    pub requests: usize,
    /// The number of times that it is killed (SIGKILL) on the way, at equal distances, and resumed.
    pub restarts: usize,
    /// The longest time that it may take.
    pub limit: Duration,
}

/// Runs a crawl of the hosts by the program, and judges it by their log.
pub fn follow(course: &Course, town: Town, dir: &Path) -> anyhow::Result<Judgement> {
    let servers = Servers::start(town)?;
    let begin = Instant::now();
    let mut processes = Vec::new();
    for part in 1..=course.restarts + 1 {
        let start = servers.now();
        let mut child = Crawl(spawn(course, &servers, town, dir)?);
        let goal = course.requests * part / (course.restarts + 1);
        let made = servers.wait_for(goal, course.limit.saturating_sub(begin.elapsed()));
        ensure!(child.0.try_wait()?.is_none(), "the crawl ended by itself after {made} requests");
        ensure!(made >= goal, "{made} requests in {:?}", course.limit);
        drop(child);
        sound_at(dir)?;
        processes.push(Process { start, end: servers.now() });
    }
    Ok(Judgement::of(&town, &servers.log(), &processes, town.shortest, course.floor.min(town.shortest)))
}

/// A process that is killed when this is dropped.
struct Crawl(Child);

impl Drop for Crawl {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn spawn(course: &Course, servers: &Servers, town: Town, dir: &Path) -> anyhow::Result<Child> {
    let mut command = Command::new(&course.program);
    command.arg("crawl").arg("--dir").arg(dir);
    let milliseconds = |time: Duration| format!("{}ms", time.as_millis());
    command.args(["--delay", &milliseconds(town.shortest), "--address-delay", &milliseconds(course.floor)]);
    command.args(["--allow-private", "--scope", "host", "--on-duplicate", "keep", "--progress", "none"]);
    for rule in servers.connect_to() {
        command.args(["--connect-to", &rule]);
    }
    command.args((0..town.hosts).map(|host| format!("http://{}/", Town::name(host))));
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    child.with_context(|| course.program.display().to_string())
}
