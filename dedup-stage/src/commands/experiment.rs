//! `dedup-stage experiment`: experiments of the papers, on the user's own text.

use std::process::ExitCode;

/// Arguments of `dedup-stage experiment`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not built yet")
}
