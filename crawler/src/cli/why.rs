//! `crawler why`: why a URL was fetched, dropped, demoted, stopped by a rule, refused or never seen.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;

use config::{OnDuplicate, Settings};
use dedup_stage::judge::Row;
use dedup_stage::store::Session;
use dedup_stage::url::{Canonicalizer, KeyHasher};
use frontier::rules::stored;
use frontier::{Frontier, Merits, SkipReason, UrlState};
use serde_json::Value;

use super::shown::Shown;
use super::{Dir, Usage, last_settings, rules, tell, typed};
use crate::clock::Clock;
use crate::crawl::CrawlDir;
use crate::engine::HeldLink;
use crate::priority::Scoring;
use crate::record::PageRecord;
use crate::report::html::put;
use crate::sink::PagesJsonl;
use crate::spaces;

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
    let mut url = typed(&args.url).map_err(|error| Usage(format!("{:?}: {error}", args.url)))?;
    url.set_fragment(None);
    let settings = last_settings(&dir)?;
    let canonicalizer = Canonicalizer::new(&settings.urls);
    let hash = canonicalizer.hash(&url, &KeyHasher::new(dir.secret()?));
    let pages = dir.path().join(PagesJsonl::NAME);
    let session = dir.session();

    let frontier = Frontier::open(&settings, session, Clock::System.now())?;
    let mut out = String::new();
    put!(out, "{url}\n");
    put!(out, "  compared as {}\n", canonicalizer.key(&url).as_str());
    let story = Story { pages: &pages, settings: &settings, session };
    let mut known = true;
    let mut open = false;
    match frontier::url_state(hash, session)? {
        Some(UrlState::Done { row: Some(row), .. }) => story.fetched(&mut out, row, "  ")?,
        Some(UrlState::Done { row: None, .. } | UrlState::Failed) => match last_row_of(hash, session)? {
            Some(row) => story.fetched(&mut out, row, "  ")?,
            None => put!(out, "  given up, and nothing is recorded of it\n"),
        },
        Some(UrlState::Refused(_)) => {}
        None if frontier.seen(hash) => match frontier.queued_as(hash, session)? {
            Some((priority, merits, depth)) => {
                open = true;
                put!(out, "  queued with priority {priority:.3} at depth {depth}; not fetched yet\n");
                story.explain(&mut out, merits, depth, "    ");
            }
            None => put!(out, "  being fetched when the crawl ended\n"),
        },
        None => known = false,
    }
    if let Some(link) = session.get(spaces::HELD, &hash.to_be_bytes())?.and_then(|bytes| HeldLink::decode(&bytes)) {
        (known, open) = (true, true);
        if link.rules.is_empty() {
            put!(out, "  held back: so far only a duplicate page links to it, and links of duplicates are dropped\n");
            put!(out, "  of that page:\n");
            story.fetched(&mut out, link.source, "    ")?;
        } else {
            put!(out, "  stopped before its fetch by what was learned:\n");
            for rule in stored(session)?.iter().filter(|rule| link.rules.contains(&rule.id)) {
                put!(out, "  {}\n", rules::text(rule));
            }
            story.found_on(&mut out, Some(link.source).filter(|row| *row != Row::MAX), "  ")?;
        }
    }
    let mut skips = Vec::new();
    session.scan(spaces::SKIPPED, &hash.to_be_bytes(), &[], &mut |key, source| {
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
            put!(out, "  skipped: {} ({})\n", reason.name(), reason.explanation());
            story.found_on(&mut out, Some(source).filter(|row| *row != Row::MAX), "  ")?;
        }
    }
    if open
        && settings.dedup.on_duplicate != OnDuplicate::Keep
        && let Some(expected) = frontier.expected(&url)
    {
        put!(
            out,
            "  pages like it, so far: share of new pages on its host {:.2}; under its path prefix {:.2} times that, with its \
             query parameters {:.2} times; together a factor of {:.2} when its turn is decided\n",
            expected.host,
            expected.path,
            expected.query,
            expected.factor(&settings.priority)
        );
    }
    if !known {
        put!(out, "  never seen: no page fetched so far links to it, and it is no seed\n");
    }
    tell(out)
}

