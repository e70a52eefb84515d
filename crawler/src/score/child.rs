//! The child process: a thread writes to it, another reads from it, so that neither full pipe stops anybody else.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded, unbounded};
use serde::Deserialize;

/// One line of the child.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Answer {
    /// The page that it is about.
    pub id: Option<u64>,
    /// Its score, in 0..1.
    pub score: f32,
}

/// Longest line that is read; a longer one is no answer.
const MAX_LINE: u64 = 64 << 10;
/// Lines that are read ahead.
const AHEAD: usize = 1_024;

/// A running child. It is killed when this is dropped.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    lines: Sender<Vec<u8>>,
    answers: Receiver<Answer>,
    has_ended: bool,
}

impl Child {
    /// Starts it.
    pub fn start(command: &str) -> std::io::Result<Self> {
        let mut process =
            Command::new("sh").args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (lines, to_write) = unbounded::<Vec<u8>>();
        let (read, answers) = bounded(AHEAD);
        if let Some(mut stdin) = process.stdin.take() {
            std::thread::Builder::new().name("score-in".into()).spawn(move || {
                // An error means that the child is gone, which its reader sees as well.
                while let Ok(bytes) = to_write.recv()
                    && stdin.write_all(&bytes).and_then(|()| stdin.flush()).is_ok()
                {}
            })?;
        }
        if let Some(stdout) = process.stdout.take() {
            std::thread::Builder::new().name("score-out".into()).spawn(move || {
                each_line(BufReader::new(stdout), |line| {
                    let answer = serde_json::from_slice::<Answer>(line).ok().filter(|answer| answer.score.is_finite());
                    let answer = answer.map(|answer| Answer { score: answer.score.clamp(0.0, 1.0), ..answer });
                    answer.is_none_or(|answer| read.send(answer).is_ok())
                });
            })?;
        }
        Ok(Self { process, lines, answers, has_ended: false })
    }

    /// Sends lines, without waiting.
    pub fn send(&self, lines: Vec<u8>) {
        // Where the writer has ended, the child has: then no answer comes.
        let _ = self.lines.send(lines);
    }

    /// The next answer; `None` at the deadline, or where the child has ended.
    pub fn answer(&mut self, deadline: Instant) -> Option<Answer> {
        self.answers.recv_deadline(deadline).ok()
    }

    /// Whether nothing more will come.
    pub fn has_ended(&mut self) -> bool {
        // Answers of pages that were given up are not kept for later ones.
        loop {
            match self.answers.try_recv() {
                Ok(_) => {}
                Err(TryRecvError::Empty) => return self.has_ended,
                Err(TryRecvError::Disconnected) => {
                    self.has_ended = true;
                    return true;
                }
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Calls `each` with every line until it says no, or nothing more comes; lines that are too long are passed over.
fn each_line(mut input: impl BufRead, mut each: impl FnMut(&[u8]) -> bool) {
    let mut line = Vec::new();
    let mut is_rest = false;
    loop {
        line.clear();
        match input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let is_whole = line.ends_with(b"\n");
        if is_whole && !is_rest && !each(&line) {
            return;
        }
        is_rest = !is_whole;
    }
}
