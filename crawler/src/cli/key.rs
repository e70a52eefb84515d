//! `crawler key`: prints what must be published about the key that signs requests.

use std::path::PathBuf;
use std::process::ExitCode;

use super::{Usage, tell};
use crate::signing::Key;
use crate::signing::publish::directory;

/// Arguments of `crawler key`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// File of an Ed25519 key, PEM or JSON Web Key, as for --web-bot-auth
    #[arg(value_name = "KEY")]
    file: PathBuf,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let name = args.file.display();
    let text = std::fs::read_to_string(&args.file).map_err(|error| Usage(format!("{name}: {error}")))?;
    let key = Key::read(&text).map_err(|error| Usage(format!("{name}: {error}")))?;
    tell(format!("{}\n", directory(&[&key])))
}
