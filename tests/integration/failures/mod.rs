//! Each way in which a site can fail must be reported in the same words on the terminal, by `report --json`, in
//! `report.html`, by `/metrics` and by `why`. The exit code must say whether there was any page at all.

mod later;
mod rows;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::Value;
use tests::client::get;
use tests::failing::{DOMAIN, Failing, Manner, closed, gone_after_robots};

use rows::{ROWS, Row, Server, row};

/// The server of a row, while the test uses it.
struct Town {
    failing: Failing,
    /// The rules that connect the crawl to it.
    connect_to: Vec<String>,
    url: String,
    host: String,
}

impl Town {
    fn start(row: &Row) -> anyhow::Result<Self> {
        let manner = if let Server::Is(manner) = row.server { manner } else { Manner::Fine };
        let failing = Failing::start(manner)?;
        let host = match row.server {
            // No host has this name (RFC 6761, section 6.4). It is looked up as usual.
            Server::Nowhere => "nowhere.invalid".to_owned(),
            _ => format!("{}.{DOMAIN}", row.name),
        };
        let own = match row.server {
            Server::Is(_) => vec![(443, failing.address())],
            Server::Closed => vec![(80, closed()?)],
            Server::Gone => vec![(80, gone_after_robots()?)],
            Server::Nowhere => Vec::new(),
        };
        let mut connect_to: Vec<String> = own.iter().map(|(port, to)| format!("{host}:{port}:{to}")).collect();
        connect_to.push(match row.server {
            Server::Nowhere => format!("lasting.{DOMAIN}:80:{}", failing.address()),
            _ => format!(":80:{}", failing.address()),
        });
        Ok(Self { failing, connect_to, url: format!("{}://{host}/", row.scheme), host })
    }

    /// The crawl of the row's host and of further seeds. It is not started yet.
    fn crawl(&self, dir: &Path, flags: &[&str], more: &[String]) -> Command {
        let mut command = program("crawl");
        command.arg("--dir").arg(dir).args(["--allow-private", "--scope", "host"]);
        if !flags.contains(&"--attempts") {
            command.args(["--attempts", "1"]);
        }
        command.args(["--timeout", "700ms", "--connect-timeout", "700ms", "--idle-timeout", "700ms"]);
        command.args(["--delay", "20ms", "--delay-factor", "0", "--address-delay", "0ms", "--patience", "1s"]);
        command.args(["--max-body", "1MiB", "--progress", "none"]);
        for rule in &self.connect_to {
            command.args(["--connect-to", rule]);
        }
        command.args(flags).arg(&self.url).args(more);
        command
    }
}

fn program(name: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crawl"));
    command.arg(name).stdin(Stdio::null());
    command
}

/// The last five lines of the output for people.
fn last_lines(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}

