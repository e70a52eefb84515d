//! The main text of pages: the lines of `text.jsonl` or `markdown.jsonl`, without those that say nothing new.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};

use serde::Deserialize;
use xxhash_rust::xxh3::xxh3_64;

/// What is read of a line.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    url: std::borrow::Cow<'a, str>,
    visit: u32,
    duplicate_of: Option<serde::de::IgnoredAny>,
}

/// Copies lines: of each URL that of its last visit, and of each cluster one, unless `all` are wanted. `open` gives the lines
/// from their beginning; they are read twice.
pub fn write<R: BufRead>(open: impl Fn() -> io::Result<R>, all: bool, out: &mut impl Write) -> io::Result<()> {
    let mut last = HashMap::new();
    for line in open()?.lines() {
        let line = line?;
        let Line { url, visit, .. } = serde_json::from_str(&line)?;
        last.insert(xxh3_64(url.as_bytes()), visit);
    }
    for line in open()?.lines() {
        let line = line?;
        let Line { url, visit, duplicate_of } = serde_json::from_str(&line)?;
        let is_last = last.get(&xxh3_64(url.as_bytes())) == Some(&visit);
        if all || is_last && duplicate_of.is_none() {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}
