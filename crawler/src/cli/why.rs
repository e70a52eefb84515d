//! `crawler why`: why a URL was fetched, dropped, demoted, stopped by a rule, refused or never seen.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;

use config::{Layers, OnDuplicate, Settings};
use dedup_stage::judge::Row;
use dedup_stage::store::{Session, Space};
use dedup_stage::url::{Canonicalizer, KeyHasher};
use frontier::rules::stored;
use frontier::{Frontier, Merits, SkipReason, UrlState};
use serde_json::Value;
use url::Url;

use super::{Dir, Usage, rules};
use crate::clock::Clock;
use crate::crawl::CrawlDir;
use crate::engine::HeldLink;
use crate::priority::Scoring;
use crate::record::PageRecord;
use crate::sink::PagesJsonl;

/// Arguments of `crawler why`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    dir: Dir,
    /// The URL to ask about
    url: String,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut dir = CrawlDir::existing(&args.dir.dir)?;
    let mut url = Url::parse(&args.url).map_err(|error| Usage(format!("{:?}: {error}", args.url)))?;
    url.set_fragment(None);
    let mut layers = Layers::new();
    if let Some(stored) = dir.settings()? {
        layers = layers.text(Path::new("stored settings"), &stored)?;
    }
    let settings = layers.finish()?;
    let canonicalizer = Canonicalizer::new(&settings.urls);
    let hash = canonicalizer.hash(&url, &KeyHasher::new(dir.secret()?));
    let pages = dir.path().join(PagesJsonl::NAME);
    let session = dir.session();

    let frontier = Frontier::open(&settings, session, Clock::System.now())?;
    println!("{url}");
    println!("  compared as {}", canonicalizer.key(&url).as_str());
    let mut known = true;
    match frontier::url_state(hash, session)? {
        Some(UrlState::Done { row: Some(row), .. }) => fetched(row, &pages, &settings, session)?,
        Some(UrlState::Done { row: None, .. } | UrlState::Failed) => match last_row_of(hash, session)? {
            Some(row) => fetched(row, &pages, &settings, session)?,
            None => println!("  given up, and nothing is recorded of it"),
        },
        Some(UrlState::Refused(_)) => {}
        None if frontier.seen(hash) => match frontier.queued_as(hash, session)? {
            Some((priority, merits, depth)) => {
                println!("  queued with priority {priority:.3} at depth {depth}; not fetched yet");
                explain(&settings, merits, depth);
            }
            None => println!("  being fetched when the crawl ended"),
        },
        None => known = false,
    }
    if let Some(link) = session.get(Space::Held, &hash.to_be_bytes())?.and_then(|bytes| HeldLink::decode(&bytes)) {
        known = true;
        if link.rules.is_empty() {
            println!("  held back: so far only a duplicate page links to it, and links of duplicates are dropped");
            found_on(Some(link.source), session)?;
            fetched(link.source, &pages, &settings, session)?;
        } else {
            println!("  stopped before its fetch by what was learned:");
            for rule in stored(session)?.iter().filter(|rule| link.rules.contains(&rule.id)) {
                println!("  {}", rules::text(rule));
            }
            found_on(Some(link.source).filter(|row| *row != Row::MAX), session)?;
        }
    }
    let mut skips = Vec::new();
    session.scan(Space::Skipped, &hash.to_be_bytes(), &[], &mut |key, source| {
        let (Some((of, reason)), Ok(source)) = (key.split_last_chunk::<1>(), source.try_into()) else {
            return ControlFlow::Break(());
        };
        if of != hash.to_be_bytes() {
            return ControlFlow::Break(());
        }
        skips.push((reason[0], Row::from_be_bytes(source)));
        ControlFlow::Continue(())
    })?;
    for (reason, source) in skips {
        if let Some(reason) = SkipReason::ALL.into_iter().find(|known| *known as u8 == reason)
            && reason != SkipReason::DuplicateSource
        {
            known = true;
            println!("  skipped: {} ({})", reason.name(), reason.explanation());
            found_on(Some(source).filter(|row| *row != Row::MAX), session)?;
        }
    }
    if settings.dedup.on_duplicate != OnDuplicate::Keep
        && let Some(expected) = frontier.expected(&url)
    {
        println!(
            "  pages like it, so far: share of new pages on its host {:.2}; under its path prefix {:.2} times that, with its \
             query parameters {:.2} times; together a factor of {:.2} when its turn is decided",
            expected.host,
            expected.path,
            expected.query,
            expected.factor(&settings.priority)
        );
    }
    if !known {
        println!("  never seen: no page fetched so far links to it, and it is no seed");
    }
    Ok(ExitCode::SUCCESS)
}

