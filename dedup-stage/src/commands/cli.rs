//! The command line of the `dedup-stage` program.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use super as commands;
use super::say::say;

/// Judges which pages say the same thing: verdicts for any crawler on stdin and stdout, and tools for fingerprints.
#[derive(Parser)]
#[command(name = "dedup-stage", version = config::version(), propagate_version = true, args_conflicts_with_subcommands = true)]
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
    /// Signatures of whole corpora: text, HTML, JSON Lines, WARC, WET, Parquet, Arrow
    Signatures(commands::signatures::Args),
    /// Fingerprints of text or HTML files, or of JSON Lines on stdin
    Fingerprint(commands::fingerprint::Args),
    /// Designs of the Hamming index for a number of fingerprints and a distance
    Plan(commands::plan::Args),
    /// All near-duplicates, or pairs within a distance, between queries and stored ones
    Search(commands::search::Args),
    /// All near-duplicates, or pairs within a distance, in one file or between two
    Pairs(commands::pairs::Args),
    /// Groups of near-duplicates, and which of each to keep
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

/// The groups in which `--help` shows the commands.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Everyday", &["run", "warc"]),
    ("Corpora", &["signatures", "pairs", "search", "cluster", "fingerprint"]),
    ("Index", &["index", "health", "plan"]),
    ("Research", &["evaluate", "lexicon", "experiment"]),
];

/// The command line, with its commands in groups.
fn command() -> clap::Command {
    // Archives have no links to follow.
    let command = Cli::command().mut_subcommand("warc", |warc| warc.mut_arg("on_duplicate", |flag| flag.hide(true)));
    let about = |name: &str| {
        let command = command.find_subcommand(name);
        command.and_then(clap::Command::get_about).map(ToString::to_string).unwrap_or_default()
    };
    let line = |name: &&str| format!("  {name:<12} {}\n", wrapped(&about(name)));
    let lines = |names: &[&str]| names.iter().map(line).collect::<String>();
    let groups: String = GROUPS.iter().map(|(title, names)| format!("{title}:\n{}\n", lines(names))).collect();
    let others = lines(&["completions", "man"]);
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Others:\n{others}\nOptions:\n{{options}}"
    );
    command.help_template(template)
}

/// The description of a command, in lines that leave room for its name in 80 columns.
fn wrapped(about: &str) -> String {
    const INDENT: usize = 15;
    let (mut text, mut column) = (String::new(), INDENT);
    for word in about.split(' ') {
        let width = word.chars().count();
        if column > INDENT && column + 1 + width > 80 {
            text.push('\n');
            text.push_str(&" ".repeat(INDENT));
            column = INDENT;
        } else if column > INDENT {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += width;
    }
    text
}

/// Runs the whole program, with the arguments of the process.
pub fn main() -> ExitCode {
    ExitCode::from(main_with(std::env::args_os()))
}

/// Runs the whole program for a library that contains it, and returns the exit code. The first argument is the name of
/// the program.
pub fn main_with<T: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = T>) -> u8 {
    let cli = match command().try_get_matches_from(arguments).and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and versions come as errors with code 0. If printing fails, the terminal is gone, so the failure
            // cannot be shown.
            let _ = error.print();
            return error.exit_code() as u8;
        }
    };
    let writes = matches!(
        cli.command,
        Some(Command::Signatures(_) | Command::Search(_) | Command::Pairs(_) | Command::Cluster(_) | Command::Index(_))
    );
    // Without handlers, a signal ends the program as ever, and unfinished files stay.
    let _ = writes.then(commands::interrupted::leave_no_unfinished_files);
    let _ = commands::interrupted::tell_of_the_limit_of_files();
    let result = match cli.command {
        None => commands::run::run(cli.run),
        Some(Command::Run(args)) => commands::run::run(args),
        Some(Command::Signatures(args)) => commands::signatures::run(args),
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
            // `generate` panics if stdout is closed, so it writes to memory.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command(), "dedup-stage", &mut script);
            io::stdout().write_all(&script).map(|()| ExitCode::SUCCESS).map_err(Into::into)
        }
        Some(Command::Man { command }) => man(command.as_deref()),
    };
    let code = result.unwrap_or_else(|error| {
        if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            return ExitCode::SUCCESS;
        }
        if let Some(wrong) = error.downcast_ref::<commands::rows::WrongUsage>() {
            return commands::rows::wrong_usage(wrong);
        }
        say!("dedup-stage: {error:#}");
        ExitCode::FAILURE
    });
    code_of(code)
}

/// The number of an exit code. The standard library has no function for this.
fn code_of(code: ExitCode) -> u8 {
    (0..=u8::MAX).find(|number| ExitCode::from(*number) == code).unwrap_or(1)
}

/// Writes a manual page.
fn man(name: Option<&str>) -> anyhow::Result<ExitCode> {
    let mut program = command();
    // `build` gives the commands the names that their pages show, such as `dedup-stage-search`.
    program.build();
    let page = match name {
        None => program,
        Some(name) => match find(&program, name) {
            Some(command) => command.clone(),
            None => {
                say!("dedup-stage: no command {name:?}; see --help");
                return Ok(ExitCode::from(2));
            }
        },
    };
    let source = format!("{} {}", page.get_display_name().unwrap_or("dedup-stage"), config::version());
    clap_mangen::Man::new(page).source(source).render(&mut io::stdout())?;
    Ok(ExitCode::SUCCESS)
}

/// The command with this name. That of a command's own command is written with `-`, as in `experiment-filter`.
fn find<'a>(program: &'a clap::Command, name: &str) -> Option<&'a clap::Command> {
    program.get_subcommands().find_map(|command| match name.strip_prefix(command.get_name())? {
        "" => Some(command),
        rest => find(command, rest.strip_prefix('-')?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_shows_every_command_in_one_group() {
        let grouped: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| *names).chain(&["completions", "man"]).copied().collect();
        let program = Cli::command();
        let mut known: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
        let mut shown = grouped.clone();
        known.sort_unstable();
        shown.sort_unstable();
        assert_eq!(shown, known);
        let help = command().render_help().to_string();
        for title in ["Everyday:", "Corpora:", "Index:", "Research:", "Options:"] {
            assert!(help.contains(title), "{help}");
        }
        assert!(help.contains("  warc         Keep unique WARC records"), "{help}");
        let groups = help.split("Options:").next().unwrap_or_default();
        assert!(groups.lines().all(|line| line.chars().count() <= 80 || line.starts_with("Judges")), "{help}");
        command().debug_assert();
    }

    #[test]
    fn codes_keep_their_numbers() {
        assert!([0, 1, 2, 11, 255].into_iter().all(|number| code_of(ExitCode::from(number)) == number));
    }

    #[test]
    fn every_command_has_a_manual_page() {
        let mut program = command();
        program.build();
        let mut found = 0;
        let mut open = vec![&program];
        while let Some(command) = open.pop() {
            for command in command.get_subcommands().filter(|command| command.get_name() != "help") {
                let name = command.get_display_name().and_then(|name| name.strip_prefix("dedup-stage-")).unwrap();
                assert_eq!(find(&program, name).and_then(clap::Command::get_display_name), command.get_display_name());
                found += 1;
                open.push(command);
            }
        }
        assert!(found > 16, "{found}");
        assert!(find(&program, "experiment-nothing").is_none());
    }
}
