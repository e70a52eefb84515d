//! One truth for failure: each way in which a site can fail is told in the same words on the terminal, by `report --json`, in
//! `report.html`, by `/metrics` and by `why`; and the exit code says whether there was any page at all.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::Value;
use tests::client::get;
use tests::failing::{DOMAIN, Failing, Manner, closed, gone_after_robots};

/// One way to fail, and what must be said of it.
#[derive(Clone, Copy, Debug)]
struct Row {
    name: &'static str,
    server: Server,
    scheme: &'static str,
    /// Whether a page is answered with 2xx all the same.
    page: bool,
    /// The word of `failures` in `report --json`, and its count.
    kind: (&'static str, u64),
    /// What stands in the last lines on the terminal, and in `report.html`.
    says: &'static str,
    /// What `why` says of the front page.
    why: &'static str,
    /// With what a line of `/metrics` begins while the crawl runs.
    metric: &'static str,
    /// What `complete` is, where INTERFACES leaves no choice.
    complete: Option<bool>,
}

/// Where the host of a row is.
#[derive(Clone, Copy, Debug)]
enum Server {
    /// At a server that behaves like this.
    Is(Manner),
    /// Where nobody listens.
    Closed,
    /// At a server that ends after it has answered for robots.txt.
    Gone,
    /// Nowhere: its name leads to no address.
    Nowhere,
}

const fn row(name: &'static str, server: Server, kind: &'static str, says: &'static str, metric: &'static str) -> Row {
    Row { name, server, scheme: "http", page: false, kind: (kind, 1), says, why: says, metric, complete: Some(false) }
}

/// Every way to fail.
const ROWS: [Row; 22] = [
    Row {
        complete: Some(true),
        ..row("404", Server::Is(Manner::Status(404)), "404", "status 404", "crawler_answers_total{status=\"404\"} 1")
    },
    Row {
        complete: Some(true),
        ..row("403", Server::Is(Manner::Status(403)), "403", "status 403", "crawler_answers_total{status=\"403\"} 1")
    },
    Row {
        complete: Some(true),
        ..row("410", Server::Is(Manner::Status(410)), "410", "status 410", "crawler_answers_total{status=\"410\"} 1")
    },
    row("500", Server::Is(Manner::Status(500)), "500", "status 500", "crawler_answers_total{status=\"500\"} 1"),
    row("503", Server::Is(Manner::Status(503)), "503", "status 503", "crawler_answers_total{status=\"503\"} 1"),
    Row {
        why: "the connection was refused",
        ..row(
            "closed",
            Server::Closed,
            "withheld_refused",
            "the connection was refused",
            "crawler_errand_failures_total{kind=\"refused\"}",
        )
    },
    Row {
        why: "connect",
        ..row(
            "gone",
            Server::Gone,
            "refused",
            "the connection was refused",
            "crawler_failures_total{kind=\"refused\"} 1",
        )
    },
    row(
        "silent",
        Server::Is(Manner::Silent),
        "withheld_timeout",
        "no answer in time",
        "crawler_errand_failures_total{kind=\"timeout\"}",
    ),
    Row {
        why: "timeout",
        ..row(
            "hang",
            Server::Is(Manner::Hang),
            "timeout",
            "no answer in time",
            "crawler_failures_total{kind=\"timeout\"} 1",
        )
    },
    row(
        "nowhere",
        Server::Nowhere,
        "withheld_name",
        "the name was not found",
        "crawler_errand_failures_total{kind=\"name\"}",
    ),
    Row {
        scheme: "https",
        ..row(
            "tls",
            Server::Is(Manner::Fine),
            "withheld_tls",
            "TLS failed",
            "crawler_errand_failures_total{kind=\"tls\"}",
        )
    },
    Row {
        why: "reset",
        ..row(
            "reset",
            Server::Is(Manner::Reset),
            "reset",
            "the connection ended early",
            "crawler_failures_total{kind=\"reset\"} 1",
        )
    },
    Row {
        why: "protocol",
        ..row(
            "garbage",
            Server::Is(Manner::Garbage),
            "protocol",
            "breaks the protocol",
            "crawler_failures_total{kind=\"protocol\"} 1",
        )
    },
    Row {
        complete: Some(true),
        ..row(
            "disallow",
            Server::Is(Manner::Disallow),
            "withheld_robots",
            "robots.txt says no",
            "crawler_urls_refused{reason=\"robots\"} 1",
        )
    },
    Row {
        why: "robots.txt cannot be had: the server answers 500",
        ..row(
            "robots-500",
            Server::Is(Manner::RobotsStatus(500)),
            "withheld_robots_500",
            "robots.txt cannot be had (the server answers it with 500)",
            "crawler_errand_failures_total{kind=\"robots_500\"}",
        )
    },
    Row {
        why: "redirects to http://elsewhere.example/",
        complete: Some(true),
        ..row(
            "out",
            Server::Is(Manner::Out),
            "redirected_out",
            "lead out of --scope",
            "crawler_redirects_failed_total{kind=\"out\"} 1",
        )
    },
    Row {
        why: "redirects to",
        complete: None,
        ..row(
            "to-itself",
            Server::Is(Manner::ToItself),
            "redirect_loop",
            "redirects that lead in a circle",
            "crawler_redirects_failed_total{kind=\"loop\"} 1",
        )
    },
    Row {
        why: "redirects to",
        complete: None,
        ..row(
            "circle",
            Server::Is(Manner::Circle),
            "redirect_loop",
            "redirects that lead in a circle",
            "crawler_redirects_failed_total{kind=\"loop\"} 1",
        )
    },
    Row {
        why: "redirects to",
        complete: None,
        ..row(
            "chain",
            Server::Is(Manner::Chain),
            "redirect_loop",
            "redirects that lead in a circle",
            "crawler_redirects_failed_total{kind=\"loop\"} 1",
        )
    },
    Row {
        page: true,
        why: "--max-body",
        complete: None,
        ..row(
            "large",
            Server::Is(Manner::Large),
            "cut_too_large",
            "too large",
            "crawler_bodies_cut_total{kind=\"too_large\"} 1",
        )
    },
    Row {
        page: true,
        why: "connection ended",
        complete: None,
        ..row("half", Server::Is(Manner::Half), "cut_reset", "reset", "crawler_bodies_cut_total{kind=\"reset\"} 1")
    },
    Row {
        page: true,
        why: "took longer",
        complete: None,
        ..row(
            "stuck",
            Server::Is(Manner::Stuck),
            "cut_timeout",
            "timeout",
            "crawler_bodies_cut_total{kind=\"timeout\"} 1",
        )
    },
];

/// A server for a row, for as long as it is looked at.
struct Town {
    failing: Failing,
    /// The rules that lead the crawl there.
    connect_to: Vec<String>,
    url: String,
    host: String,
}

impl Town {
    fn start(row: &Row) -> anyhow::Result<Self> {
        let manner = if let Server::Is(manner) = row.server { manner } else { Manner::Fine };
        let failing = Failing::start(manner)?;
        let host = match row.server {
            // A name that nobody has (RFC 6761, section 6.4) is looked up as always.
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

    /// The crawl of the row's host and of further seeds, not started yet.
    fn crawl(&self, dir: &Path, flags: &[&str], more: &[String]) -> Command {
        let mut command = program("crawl");
        command.arg("--dir").arg(dir).args(["--allow-private", "--scope", "host", "--attempts", "1"]);
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

/// The last five lines of what a person reads.
fn last_lines(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}

fn text(output: Output) -> anyhow::Result<String> {
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// Crawls the failing host alone, and looks in all places that tell of a crawl that has ended.
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

/// Crawls the failing host beside one that lasts, until `/metrics` shows what went wrong.
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

/// Catches failures that are told in one place and not in the next, a crawl that fetched nothing and says that nothing went
/// wrong, and a wrong exit code.
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

/// The control: where all is well, no place tells of a failure.
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

/// Catches an exit code that tells of this run and not of the directory: a second run that fetches nothing new ends with 0,
/// since there is a page in the directory; one that adds nothing to a failed crawl ends with 3 again.
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
