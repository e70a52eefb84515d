//! Runs `dedup-stage`, and makes pages for it.

pub mod abuse;
pub mod feed;
pub mod kill;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::programs::beside;

/// The program that the environment variable `DEDUP_STAGE` names, or else the one of this package.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let named = || std::env::var_os("DEDUP_STAGE").map(PathBuf::from);
    PROGRAM.get_or_init(|| {
        let program = named().map_or_else(|| beside("dedup-stage-under-test"), Ok);
        program.unwrap_or_else(|error| panic!("dedup-stage cannot be built: {error:#}"))
    })
}

/// A running `dedup-stage`.
#[derive(Debug)]
pub struct Pipe {
    /// The process.
    pub child: Child,
    /// Its input; `None` after it was closed.
    pub stdin: Option<ChildStdin>,
    /// Its output.
    pub stdout: BufReader<ChildStdout>,
}

impl Pipe {
    /// Starts the program with these arguments. Its stderr is that of the caller.
    pub fn start(arguments: &[&str]) -> anyhow::Result<Self> {
        let mut command = Command::new(program());
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().context("stdout")?);
        Ok(Self { child, stdin, stdout })
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match &mut self.stdin {
            Some(stdin) => stdin.write_all(bytes),
            None => Err(std::io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Sends one line.
    pub fn line(&mut self, line: &Value) -> anyhow::Result<()> {
        Ok(self.send(format!("{line}\n").as_bytes())?)
    }

    /// The next answer; `None` at the end.
    pub fn answer(&mut self) -> anyhow::Result<Option<Value>> {
        let mut line = String::new();
        self.stdout.read_line(&mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        serde_json::from_str(&line).map(Some).with_context(|| format!("no JSON: {line:.200}"))
    }

    /// Sends one line and waits for its answer.
    pub fn ask(&mut self, line: &Value) -> anyhow::Result<Value> {
        self.line(line)?;
        self.answer()?.context("the program has ended")
    }

    /// Closes the input, waits for the end, and returns the remaining answers and the exit status.
    pub fn finish(mut self) -> anyhow::Result<(Vec<Value>, ExitStatus)> {
        self.stdin = None;
        let mut answers = Vec::new();
        while let Some(answer) = self.answer()? {
            answers.push(answer);
        }
        Ok((answers, self.child.wait()?))
    }

    /// The resident memory of the process in bytes, including mapped files.
    pub fn resident(&self) -> anyhow::Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        let kib: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kib << 10)
    }
}

/// Sends all lines to a program with these arguments, without waiting, and returns its answers.
pub fn answers(arguments: &[&str], lines: &[Value]) -> anyhow::Result<Vec<Value>> {
    let mut pipe = Pipe::start(arguments)?;
    let mut stdin = pipe.stdin.take().context("stdin")?;
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let (answers, status) = pipe.finish()?;
    ensure!(status.success() && writer.join().is_ok_and(|written| written.is_ok()), "{status}");
    Ok(answers)
}
