//! `crawler export`: what a crawl holds, as JSON Lines.

use std::collections::HashMap;
use std::io::{self, BufWriter, Read, Write};
use std::ops::ControlFlow;
use std::process::ExitCode;

use dedup_stage::store::Session;
use dedup_stage::url::{Canonicalizer, KeyHasher, Keys, PageId};
use frontier::rules::stored;
use frontier::{Frontier, SkipReason, Walk};
use serde_json::json;

use super::{Dir, last_settings};
use crate::clock::Clock;
use crate::crawl::CrawlDir;
use crate::record::PageRecord;
use crate::sink::{PagesJsonl, write_lines};
use crate::spaces;

/// Arguments of `crawler export`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    dir: Dir,
    /// What to write
    #[arg(long, value_enum, default_value = "pages")]
    what: What,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum What {
    /// The lines of pages.jsonl
    Pages,
    /// The link by which each URL was first found: {"source","url","state"}, state `fetched` or `held`
    Links,
    /// The lines of skipped.jsonl
    Skipped,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut dir = CrawlDir::existing(&args.dir.dir)?;
    let mut out = BufWriter::new(io::stdout().lock());
    match args.what {
        What::Pages => pages(&dir, &mut out)?,
        What::Skipped => skipped(&mut dir, &mut out)?,
        What::Links => links(&mut dir, &mut out)?,
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Copies `pages.jsonl` as far as the state vouches for it.
fn pages(dir: &CrawlDir, out: &mut impl Write) -> anyhow::Result<()> {
    let length = dir.lengths()?.get(PagesJsonl::NAME).copied().unwrap_or(0);
    if length > 0 {
        let file = std::fs::File::open(dir.path().join(PagesJsonl::NAME))?;
        io::copy(&mut file.take(length), out)?;
    }
    Ok(())
}

/// The frontier as the state has it, for those who only read.
fn frontier(dir: &mut CrawlDir) -> anyhow::Result<Frontier> {
    let settings = last_settings(dir)?;
    let keys = Keys { canonicalizer: Canonicalizer::new(&settings.urls), hasher: KeyHasher::new(dir.secret()?) };
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
