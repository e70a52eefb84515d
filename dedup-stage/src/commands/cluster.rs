//! `dedup-stage cluster`: groups of fingerprints or pages that are near-duplicates of each other.

use std::process::ExitCode;

/// Arguments of `dedup-stage cluster`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not built yet")
}
