//! `skipped.jsonl`: each URL that was met and not fetched, with the reason. The file is computed from the state: it is
//! written anew at the end of a run and on export. It is replaced as a whole, so no reader sees half of it.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use dedup_stage::store::{Error, Session};
use dedup_stage::url::PageId;
use frontier::rules::{Rule, RuleId};
use frontier::{Detail, Frontier, Skipped, Walk};
use serde_json::json;

use crate::record::PageRecord;

/// The name of the file, and how its lines are made.
#[derive(Debug)]
pub struct SkippedJsonl;

impl SkippedJsonl {
    /// The name of the file in the crawl directory.
    pub const NAME: &str = "skipped.jsonl";
    /// The text between the names of rules that stopped a URL together, in the order in which they were applied.
    pub const THEN: &str = ", then ";
    /// The number of URLs that are read from the state at once.
    const PART: usize = 1_024;
}

/// Receives a URL that is not fetched, and the record of the page that linked to it.
type Each<'a> = dyn FnMut(&Skipped, Option<&PageRecord>) + 'a;

/// Writes the file in `dir` anew. `each` gets the data of every line, with the record of the page that linked to the
/// URL. It also gets URLs that were fetched before and wait for another visit. These have no line.
pub fn write_skipped<'r>(
    dir: &Path,
    frontier: &Frontier,
    rule: &dyn Fn(RuleId) -> Option<&'r Rule>,
    session: &Session,
    each: &mut Each<'_>,
) -> io::Result<()> {
    let path = dir.join(SkippedJsonl::NAME);
    let unfinished = path.with_extension("jsonl.part");
    let mut out = BufWriter::new(File::create(&unfinished)?);
    write_lines(&mut out, frontier, Walk::new(true), rule, session, each)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    std::fs::rename(&unfinished, &path)
}

/// Writes one line for each URL of a walk over those that are not fetched, except those that were fetched before.
pub fn write_lines<'r>(
    out: &mut dyn Write,
    frontier: &Frontier,
    mut walk: Walk,
    rule: &dyn Fn(RuleId) -> Option<&'r Rule>,
    session: &Session,
    each: &mut Each<'_>,
) -> io::Result<()> {
    let failed = |error: Error| io::Error::other(error.to_string());
    // The links of one page follow each other only by chance: URLs come in the order of their hosts and hashes.
    let mut last: Option<(PageId, Option<PageRecord>)> = None;
    loop {
        let part = frontier.skipped(&mut walk, SkippedJsonl::PART, session).map_err(failed)?;
        if part.is_empty() {
            return Ok(());
        }
        for skipped in part {
            if skipped.was_fetched {
                each(&skipped, None);
                continue;
            }
            let source = match skipped.source {
                Some(page) => {
                    if last.as_ref().is_none_or(|(known, _)| *known != page) {
                        last = Some((page, PageRecord::get(page, session).map_err(failed)?));
                    }
                    last.as_ref().and_then(|(_, record)| record.as_ref())
                }
                None => None,
            };
            writeln!(out, "{}", line(&skipped, source.map(|record| record.url.as_str()), rule))?;
            each(&skipped, source);
        }
    }
}

fn line<'r>(skipped: &Skipped, source: Option<&str>, rule: &dyn Fn(RuleId) -> Option<&'r Rule>) -> serde_json::Value {
    let mut line = json!({"url": skipped.url, "reason": skipped.reason.name(), "source": source});
    if !skipped.rules.is_empty() {
        let names: Vec<String> = skipped.rules.iter().filter_map(|id| Some(rule(*id)?.to_string())).collect();
        line["rule"] = names.join(SkippedJsonl::THEN).into();
    }
    if let Some(corpus) = &skipped.known {
        line["known"] = corpus.as_str().into();
    }
    if skipped.detail != Detail::None {
        line["detail"] = skipped.detail.to_string().into();
    }
    line
}
