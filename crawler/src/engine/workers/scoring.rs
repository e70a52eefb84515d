//! The stage between page workers and engine in which a program of the user scores pages (`--score-with`).
//!
//! All reports pass through this stage. The report of a page with text waits until the program has answered or failed.
//! The stage has a thread of its own, so that the engine waits for nothing but reports. A report that waits here keeps
//! its credit, so the crawl runs at the speed of the program.

use std::collections::VecDeque;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, at, never, select};

use crate::engine::message::{Finding, JobReport, PageFinding};
use crate::score::{Program, ScorerLine, finish};

/// At most this many questions are asked together.
const BATCH: usize = 64;
/// The program is asked about a page at most this many times. Then the page goes on without a score. Once is not
/// enough, because the program may have failed on another page.
const TRIES: u32 = 2;

/// Starts the stage. It ends when `reports` is closed.
pub(in crate::engine) fn start(
    program: Program,
    reports: Receiver<Vec<JobReport>>,
    scored: Sender<Vec<JobReport>>,
) -> std::io::Result<JoinHandle<()>> {
    let stage = Stage { program, waiting: VecDeque::new(), open: Vec::new(), next: 0, scored };
    std::thread::Builder::new().name("scores".into()).spawn(move || stage.run(&reports))
}

struct Stage {
    program: Program,
    waiting: VecDeque<Asked>,
    /// Questions that the program has not answered, oldest first.
    open: Vec<Asked>,
    /// Number of the next question.
    next: u64,
    /// To the engine; has a slot for every job, so that no send blocks.
    scored: Sender<Vec<JobReport>>,
}

/// A page that is to be scored.
struct Asked {
    id: u64,
    tries: u32,
    report: JobReport,
}

impl Stage {
    fn run(mut self, reports: &Receiver<Vec<JobReport>>) {
        loop {
            if self.open.is_empty() && !self.waiting.is_empty() {
                self.ask();
            }
            let (said, time) = (self.program.said().clone(), self.program.deadline().map_or_else(never, at));
            select! {
                recv(reports) -> some => match some {
                    Ok(reports) => self.take(reports),
                    // The engine has ended, so scores are not needed any more.
                    Err(_) => return,
                },
                recv(said) -> said => self.hear(said.unwrap_or(ScorerLine::Ended)),
                recv(time) -> _ => self.failed("is silent"),
            }
        }
    }

    /// Takes reports. Those without a question pass.
    fn take(&mut self, reports: Vec<JobReport>) {
        let (ask, pass): (Vec<_>, Vec<_>) = reports.into_iter().partition(|report| question(report).is_some());
        if !pass.is_empty() {
            let _ = self.scored.send(pass);
        }
        self.waiting.extend(ask.into_iter().map(|report| Asked { id: 0, tries: 0, report }));
    }

    /// Asks about the first of the waiting pages. While the program rests after failures, all pages go on without a
    /// score.
    fn ask(&mut self) {
        let batch = self.waiting.len().min(BATCH);
        let mut lines = Vec::new();
        for (at, asked) in self.waiting.iter_mut().take(batch).enumerate() {
            (asked.id, asked.tries) = (self.next, asked.tries + 1);
            self.next += 1;
            lines.extend_from_slice(question(&asked.report).unwrap_or_default());
            finish(&mut lines, asked.id, batch - 1 - at);
        }
        if self.program.ask(lines) {
            self.open.extend(self.waiting.drain(..batch));
        } else {
            let unscored = self.waiting.drain(..).map(|asked| asked.report).collect();
            let _ = self.scored.send(unscored);
        }
    }

    fn hear(&mut self, said: ScorerLine) {
        match said {
            ScorerLine::Score { id, score } => {
                let place = match id {
                    Some(id) => self.open.iter().position(|asked| asked.id == id),
                    None => (!self.open.is_empty()).then_some(0),
                };
                let Some(place) = place else { return self.failed("answers what it was not asked") };
                let Asked { mut report, .. } = self.open.remove(place);
                if let Finding::Page(page) = &mut report.finding {
                    page.score = Some(score);
                }
                self.program.answered(self.open.len());
                let _ = self.scored.send(vec![report]);
            }
            ScorerLine::Nonsense(line) => self.failed(&format!("says {line:?}, which is no score")),
            ScorerLine::Ended => self.failed("has ended"),
        }
    }

    /// Gives the program up. The questions that it has not answered are asked once more, or their pages go on without a
    /// score.
    fn failed(&mut self, why: &str) {
        self.program.fail(why);
        for asked in self.open.drain(..).rev() {
            if asked.tries < TRIES {
                self.waiting.push_front(asked);
            } else {
                let _ = self.scored.send(vec![asked.report]);
            }
        }
    }
}

/// The question about a page, if there is one.
fn question(report: &JobReport) -> Option<&[u8]> {
    match &report.finding {
        Finding::Page(page) => Some(page.question.as_slice()).filter(|question| !question.is_empty()),
        _ => None,
    }
}

impl PageFinding {
    /// Whether the page was to be scored and has no score.
    pub(in crate::engine) fn is_unscored(&self) -> bool {
        !self.question.is_empty() && self.score.is_none()
    }
}
