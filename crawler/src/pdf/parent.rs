//! The crawler's part: it starts the child, gives it the file, and ends it.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crossbeam_channel::bounded;

use super::{ARGUMENT, Document, Limits, PdfError, Reply};

/// The environment of the child. Otherwise its allocator would reserve a gigabyte of addresses before the child limits
/// its own memory, and the limit would not hold for these.
const ENVIRONMENT: [(&str, &str); 1] = [("MIMALLOC_ARENA_RESERVE", "0")];

/// The program that is started as a child.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
    arguments: Vec<OsString>,
}

impl Program {
    /// This program itself.
    pub fn own() -> std::io::Result<Self> {
        Ok(Self::at(std::env::current_exe()?))
    }

    /// A program that calls [`super::child_main`].
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), arguments: vec![ARGUMENT.into()] }
    }
}

/// Reads a file. Blocks until the child has ended, for `limits.deadline` at most.
pub fn read(program: &Program, file: &[u8], limits: &Limits) -> Result<Document, PdfError> {
    let limit = |number: u64| OsString::from(number.to_string());
    let mut child = Command::new(&program.path)
        .args(&program.arguments)
        .args([limit(limits.memory), limit(limits.seconds), limit(limits.text as u64)])
        .env_clear()
        .envs(ENVIRONMENT)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| PdfError::NoChild(error.to_string()))?;
    let output = exchange(&mut child, file, limits);
    // Even a child that has ended must be waited for. Otherwise it stays in the table of processes.
    let _ = child.kill();
    let _ = child.wait();
    let output = output.ok_or(PdfError::TooMuch)?;
    // Libraries may print. Only the last line counts.
    let line = output.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    match serde_json::from_slice(line) {
        Ok(Reply::Read(document)) => Ok(document),
        Ok(Reply::Unreadable(why)) => Err(PdfError::Unreadable(why)),
        Err(_) => Err(PdfError::TooMuch),
    }
}

/// Gives the child the file, and returns its output; `None` at the deadline.
fn exchange(child: &mut Child, file: &[u8], limits: &Limits) -> Option<Vec<u8>> {
    let (mut stdin, stdout) = (child.stdin.take()?, child.stdout.take()?);
    // Without control characters, a byte takes at most two bytes of JSON, and a link four more for its quotation marks.
    let bytes = limits.text + super::MAX_TITLE + super::MAX_LINK_BYTES;
    let most = 2 * bytes as u64 + 4 * super::MAX_LINKS as u64 + 1024;
    let (sender, received) = bounded(1);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut output = Vec::new();
            let read = stdout.take(most).read_to_end(&mut output);
            // If this fails, the deadline has passed.
            let _ = sender.send(read.is_ok().then_some(output));
        });
        scope.spawn(move || {
            // A child may stop reading before the end of the file.
            let _ = stdin.write_all(file);
        });
        let output = received.recv_timeout(limits.deadline.max(Duration::from_millis(1))).ok().flatten();
        // This ends both threads, whatever they wait for.
        let _ = child.kill();
        output
    })
}
