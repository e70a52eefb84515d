//! The command line of the `dedup-stage` program.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use super as commands;

/// Judges which pages say the same thing: verdicts for any crawler on stdin and stdout, and tools for fingerprints.
#[derive(Parser)]
#[command(name = "dedup-stage", version, propagate_version = true, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: commands::run::Args,
}

#[derive(Subcommand)]
enum Command {
    /// Pages in on stdin, verdicts out on stdout (the default)
    Run(commands::run::Args),
    /// Fingerprints of text or HTML files, or of JSON Lines on stdin
    Fingerprint(commands::fingerprint::Args),
    /// Designs of the Hamming index for so many fingerprints and such a distance
    Plan(commands::plan::Args),
    /// All pairs (query, stored) within a distance
    Search(commands::search::Args),
    /// All pairs within a distance in one fingerprint file
    Pairs(commands::pairs::Args),
    /// Groups of near-duplicates
    Cluster(commands::cluster::Args),
    /// The sorted, compressed tables of a fingerprint file, as a file
    Index(commands::index::Args),
    /// How uniform a set of fingerprints is
    Health(commands::health::Args),
    /// Precision and recall of every scheme on labelled pairs
    Evaluate(commands::evaluate::Args),
    /// Document frequencies for IDF weights and I-Match
    Lexicon(commands::lexicon::Args),
    /// Experiments of the papers on the user's own text
    Experiment(commands::experiment::Args),
    /// Keep unique WARC records, turn exact duplicates into revisit records
    Warc(commands::warc::Args),
    /// Completions for a shell, on stdout
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// The manual page of the program or of a command, on stdout
    Man {
        /// Which command [default: the program]
        command: Option<String>,
    },
}

/// The whole program.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        None => commands::run::run(cli.run),
        Some(Command::Run(args)) => commands::run::run(args),
        Some(Command::Fingerprint(args)) => commands::fingerprint::run(args),
        Some(Command::Plan(args)) => commands::plan::run(args),
        Some(Command::Search(args)) => commands::search::run(args),
        Some(Command::Pairs(args)) => commands::pairs::run(args),
        Some(Command::Cluster(args)) => commands::cluster::run(args),
        Some(Command::Index(args)) => commands::index::run(args),
        Some(Command::Health(args)) => commands::health::run(args),
        Some(Command::Evaluate(args)) => commands::evaluate::run(args),
        Some(Command::Lexicon(args)) => commands::lexicon::run(args),
        Some(Command::Experiment(args)) => commands::experiment::run(args),
        Some(Command::Warc(args)) => commands::warc::run(args),
        Some(Command::Completions { shell }) => {
            // It would panic where stdout is closed.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "dedup-stage", &mut script);
            io::stdout().write_all(&script).map(|()| ExitCode::SUCCESS).map_err(Into::into)
        }
        Some(Command::Man { command }) => man(command.as_deref()),
    };
    result.unwrap_or_else(|error| {
        if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            return ExitCode::SUCCESS;
        }
        eprintln!("dedup-stage: {error:#}");
        ExitCode::FAILURE
    })
}

/// Writes a manual page.
fn man(name: Option<&str>) -> anyhow::Result<ExitCode> {
    let mut program = Cli::command();
    // Only now do the commands have the names that their pages give them: `dedup-stage-search`.
    program.build();
    let page = match name {
        None => program,
        Some(name) => match program.find_subcommand(name) {
            Some(command) => command.clone(),
            None => {
                eprintln!("dedup-stage: no command {name:?}; see --help");
                return Ok(ExitCode::from(2));
            }
        },
    };
    clap_mangen::Man::new(page).render(&mut io::stdout())?;
    Ok(ExitCode::SUCCESS)
}
