//! `dedup-stage index`: the sorted, compressed tables of a fingerprint file, as a file.

use std::process::ExitCode;

/// Arguments of `dedup-stage index`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not built yet")
}
