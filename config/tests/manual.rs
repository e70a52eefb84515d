//! Tests that `default.toml` is a complete manual: it has every key, with a comment that ends in the flag of the key,
//! and every flag that the documentation promises exists.

use std::collections::BTreeMap;

use config::{DEFAULT, Settings, flags};

/// The flags in `crawler crawl --help`, except those that say where settings come from or how much the program prints
/// (`--dir`, `--seeds`, `--profile`, `--config`, `-q`, `-v`).
const DOCUMENTED: [&str; 53] = [
    "known",
    "max-pages",
    "max-pages-per-host",
    "max-pages-per-domain",
    "rescue",
    "max-depth",
    "time-limit",
    "concurrency",
    "scope",
    "include",
    "exclude",
    "on-duplicate",
    "distance",
    "patience",
    "recrawl",
    "continuous",
    "refresh-share",
    "min-age",
    "max-age",
    "min-gain",
    "sitemaps",
    "topic",
    "topic-file",
    "like",
    "score-with",
    "delay",
    "robots",
    "user-agent",
    "contact",
    "allow-private",
    "connect-to",
    "max-body",
    "timeout",
    "proxy",
    "header",
    "cookies",
    "cookies-file",
    "login",
    "web-bot-auth",
    "web-bot-auth-agent",
    "purpose",
    "warc",
    "requisites",
    "text",
    "markdown",
    "rotate",
    "log",
    "log-format",
    "dashboard",
    "progress",
    "drop-tracking",
    "drop-sessions",
    "sort-query",
];

#[test]
fn every_documented_flag_has_a_key() {
    let flags: BTreeMap<_, _> = flags().into_iter().map(|(key, flag)| (flag, key)).collect();
    let missing: Vec<_> = DOCUMENTED.iter().filter(|flag| !flags.contains_key(**flag)).collect();
    assert!(missing.is_empty(), "no key for {missing:?}");
}

#[test]
fn no_two_keys_share_a_flag() {
    let flags = flags();
    let distinct: BTreeMap<_, _> = flags.iter().map(|(key, flag)| (flag, key)).collect();
    assert_eq!(distinct.len(), flags.len());
}

/// Serialized settings have exactly the keys of the file: no key is missing in the file, and none is left over.
#[test]
fn every_setting_stands_in_the_manual() {
    let settings = toml::Table::try_from(Settings::default()).unwrap();
    let mut keys: Vec<_> = settings
        .iter()
        .flat_map(|(group, keys)| keys.as_table().unwrap().keys().map(move |key| format!("{group}.{key}")))
        .collect();
    let mut written: Vec<_> = flags().into_iter().map(|(key, _)| key).collect();
    keys.sort();
    written.sort();
    assert_eq!(keys, written);
}

#[test]
fn every_key_has_a_comment_that_names_its_flag() {
    let flags: BTreeMap<_, _> = flags().into_iter().collect();
    let (mut group, mut comment, mut seen) = (String::new(), String::new(), 0);
    for line in DEFAULT.lines() {
        if let Some(name) = line.strip_prefix('[') {
            group = name.trim_end_matches(']').to_owned();
        } else if let Some(text) = line.strip_prefix('#') {
            comment.push_str(text);
        } else if let Some((key, _)) = line.split_once(" = ") {
            let flag = &flags[&format!("{group}.{key}")];
            assert!(comment.ends_with(&format!(" --{flag}")), "{group}.{key}: {comment:?} does not end in --{flag}");
            comment.clear();
            seen += 1;
        } else {
            comment.clear();
        }
    }
    assert_eq!(seen, flags.len());
}

/// Flags that the interface document promises, and that are not built yet.
const NOT_YET: [&str; 2] = ["add-seeds", "refresh"];

/// Compares the list above with the document from which it was written, if this document is there.
#[test]
fn the_documented_flags_are_those_of_the_interface() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/INTERFACES.md");
    let Ok(text) = std::fs::read_to_string(path) else {
        println!("skipped: no {path}");
        return;
    };
    let usage = text.split("crawler crawl [SEED]").nth(1).unwrap().split("\ncrawler demo").next().unwrap();
    let elsewhere = ["dir", "seeds", "profile", "config"];
    let flags: Vec<_> = flags().into_iter().map(|(_, flag)| flag).collect();
    let named = usage
        .split("--")
        .skip(1)
        .map(|rest| rest.split(|c: char| !c.is_ascii_lowercase() && c != '-').next().unwrap_or_default());
    let mut count = 0;
    for flag in named.filter(|flag| !flag.is_empty() && !elsewhere.contains(flag)) {
        if NOT_YET.contains(&flag) {
            assert!(!flags.iter().any(|known| known == flag), "--{flag} is built: take it off the list");
            continue;
        }
        assert!(flags.iter().any(|known| known == flag), "no key for --{flag}");
        assert!(DOCUMENTED.contains(&flag), "--{flag} is not in the list of this test");
        count += 1;
    }
    assert!(count >= 28, "{count} flags read");
}
