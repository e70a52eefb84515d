//! The command line of `crawler`. Each command has a file of its own.

mod aside;
mod attempts;
pub mod check;
#[cfg(feature = "cluster")]
mod cluster;
mod crawl;
mod diff;
mod export;
mod flags;
mod help;
mod how;
mod key;
mod links;
mod progress;
mod refresh;
mod report;
mod room;
mod rules;
mod seeds;
mod shown;
mod signals;
mod summary;
mod unseen;
mod verdict;
mod visits;
mod why;
#[cfg(feature = "cluster")]
mod worker;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{FromArgMatches, Parser, Subcommand};
use frontier::Frontier;
use url::Url;

use crate::access::AccessError;
use crate::clock::Clock;
#[cfg(feature = "cluster")]
use crate::cluster::ClusterError;
use crate::crawl::{CrawlDir, OpenError};
use crate::engine::StopReason;
use crate::focus::TopicError;
use crate::terminal::say::say;
use crate::usage::Usage;
use help::command;

/// A polite crawler that expands each page of the web once, not each URL.
#[derive(Debug, Parser)]
#[command(name = "crawler", version = config::version(), propagate_version = true, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start a crawl, or continue the one in --dir
    Crawl(Box<crawl::Args>),
    /// Visit the pages of a crawl again: one page of each cluster of copies, the most useful visits first
    Refresh(Box<refresh::Args>),
    /// Show what has changed since the last round of visits: pages new, changed, gone, missing, back, moved and failing
    Diff(diff::Args),
    /// Demonstrate the crawler offline: a synthetic web on loopback, crawled with and without following the links of
    /// duplicates
    Demo(crate::demo::Args),
    /// Print the summary of a crawl, and write its report as a page, DIR/report.html
    Report(Telling),
    /// Explain why a URL was fetched, held back, stopped by a rule, refused or never seen
    Why(why::Args),
    /// List learned URL rules, mirrors and traps with their evidence, and budgets that are running out
    Rules(Telling),
    /// Export pages, links, main text, clusters or archives of a crawl, in forms that other tools read
    Export(export::Args),
    /// Print the link graph: every link with the page that has it; broken links with their sources
    Links(links::Args),
    /// Run one worker of a crawl on many machines
    #[cfg(feature = "cluster")]
    Worker(worker::Args),
    /// Make a crawl on many machines, look at it, stop it
    #[cfg(feature = "cluster")]
    Cluster(cluster::Args),
    /// Check that every URL met is in exactly one state, and that outputs and state agree (exit code 1 if not, and
    /// also if a run is using the directory)
    Check(check::Args),
    /// Print the public part of the key that signs requests, to be published at
    /// /.well-known/http-message-signatures-directory of the agent's origin
    Key(key::Args),
    /// Print completions for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// The manual page of the program or of a command, on stdout
    Man {
        /// Which command, such as crawl or cluster-create [default: the program]
        command: Option<String>,
    },
}

/// The directory of a crawl.
#[derive(Clone, Debug, clap::Args)]
struct Dir {
    /// Crawl directory
    dir: PathBuf,
}

/// The arguments of commands that tell about a crawl.
#[derive(Clone, Debug, clap::Args)]
struct Telling {
    #[command(flatten)]
    dir: Dir,
    /// For scripts: JSON on stdout, and nothing else
    #[arg(long)]
    json: bool,
}

/// The frontier from the state of a crawl, for commands that only read.
fn frontier(dir: &mut CrawlDir) -> anyhow::Result<Frontier> {
    let settings = dir.last_settings()?;
    let keys = dir.keys()?;
    Ok(Frontier::open(&settings, &keys, dir.session(), Clock::System.now())?)
}

/// A URL as people type it: `example.com` and `localhost:8080/x` are meant as https.
fn typed(text: &str) -> Result<Url, String> {
    let parse = |text: &str| Url::parse(text).map_err(|error| error.to_string());
    let is_web = text.starts_with("http:") || text.starts_with("https:");
    let (head, rest) = text.split_once(':').unwrap_or((text, ""));
    if let Some(rest) = ["http//", "https//", "http/", "https/"].iter().find_map(|slip| text.strip_prefix(slip)) {
        return Err(format!("a colon is missing; perhaps https://{} is meant", rest.trim_start_matches('/')));
    }
    match Url::parse(text) {
        Ok(url) if url.has_host() => Ok(url),
        _ if text.contains("://") || is_web => parse(text),
        Ok(url) if !is_host_and_port(head, rest) => {
            Err(format!("{} is not fetched, only http and https", url.scheme()))
        }
        _ => parse(&format!("https://{text}")),
    }
}

