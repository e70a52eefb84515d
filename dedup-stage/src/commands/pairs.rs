//! `dedup-stage pairs`: all pairs of near-duplicates within one fingerprint file.

use std::process::ExitCode;

/// Arguments of `dedup-stage pairs`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not built yet")
}
