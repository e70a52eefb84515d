//! `dedup-stage search`: all pairs (query, stored) within a distance.

use std::process::ExitCode;

/// Arguments of `dedup-stage search`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not built yet")
}
