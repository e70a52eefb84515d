//! The crawl log: one line for each request, in a file (`--log`) and among the messages (`-v`).
//!
//! The log has each request and its result, including failed attempts and requests for robots.txt. Verdicts are in the
//! outputs. The log is no part of the state: a crash may lose its last lines, and if it cannot be written, the crawl
//! goes on.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};

use config::LogFormat;
use frontier::JobKind;
use serde_json::json;
use tracing::Level;
use url::Url;

use super::message::{Finding, JobReport};
use crate::access::LoginRequest;
use crate::clock::rfc3339;

/// The log, in all its forms.
#[derive(Debug, Default)]
pub struct Log {
    file: Option<BufWriter<File>>,
    is_json: bool,
}

impl Log {
    /// Opens the log that the settings name, if they name one.
    pub fn open(settings: &config::Output) -> io::Result<Self> {
        let path = &settings.log;
        if path.is_empty() {
            return Ok(Self::default());
        }
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(|error| io::Error::new(error.kind(), format!("--log {path}: {error}")))?;
        let is_json = match settings.log_format {
            LogFormat::Json => true,
            LogFormat::Text => false,
            LogFormat::Auto => path.ends_with(".json") || path.ends_with(".jsonl"),
        };
        Ok(Self { file: Some(BufWriter::new(file)), is_json })
    }

    /// Whether the log that the settings name can be written.
    pub fn can_be_written(settings: &config::Output) -> io::Result<()> {
        Self::open(settings).map(drop)
    }

    /// Logs a request that has ended.
    pub fn note(&mut self, report: &JobReport) {
        let is_told = tracing::enabled!(Level::INFO);
        if self.file.is_none() && !is_told {
            return;
        }
        let error = match &report.finding {
            Finding::Failed { error, .. } => Some(error.to_string()),
            _ => report.answered.and_then(|answered| answered.cut).map(|kind| format!("cut: {kind}")),
        };
        if report.job.kind == JobKind::Resolve && error.is_none() {
            return;
        }
        if is_told {
            tracing::info!("{}", text(report, error.as_deref()));
        }
        let at = rfc3339(report.ended_at);
        let line = match self.is_json {
            true => json(report, &at, error.as_deref()),
            false => format!("{at} {}", text(report, error.as_deref())),
        };
        self.write(|file| writeln!(file, "{line}"));
    }

    /// Logs a request of a login.
    pub fn note_login(&mut self, request: &LoginRequest) {
        let LoginRequest { url, ended_at, status, bytes, elapsed, error } = request;
        let text = columns(*status, "login", [*bytes, *elapsed], url, error.as_deref());
        tracing::info!("{text}");
        let at = rfc3339(*ended_at);
        let line = match self.is_json {
            true => json!({
                "at": at, "kind": "login", "url": url.as_str(), "status": status, "bytes": bytes,
                "elapsed_ms": elapsed, "error": error,
            })
            .to_string(),
            false => format!("{at} {text}"),
        };
        self.write(|file| writeln!(file, "{line}"));
    }

    /// Gives the lines to the operating system.
    pub fn flush(&mut self) {
        self.write(|file| file.flush());
    }

    fn write(&mut self, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) {
        if let Some(file) = &mut self.file
            && let Err(error) = write(file)
        {
            tracing::warn!("the log ends here: {error}");
            self.file = None;
        }
    }
}

/// The word for the kind of a request.
fn kind(kind: JobKind) -> &'static str {
    match kind {
        JobKind::Resolve => "address",
        JobKind::Robots => "robots",
        JobKind::Sitemap => "sitemap",
        JobKind::Page => "page",
    }
}

/// Columns, separated by spaces: status, kind, bytes, milliseconds, URL, error. `-` stands for an empty column.
fn text(report: &JobReport, error: Option<&str>) -> String {
    let status = report.answered.map(|answered| answered.status);
    let bytes = report.answered.map(|answered| answered.bytes);
    let elapsed = report.answered.map(|answered| answered.elapsed);
    columns(status, kind(report.job.kind), [bytes, elapsed], &report.job.url, error)
}

/// The same columns for any request. `numbers`: bytes, milliseconds.
fn columns(status: Option<u16>, kind: &str, numbers: [Option<u64>; 2], url: &Url, error: Option<&str>) -> String {
    let column = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
    let [bytes, elapsed] = numbers.map(column);
    let error = error.map(|error| format!(" {error:?}")).unwrap_or_default();
    format!("{} {kind} {bytes} {elapsed} {url}{error}", column(status.map(u64::from)))
}

fn json(report: &JobReport, at: &str, error: Option<&str>) -> String {
    let job = &report.job;
    json!({
        "at": at,
        "kind": kind(job.kind),
        "url": job.url.as_str(),
        "status": report.answered.map(|answered| answered.status),
        "bytes": report.answered.map(|answered| answered.bytes),
        "elapsed_ms": report.answered.map(|answered| answered.elapsed),
        "attempt": job.attempts + 1,
        "depth": job.depth,
        "via": job.via.name(),
        "error": error,
    })
    .to_string()
}
