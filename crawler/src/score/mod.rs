//! A program's judgement of pages: `--score-with CMD` starts a child that reads pages and answers with scores in 0..1, which
//! take the place of the topic's relevance.
//!
//! The child reads JSON Lines, `{"id":7,"url":"…","title":"…","language":"en","text":"…"}`, and writes `{"id":7,"score":0.8}`
//! for each, in any order; without `id` an answer is taken for the oldest page that waits. Other lines are ignored, what it
//! writes to stderr is shown.
//!
//! # How the crawler uses it
//!
//! The engine calls [`Scorer::submit`] with a page that was judged (and is no duplicate), and takes [`Scored`] answers from
//! [`Scorer::answers`] where it takes reports. It never waits for the child: a page whose answer does not come within the
//! time-out comes back without a score, and so does every page while the child is down or where [`Options::waiting`] pages
//! wait already. A child that dies is started again, ever more rarely; one that never answers is given up, and the crawl goes
//! on as if there were none. Without the flag nothing of this runs.

mod child;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, unbounded};
use serde::Serialize;

use child::Child;

/// A page to be scored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Page {
    /// What the answer names; the caller's, unique among the pages that wait.
    pub id: u64,
    /// Its URL.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Its language, or empty.
    pub language: String,
    /// Its text; cut at [`Options::text_bytes`].
    pub text: String,
}

/// What came of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scored {
    /// The page.
    pub id: u64,
    /// The score in 0..1, where there is one.
    pub score: Option<f32>,
}

/// How the child is dealt with.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Pages that are sent before the first of them must be answered.
    pub batch: usize,
    /// How long a batch may take.
    pub timeout: Duration,
    /// Pages that may wait to be sent.
    pub waiting: usize,
    /// Bytes of a page's text that are sent.
    pub text_bytes: usize,
    /// Wait before a child that died is started again; doubled with each death in a row.
    pub first_pause: Duration,
    /// Children in a row that die or time out without one answer before there is no other.
    pub attempts: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            batch: 32,
            timeout: Duration::from_secs(30),
            waiting: 1_024,
            text_bytes: 32 << 10,
            first_pause: Duration::from_millis(500),
            attempts: 5,
        }
    }
}

/// Counts for the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Children started.
    pub started: u32,
    /// Whether there will be no other.
    pub given_up: bool,
}

/// The program, and the thread that talks with it. Both end when this is dropped.
#[derive(Debug)]
pub struct Scorer {
    pages: Option<Sender<Page>>,
    answers: Receiver<Scored>,
    refused: Sender<Scored>,
    thread: Option<std::thread::JoinHandle<Counts>>,
}

impl Scorer {
    /// Starts the thread; the child is started with the first page. `command` is given to `sh -c`.
    pub fn start(command: &str, options: Options) -> std::io::Result<Self> {
        let (pages, waiting) = bounded::<Page>(options.waiting.max(1));
        let (scored, answers) = unbounded();
        let talk = Talk { command: command.to_owned(), options, scored: scored.clone(), counts: Counts::default() };
        let thread = std::thread::Builder::new().name("score".into()).spawn(move || talk.run(&waiting))?;
        Ok(Self { pages: Some(pages), answers, refused: scored, thread: Some(thread) })
    }

    /// Hands over a page. Each page comes back exactly once, with a score or without.
    pub fn submit(&self, page: Page) {
        let Some(pages) = &self.pages else { return };
        if let Err(TrySendError::Full(page) | TrySendError::Disconnected(page)) = pages.try_send(page) {
            let _ = self.refused.send(Scored { id: page.id, score: None });
        }
    }

    /// Where the answers come.
    pub fn answers(&self) -> &Receiver<Scored> {
        &self.answers
    }

    /// Waits for the pages that are under way, and ends the child.
    pub fn finish(mut self) -> (Vec<Scored>, Counts) {
        self.pages = None;
        let counts = self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        (self.answers.try_iter().collect(), counts)
    }
}

/// The thread's side.
struct Talk {
    command: String,
    options: Options,
    scored: Sender<Scored>,
    counts: Counts,
}

impl Talk {
    fn run(mut self, waiting: &Receiver<Page>) -> Counts {
        let mut child: Option<Child> = None;
        // Deaths in a row without an answer, and when the next child may be started.
        let (mut failures, mut not_before) = (0u32, Instant::now());
        while let Ok(first) = waiting.recv() {
            let mut batch: VecDeque<Page> = VecDeque::from([first]);
            while batch.len() < self.options.batch
                && let Ok(page) = waiting.try_recv()
            {
                batch.push_back(page);
            }
            if child.is_none() && !self.counts.given_up && Instant::now() >= not_before {
                self.counts.started += 1;
                child = Child::start(&self.command)
                    .inspect_err(|error| tracing::warn!("{}: not started: {error}", self.command))
                    .ok();
                failures += u32::from(child.is_none());
            }
            let Some(running) = &mut child else {
                self.give_up_after(failures);
                batch.iter().for_each(|page| self.answer(page.id, None));
                continue;
            };
            let answered = self.ask(running, batch);
            if answered {
                failures = 0;
            }
            if !answered || running.has_ended() {
                failures += 1;
                child = None;
                self.give_up_after(failures);
                not_before = Instant::now() + self.options.first_pause * (1 << (failures - 1).min(7));
            }
        }
        self.counts
    }

    /// Sends a batch and passes its answers on; whether there was any.
    fn ask(&self, child: &mut Child, mut batch: VecDeque<Page>) -> bool {
        let mut lines = Vec::new();
        for page in &mut batch {
            page.text.truncate(page.text.floor_char_boundary(self.options.text_bytes));
            // Writing to memory cannot fail.
            let _ = serde_json::to_writer(&mut lines, page);
            lines.push(b'\n');
        }
        child.send(lines);
        let deadline = Instant::now() + self.options.timeout;
        let mut answered = false;
        while !batch.is_empty() {
            let Some(answer) = child.answer(deadline) else { break };
            let at = match answer.id {
                Some(id) => batch.iter().position(|page| page.id == id),
                None => Some(0),
            };
            if let Some(page) = at.and_then(|at| batch.remove(at)) {
                answered = true;
                self.answer(page.id, Some(answer.score));
            }
        }
        batch.iter().for_each(|page| self.answer(page.id, None));
        answered
    }

    fn answer(&self, id: u64, score: Option<f32>) {
        // Nobody listens any more: the crawl has ended.
        let _ = self.scored.send(Scored { id, score });
    }

    fn give_up_after(&mut self, failures: u32) {
        if failures >= self.options.attempts && !self.counts.given_up {
            tracing::warn!("{}: gives no scores; the crawl goes on without", self.command);
            self.counts.given_up = true;
        }
    }
}
