//! The process of a program that scores pages. It is started when there is something to ask. Threads of its own write
//! its input and read its output, so no pipe can block another thread. It is ended and started anew when it fails.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, never};
use rustix::process::{Pid, Signal, kill_process_group};

use super::ScorerLine;

/// A program of the user. Its process may be running or not.
#[derive(Debug)]
pub struct Program {
    command: String,
    /// The longest time for which it may be silent while it has questions to answer.
    patience: Duration,
    running: Option<Running>,
    /// The time at which it is given up if it says nothing until then. `None`: it has nothing to answer.
    deadline: Option<Instant>,
    /// The number of failures since its last answer.
    failures: u32,
    /// The time before which it is not started.
    rests_until: Option<Instant>,
    silent: Receiver<ScorerLine>,
}

#[derive(Debug)]
struct Running {
    child: Child,
    questions: Sender<Vec<u8>>,
    said: Receiver<ScorerLine>,
    /// The last line of its stderr.
    complaint: Arc<Mutex<String>>,
}

impl Program {
    /// The longest line of an answer, in bytes.
    const MAX_LINE: u64 = 64 << 10;
    /// The most answers that may wait to be taken.
    const WAITING: usize = 1_024;
    /// The longest rest between two starts.
    const LONGEST_REST: Duration = Duration::from_secs(60);
    /// The time that a program has to end after its stdin was closed.
    const GRACE: Duration = Duration::from_secs(2);

    /// Makes a program. It is started when it is first asked.
    pub fn new(command: &str, patience: Duration) -> Self {
        let (running, deadline, rests_until) = (None, None, None);
        Self { command: command.to_owned(), patience, running, deadline, failures: 0, rests_until, silent: never() }
    }

    /// Sends questions, as complete lines. No earlier question may be open. Returns false if the program rests after a
    /// failure, or fails now.
    pub fn ask(&mut self, questions: Vec<u8>) -> bool {
        if self.rests_until.is_some_and(|until| Instant::now() < until) {
            return false;
        }
        if self.running.is_none() {
            match start(&self.command) {
                Ok(running) => self.running = Some(running),
                Err(error) => {
                    self.fail(&format!("cannot be started: {error}"));
                    return false;
                }
            }
        }
        let sent = self.running.as_ref().map(|running| running.questions.try_send(questions));
        match sent {
            Some(Ok(())) => {
                self.deadline = Some(Instant::now() + self.patience);
                true
            }
            Some(Err(TrySendError::Full(_))) => {
                self.fail("answers without reading");
                false
            }
            // Its stdin is closed. Its end will be reported.
            Some(Err(TrySendError::Disconnected(_))) | None => false,
        }
    }

    /// The channel of its answers.
    pub fn said(&self) -> &Receiver<ScorerLine> {
        self.running.as_ref().map_or(&self.silent, |running| &running.said)
    }

    /// The time at which it has been silent for too long.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Records that it has answered a question, and has `left` questions to answer.
    pub fn answered(&mut self, left: usize) {
        self.failures = 0;
        self.deadline = (left > 0).then(|| Instant::now() + self.patience);
    }

    /// Ends the program. It is started again when it is next asked after its rest.
    pub fn fail(&mut self, why: &str) {
        self.failures += 1;
        // The first failure causes no rest, because a program may well end now and then.
        let rest = match self.failures {
            1 => Duration::ZERO,
            more => Duration::from_secs(1 << (more - 2).min(6)).min(Self::LONGEST_REST),
        };
        let complaint = self.running.take().map(Running::end).unwrap_or_default();
        let complaint = if complaint.is_empty() { complaint } else { format!(" ({complaint})") };
        let rest_seconds = rest.as_secs();
        tracing::warn!(
            "--score-with: the program {why}{complaint}; it is started anew in {rest_seconds} s, and the crawl goes on without it"
        );
        self.rests_until = Some(Instant::now() + rest);
        self.deadline = None;
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let Some(Running { child, questions, said, complaint }) = self.running.take() else { return };
        // The program sees the end of its input, and may end by itself.
        drop(questions);
        let deadline = Instant::now() + Self::GRACE;
        while let Ok(ScorerLine::Score { .. } | ScorerLine::Nonsense(_)) = said.recv_deadline(deadline) {}
        Running { child, questions: bounded(0).0, said, complaint }.end();
    }
}

impl Running {
    /// Ends the program with everything that it has started. Returns its last line on stderr.
    fn end(mut self) -> String {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        // Even a process that has ended must be waited for. Otherwise it stays in the table of processes.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.complaint.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn start(command: &str) -> std::io::Result<Running> {
    let mut child = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // It gets a process group of its own. So Ctrl-C reaches only the crawler, which then lets the program end, and
        // everything that the program has started ends with it.
        .process_group(0)
        .spawn()?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (questions, asked) = bounded::<Vec<u8>>(1);
    let (sender, said) = bounded(Program::WAITING);
    let complaint: Arc<Mutex<String>> = Arc::default();
    let last = Arc::clone(&complaint);
    std::thread::spawn(move || {
        let Some(mut stdin) = stdin else { return };
        while let Ok(lines) = asked.recv() {
            if stdin.write_all(&lines).and_then(|()| stdin.flush()).is_err() {
                return;
            }
        }
    });
    std::thread::spawn(move || {
        if let Some(stdout) = stdout {
            // If the program was given up, the receiver is gone.
            each_line(stdout, |line| sender.send(ScorerLine::read(line)).is_ok());
        }
        let _ = sender.send(ScorerLine::Ended);
    });
    std::thread::spawn(move || {
        let Some(stderr) = stderr else { return };
        each_line(stderr, |line| {
            let line = String::from_utf8_lossy(line).trim_end().to_owned();
            tracing::info!("--score-with: {line}");
            *last.lock().unwrap_or_else(PoisonError::into_inner) = line.chars().take(200).collect();
            true
        });
    });
    Ok(Running { child, questions, said, complaint })
}

/// Calls `take` with each line, cut at [`Program::MAX_LINE`], until it returns false.
fn each_line(from: impl Read, mut take: impl FnMut(&[u8]) -> bool) {
    let (mut from, mut line) = (BufReader::new(from), Vec::new());
    loop {
        line.clear();
        match from.by_ref().take(Program::MAX_LINE).read_until(b'\n', &mut line) {
            Ok(read) if read > 0 && take(&line) => {}
            _ => return,
        }
    }
}
