//! `dedup-stage plan`: which design of the Hamming index suits so many fingerprints, such a distance, so much memory.

use std::process::ExitCode;

/// Arguments of `dedup-stage plan`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not built yet")
}
