//! `dedup-stage evaluate`: precision and recall of every signature scheme on labelled pairs.

use std::process::ExitCode;

/// Arguments of `dedup-stage evaluate`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not built yet")
}
