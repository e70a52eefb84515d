//! `dedup-stage lexicon`: document frequencies for IDF weights and I-Match.

use std::process::ExitCode;

/// Arguments of `dedup-stage lexicon`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not built yet")
}