/// Reads the URL that is asked about.
fn asked(text: &str) -> anyhow::Result<Url> {
    let mut url = typed(text).map_err(|error| Usage(format!("{text:?}: {error}")))?;
    url.set_fragment(None);
    dedup_stage::url::drop_user(&mut url);
    Ok(url)
}

/// The same URL with the other scheme of the web. (If no scheme is typed, [`typed`] guesses.)
fn with_other_scheme(url: &Url) -> Option<Url> {
    let other = match url.scheme() {
        "https" => "http",
        "http" => "https",
        _ => return None,
    };
    let mut changed = url.clone();
    changed.set_scheme(other).is_ok().then_some(changed)
}

/// Whether the texts before and after a colon are a host and a port, and not a scheme and the rest of a URL.
fn is_host_and_port(head: &str, rest: &str) -> bool {
    const SCHEMES: [&str; 8] = ["javascript", "mailto", "tel", "data", "file", "ftp", "about", "urn"];
    let port = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    is_port && !SCHEMES.contains(&head.to_ascii_lowercase().as_str())
}

/// Exit codes, as documented in `--help`.
pub mod exit {
    /// An I/O error, or a damaged state.
    pub const FAILED: u8 = 1;
    /// Wrong usage or wrong configuration.
    pub const USAGE: u8 = 2;
    /// Not one page with a 2xx or 304 answer in the directory.
    pub const NOTHING_FETCHED: u8 = 3;
    /// Stopped by a signal. The state is saved.
    pub const STOPPED: u8 = 11;
    /// The page limit was reached.
    pub const PAGE_LIMIT: u8 = 14;
    /// The time limit was reached.
    pub const TIME_LIMIT: u8 = 15;
}

/// Runs the program.
pub fn main() -> ExitCode {
    // If the arguments are wrong, both end the program with a message.
    let cli = Cli::from_arg_matches(&command().get_matches()).unwrap_or_else(|error| error.exit());
    let result = match cli.command {
        Command::Crawl(args) => room::check().and_then(|()| crawl::run(*args)),
        Command::Refresh(args) => room::check().and_then(|()| refresh::run(*args)),
        Command::Diff(args) => diff::run(args),
        Command::Demo(args) => room::check().and_then(|()| crate::demo::run(args)),
        Command::Report(args) => report::run(args),
        Command::Why(args) => why::run(args),
        Command::Rules(args) => rules::run(args),
        Command::Export(args) => export::run(args),
        Command::Links(args) => links::run(args),
        #[cfg(feature = "cluster")]
        Command::Worker(args) => room::check().and_then(|()| worker::run(args)),
        #[cfg(feature = "cluster")]
        Command::Cluster(args) => cluster::run(args),
        Command::Check(args) => check::run(args),
        Command::Key(args) => key::run(args),
        Command::Completions { shell } => {
            // The generator would panic if stdout were closed.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command(), "crawler", &mut script);
            tell(&script)
        }
        Command::Man { command } => man(command.as_deref()),
    };
    result.unwrap_or_else(|error| {
        if is_closed(&error) {
            return ExitCode::SUCCESS;
        }
        say!("crawler: {}", message(&error));
        ExitCode::from(exit_code(&error))
    })
}

/// Whether the reader of stdout has closed it.
fn is_closed(error: &anyhow::Error) -> bool {
    #[cfg(feature = "cluster")]
    let of_cluster = match error.downcast_ref() {
        Some(ClusterError::Io(error)) => Some(error),
        _ => None,
    };
    #[cfg(not(feature = "cluster"))]
    let of_cluster = None;
    let error: Option<&std::io::Error> = error.downcast_ref().or(of_cluster);
    error.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// An error with its causes, the outermost first. Some errors contain the text of their cause. It is not repeated.
fn message(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !text.ends_with(&cause) {
            text.push_str(if text.is_empty() { "" } else { ": " });
            text.push_str(&cause);
        }
    }
    text
}

