//! The program against a crowd: a crawl in a process of its own, and what the server's log and the crawl's outputs say of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Asked, Crowd};

/// What came of a crawl.
pub struct Ran {
    /// Requests, in order.
    pub log: Vec<Asked>,
    /// When the program was started.
    pub started: Instant,
    /// How it ended.
    pub status: ExitStatus,
    /// Most resident memory, in KiB.
    pub peak: u64,
    /// The lines of `pages.jsonl`.
    pub pages: Vec<Value>,
    /// The lines of `skipped.jsonl`.
    pub skipped: Vec<Value>,
    /// What it said to people.
    pub said: String,
}

/// Crawls the crowd with `program` from `seeds` into `dir` for at most `time`.
pub fn crawl(
    program: Command,
    crowd: &Crowd,
    dir: &Path,
    flags: &[&str],
    seeds: impl IntoIterator<Item = String>,
    time: Duration,
) -> anyhow::Result<Ran> {
    crawl_and(program, crowd, dir, flags, seeds, time, |_| Ok(()))
}

/// As [`crawl`]; meanwhile `act` does something with the process.
#[allow(clippy::too_many_arguments)]
pub fn crawl_and(
    mut command: Command,
    crowd: &Crowd,
    dir: &Path,
    flags: &[&str],
    seeds: impl IntoIterator<Item = String>,
    time: Duration,
    act: impl FnOnce(&Child) -> anyhow::Result<()>,
) -> anyhow::Result<Ran> {
    crowd.clear();
    std::fs::create_dir_all(dir)?;
    let (peak, list, out) = (dir.join("peak"), dir.join("seeds"), dir.join("crawl"));
    std::fs::write(&list, seeds.into_iter().map(|seed| seed + "\n").collect::<String>())?;
    command.env("TEST_PEAK_FILE", &peak).args(["crawl", "--quiet", "--allow-private", "--patience", "2s"]);
    command.args(["--connect-to", &crowd.connect_to()]).arg("--dir").arg(&out).arg("--seeds").arg(&list);
    command.args(["--time-limit", &format!("{}ms", time.as_millis())]).args(flags);
    let started = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    if let Err(error) = act(&child) {
        child.kill()?;
        child.wait()?;
        return Err(error);
    }
    let output = child.wait_with_output()?;
    let lines = |name| crate::crawl::lines(&out, name).unwrap_or_default();
    Ok(Ran {
        log: crowd.log(),
        started,
        status: output.status,
        peak: std::fs::read_to_string(&peak).ok().and_then(|peak| peak.parse().ok()).unwrap_or(0),
        pages: lines("pages.jsonl"),
        skipped: lines("skipped.jsonl"),
        said: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// What `program` reports of the crawl into `dir`.
pub fn report(mut program: Command, dir: &Path) -> anyhow::Result<Value> {
    let output = program.arg("report").arg(dir.join("crawl")).arg("--json").stderr(Stdio::inherit()).output()?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The hosts that a report names because they lost slots, and why they did.
pub fn slow_hosts(report: &Value) -> BTreeMap<&str, &str> {
    let hosts = report["slow_hosts"].as_array().into_iter().flatten();
    hosts.filter_map(|host| host["host"].as_str().zip(host["why"].as_str())).collect()
}

impl Ran {
    /// Requests for pages of hosts of a kind a second, between two times since the start.
    pub fn rate(&self, kind: &str, from: Duration, to: Duration) -> f64 {
        let inside = |asked: &&Asked| (self.started + from..self.started + to).contains(&asked.at);
        let is_page = |asked: &&Asked| asked.host.starts_with(kind) && asked.path != "/robots.txt";
        self.log.iter().filter(inside).filter(is_page).count() as f64 / (to - from).as_secs_f64()
    }

    /// The reason that the outputs give for a host.
    pub fn reason(&self, host: &str) -> Option<String> {
        let of = |line: &&Value| line["url"].as_str().is_some_and(|url| url.split('/').nth(2) == Some(host));
        let given = self.pages.iter().filter(of).find_map(|line| line["error"].as_str());
        let withheld = || {
            let line = self.skipped.iter().find(of)?;
            line["detail"].as_str().or(line["reason"].as_str())
        };
        given.or_else(withheld).map(str::to_owned)
    }
}
