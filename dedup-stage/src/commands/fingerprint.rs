//! `dedup-stage fingerprint`: fingerprints of files or JSON Lines.

use std::process::ExitCode;

/// Arguments of `dedup-stage fingerprint`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not built yet")
}
