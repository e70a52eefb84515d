//! `crawler cluster`: the commands of an operator for a crawl on many machines.

mod ask;
mod trial;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

pub(super) use ask::WorkerAnswers;
use clap::Subcommand;
use config::Settings;

use super::crawl::{Start, contact, layers};
use super::seeds::{Seeds, seeds};
use super::summary::{self, SummaryFacts, SummaryOf};
use super::{Usage, report, tell};
use crate::cluster::loopback::child;
use crate::cluster::{BrokerArgs, Total, WantedState, operate, status};
use crate::engine::StopReason;
use crate::terminal::say::say;

/// Arguments of `crawler cluster`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a crawl: from then on the cluster has its settings and seeds
    Create(Box<Create>),
    /// What each worker does, on stdout
    Status(StatusArgs),
    /// Start no new requests until `resume`; open requests are finished
    Pause(Named),
    /// Continue after a pause or a stop, or with more pages
    Resume(Resume),
    /// Stop all workers with their state saved; after `resume` they can be started again
    Stop(Named),
    /// Add seeds, while the crawl runs or later
    AddSeeds(AddSeeds),
    /// Remove a worker for good: the others get its hosts, and its outputs stay part of the crawl
    Remove(Remove),
    /// Summary of all workers together, on stdout
    Report(StatusArgs),
    /// Why a URL was fetched, held back, stopped by a rule, refused or never seen: asks the worker of its host
    Why(ask::Why),
    /// Pages, links, main text or clusters of all workers, in forms that other tools read
    Export(ask::Export),
    /// Try it: three brokers and some workers on this machine, which end with the crawl
    Try(Box<trial::Args>),
    /// A process that ends with the one that started it
    #[command(hide = true)]
    Child(Child),
}

#[derive(Debug, clap::Args)]
struct Named {
    #[command(flatten)]
    access: BrokerArgs,
}

#[derive(Debug, clap::Args)]
struct Resume {
    #[command(flatten)]
    access: BrokerArgs,
    /// Pages that all workers may fetch since the beginning of the crawl, instead of the earlier limit; 0: any number
    #[arg(long, value_name = "N")]
    max_pages: Option<u64>,
}

#[derive(Debug, clap::Args)]
struct StatusArgs {
    #[command(flatten)]
    access: BrokerArgs,
    /// For scripts: JSON on stdout, and nothing else
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct Create {
    #[command(flatten)]
    access: BrokerArgs,
    #[command(flatten)]
    start: Start,
    #[command(flatten)]
    shape: operate::ClusterShape,
}

#[derive(Debug, clap::Args)]
struct Remove {
    #[command(flatten)]
    access: BrokerArgs,
    /// Number of its share, as `status` shows it
    #[arg(value_name = "SHARE", value_parser = share)]
    share: usize,
}

#[derive(Debug, clap::Args)]
struct AddSeeds {
    #[command(flatten)]
    access: BrokerArgs,
    #[command(flatten)]
    seeds: Seeds,
}

#[derive(Debug, clap::Args)]
struct Child {
    parent: u32,
    program: PathBuf,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// The number of a share; for the command line.
fn share(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("{text:?} is no number of a share: see `crawler cluster status`"))
}

/// The settings for a crawl. If the crawl `is_made` already, it does not run with these settings.
fn settings(start: &Start, is_made: bool) -> anyhow::Result<Settings> {
    let layers = layers(start, None)?;
    layers.warnings().iter().for_each(|warning| say!("note: {warning}"));
    let settings = layers.finish()?;
    if !is_made {
        contact(&settings);
    }
    Ok(settings)
}

/// The state of a crawl, in the words of `report`.
fn stands(total: &Total, is_over: bool) -> &'static str {
    match total.stop_reason {
        Some(reason) => reason.name(),
        None if is_over => StopReason::Done.name(),
        None => "running",
    }
}

/// The summary of all workers for people.
fn text(total: &Total, reason: &str, about: SummaryOf<'_>) -> String {
    summary::text(&SummaryFacts {
        about,
        stats: &total.stats,
        stop_reason: reason,
        on_duplicate: None,
        lost: total.lost,
        rules: Default::default(),
        notes: &[],
        page: None,
    })
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::Try(args) => return trial::run(*args),
        Command::Child(Child { parent, program, arguments }) => {
            return Err(child::become_child(parent, &program, &arguments).into());
        }
        _ => {}
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if let Command::Export(args) = args.command {
        return ask::export(args, &runtime);
    }
    runtime.block_on(async {
        match args.command {
            Command::Why(args) => return ask::why(args).await,
            Command::Create(create) => {
                let Create { access, start, shape } = *create;
                let (settings, seeds) = (settings(&start, false)?, seeds(&start.seeds)?);
                if seeds.is_empty() {
                    return Err(Usage("no seeds: name at least one URL, or a file with --seeds".into()).into());
                }
                let mut note = |line| say!("note: {line}");
                operate::create(&access, &shape, settings, seeds, &mut note).await?;
                say!("the crawl is made; start its workers with: crawler worker --cluster … --dir DIR");
            }
            Command::Status(StatusArgs { access, json }) => {
                let status = status(&access).await?;
                return tell(if json { serde_json::to_string(&status)? + "\n" } else { status.to_string() });
            }
            Command::Report(StatusArgs { access, json }) => {
                let status = status(&access).await?;
                for (share, silence) in status.silent() {
                    say!(
                        "note: share {share}: nothing was heard of its worker for {silence} s. Its counters are as \
                         old; `crawler cluster status` shows what happens to it"
                    );
                }
                let total = status.total();
                let reason = stands(&total, status.is_over());
                return tell(match json {
                    true => format!("{:#}\n", report::json(&total.stats, reason, total.lost, None)?),
                    false => text(&total, reason, SummaryOf::Cluster),
                });
            }
            Command::Pause(Named { access }) => operate::want(&access, WantedState::Pause, None).await?,
            Command::Resume(Resume { access, max_pages }) => {
                operate::want(&access, WantedState::Run, max_pages).await?
            }
            Command::Stop(Named { access }) => operate::want(&access, WantedState::Stop, None).await?,
            Command::AddSeeds(add) => {
                let AddSeeds { access, seeds: given } = add;
                let seeds = seeds(&given)?;
                if seeds.is_empty() {
                    return Err(Usage("no seeds to add: give a URL, or a file with --seeds".into()).into());
                }
                let added = operate::add_seeds(&access, seeds).await?;
                say!("{added} seeds added");
            }
            Command::Remove(Remove { access, share }) => {
                operate::remove(&access, share).await?;
                say!(
                    "the worker of share {share} gives its hosts to the others, and ends; `status` shows how far it is"
                );
            }
            Command::Export(_) | Command::Try(_) | Command::Child(_) => {}
        }
        Ok(ExitCode::SUCCESS)
    })
}
