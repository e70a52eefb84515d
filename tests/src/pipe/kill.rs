//! Kills the program (SIGKILL) at random times while it writes its state. The caller then repeats from where the state
//! is: from its last answered flush or, if the next flush was on disk and only its answer is lost, from that one.

use std::io::{BufRead, Write};
use std::time::Duration;

use anyhow::{Context, ensure};
use crawler::demo::web::Web;
use fastrand::Rng;
use serde_json::{Value, json};

use super::feed::{breadth_first, small};
use super::{Pipe, answers};

/// The lines that are sent, and the number of kills meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct KillPlan {
    /// The total number of kills.
    pub kills: u64,
    /// The number of pages of the synthetic web, which come first.
    pub web: usize,
    /// The number of small pages after them.
    pub small: u64,
    /// The number of pages between two flushes. If there are about 4,100 or more, the program writes some of them ahead
    /// of the flush.
    pub flush: usize,
    /// The seed for the times of the kills.
    pub seed: u64,
}

/// The caller: the lines that it sends, and the answers of an undisturbed run.
struct Caller {
    lines: Vec<Value>,
    expected: Vec<Value>,
    flush: usize,
    /// The number of pages up to the last flush that is known to be on disk.
    flushed: usize,
    compared: u64,
    wrong: u64,
}

/// Carries out a plan. Returns true if every answer was that of an undisturbed run. Calls `tell` for each kill.
pub fn run(plan: KillPlan, mut tell: impl FnMut(String)) -> anyhow::Result<bool> {
    let mut lines = breadth_first(&Web::benchmark(1), plan.web);
    lines.extend((0..plan.small).map(small));
    let expected = answers(&["run"], &lines)?;
    let mut caller = Caller { lines, expected, flush: plan.flush, flushed: 0, compared: 0, wrong: 0 };

    let folder = tempfile::tempdir()?;
    let state = folder.path().join("state");
    let mut random = Rng::with_seed(plan.seed);
    let mut kills = 0;
    while caller.flushed < caller.lines.len() {
        let mut pipe = Pipe::start(&["run", "--state", &state.to_string_lossy()])?;
        let pages = pipe.ask(&json!({"op": "stats"}))?["pages"].as_u64().context("pages")? as usize;
        let next = (caller.flushed + plan.flush).min(caller.lines.len());
        ensure!(pages == caller.flushed || pages == next, "{pages} pages after a flush of {}", caller.flushed);
        caller.flushed = pages;
        let before = caller.flushed;
        // The kill comes between the first answer and a time well after the next flush, and then a little later.
        let after = random.usize(..caller.flush * 7 / 5);
        let wait = Duration::from_micros(random.u64(..4_000));
        let answered = caller.converse(&mut pipe, (kills < plan.kills).then_some((after, wait)));
        pipe.stdin = None;
        let killed = !pipe.child.wait()?.success();
        let is_done = caller.flushed == caller.lines.len();
        ensure!(killed || is_done, "the program ended by itself after page {}", caller.flushed);
        if killed {
            kills += 1;
            tell(format!("kill {kills}: page {before} and {answered} on, last flush after page {}", caller.flushed));
        }
        if is_done && kills < plan.kills {
            // All pages have been judged, but kills are still due: the caller starts again from the beginning, with a
            // new state.
            std::fs::remove_dir_all(&state)?;
            caller.flushed = 0;
        }
    }
    tell(format!("{kills} kills, {} answers compared, {} wrong", caller.compared, caller.wrong));
    Ok(kills == plan.kills && caller.wrong == 0)
}

impl Caller {
    /// Sends the lines that are not flushed yet, and compares the answers, until the end or until the kill, which comes
    /// this many answers and this much time from now. Returns the number of answers.
    fn converse(&mut self, pipe: &mut Pipe, mut kill: Option<(usize, Duration)>) -> usize {
        let start = self.flushed;
        let Some(mut stdin) = pipe.stdin.take() else { return 0 };
        let (lines, expected, flush) = (&self.lines, &self.expected, self.flush);
        let mut at = start;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for (n, line) in lines.iter().enumerate().skip(start) {
                    let due = (n + 1) % flush == 0 || n + 1 == lines.len();
                    let sent = writeln!(stdin, "{line}");
                    if sent.is_err() || (due && writeln!(stdin, "{}", json!({"op": "flush", "id": n + 1})).is_err()) {
                        return;
                    }
                }
            });
            let mut line = String::new();
            loop {
                if let Some((answers, wait)) = kill
                    && at - start >= answers
                {
                    std::thread::park_timeout(wait);
                    // The program may have ended already. Answers that it sent before are still read.
                    let _ = pipe.child.kill();
                    kill = None;
                }
                line.clear();
                // A line that was cut by the kill is not an answer.
                if !matches!(pipe.stdout.read_line(&mut line), Ok(n) if n > 0) || !line.ends_with('\n') {
                    return;
                }
                let answer: Value = serde_json::from_str(&line).unwrap_or_default();
                if answer["op"] == "flush" {
                    self.flushed = answer["id"].as_u64().unwrap_or(0) as usize;
                    self.wrong += u64::from(answer["pages"] != self.flushed as u64);
                    if self.flushed == lines.len() {
                        return;
                    }
                    continue;
                }
                self.compared += 1;
                if answer != expected[at] || answer["duplicate_of"] == answer["url"] {
                    self.wrong += 1;
                    eprintln!("page {at}: {answer}\n  instead of {}", expected[at]);
                }
                at += 1;
            }
        });
        at - start
    }
}
