//! The flags of `crawler crawl` that are settings. They are made from `default.toml`: every key is a flag, and the
//! comment above the key is its help.

use std::sync::OnceLock;

use clap::builder::Resettable;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use config::{ConfigError, Layers};

/// The settings that were given as flags. They override all other settings.
#[derive(Clone, Debug, Default)]
pub struct SettingFlags {
    /// Keys with their values as text. A list has several values.
    values: Vec<(&'static str, Vec<String>)>,
}

/// One setting as a flag.
#[derive(Debug)]
struct Flag {
    key: String,
    name: String,
    help: String,
    default: String,
}

impl SettingFlags {
    /// Whether the setting with this key was given as a flag.
    pub fn has(&self, key: &str) -> bool {
        self.values.iter().any(|(known, _)| *known == key)
    }

    /// Whether the switch with this key was given as a flag, and is on.
    pub fn is_on(&self, key: &str) -> bool {
        self.values.iter().any(|(known, values)| *known == key && values.iter().all(|value| value == "true"))
    }

    /// Applies the flags on top of `layers`.
    pub fn over(&self, mut layers: Layers) -> Result<Layers, ConfigError> {
        for (key, values) in &self.values {
            let lasting = |value: &String| if names_file(key) { absolute(value) } else { value.clone() };
            layers = match &values[..] {
                [value] if !is_list(key) => layers.set(key, lasting(value))?,
                values => {
                    layers.set(key, values.iter().map(|value| lasting(value).into()).collect::<Vec<toml::Value>>())?
                }
            };
        }
        Ok(layers)
    }
}

/// Whether the value of a setting names a file that later runs read, too.
fn names_file(key: &str) -> bool {
    flags().iter().any(|flag| flag.key == key && flag.name != "log" && value_name(flag) == "FILE")
}

/// The absolute path of a file, because a later run may begin in another folder.
fn absolute(file: &str) -> String {
    let path = std::path::absolute(file).ok().and_then(|path| path.into_os_string().into_string().ok());
    path.unwrap_or_else(|| file.to_owned())
}

fn is_list(key: &str) -> bool {
    flags().iter().any(|flag| flag.key == key && flag.default.starts_with('['))
}

/// Every setting, in the order of `default.toml`.
fn flags() -> &'static [Flag] {
    static FLAGS: OnceLock<Vec<Flag>> = OnceLock::new();
    FLAGS.get_or_init(|| {
        let names = config::flags();
        let mut flags = Vec::new();
        let (mut group, mut comment) = ("", String::new());
        for line in config::DEFAULT.lines() {
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                group = name;
            } else if let Some(text) = line.strip_prefix('#') {
                comment.push_str(text);
            } else if let Some((key, default)) = line.split_once(" = ") {
                let key = format!("{group}.{key}");
                let name = names.iter().find(|(known, _)| *known == key).map_or(key.clone(), |(_, flag)| flag.clone());
                let help = comment.trim().trim_end_matches(&format!("--{name}")).trim_end().to_owned();
                flags.push(Flag { key, name, help, default: default.trim_matches('"').to_owned() });
            }
            if !line.starts_with('#') {
                comment.clear();
            }
        }
        flags
    })
}

fn arg(flag: &'static Flag) -> Arg {
    let arg = Arg::new(flag.name.as_str()).long(flag.name.as_str()).help(flag.help.as_str()).help_heading("Settings");
    let switch = matches!(flag.default.as_str(), "true" | "false");
    let list = flag.default.starts_with('[');
    let value_name: Resettable<_> = clap::builder::Str::from(if switch { "BOOL" } else { value_name(flag) }).into();
    let arg = arg.value_name(value_name).action(if list { ArgAction::Append } else { ArgAction::Set });
    let arg = match flag.default.as_str() {
        "" => arg,
        "[]" => arg.help(format!("{} (repeatable)", flag.help)),
        default => arg.help(format!("{} [default: {default}]", flag.help)),
    };
    match switch {
        true => arg.num_args(0..=1).require_equals(true).default_missing_value("true"),
        false => arg.allow_negative_numbers(true),
    }
}

fn value_name(flag: &Flag) -> &'static str {
    let looks = |units: &[&str]| {
        let digits = flag.default.trim_start_matches(|c: char| c.is_ascii_digit());
        digits.len() < flag.default.len() && units.contains(&digits)
    };
    match flag.name.as_str() {
        "include" | "exclude" => "REGEX",
        "connect-to" => "HOST1:PORT1:HOST2:PORT2",
        "dashboard" => "ADDR",
        "contact" => "URL_OR_EMAIL",
        "proxy" | "web-bot-auth-agent" => "URL",
        "header" => "K: V",
        "distance" => "K",
        "like" => "FILE_OR_URL",
        "known" | "topic-file" | "log" | "ca-file" | "client-cert" | "cookies-file" | "login" | "web-bot-auth" => {
            "FILE"
        }
        "drop-params" | "keep-params" => "NAME",
        "topic" => "WORDS",
        "insecure-host" => "HOST",
        "refresh-share" => "SHARE",
        "rotate" => "SIZE|TIME",
        "user-agent" => "NAME",
        "score-with" => "CMD",
        _ if looks(&["ms", "s", "m", "h", "d"]) => "DURATION",
        _ if looks(&["B", "KiB", "MiB", "GiB"]) => "SIZE",
        _ if flag.default.parse::<f64>().is_ok() => "N",
        _ => "VALUE",
    }
}

impl FromArgMatches for SettingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = |flag: &&Flag| matches.value_source(&flag.name) == Some(ValueSource::CommandLine);
        let value = |flag: &'static Flag| {
            let values = matches.get_many::<String>(&flag.name).into_iter().flatten().cloned().collect();
            (flag.key.as_str(), values)
        };
        let mut values: Vec<_> = flags().iter().filter(given).map(value).collect();
        for (key, name) in config::DEPRECATED {
            values.extend(matches.get_one::<String>(name).map(|value| (key, vec![value.clone()])));
        }
        Ok(Self { values })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for SettingFlags {
    fn augment_args(command: Command) -> Command {
        let deprecated = config::DEPRECATED
            .iter()
            .map(|(_, name)| Arg::new(*name).long(*name).num_args(0..=1).default_missing_value("true").hide(true));
        command.args(flags().iter().map(arg)).args(deprecated)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
