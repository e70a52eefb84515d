//! Lines, readers and writers that misbehave, tested against the built program.

use std::io::{BufRead, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::feed::small;
use super::{Pipe, program};
use anyhow::{Context, ensure};
use serde_json::json;

/// What happened, or how the program failed, in words for people.
pub type AbuseResult = anyhow::Result<String>;

/// Sends lines of 100 MiB, with other lines between them.
pub fn overlong() -> AbuseResult {
    let mut pipe = Pipe::start(&["run"])?;
    let mut stdin = pipe.stdin.take().context("stdin")?;
    let writer = std::thread::spawn(move || -> std::io::Result<()> {
        for n in 0..3 {
            write!(stdin, "{{\"id\":{n},\"url\":\"http://a.test/\",\"body\":\"")?;
            for _ in 0..100 {
                stdin.write_all(&[b'x'; 1 << 20])?;
            }
            writeln!(stdin, "\"}}\n{}", small(n))?;
        }
        Ok(())
    });
    let mut answers = Vec::new();
    while let Some(answer) = pipe.answer()? {
        answers.push(answer);
    }
    writer.join().map_err(|_| anyhow::anyhow!("writer"))??;
    ensure!(answers.len() == 6, "{} answers", answers.len());
    for (n, answer) in answers.iter().enumerate() {
        ensure!(answer["id"] == n / 2, "{answer}");
        ensure!((answer["error"]["code"] == "too_long") == (n % 2 == 0), "{answer}");
    }
    ensure!(pipe.child.wait()?.success());
    Ok("3 error lines with their ids, the lines between answered".into())
}

/// Reads nothing for `stall`, while far more is sent than the pipes hold. Then reads the answers to all `lines` lines.
pub fn stalled_reader(stall: Duration, lines: u64) -> AbuseResult {
    let mut pipe = Pipe::start(&["run"])?;
    let mut stdin = pipe.stdin.take().context("stdin")?;
    let writer = std::thread::spawn(move || (0..lines).try_for_each(|n| writeln!(stdin, "{}", small(n))));
    let before = pipe.resident()?;
    std::thread::park_timeout(stall);
    ensure!(!writer.is_finished(), "the writer was not held up");
    let grown = pipe.resident()?.saturating_sub(before) >> 20;
    ensure!(grown < 64, "{grown} MiB grown while nobody read");
    for n in 0..lines {
        let answer = pipe.answer()?.context("ended early")?;
        ensure!(answer["id"] == n, "{answer} at {n}");
    }
    ensure!(pipe.child.wait()?.success());
    Ok(format!("held the writer up with {grown} MiB for {stall:?}, then answered all {lines} lines in order"))
}

/// Stops in the middle of a line, and sends the rest later.
pub fn stopped_writer() -> AbuseResult {
    let mut pipe = Pipe::start(&["run"])?;
    pipe.send(format!("{}\n{{\"id\":1,\"url\":\"http://a.t", small(0)).as_bytes())?;
    ensure!(pipe.answer()?.context("no answer")?["id"] == 0);
    pipe.send(b"est/\",\"body\":\"\"}\n")?;
    ensure!(pipe.answer()?.context("no answer")?["id"] == 1);
    let (rest, status) = pipe.finish()?;
    ensure!(rest.is_empty() && status.success());
    Ok("the line before answered at once, this one when it was whole".into())
}

/// Closes the end of the pipe that reads the answers.
pub fn closed_output() -> AbuseResult {
    let mut child = Command::new(program())
        .arg("run")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().context("stdin")?;
    while writeln!(stdin, "{}", small(0)).is_ok() {}
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "{}", output.status);
    ensure!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok("exit 0, not a word".into())
}

/// Ends the input in the middle of a line.
pub fn cut_input() -> AbuseResult {
    let mut pipe = Pipe::start(&["run"])?;
    pipe.send(b"{\"id\":7,\"url\":\"http://a")?;
    let (answers, status) = pipe.finish()?;
    ensure!(answers.len() == 1 && answers[0]["id"] == 7 && answers[0]["error"]["code"] == "bad_json", "{answers:?}");
    ensure!(status.success());
    Ok("an error line with its id, exit 0".into())
}

fn terminate(pipe: &Pipe) -> anyhow::Result<()> {
    ensure!(Command::new("kill").args(["-TERM", &pipe.child.id().to_string()]).status()?.success());
    Ok(())
}

/// Sends SIGTERM to a program with a state.
pub fn terminated() -> AbuseResult {
    let folder = tempfile::tempdir()?;
    let state = folder.path().to_string_lossy().into_owned();
    let mut pipe = Pipe::start(&["run", "--state", &state])?;
    for n in 0..100 {
        pipe.ask(&small(n))?;
    }
    terminate(&pipe)?;
    let mut rest = String::new();
    pipe.stdout.read_to_string(&mut rest)?;
    let status = pipe.child.wait()?;
    ensure!(status.code() == Some(11) && rest.is_empty(), "{status} {rest}");
    let mut again = Pipe::start(&["run", "--state", &state])?;
    ensure!(again.ask(&json!({"op": "stats"}))?["pages"] == 100);
    let mut copy = small(50);
    copy["url"] = json!("http://elsewhere.test/");
    let answer = again.ask(&copy)?;
    ensure!(answer["verdict"] == "exact" && answer["duplicate_id"] == 50, "{answer}");
    Ok("exit 11, and the next run knows all 100 pages".into())
}

/// Sends SIGTERM twice while no answers are read. `lines` lines are sent before.
pub fn terminated_twice(lines: u64) -> AbuseResult {
    let mut pipe = Pipe::start(&["run"])?;
    let mut stdin = pipe.stdin.take().context("stdin")?;
    let writer = std::thread::spawn(move || (0..lines).try_for_each(|n| writeln!(stdin, "{}", small(n))));
    // An answer has begun to arrive. So the program works, and its output is full soon.
    ensure!(!pipe.stdout.fill_buf()?.is_empty());
    std::thread::park_timeout(Duration::from_secs(3));
    terminate(&pipe)?;
    std::thread::park_timeout(Duration::from_millis(300));
    ensure!(pipe.child.try_wait()?.is_none(), "did not try to write what it owes");
    terminate(&pipe)?;
    let status = pipe.child.wait()?;
    ensure!(status.signal() == Some(15), "{status}");
    ensure!(writer.join().map_err(|_| anyhow::anyhow!("writer"))?.is_err());
    Ok("the second ends it at once".into())
}

/// Starts a second process on a state that is in use.
pub fn locked() -> AbuseResult {
    let folder = tempfile::tempdir()?;
    let state = folder.path().to_string_lossy().into_owned();
    let mut first = Pipe::start(&["run", "--state", &state])?;
    first.ask(&json!({"op": "hello"}))?;
    let second = Command::new(program()).args(["run", "--state", &state]).stdin(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&second.stderr);
    ensure!(second.status.code() == Some(1) && said.contains("in use by another process"), "{}: {said}", second.status);
    ensure!(first.ask(&json!({"op": "stats"}))?["pages"] == 0);
    Ok(format!("exit 1: {}", said.trim().rsplit(": ").next().unwrap_or_default()))
}
