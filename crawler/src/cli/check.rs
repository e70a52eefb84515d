//! `crawler check`: whether state and outputs of a crawl agree, and every URL that it met is in exactly one state.

use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;
use std::process::ExitCode;

use dedup_stage::store::Session;
use dedup_stage::url::{Canonicalizer, KeyHasher, Keys, PageId, UrlId};
use frontier::{Frontier, State};
use url::Url;

use super::{Dir, exit, last_settings, tell};
use crate::clock::Clock;
use crate::crawl::CrawlDir;
use crate::record::PageRecord;
use crate::report::html::put;
use crate::report::line::{PageLine, SkipLine};
use crate::report::source::Lines;
use crate::sink::{PagesJsonl, SkippedJsonl};
use crate::spaces;

/// Arguments of `crawler check`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    dir: Dir,
}

/// Findings that are told.
const MOST: usize = 100;

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut dir = CrawlDir::existing(&args.dir.dir)?;
    let findings = check(&mut dir)?;
    let mut out = String::new();
    for finding in findings.iter().take(MOST) {
        put!(out, "{finding}\n");
    }
    if findings.is_empty() {
        put!(out, "state and outputs agree, and every URL is in exactly one state\n");
        return tell(out);
    }
    put!(out, "{} findings\n", findings.len());
    tell(out)?;
    Ok(ExitCode::from(exit::FAILED))
}

/// What is wrong with a crawl directory, one sentence for each finding.
pub fn check(dir: &mut CrawlDir) -> anyhow::Result<Vec<String>> {
    let settings = last_settings(dir)?;
    let keys = Keys { canonicalizer: Canonicalizer::new(&settings.urls), hasher: KeyHasher::new(dir.secret()?) };
    let (stats, reason) = dir.stats()?;
    let length = dir.lengths()?.get(PagesJsonl::NAME).copied().unwrap_or(0);
    let path = dir.path().to_owned();
    let frontier = Frontier::open(&settings, &keys, dir.session(), Clock::System.now())?;
    let session: &Session = dir.session();
    let mut findings = frontier.check(session)?;

    let records = records(session, &frontier, &mut findings)?;
    let lines = page_lines(&path.join(PagesJsonl::NAME), length, &keys, &mut findings)?;
    for page in records.difference(&lines).take(MOST) {
        findings.push(format!(
            "visit {} of {} is in the state, but has no line in pages.jsonl",
            page.visit,
            hash(page.url)
        ));
    }
    for page in lines.difference(&records).take(MOST) {
        findings.push(format!(
            "visit {} of {} has a line in pages.jsonl, but is not in the state",
            page.visit,
            hash(page.url)
        ));
    }
    if lines.len() as u64 != stats.pages + stats.failed {
        let (lines, counted) = (lines.len(), stats.pages + stats.failed);
        findings.push(format!("pages.jsonl has {lines} pages, but the counters say {counted}"));
    }
    // The view is written at the end of a run; while a run is unfinished it is that of the run before.
    if reason.is_some() {
        skipped_lines(&path.join(SkippedJsonl::NAME), &keys, &frontier, session, &mut findings)?;
    }
    Ok(findings)
}

/// The visits in the state. Each must be of a URL that was visited so often.
fn records(session: &Session, frontier: &Frontier, findings: &mut Vec<String>) -> anyhow::Result<HashSet<PageId>> {
    let mut pages = HashSet::new();
    session.scan(spaces::PAGES, &[], &[], &mut |key, value| {
        match (PageRecord::page_of(key), PageRecord::decode(value)) {
            (Some(page), Ok(_)) => _ = pages.insert(page),
            _ => findings.push("the record of a page cannot be read".into()),
        }
        if findings.len() < MOST { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    for page in &pages {
        let visits = match frontier.state(page.url, session)? {
            Some(State::Done(visit) | State::Gone(visit)) => visit.number,
            // A page is queued again for its next visit.
            Some(State::Queued { .. }) => u32::MAX,
            _ => 0,
        };
        if page.visit > visits && findings.len() < MOST {
            findings.push(format!(
                "{} has a record of visit {}, but was visited {visits} times",
                hash(page.url),
                page.visit
            ));
        }
    }
    Ok(pages)
}

/// The visits that `pages.jsonl` tells of, as far as the state vouches for the file.
fn page_lines(
    path: &std::path::Path,
    length: u64,
    keys: &Keys,
    findings: &mut Vec<String>,
) -> io::Result<HashSet<PageId>> {
    let mut pages = HashSet::new();
    if length == 0 {
        return Ok(pages);
    }
    if std::fs::metadata(path)?.len() < length {
        findings.push(format!("pages.jsonl is shorter than the {length} bytes that the state vouches for"));
    }
    Lines::open(path, Some(length))?.each(&mut |offset, line| {
        let parsed = PageLine::parse(line).and_then(|page| Some((Url::parse(&page.url).ok()?, page.visit)));
        match parsed {
            Some((url, visit)) => {
                if !pages.insert(PageId { url: keys.identify(&url).0, visit }) {
                    findings.push(format!("pages.jsonl has two lines for visit {visit} of {url}"));
                }
            }
            None => findings.push(format!("the line of pages.jsonl at byte {offset} cannot be read")),
        }
    })?;
    Ok(pages)
}

/// Each URL of `skipped.jsonl` must be one that was met and not fetched, and stand there once.
fn skipped_lines(
    path: &std::path::Path,
    keys: &Keys,
    frontier: &Frontier,
    session: &Session,
    findings: &mut Vec<String>,
) -> anyhow::Result<()> {
    let (mut known, mut ids) = (HashSet::new(), Vec::new());
    Lines::open(path, None)?.each(&mut |offset, line| {
        let parsed = serde_json::from_slice::<SkipLine<'_>>(line).ok();
        match parsed.and_then(|skip| Some((Url::parse(&skip.url).ok()?, skip.reason.to_string()))) {
            Some((url, reason)) => {
                let (id, _) = keys.identify(&url);
                if !known.insert((id, reason.clone())) {
                    findings.push(format!("skipped.jsonl has two lines for {url} and {reason}"));
                }
                ids.push((id, url));
            }
            None => findings.push(format!("the line of skipped.jsonl at byte {offset} cannot be read")),
        }
    })?;
    for (id, url) in ids {
        if findings.len() >= MOST {
            return Ok(());
        }
        match frontier.state(id, session)? {
            None => findings.push(format!("skipped.jsonl names {url}, which the state never met")),
            Some(State::Done(_) | State::Gone(_)) => {
                findings.push(format!("{url} was fetched, and stands in skipped.jsonl"))
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// A URL where only its identity is known.
fn hash(url: UrlId) -> String {
    format!("URL {:016x}", url.url)
}
