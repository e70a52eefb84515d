//! `crawler check`: tells whether the state and the outputs of a crawl agree, and whether every URL met is in exactly
//! one state.
//!
//! The frontier checks the records of URLs. `pages` checks the records of pages and their lines in `pages.jsonl`.
//! `skipped` checks `skipped.jsonl`, and `counters` all counters.

mod counters;
mod pages;
mod skipped;

use std::process::ExitCode;

use dedup_stage::store::Session;
use dedup_stage::url::UrlId;
use frontier::Frontier;

use super::{Dir, exit, tell};
use crate::clock::Clock;
use crate::crawl::CrawlDir;
use crate::report::html::put;
use crate::report::source::Lines;
use crate::series::Series;
use crate::sink::{Lengths, PagesJsonl};
use crate::units;

/// Arguments of `crawler check`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    dir: Dir,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut dir = CrawlDir::existing(&args.dir.dir)?;
    let findings = check(&mut dir)?;
    let mut out = String::new();
    for finding in &findings {
        put!(out, "{finding}\n");
    }
    if findings.is_empty() {
        put!(out, "state and outputs agree, and every URL is in exactly one state\n");
        return tell(out);
    }
    put!(out, "{}\n", units::counted(findings.len() as u64, "finding"));
    tell(out)?;
    Ok(ExitCode::from(exit::FAILED))
}

/// The faults of a crawl directory, one sentence each. If there are very many, only some of them are returned.
pub fn check(dir: &mut CrawlDir) -> anyhow::Result<Vec<String>> {
    let settings = dir.last_settings()?;
    let (keys, sites) = (dir.keys()?, dir.sites()?);
    let (stats, reason) = dir.stats()?;
    let lengths = dir.lengths()?;
    let path = dir.path().to_owned();
    let frontier = Frontier::open(&settings, &keys, dir.session(), Clock::System.now())?;
    let session: &Session = dir.session();
    // A run that was killed leaves outputs that are longer than the state says, and the `skipped.jsonl` of the run
    // before.
    let ended = reason.is_some();

    let mut findings = Findings(frontier.check(session)?);
    check_lengths(&path, &lengths, ended, &mut findings)?;
    let length = lengths.get(PagesJsonl::NAME).copied().unwrap_or(0);
    let pages = Lines::open(&path, PagesJsonl::NAME, Some(length))?;
    let lines = pages::check_lines(&pages, (&keys, &sites), &frontier, session, &mut findings)?;
    let records = pages::check_records(&frontier, &keys, session, &mut findings)?;
    // The pages of a missing part are missing from every sum.
    if pages.gone()?.is_empty() {
        if lines.own != records {
            findings.add(format!("pages.jsonl has {} pages, and the state {records}", lines.own));
        }
        counters::check_pages(&stats, &lines, &mut findings);
    }
    let open = settings.fetch.concurrency as u64;
    counters::check_urls(&stats, &frontier.counts(), open, &mut findings);
    if ended {
        skipped::check(&path, &keys, &frontier, session, &mut findings)?;
    }
    Ok(findings.0)
}

/// Checks that the outputs are as long as the state says; at least as long, if the last run did not end by itself.
fn check_lengths(
    dir: &std::path::Path,
    lengths: &Lengths,
    ended: bool,
    findings: &mut Findings,
) -> std::io::Result<()> {
    for (name, vouched) in lengths {
        let series = Series::open(dir, name)?;
        for part in series.gone(*vouched)? {
            findings.add(format!("{part}: what it had cannot be compared"));
        }
        for (part, length, then) in series.misfits()? {
            findings.add(format!("{part} has {length} bytes, and had {then} when it was closed"));
        }
        let length = series.end();
        // At its end, a run sorts the index of the archive, which may change its length.
        let exact = ended && name == PagesJsonl::NAME;
        if length < *vouched && !dir.join(name).try_exists()? {
            findings.add(format!("{name} is not there, and the state has recorded {vouched} bytes of it"));
        } else if length < *vouched || exact && length > *vouched {
            findings.add(format!("{name} has {length} bytes, and the state has recorded {vouched}"));
        }
    }
    Ok(())
}

/// The faults that were found so far.
#[derive(Debug, Default)]
struct Findings(Vec<String>);

impl Findings {
    /// The largest number of faults that are printed.
    const MOST: usize = 100;

    fn add(&mut self, finding: String) {
        if !self.is_full() {
            self.0.push(finding);
        }
    }

    fn is_full(&self) -> bool {
        self.0.len() >= Self::MOST
    }
}

/// Names a URL of which only the identity is known.
fn hash(url: UrlId) -> String {
    format!("URL {:016x}", url.url)
}