/// The last page with this key.
fn last_row_of(hash: u64, session: &Session) -> anyhow::Result<Option<Row>> {
    let mut found = None;
    session.scan(spaces::PAGES, &[], &[], &mut |row, value| {
        if PageRecord::decode(value).is_ok_and(|record| record.hash == hash) {
            found = row.try_into().ok().map(Row::from_be_bytes);
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// What the story of a page is told from.
struct Story<'a> {
    pages: &'a Path,
    settings: &'a Settings,
    session: &'a Session,
}

impl Story<'_> {
    fn found_on(&self, out: &mut String, source: Option<Row>, indent: &str) -> anyhow::Result<()> {
        match source {
            Some(row) => {
                if let Some(record) = PageRecord::get(row, self.session)? {
                    put!(out, "{indent}first found on {}\n", record.url);
                }
            }
            None => put!(out, "{indent}a seed\n"),
        }
        Ok(())
    }

    /// The parts that a priority was made of.
    fn explain(&self, out: &mut String, merits: Merits, depth: u32, indent: &str) {
        let Settings { priority, focus, .. } = self.settings;
        let parts = Scoring::new(priority).explain(merits, depth, focus.is_on());
        let parts: Vec<String> =
            parts.iter().map(|(name, part, weight)| format!("{name} {part:.2}^{weight}")).collect();
        put!(out, "{indent}made of {} (a seed has 1)\n", parts.join(" × "));
    }

    /// Tells of a fetched page from its line in `pages.jsonl`.
    fn fetched(&self, out: &mut String, row: Row, indent: &str) -> anyhow::Result<()> {
        let Some(record) = PageRecord::get(row, self.session)? else {
            put!(out, "{indent}done, but nothing is recorded of it\n");
            return Ok(());
        };
        let mut file = BufReader::new(File::open(self.pages)?);
        file.seek(SeekFrom::Start(record.offset))?;
        let mut line = String::new();
        file.read_line(&mut line)?;
        let page: Value = serde_json::from_str(&line)?;
        let text = |field: &str| page[field].as_str().unwrap_or_default().to_owned();
        match page["status"].as_u64() {
            Some(status) => put!(
                out,
                "{indent}fetched {} at {}: status {status}, depth {}, priority {}\n",
                record.url,
                text("fetched_at"),
                page["depth"],
                page["priority"]
            ),
            None => {
                put!(out, "{indent}tried at {}, and given up: {}\n", text("fetched_at"), Shown(&text("error")));
            }
        }
        let merits = &page["merits"];
        let merit = |at: usize| merits[at].as_u64().and_then(|merit| u8::try_from(merit).ok());
        if let (Some(a), Some(b), Some(c), Some(d)) = (merit(0), merit(1), merit(2), merit(3)) {
            self.explain(out, Merits::from_bytes([a, b, c, d]), record.depth, &format!("{indent}  "));
        }
        if let Some(target) = page["redirect_to"].as_str() {
            put!(out, "{indent}redirects to {}\n", Shown(target));
        }
        match text("verdict").as_str() {
            "unique" => put!(out, "{indent}verdict unique: no earlier page says the same\n"),
            "exact" => put!(out, "{indent}verdict exact: same bytes as {}\n", text("duplicate_of")),
            "near" => put!(
                out,
                "{indent}verdict near: says what {} said (Hamming distance {}, resemblance {})\n",
                text("duplicate_of"),
                page["distance"],
                page["resemblance"]
            ),
            _ => put!(out, "{indent}not judged: an error status, no page, or too little text\n"),
        }
        put!(
            out,
            "{indent}its links: {} found, {} new, {} passed to the frontier, {} kept from it\n",
            page["links"],
            page["links_new"],
            page["links_admitted"],
            page["links_dropped"]
        );
        self.found_on(out, record.source, indent)
    }
}