/// Writes data to stdout. If its reader has closed it, that is an error, which ends the program without a message.
fn tell(text: impl AsRef<[u8]>) -> anyhow::Result<ExitCode> {
    std::io::stdout().write_all(text.as_ref()).context("standard output")?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a manual page.
fn man(name: Option<&str>) -> anyhow::Result<ExitCode> {
    let mut program = command();
    // Only now the commands have the names that their manual pages need, such as `crawler-crawl`.
    program.build();
    let page = match name {
        None => program,
        Some(name) => match help::find(&program, name) {
            Some(command) => command.clone(),
            None => return Err(Usage(format!("no command {name:?}; see --help")).into()),
        },
    };
    let source = format!("{} {}", page.get_display_name().unwrap_or("crawler"), config::version());
    let mut text = Vec::new();
    clap_mangen::Man::new(page).source(source).render(&mut text)?;
    tell(text)
}

/// The exit code for a failure.
fn exit_code(error: &anyhow::Error) -> u8 {
    #[cfg(feature = "cluster")]
    if let Some(usage) = worker::is_usage(error) {
        return if usage { exit::USAGE } else { exit::FAILED };
    }
    let usage = error.is::<config::ConfigError>()
        || error.is::<Usage>()
        || matches!(error.downcast_ref(), Some(TopicError::File { .. } | TopicError::Empty))
        || matches!(
            error.downcast_ref(),
            Some(
                OpenError::NoSeeds
                    | OpenError::Foreign(_)
                    | OpenError::Missing(_)
                    | OpenError::Pattern(_)
                    | OpenError::Access(AccessError::File(..) | AccessError::NoAgent | AccessError::NoCookies(_))
                    | OpenError::Topic(TopicError::File { .. } | TopicError::Empty)
                    | OpenError::Known(_)
            )
        );
    if usage { exit::USAGE } else { exit::FAILED }
}

/// The exit code of a crawl that ended. `any_page`: whether a page in the directory was answered with 2xx or 304.
fn end_code(reason: StopReason, any_page: bool) -> ExitCode {
    match reason {
        StopReason::Stopped => ExitCode::from(exit::STOPPED),
        StopReason::Done | StopReason::Waiting if !any_page => ExitCode::from(exit::NOTHING_FETCHED),
        StopReason::Done | StopReason::Waiting => ExitCode::SUCCESS,
        StopReason::PageLimit => ExitCode::from(exit::PAGE_LIMIT),
        StopReason::TimeLimit => ExitCode::from(exit::TIME_LIMIT),
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn urls_are_read_as_people_type_them_and_slips_are_refused() {
        for (text, url) in [
            ("example.com", "https://example.com/"),
            ("localhost:8080/x", "https://localhost:8080/x"),
            ("wiki", "https://wiki/"),
            ("httpbin.org/get", "https://httpbin.org/get"),
            ("http://a.test/x", "http://a.test/x"),
            ("a.test:8080", "https://a.test:8080/"),
            ("a.test/x:y", "https://a.test/x:y"),
        ] {
            assert_eq!(typed(text).map(String::from), Ok(url.to_owned()), "{text}");
        }
        for text in
            ["htp:/foo", "javascript:1", "http//x.test/", "https//x.test/", "http:/", "mailto:a@b.test", "http://"]
        {
            assert!(typed(text).is_err(), "{text}: {:?}", typed(text));
        }
    }

    #[test]
    fn a_cause_is_told_once() {
        let cause = || std::io::Error::other("the disk is full");
        let error = anyhow::Error::new(crate::engine::EngineError::Output(cause())).context("stopped");
        assert_eq!(message(&error), "stopped: output: the disk is full");
        let error = Err::<(), _>(cause()).context("report.html").unwrap_err();
        assert_eq!(message(&error), "report.html: the disk is full");
    }

    #[test]
    fn a_closed_stdout_is_no_failure() {
        let closed = || std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        assert!(is_closed(&closed().into()));
        assert!(is_closed(&Err::<(), _>(closed()).context("standard output").unwrap_err()));
        #[cfg(feature = "cluster")]
        assert!(is_closed(&ClusterError::Io(closed()).into()), "of `crawler cluster export`");
        assert!(!is_closed(&std::io::Error::other("the disk is full").into()));
    }
}
