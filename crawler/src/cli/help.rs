//! The text of `--help`: the command line as it is derived from the types, without the flags that a command refuses.

use clap::{Command, CommandFactory};

use super::Cli;

/// The text below the flags of a command that crawls.
const BELOW: &str = "\
Each setting is also a key of the file that --config names, and an environment variable. The variable is named after the \
flag: --max-url-length is CRAWLER_MAX_URL_LENGTH. The value of a list is one item, or several as in TOML: [\"a\", \"b\"].

Exit codes: 0 done; 1 failed (I/O, damaged state); 2 wrong usage or configuration; 3 not one page with a 2xx or 304 answer \
in the directory; 11 stopped by a signal, state saved; 14 page limit; 15 time limit.";

/// The flags that `crawler refresh` refuses, or that it implies.
const NOT_FOR_ROUNDS: [&str; 4] = ["max-pages", "time-limit", "recrawl", "continuous"];

/// The flags that a crawl on many machines refuses.
#[cfg(feature = "cluster")]
const NOT_FOR_MANY: [&str; 7] = ["continuous", "recrawl", "topic", "topic-file", "like", "score-with", "known"];

/// The command line. Flags that a command refuses are accepted, so that the command can say why it refuses them. They
/// are not shown.
pub(super) fn command() -> Command {
    let command = Cli::command()
        .mut_subcommand("crawl", |crawl| crawl.after_help(BELOW))
        .mut_subcommand("refresh", |refresh| hidden(refresh, &NOT_FOR_ROUNDS).after_help(BELOW));
    #[cfg(feature = "cluster")]
    let command = command.mut_subcommand("cluster", |cluster| {
        cluster
            .mut_subcommand("create", |create| hidden(create, &NOT_FOR_MANY))
            .mut_subcommand("try", |trial| hidden(trial, &NOT_FOR_MANY))
            .mut_subcommand("export", |export| {
                let what = "What to write: pages, links, skipped, text, markdown or clusters";
                export
                    .mut_arg("what", |arg| arg.hide_possible_values(true).help(what).long_help(what))
                    .mut_arg("format", |arg| arg.help("How to write it [default: jsonl]"))
                    .mut_arg("output", |arg| arg.help("File to write [default: stdout]"))
            })
    });
    command
}

fn hidden(command: Command, flags: &[&str]) -> Command {
    flags.iter().fold(command, |command, flag| command.mut_arg(flag, |arg| arg.hide(true)))
}

/// The command with this name, such as `crawl`. For a command of a command, both names are joined by a hyphen, such as
/// `cluster-create`.
pub(super) fn find<'a>(command: &'a Command, name: &str) -> Option<&'a Command> {
    command.find_subcommand(name).or_else(|| {
        command.get_subcommands().find_map(|inner| find(inner, name.strip_prefix(inner.get_name())?.strip_prefix('-')?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn help(path: &[&str]) -> String {
        let mut command = command();
        let inner =
            path.iter().fold(&mut command, |command, name| command.find_subcommand_mut(name).expect("a command"));
        inner.render_long_help().to_string()
    }

    #[test]
    fn no_command_shows_flags_that_it_refuses() {
        command().debug_assert();
        let refresh = help(&["refresh"]);
        for flag in ["--max-pages <", "--time-limit <", "--recrawl", "--continuous"] {
            assert!(!refresh.contains(flag), "{flag}: {refresh}");
            assert!(help(&["crawl"]).contains(flag), "{flag}");
        }
        assert!(refresh.contains("--config <FILE>") && refresh.contains("Exit codes:"), "{refresh}");
        #[cfg(feature = "cluster")]
        for name in ["create", "try"] {
            assert!(!help(&["cluster", name]).contains("--like"), "{name}");
        }
        #[cfg(feature = "cluster")]
        assert!(!help(&["cluster", "export"]).contains("wacz"));
    }

    #[test]
    fn help_tells_defaults_and_what_may_be_repeated() {
        let text = help(&["crawl"]);
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for said in [
            "--login <FILE>",
            "--web-bot-auth-agent <URL>",
            "--drop-params <NAME>",
            "except seeds. (repeatable)",
            "[default: true]",
            "[default: false]",
            "CRAWLER_MAX_URL_LENGTH",
            "14 page limit",
        ] {
            assert!(words.contains(said), "{said}: {words}");
        }
    }

    #[test]
    fn every_command_has_a_manual_page() {
        let command = command();
        for (name, found) in [("crawl", Some("crawl")), ("cluster-add-seeds", Some("add-seeds")), ("cluster-", None)] {
            let found = found.filter(|_| cfg!(feature = "cluster") || !name.contains('-'));
            assert_eq!(find(&command, name).map(Command::get_name), found, "{name}");
        }
    }
}
