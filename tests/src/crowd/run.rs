//! Runs the program against a crowd, as a process of its own, and collects the log of the server and the outputs of the
//! crawl.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Asked, Crowd};

/// The results of a crawl.
pub struct Ran {
    /// The requests, in the order of their arrival.
    pub log: Vec<Asked>,
    /// The time at which the program was started.
    pub started: Instant,
    /// The exit status of the program.
    pub status: ExitStatus,
    /// The peak of resident memory, in KiB.
    pub peak: u64,
    /// The lines of `pages.jsonl`.
    pub pages: Vec<Value>,
    /// The lines of `skipped.jsonl`.
    pub skipped: Vec<Value>,
    /// The messages that it wrote to standard error.
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

/// Like [`crawl`], but calls `act` with the process while it runs.
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

/// The report (`report --json`) about the crawl in `dir`.
pub fn report(mut program: Command, dir: &Path) -> anyhow::Result<Value> {
    let output = program.arg("report").arg(dir.join("crawl")).arg("--json").stderr(Stdio::inherit()).output()?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The hosts that a report lists because they lost slots, with the reasons.
pub fn slow_hosts(report: &Value) -> BTreeMap<&str, &str> {
    let hosts = report["slow_hosts"].as_array().into_iter().flatten();
    hosts.filter_map(|host| host["host"].as_str().zip(host["why"].as_str())).collect()
}

impl Ran {
    /// The number of pages that are requested from hosts of a kind per second, between two times after the start.
    pub fn rate(&self, kind: &str, from: Duration, to: Duration) -> f64 {
        let inside = |asked: &&Asked| (self.started + from..self.started + to).contains(&asked.at);
        let is_page = |asked: &&Asked| asked.host.starts_with(kind) && asked.path != "/robots.txt";
        self.log.iter().filter(inside).filter(is_page).count() as f64 / (to - from).as_secs_f64()
    }

    /// The reason for the failure or the omission of a host, according to the outputs.
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
