//! `dedup-stage health`: how uniform a set of fingerprints is (Manku, Jain, Das Sarma 2007, section 4.2).

use std::process::ExitCode;

/// Arguments of `dedup-stage health`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not built yet")
}
