//! Checks `skipped.jsonl`. It is a view of the state, so it must have the lines that the state gives now. It may also
//! name URLs that stayed queued because their host could not be asked. Only the run itself had such hosts in memory.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::path::Path;

use dedup_stage::store::Session;
use dedup_stage::url::Keys;
use frontier::rules::stored;
use frontier::{Frontier, State, Walk};
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::Findings;
use crate::report::line::SkipLine;
use crate::report::source::Lines;
use crate::sink::{SkippedJsonl, write_lines};

/// Compares the file in `dir` with the state.
pub(super) fn check(
    dir: &Path,
    keys: &Keys,
    frontier: &Frontier,
    session: &Session,
    findings: &mut Findings,
) -> anyhow::Result<()> {
    if !dir.join(SkippedJsonl::NAME).exists() {
        findings.add("skipped.jsonl is missing".into());
        return Ok(());
    }
    let mut wanted = Wanted::default();
    let rules = stored(session)?;
    let rule = |id| rules.iter().find(|rule| rule.id == id);
    write_lines(&mut wanted, frontier, Walk::new(false), &rule, session, &mut |_, _| {})?;
    let mut lines = wanted.lines;
    let (mut failure, mut withheld) = (None, HashSet::new());
    Lines::open(dir, SkippedJsonl::NAME, None)?.each(&mut |offset, line| {
        let known = lines.get_mut(&xxh3_64(line)).filter(|count| **count > 0);
        if let Some(count) = known {
            *count -= 1;
            return;
        }
        let parsed = serde_json::from_slice::<SkipLine<'_>>(line).ok();
        let Some(url) = parsed.and_then(|skip| Url::parse(&skip.url).ok()) else {
            return findings.add(format!("the line of skipped.jsonl at byte {offset} cannot be read"));
        };
        let id = keys.id(&url);
        match frontier.state(id, session) {
            Ok(None) => findings.add(format!("skipped.jsonl names {url}, which the state never met")),
            Ok(Some(State::Done(_) | State::Gone(_) | State::Queued { before: Some(_) })) => {
                findings.add(format!("{url} was fetched, and stands in skipped.jsonl"));
            }
            Ok(Some(State::Queued { .. })) if withheld.insert(id) => {}
            Ok(Some(_)) => findings.add(format!("skipped.jsonl has a line for {url} that the state does not give")),
            Err(error) => failure = Some(error),
        }
    })?;
    if let Some(error) = failure {
        return Err(error.into());
    }
    let missing: u64 = lines.values().sum();
    if missing > 0 {
        findings.add(format!("skipped.jsonl lacks {missing} lines that the state gives"));
    }
    Ok(())
}

/// The lines that the state gives.
#[derive(Debug, Default)]
struct Wanted {
    /// The number of lines with each hash.
    lines: HashMap<u64, u64>,
    /// The line that is being written.
    line: Vec<u8>,
}

impl Write for Wanted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if self.line.pop_if(|byte| *byte == b'\n').is_some() {
                *self.lines.entry(xxh3_64(&self.line)).or_default() += 1;
                self.line.clear();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