/// The last page with this key.
fn last_row_of(hash: u64, session: &Session) -> anyhow::Result<Option<Row>> {
    let mut found = None;
    session.scan(Space::Pages, &[], &[], &mut |row, value| {
        if PageRecord::decode(value).is_ok_and(|record| record.hash == hash) {
            found = row.try_into().ok().map(Row::from_be_bytes);
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

fn found_on(source: Option<Row>, session: &Session) -> anyhow::Result<()> {
    match source {
        Some(row) => {
            if let Some(record) = PageRecord::get(row, session)? {
                println!("  first found on {}", record.url);
            }
        }
        None => println!("  a seed"),
    }
    Ok(())
}

/// The parts that a priority was made of.
fn explain(settings: &Settings, merits: Merits, depth: u32) {
    let parts = Scoring::new(&settings.priority).explain(merits, depth, settings.focus.is_on());
    let parts: Vec<String> = parts.iter().map(|(name, part, weight)| format!("{name} {part:.2}^{weight}")).collect();
    println!("    made of {} (a seed has 1)", parts.join(" × "));
}

/// Tells the story of a fetched page from its line in `pages.jsonl`.
fn fetched(row: Row, pages: &Path, settings: &Settings, session: &Session) -> anyhow::Result<()> {
    let Some(record) = PageRecord::get(row, session)? else {
        println!("  done, but nothing is recorded of it");
        return Ok(());
    };
    let mut file = BufReader::new(File::open(pages)?);
    file.seek(SeekFrom::Start(record.offset))?;
    let mut line = String::new();
    file.read_line(&mut line)?;
    let page: Value = serde_json::from_str(&line)?;
    let text = |field: &str| page[field].as_str().unwrap_or_default().to_owned();
    match page["status"].as_u64() {
        Some(status) => println!(
            "  fetched {} at {}: status {status}, depth {}, priority {}",
            record.url,
            text("fetched_at"),
            page["depth"],
            page["priority"]
        ),
        None => println!("  tried at {}, and given up: {}", text("fetched_at"), text("error")),
    }
    let merits = &page["merits"];
    let merit = |at: usize| merits[at].as_u64().and_then(|merit| u8::try_from(merit).ok());
    if let (Some(a), Some(b), Some(c), Some(d)) = (merit(0), merit(1), merit(2), merit(3)) {
        explain(settings, Merits::from_bytes([a, b, c, d]), record.depth);
    }
    if let Some(target) = page["redirect_to"].as_str() {
        println!("  redirects to {target}");
    }
    match text("verdict").as_str() {
        "unique" => println!("  verdict unique: no earlier page says the same"),
        "exact" => println!("  verdict exact: same bytes as {}", text("duplicate_of")),
        "near" => println!(
            "  verdict near: says what {} said (Hamming distance {}, resemblance {})",
            text("duplicate_of"),
            page["distance"],
            page["resemblance"]
        ),
        _ => println!("  not judged: an error status, no page, or too little text"),
    }
    println!(
        "  its links: {} found, {} new, {} passed to the frontier, {} kept from it",
        page["links"], page["links_new"], page["links_admitted"], page["links_dropped"]
    );
    found_on(record.source, session)
}
