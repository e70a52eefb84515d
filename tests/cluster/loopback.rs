//! Tests of `crawler cluster try`, used as a newcomer would use it: processes are killed and started again with the
//! commands that it prints, and the trial is stopped and continued.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::Value;
use tests::background::Background;
use tests::cluster::{Found, Shape, Town, Worker, server};
use tests::programs::beside;

use super::Test;

/// The tests.
pub const TESTS: &[Test] = &[
    ("a_trial_survives_what_its_user_kills", a_trial_survives_what_its_user_kills),
    (
        "a_trial_that_ends_takes_its_processes_along_and_can_be_gone_on_with",
        a_trial_that_ends_takes_its_processes_along,
    ),
];

const LIMIT: Duration = Duration::from_secs(240);
const DELAY: Duration = Duration::from_millis(100);
const SHAPE: Shape = Shape { originals: 24, mirrors: 6, pages: 30 };
const WORKERS: usize = 3;

/// A web, and a directory for the crawl.
struct Scene {
    town: Arc<Town>,
    server: Background,
    base: tempfile::TempDir,
}

/// A running `crawler cluster try`.
struct Trial {
    process: Worker,
    /// The lines that it prints.
    lines: Receiver<String>,
    said: Arc<Mutex<String>>,
    /// The process IDs of its brokers and workers, by name.
    processes: BTreeMap<String, u32>,
}

impl Scene {
    fn new() -> anyhow::Result<Self> {
        let town = Town::new(SHAPE);
        let server = Background::start(|listener| Arc::clone(&town).run(listener))?;
        Ok(Self { town, server, base: tempfile::tempdir()? })
    }

    fn dir(&self) -> PathBuf {
        self.base.path().join("try")
    }

