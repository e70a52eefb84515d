//! `dedup-stage run`: pages in on stdin, verdicts out on stdout.

use std::process::ExitCode;

/// Arguments of `dedup-stage run`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not built yet")
}