fn text(output: Output) -> anyhow::Result<String> {
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// Crawls the failing host alone, and checks all places that report a crawl that has ended.
fn told(row: &Row) -> anyhow::Result<()> {
    let (town, folder) = (Town::start(row)?, tempfile::tempdir()?);
    let dir = folder.path().join("crawl");
    let output = town.crawl(&dir, &[], &[]).output()?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let code = if row.page { 0 } else { 3 };
    assert_eq!(output.status.code(), Some(code), "exit code\n{stderr}");
    let last = last_lines(&output);
    assert!(last.contains(row.says) && last.contains(&town.host), "the last five lines\n{last}");
    assert!(!stderr.contains("complete: nothing in scope is left") || row.complete != Some(false), "{stderr}");

    let report: Value = serde_json::from_str(&text(program("report").arg(&dir).arg("--json").output()?)?)?;
    let (kind, count) = row.kind;
    assert_eq!(report["failures"][kind], count, "`failures` in {report:#}");
    assert!(report["statuses"].is_object(), "{report:#}");
    if let Ok(status) = row.name.parse::<u16>() {
        assert_eq!(report["statuses"][status.to_string()], 1, "`statuses` in {report:#}");
    }
    if let Some(complete) = row.complete {
        assert_eq!(report["complete"], complete, "`complete` in {report:#}");
    }

    let summary = program("report").arg(&dir).output()?;
    assert!(text(summary)?.contains(row.says), "the summary of `report`");
    let html = std::fs::read_to_string(dir.join("report.html"))?;
    assert!(html.contains(row.says) && html.contains(&town.host), "report.html");
    assert!(!html.contains("Nothing went wrong"), "report.html");
    assert_eq!(html.contains("Not one page could be fetched"), !row.page, "the headline of report.html");

    let why = text(program("why").arg(&dir).arg(&town.url).output()?)?;
    assert!(why.contains(row.why), "why\n{why}");
    let check = program("check").arg(&dir).output()?;
    assert_eq!(check.status.code(), Some(0), "check\n{}", String::from_utf8_lossy(&check.stdout));
    Ok(())
}

/// Crawls the failing host beside a host that has pages without end, until `/metrics` shows the failure.
fn measured(row: &Row) -> anyhow::Result<()> {
    let (town, folder) = (Town::start(row)?, tempfile::tempdir()?);
    let dir = folder.path().join("crawl");
    let mut crawl = town.crawl(&dir, &["--dashboard", "127.0.0.1:0"], &[Failing::lasting()]);
    let mut child = crawl.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let mut lines = BufReader::new(child.stderr.take().context("stderr")?).lines();
    let page = lines.find_map(|line| Some(line.ok()?.strip_prefix("live page: http://")?.to_owned()));
    let address: SocketAddr = page.context("a live page")?.split('/').next().unwrap_or_default().parse()?;
    let rest = std::thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<String>>());
    let deadline = Instant::now() + Duration::from_secs(30);
    let mut shown = String::new();
    while !shown.lines().any(|line| line.starts_with(row.metric)) && Instant::now() < deadline {
        shown = get(address, &address.to_string(), "/metrics", "")?.text();
    }
    town.failing.end();
    let status = child.wait()?;
    let said = rest.join().unwrap_or_default();
    assert!(shown.lines().any(|line| line.starts_with(row.metric)), "/metrics\n{shown}");
    assert_eq!(status.code(), Some(0), "there are pages: {said:#?}");
    Ok(())
}

/// Catches failures that one place reports and another does not, a crawl that fetched nothing and says that nothing
/// went wrong, and a wrong exit code.
#[test]
fn every_failure_is_told_in_every_place() {
    let mut wrong = Vec::new();
    for row in &ROWS {
        for (what, look) in [("ended", told as fn(&Row) -> anyhow::Result<()>), ("running", measured)] {
            match std::panic::catch_unwind(|| look(row)) {
                Ok(Ok(())) => {}
                Ok(Err(error)) => wrong.push(format!("{} ({what}): {error:#}", row.name)),
                Err(panic) => {
                    let text = panic.downcast_ref::<String>().cloned().unwrap_or_default();
                    wrong.push(format!("{} ({what}): {text}", row.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {} looks:\n{}", wrong.len(), 2 * ROWS.len(), wrong.join("\n\n"));
}

/// The control: if all is well, no place reports a failure.
#[test]
fn a_site_without_failures_is_told_without_failures() -> anyhow::Result<()> {
    let row = row("fine", Server::Is(Manner::Fine), "none", "", "");
    let (town, folder) = (Town::start(&row)?, tempfile::tempdir()?);
    let dir = folder.path().join("crawl");
    let output = town.crawl(&dir, &[], &[]).output()?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("complete") && !stderr.contains("wrong"), "{stderr}");
    let report: Value = serde_json::from_str(&text(program("report").arg(&dir).arg("--json").output()?)?)?;
    assert_eq!((&report["failures"], &report["complete"]), (&serde_json::json!({}), &Value::Bool(true)), "{report:#}");
    text(program("report").arg(&dir).output()?)?;
    let html = std::fs::read_to_string(dir.join("report.html"))?;
    assert!(!html.contains("What went wrong"), "report.html");
    Ok(())
}

/// Catches an exit code that depends on this run instead of the directory. A second run that fetches nothing new ends
/// with 0, because the directory has a page. A second run that adds nothing to a failed crawl ends with 3 again.
#[test]
fn the_exit_code_tells_of_the_directory() -> anyhow::Result<()> {
    for (manner, code) in [(Manner::Fine, 0), (Manner::Status(404), 3)] {
        let row = row("twice", Server::Is(manner), "", "", "");
        let (town, folder) = (Town::start(&row)?, tempfile::tempdir()?);
        let dir = folder.path().join("crawl");
        for _ in 0..2 {
            let output = town.crawl(&dir, &[], &[]).output()?;
            assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
    Ok(())
}
