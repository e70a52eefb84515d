//! The loop of `dedup-stage run`: reads lines and writes answers.

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::Serialize;
use serde_json::value::RawValue;

use crate::pipeline::{Limits, NextItem, Ordered, Stopper, ordered};
use crate::stage::{Counts, Preparer, Stage};
use crate::store;

use super::answer::{Answer, Code, Failure, Judged};
use super::lines::Lines;
use super::request::{Operation, PageRequest, Parser, Request};

/// The reason why serving ended.
#[derive(Debug)]
pub enum ServeEnd {
    /// The input is over. The state is flushed.
    Input,
    /// The program was asked to stop. The state is flushed, up to the last answer written.
    Stopped,
    /// The reader of the answers is gone. The state stays where the last flush left it.
    OutputClosed,
}

/// The settings in the answer to `hello`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Greeting<'a> {
    /// The recipe of the fingerprints.
    pub recipe: &'a str,
    /// The Hamming distance of near-duplicates.
    pub distance: u32,
    /// What happens to the links of duplicates.
    pub on_duplicate: config::OnDuplicate,
    /// Whether the state outlives the process.
    pub durable: bool,
}

/// The reason why serving failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The state could not be read or written.
    #[error(transparent)]
    State(#[from] store::Error),
    /// The input could not be read.
    #[error("input")]
    Input(#[source] io::Error),
    /// The answers could not be written, although their reader is not gone.
    #[error("output")]
    Output(#[source] io::Error),
}

/// The answer to an operation.
#[derive(Serialize)]
struct OperationAnswer<'a> {
    id: Option<&'a RawValue>,
    op: &'a str,
    #[serde(flatten)]
    hello: Option<Hello<'a>>,
    #[serde(flatten)]
    stats: Option<StageStats>,
}

#[derive(Serialize)]
struct Hello<'a> {
    program: &'a str,
    version: &'a str,
    protocol: u32,
    max_line: usize,
    #[serde(flatten)]
    greeting: Greeting<'a>,
}

#[derive(Serialize)]
struct StageStats {
    #[serde(flatten)]
    counts: Counts,
    errors: u64,
    urls_seen: usize,
    fingerprints: usize,
}

/// Answers the lines of `input` on `output`, until one of the two ends, or the stopper that `on_start` gets asks to
/// stop.
///
/// # Errors
/// If the state cannot be written, or one of the streams breaks. The state then stays where the last flush left it.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write,
    mut stage: Stage,
    limits: Limits,
    greeting: Greeting<'_>,
    on_start: impl FnOnce(Stopper<Request>),
) -> Result<ServeEnd, Error> {
    let (keys, searcher) = (stage.keys().clone(), stage.searcher(limits.threads));
    let work = move || {
        let (keys, searcher) = (keys.clone(), searcher.clone());
        let new_parser = move || Parser::new(Preparer::new(keys.clone()).searching(searcher.clone()));
        let mut parser = new_parser();
        move |line| {
            catch_unwind(AssertUnwindSafe(|| parser.parse(line))).unwrap_or_else(|_| {
                parser = new_parser();
                Request::Mistake(Failure::new(Code::Internal, "this page made the program panic"))
            })
        }
    };
    let (requests, stopper) = ordered(limits, Lines::new(input), work);
    on_start(stopper);
    let mut answers = Answers { output, buffer: Vec::new() };
    match answer_all(requests, &mut answers, &mut stage, greeting) {
        Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ServeEnd::OutputClosed),
        other => other,
    }
}

fn answer_all(
    mut requests: Ordered<Request>,
    answers: &mut Answers<impl Write>,
    stage: &mut Stage,
    greeting: Greeting<'_>,
) -> Result<ServeEnd, Error> {
    let mut errors = 0;
    loop {
        let next = match requests.poll() {
            Some(next) => next,
            None => {
                answers.flush()?;
                requests.wait()
            }
        };
        match next {
            NextItem::Item(Request::Page(request)) => answer_page(*request, answers, stage)?,
            NextItem::Item(Request::Operation(operation, id)) => {
                let id = id.as_deref();
                let mut report = OperationAnswer { id, op: "", hello: None, stats: None };
                match operation {
                    Operation::Hello => {
                        report.op = "hello";
                        report.hello = Some(Hello {
                            program: env!("CARGO_PKG_NAME"),
                            version: env!("CARGO_PKG_VERSION"),
                            protocol: super::VERSION,
                            max_line: super::MAX_LINE,
                            greeting,
                        });
                    }
                    Operation::Stats | Operation::Flush => {
                        report.op = if operation == Operation::Flush { "flush" } else { "stats" };
                        if operation == Operation::Flush {
                            // The answers are written first: after a crash, the caller has the answer to every page
                            // that the state has.
                            answers.flush()?;
                            stage.flush()?;
                        }
                        report.stats = Some(StageStats {
                            counts: stage.counts(),
                            errors,
                            urls_seen: stage.urls_seen(),
                            fingerprints: stage.fingerprints(),
                        });
                    }
                }
                answers.push(&report)?;
            }
            NextItem::Item(Request::Mistake(failure)) => {
                errors += 1;
                answers.push(&Answer::mistake(&failure))?;
            }
            NextItem::Item(Request::Broken(error)) => return Err(Error::Input(error)),
            NextItem::End | NextItem::Stop => {
                answers.flush()?;
                stage.flush()?;
                return Ok(if matches!(next, NextItem::End) { ServeEnd::Input } else { ServeEnd::Stopped });
            }
        }
    }
}

fn answer_page(request: PageRequest, answers: &mut Answers<impl Write>, stage: &mut Stage) -> Result<(), Error> {
    let PageRequest { name, priority, page } = request;
    let key = page.key.clone();
    let sha256 = page.page.sha256;
    let simhash = page.page.signature.as_ref().map(|signature| signature.simhash);
    let output = stage.judge(page, &name, priority)?;
    let judged = Judged { name: &name, key: &key, sha256: &sha256, simhash, output: &output };
    answers.push(&Answer::page(&judged, &stage.keys().canonicalizer))
}

/// Gathers answers and writes them.
struct Answers<W> {
    output: W,
    buffer: Vec<u8>,
}

impl<W: Write> Answers<W> {
    /// The bytes of answers at which they are written, even if more answers can be gathered.
    const FULL: usize = 64 << 10;

    fn push(&mut self, answer: &impl Serialize) -> Result<(), Error> {
        serde_json::to_writer(&mut self.buffer, answer).expect("answers serialise");
        self.buffer.push(b'\n');
        if self.buffer.len() >= Self::FULL { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.output.write_all(&self.buffer).and_then(|()| self.output.flush()).map_err(Error::Output)?;
        self.buffer.clear();
        if self.buffer.capacity() > 16 * Self::FULL {
            self.buffer = Vec::new();
        }
        Ok(())
    }
}