    fn start(&self, is_new: bool) -> anyhow::Result<Trial> {
        let mut command = Command::new(beside("crawler-under-test")?);
        command.args(["cluster", "try", "--lease", "3s", "--progress", "plain", "--dir"]).arg(self.dir());
        command.arg("--nats-server").arg(server().context("no nats-server")?);
        if is_new {
            command.args(["--scope", "any", "--allow-private", "--address-delay", "0ms"]);
            command.arg("--delay").arg(format!("{}ms", DELAY.as_millis()));
            command.arg("--connect-to").arg(self.server.connect_to());
            command.args((0..SHAPE.hosts()).map(|host| format!("http://{}/", Shape::name(host))));
        }
        let logs: Vec<PathBuf> = (1..=WORKERS).map(|worker| self.dir().join(format!("worker-{worker}.log"))).collect();
        let logs = logs.iter().map(|log| (log.as_path(), log.metadata().map_or(0, |log| log.len())));
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let mut process = Worker::new(child, logs);
        let stderr = BufReader::new(process.0.stderr.take().context("its stderr")?);
        let (lines_in, lines) = channel();
        let said = Arc::<Mutex<String>>::default();
        let kept = Arc::clone(&said);
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if let Ok(mut said) = kept.lock() {
                    *said += &format!("{line}\n");
                }
                // The test may have stopped waiting for lines.
                let _ = lines_in.send(line);
            }
        });
        let mut trial = Trial { process, lines, said, processes: BTreeMap::new() };
        let named = trial.wait_for("processes: ")?;
        let named = named.split("processes: ").nth(1).and_then(|rest| rest.split(';').next()).context("names")?;
        for each in named.split(", ") {
            let (name, id) = each.rsplit_once(' ').context("a name and a number")?;
            trial.processes.insert(name.to_owned(), id.parse()?);
        }
        ensure!(trial.processes.len() == 3 + WORKERS, "{named}");
        Ok(trial)
    }

    fn wait_for(&self, requests: usize, trial: &Trial) -> anyhow::Result<()> {
        let begin = Instant::now();
        while self.town.asked().len() < requests {
            ensure!(begin.elapsed() < LIMIT, "{} requests:\n{}", self.town.asked().len(), trial.said());
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Checks that the directories of the workers have the whole crawl, and that no host got a request too soon.
    fn check(&self) -> anyhow::Result<()> {
        let dirs: Vec<PathBuf> = (1..=WORKERS).map(|worker| self.dir().join(format!("worker-{worker}"))).collect();
        let found = Found::of(&dirs, &SHAPE)?;
        println!("{} lines, {} unique of {} contents", found.lines, found.unique, SHAPE.contents());
        found.check(&SHAPE)?;
        let (overlapping, early) = self.town.impolite(DELAY);
        ensure!((overlapping, early) == (0, 0), "{overlapping} requests overlapped, {early} came early");
        Ok(())
    }
}

impl Trial {
    fn said(&self) -> String {
        self.said.lock().map(|said| said.clone()).unwrap_or_default()
    }

    /// Waits for the next line that contains these words.
    fn wait_for(&self, words: &str) -> anyhow::Result<String> {
        loop {
            match self.lines.recv_timeout(LIMIT) {
                Ok(line) if line.contains(words) => return Ok(line),
                Ok(_) => {}
                Err(_) => bail!("it never said {words:?}:\n{}", self.said()),
            }
        }
    }

    /// Kills one of its processes, and starts it again with the command that the trial then prints.
    fn kill_and_start_again(&self, name: &str) -> anyhow::Result<Worker> {
        signal("KILL", self.processes[name])?;
        self.wait_for(&format!("{name} was killed by signal 9"))?;
        let line = self.lines.recv_timeout(LIMIT)?;
        let mut words = line.split_whitespace();
        let program = match words.next().context("a command")? {
            "crawler" => beside("crawler-under-test")?,
            other => PathBuf::from(other),
        };
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Worker::new(command.spawn()?, []))
    }

    /// Waits until it ends by itself. Returns its exit code.
    fn end(&mut self) -> anyhow::Result<Option<i32>> {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.process.0.try_wait()? {
                return Ok(status.code());
            }
            ensure!(begin.elapsed() < LIMIT, "it still runs:\n{}", self.said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Checks that none of its processes lives on for long.
    fn is_gone(&self) -> anyhow::Result<()> {
        let begin = Instant::now();
        let lives = |id: &u32| {
            std::fs::read_to_string(Path::new("/proc").join(id.to_string()).join("cmdline"))
                .is_ok_and(|words| !words.is_empty())
        };
        while let Some((name, _)) = self.processes.iter().find(|(_, id)| lives(id)) {
            ensure!(begin.elapsed() < Duration::from_secs(10), "{name} lives on");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Runs a command of the operator with the environment variables that the trial printed.
    fn ask(&self, words: &[&str]) -> anyhow::Result<String> {
        let said = self.said();
        let export = said.lines().find_map(|line| line.trim().strip_prefix("export ")).context("the variables")?;
        let variables = export.split(' ').filter_map(|variable| variable.split_once('='));
        let output = Command::new(beside("crawler-under-test")?).arg("cluster").args(words).envs(variables).output()?;
        ensure!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }
}

fn signal(signal: &str, process: u32) -> anyhow::Result<()> {
    let status = Command::new("kill").arg(format!("-{signal}")).arg(process.to_string()).status()?;
    ensure!(status.success(), "kill -{signal} {process}");
    Ok(())
}

fn a_trial_survives_what_its_user_kills() -> anyhow::Result<()> {
    let scene = Scene::new()?;
    let mut trial = scene.start(true)?;
    scene.wait_for(150, &trial)?;
    let _worker = trial.kill_and_start_again("worker 1")?;
    scene.wait_for(300, &trial)?;
    let status: Value = serde_json::from_str(&trial.ask(&["status", "--json"])?)?;
    ensure!(status["workers"].as_array().is_some_and(|workers| workers.len() == WORKERS), "{status}");
    let table = trial.ask(&["status"])?;
    ensure!(table.contains("3 of 3 brokers are well"), "{table}");
    let _broker = trial.kill_and_start_again("broker 2")?;
    ensure!(trial.end()? == Some(0), "{}", trial.said());
    trial.is_gone()?;
    scene.check()
}

fn a_trial_that_ends_takes_its_processes_along() -> anyhow::Result<()> {
    let scene = Scene::new()?;
    let mut trial = scene.start(true)?;
    scene.wait_for(120, &trial)?;
    signal("TERM", trial.process.0.id())?;
    ensure!(trial.end()? == Some(11), "{}", trial.said());
    trial.is_gone()?;

    let mut trial = scene.start(false)?;
    scene.wait_for(300, &trial)?;
    // A process that is killed like this cannot tell its children.
    trial.process.0.kill()?;
    trial.process.0.wait()?;
    trial.is_gone()?;

    let mut trial = scene.start(false)?;
    ensure!(trial.end()? == Some(0), "{}", trial.said());
    trial.is_gone()?;
    scene.check()
}
