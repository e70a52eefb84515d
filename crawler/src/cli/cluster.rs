//! `crawler cluster`: what an operator does with a crawl on many machines.

use std::process::ExitCode;

use clap::Subcommand;

use super::crawl::{Seeds, Start, layers, seeds};
use super::say::say;
use super::{Usage, tell};
use crate::cluster::{Access, Wish, operate};
use crate::crawl::OpenError;

/// Arguments of `crawler cluster`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a crawl: its settings and seeds live in the cluster from then on
    Create(Box<Create>),
    /// What each worker does, on stdout
    Status(Status),
    /// Hand out nothing until resumed; what is open is finished
    Pause(Named),
    /// Go on, after a pause or a stop
    Resume(Named),
    /// Stop all workers with their state saved; after `resume` they can be started again
    Stop(Named),
    /// More seeds, while it runs or later
    AddSeeds(AddSeeds),
    /// Counters of all workers together, on stdout
    Report(Status),
}

#[derive(Debug, clap::Args)]
struct Named {
    #[command(flatten)]
    access: Access,
}

#[derive(Debug, clap::Args)]
struct Status {
    #[command(flatten)]
    access: Access,
    /// For scripts: JSON on stdout, and nothing else
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct Create {
    #[command(flatten)]
    access: Access,
    #[command(flatten)]
    start: Start,
    #[command(flatten)]
    shape: operate::Shape,
}

#[derive(Debug, clap::Args)]
struct AddSeeds {
    #[command(flatten)]
    access: Access,
    #[command(flatten)]
    seeds: Seeds,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match args.command {
            Command::Create(create) => {
                let Create { access, start, shape } = *create;
                let layers = layers(&start, None)?;
                layers.warnings().iter().for_each(|warning| say!("note: {warning}"));
                let (settings, seeds) = (layers.finish()?, seeds(&start.seeds)?);
                if seeds.is_empty() {
                    return Err(OpenError::NoSeeds.into());
                }
                if settings.fetch.contact.is_empty() && !settings.fetch.allow_private {
                    say!("note: no --contact: site owners cannot reach you; give a URL or an e-mail address");
                }
                operate::create(&access, &shape, settings, seeds).await?;
                say!("the crawl is made; start its workers with: crawler worker --cluster … --dir DIR");
            }
            Command::Status(Status { access, json }) => {
                let status = operate::status(&access).await?;
                return tell(if json { serde_json::to_string(&status)? + "\n" } else { status.to_string() });
            }
            Command::Report(Status { access, json }) => {
                let total = operate::status(&access).await?.total();
                return tell(if json { serde_json::to_string(&total)? + "\n" } else { operate::text(&total) });
            }
            Command::Pause(Named { access }) => operate::wish(&access, Wish::Pause).await?,
            Command::Resume(Named { access }) => operate::wish(&access, Wish::Run).await?,
            Command::Stop(Named { access }) => operate::wish(&access, Wish::Stop).await?,
            Command::AddSeeds(add) => {
                let AddSeeds { access, seeds: given } = add;
                let seeds = seeds(&given)?;
                if seeds.is_empty() {
                    return Err(Usage("no seeds to add: give a URL, or a file with --seeds".into()).into());
                }
                let added = operate::add_seeds(&access, seeds).await?;
                say!("{added} seeds added");
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}
