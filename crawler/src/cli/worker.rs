//! `crawler worker`: crawls a share of the hosts of a crawl on many machines.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use super::cluster::WorkerAnswers;
use super::crawl::{Voice, Watching, live_page, start_log};
use super::progress::Terminal;
use super::summary::{self, SummaryFacts, SummaryOf};
use super::{end_code, exit, signals};
use crate::cluster::{self, ClusterError, Snapshots, Without, WorkerError, WorkerTask};
use crate::dashboard::{Beside, LiveNames};
use crate::terminal::say::say;

/// Arguments of `crawler worker`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    cluster: cluster::BrokerArgs,
    /// Crawl directory: state and output of this worker
    #[arg(long, value_name = "DIR", default_value = "./crawl", env = "CRAWLER_DIR")]
    dir: PathBuf,
    /// Live page and /metrics of this worker [default: none]
    #[arg(long, value_name = "ADDR", default_value = "", hide_default_value = true, env = "CRAWLER_DASHBOARD")]
    dashboard: String,
    /// Name by which clients may ask for /metrics and /healthz, besides addresses and localhost (repeatable)
    #[arg(long, value_name = "HOST")]
    dashboard_host: Vec<String>,
    /// Keep snapshots of the share in a folder that the machines of all workers see. What a snapshot has is dropped
    /// from the streams of the brokers. All workers of a crawl should use this
    #[arg(long, value_name = "DIR", env = "CRAWLER_SNAPSHOTS")]
    snapshots: Option<PathBuf>,
    /// Commits from one snapshot to the next; there is about one a second
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    snapshot_every: u32,
    /// Do not join a crawl that runs: wait, and take the place of a worker that is gone
    #[arg(long)]
    spare: bool,
    /// When stopped by a signal, leave the crawl for good: the other workers get the hosts
    #[arg(long)]
    leave: bool,
    /// How progress is shown: "auto" (three lines on a terminal, otherwise one line every ten seconds), "plain" (always
    /// such lines) or "none"
    #[arg(long, value_name = "VALUE", default_value = "auto", env = "CRAWLER_PROGRESS", value_parser = progress)]
    progress: config::Progress,
    #[command(flatten)]
    voice: Voice,
    /// For tests of the program: judge pages at once, as if there were no common order
    #[arg(long, hide = true)]
    without_barrier: bool,
    /// For tests of the program: send requests even if the lease has ended
    #[arg(long, hide = true)]
    without_deadline: bool,
    /// For tests of the program: commit even if another worker has the share
    #[arg(long, hide = true)]
    without_fence: bool,
    /// For tests of the program: take pages as if there were no other worker
    #[arg(long, hide = true)]
    without_quota: bool,
    /// For tests of the program: drop links to hosts that were given away
    #[arg(long, hide = true)]
    without_forwarding: bool,
    /// For tests of the program: stand still amid a move of hosts
    #[arg(long, hide = true, value_name = "PLACE")]
    halt_at: Option<String>,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let control = crossbeam_channel::unbounded();
    signals::watch(control.0.clone())?;
    start_log(args.voice);
    let quiet = args.voice.quiet;
    let task = WorkerTask {
        access: args.cluster,
        dir: args.dir,
        dashboard: args.dashboard,
        snapshots: args.snapshots.map(|folder| Snapshots { folder, every: args.snapshot_every }),
        answers: Arc::new(WorkerAnswers),
        is_spare: args.spare,
        leaves: args.leave,
        without: Without {
            barrier: args.without_barrier,
            deadline: args.without_deadline,
            fence: args.without_fence,
            quota: args.without_quota,
            forwarding: args.without_forwarding,
            halt_at: args.halt_at,
        },
    };
    let (dir, control_in) = (task.dir.clone(), control.0.clone());
    let worked = match cluster::work(&task, control, |begun| {
        if !quiet {
            say!("share {} of {}", begun.place.share + 1, begun.place.shares);
        }
        if let Some(commit) = begun.restored.filter(|_| !quiet) {
            say!("the state was made from a snapshot, as of commit {commit}");
        }
        if !quiet && begun.replayed > 0 {
            say!("{} commits were read from the cluster", begun.replayed);
        }
        let beside: Arc<dyn Beside> = begun.health.clone();
        let reach = LiveNames { name: String::new(), hosts: args.dashboard_host, beside: Some(beside) };
        let live = live_page(&begun.settings.output.dashboard, &dir, control_in, reach, quiet)?;
        Ok(Watching { terminal: Terminal::new(args.progress, quiet), live, found: None })
    }) {
        Err(WorkerError::Stopped) => return Ok(ExitCode::from(exit::STOPPED)),
        worked => worked?,
    };
    let Some((ended, mut watching)) = worked else {
        say!(
            "nothing to do for this worker: the crawl has ended or was stopped (after a stop, run `crawler cluster \
             resume` first)"
        );
        return Ok(ExitCode::SUCCESS);
    };
    watching.terminal.finish();
    if ended.has_left && !quiet {
        say!(
            "this worker has left the crawl: other workers have its hosts; what it has written stays in {}",
            task.dir.display()
        );
    }
    let (lost, learned) = watching.found.take().unwrap_or_default();
    if !quiet && !ended.has_left {
        let facts = SummaryFacts {
            about: SummaryOf::Dir(&task.dir),
            stats: &ended.stats,
            stop_reason: ended.reason.name(),
            on_duplicate: Some(&format!("{:?}", ended.settings.dedup.on_duplicate).to_lowercase()),
            lost,
            rules: learned.totals(),
            notes: &learned.hosts,
            page: None,
        };
        say!("{}", summary::text(&facts).trim_end());
    }
    // A share may have got no page at all.
    Ok(end_code(ended.reason, true))
}

/// Whether a failure of the cluster comes from the way in which the program was called; `None` for other failures.
pub(super) fn is_usage(error: &anyhow::Error) -> Option<bool> {
    let cluster = match error.downcast_ref::<WorkerError>() {
        Some(WorkerError::Cluster(error)) => Some(error),
        _ => error.downcast_ref::<ClusterError>(),
    };
    cluster.map(|error| matches!(error, ClusterError::Usage(_) | ClusterError::Missing(_)))
}

fn progress(text: &str) -> Result<config::Progress, String> {
    match text {
        "auto" => Ok(config::Progress::Auto),
        "plain" => Ok(config::Progress::Plain),
        "none" => Ok(config::Progress::None),
        _ => Err("one of auto, plain and none".into()),
    }
}
