//! `crawler export`: what a crawl holds, as JSON Lines, as a table, or as one archive.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use dedup_stage::store::Session;
use dedup_stage::url::PageId;
use frontier::rules::stored;
use frontier::{Frontier, SkipReason, Walk};
use serde_json::json;

use super::say::say;
use super::{Dir, Usage};
use crate::clock::Clock;
use crate::crawl::CrawlDir;
use crate::export::{Table, wacz_of_crawl, write_clusters, write_texts};
use crate::record::PageRecord;
use crate::sink::{PagesJsonl, TextJsonl, write_lines};
use crate::spaces;

/// Arguments of `crawler export`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    dir: Dir,
    /// What to write
    #[arg(long, value_enum, default_value = "pages")]
    what: What,
    /// How to write it
    #[arg(long, value_enum, default_value = "jsonl")]
    format: Format,
    /// With text and markdown: every copy and every visit, not only one page of each cluster
    #[arg(long)]
    all: bool,
    /// File to write; stdout without it (wacz: DIR/crawl.wacz)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum What {
    /// The lines of pages.jsonl
    Pages,
    /// The link by which each URL was first found: {"source","url","state"}, state `fetched` or `held`
    Links,
    /// The lines of skipped.jsonl
    Skipped,
    /// The main text of each page, of a crawl with --text
    Text,
    /// The main text of each page as Markdown, of a crawl with --markdown
    Markdown,
    /// Pages that repeat another: {"representative","pages"}
    Clusters,
    /// One file with all archives, their index and a list of pages, of a crawl with --warc
    Wacz,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// JSON Lines
    Jsonl,
    /// A table
    Csv,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut dir = CrawlDir::existing(&args.dir.dir)?;
    if args.what == What::Wacz {
        return wacz(&dir, args.output.unwrap_or_else(|| dir.path().join("crawl.wacz")));
    }
    let out: Box<dyn Write> = match &args.output {
        Some(path) => Box::new(File::create(path).with_context(|| path.display().to_string())?),
        None => Box::new(io::stdout().lock()),
    };
    let out = BufWriter::new(out);
    let mut out: Box<dyn Write> = match args.format {
        Format::Jsonl => Box::new(out),
        Format::Csv => Box::new(Table::new(out)),
    };
    match args.what {
        What::Pages => drop(io::copy(&mut vouched(&dir, PagesJsonl::NAME)?, &mut out)?),
        What::Skipped => skipped(&mut dir, &mut out)?,
        What::Links => links(&mut dir, &mut out)?,
        What::Text => texts(&dir, TextJsonl::TEXT, "--text", args.all, &mut out)?,
        What::Markdown => texts(&dir, TextJsonl::MARKDOWN, "--markdown", args.all, &mut out)?,
        What::Clusters => write_clusters(BufReader::new(vouched(&dir, PagesJsonl::NAME)?), &mut out)?,
        What::Wacz => {}
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// An output as far as the state vouches for it.
fn vouched(dir: &CrawlDir, name: &str) -> anyhow::Result<impl Read> {
    let length = dir.lengths()?.get(name).copied().unwrap_or(0);
    let path = if length > 0 { dir.path().join(name) } else { "/dev/null".into() };
    Ok(File::open(&path).with_context(|| path.display().to_string())?.take(length))
}

fn texts(dir: &CrawlDir, name: &str, flag: &str, all: bool, out: &mut impl Write) -> anyhow::Result<()> {
    if !dir.lengths()?.contains_key(name) {
        bail!(Usage(format!("{} has no {name}: crawl with {flag}", dir.path().display())));
    }
    let open = || vouched(dir, name).map(BufReader::new).map_err(io::Error::other);
    Ok(write_texts(open, all, out)?)
}

fn wacz(dir: &CrawlDir, path: PathBuf) -> anyhow::Result<ExitCode> {
    if !dir.path().join("warc").exists() {
        bail!(Usage(format!("{} has no archive: crawl with --warc", dir.path().display())));
    }
    let written = wacz_of_crawl(dir.path(), &path, Clock::System.now()).with_context(|| path.display().to_string())?;
    say!("{}: {} captures, {} pages, {} WARC files", path.display(), written.captures, written.pages, written.warcs);
    Ok(ExitCode::SUCCESS)
}

/// The frontier as the state has it, for those who only read.
fn frontier(dir: &mut CrawlDir) -> anyhow::Result<Frontier> {
    let settings = dir.last_settings()?;
    let keys = dir.keys()?;
    Ok(Frontier::open(&settings, &keys, dir.session(), Clock::System.now())?)
}

fn skipped(dir: &mut CrawlDir, out: &mut impl Write) -> anyhow::Result<()> {
    let frontier = frontier(dir)?;
    let rules = stored(dir.session())?;
    let rule = |id| rules.iter().find(|rule| rule.id == id);
    Ok(write_lines(out, &frontier, Walk::new(true), &rule, dir.session(), &mut |_| {})?)
}

fn links(dir: &mut CrawlDir, out: &mut impl Write) -> anyhow::Result<()> {
    let frontier = frontier(dir)?;
    let session: &Session = dir.session();
    let mut urls = HashMap::<PageId, String>::new();
    let mut url_of = |page: PageId| -> anyhow::Result<Option<String>> {
        if let Some(url) = urls.get(&page) {
            return Ok(Some(url.clone()));
        }
        let url = PageRecord::get(page, session)?.map(|record| record.url);
        if let Some(url) = &url {
            urls.insert(page, url.clone());
        }
        Ok(url)
    };
    let mut failure = None;
    session.scan(spaces::PAGES, &[], &[], &mut |_, value| {
        let Ok(record) = PageRecord::decode(value) else { return ControlFlow::Continue(()) };
        let source = record.source.map(&mut url_of).transpose().map(Option::flatten);
        let written = source.and_then(|source| {
            let line = json!({"source": source, "url": record.url, "state": "fetched"});
            Ok(writeln!(out, "{line}")?)
        });
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        }
    })?;
    if let Some(error) = failure {
        return Err(error);
    }
    let mut walk = Walk::new(false);
    loop {
        let part = frontier.skipped(&mut walk, 1_024, session)?;
        if part.is_empty() {
            return Ok(());
        }
        for skipped in part.iter().filter(|skipped| skipped.reason == SkipReason::DuplicateSource) {
            let source = skipped.source.map(&mut url_of).transpose()?.flatten();
            writeln!(out, "{}", json!({"source": source, "url": skipped.url, "state": "held"}))?;
        }
    }
}
