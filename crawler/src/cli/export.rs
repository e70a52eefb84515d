//! `crawler export`: what a crawl holds, as JSON Lines.

use std::collections::HashMap;
use std::io::{BufWriter, Read, Write};
use std::ops::ControlFlow;
use std::process::ExitCode;

use dedup_stage::judge::Row;
use serde_json::json;

use super::Dir;
use crate::crawl::CrawlDir;
use crate::engine::HeldLink;
use crate::record::PageRecord;
use crate::sink::{PagesJsonl, SkippedJsonl};
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
    let mut out = BufWriter::new(std::io::stdout().lock());
    match args.what {
        What::Pages => copy(&dir, PagesJsonl::NAME, &mut out)?,
        What::Skipped => copy(&dir, SkippedJsonl::NAME, &mut out)?,
        What::Links => links(&mut dir, &mut out)?,
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Copies an output as far as the state vouches for it.
fn copy(dir: &CrawlDir, name: &str, out: &mut impl Write) -> anyhow::Result<()> {
    let length = dir.lengths()?.get(name).copied().unwrap_or(0);
    if length > 0 {
        let file = std::fs::File::open(dir.path().join(name))?;
        std::io::copy(&mut file.take(length), out)?;
    }
    Ok(())
}

fn links(dir: &mut CrawlDir, out: &mut impl Write) -> anyhow::Result<()> {
    let mut urls = HashMap::<Row, String>::new();
    let mut failure = None;
    let mut write = |source: Option<&String>, url: &str, state: &str| {
        let line = json!({"source": source, "url": url, "state": state});
        match writeln!(out, "{line}") {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        }
    };
    dir.session().scan(spaces::PAGES, &[], &[], &mut |row, value| {
        let (Ok(row), Ok(record)) = (row.try_into().map(Row::from_be_bytes), PageRecord::decode(value)) else {
            return ControlFlow::Continue(());
        };
        let flow = write(record.source.and_then(|source| urls.get(&source)), &record.url, "fetched");
        urls.insert(row, record.url);
        flow
    })?;
    dir.session().scan(spaces::HELD, &[], &[], &mut |_, value| match HeldLink::decode(value) {
        Some(link) => write(urls.get(&link.source), &link.url, "held"),
        None => ControlFlow::Continue(()),
    })?;
    failure.map_or(Ok(()), |error| Err(error.into()))
}
