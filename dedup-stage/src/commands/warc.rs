//! `dedup-stage warc`: a filter over WARC files.

use std::process::ExitCode;

/// Arguments of `dedup-stage warc`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not built yet")
}
