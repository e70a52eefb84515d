//! `crawler why`: tells why a URL was fetched, dropped, demoted, stopped by a rule, refused or never seen.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use config::{OnDuplicate, Settings};
use dedup_stage::store::Session;
use dedup_stage::url::{Keys, PageId, UrlId};
use frontier::rules::{RuleId, stored};
use frontier::{Detail, End, Frontier, HoldCause, HostNote, KeptLink, Merits, QueuedAs, SkipReason, State, Via, Visit};
use serde_json::Value;
use url::Url;

use super::how::{how, refusal, words};
use super::shown::Printable;
use super::verdict::verdict;
use super::{Dir, asked, attempts, rules, tell, unseen, visits, with_other_scheme};
use crate::clock::{Clock, rfc3339};
use crate::crawl::CrawlDir;
use crate::priority::Scoring;
use crate::record::PageRecord;
use crate::report::html::put;
use crate::report::line::SkipLine;
use crate::report::source::Lines;
use crate::series::Series;
use crate::sink::{PagesJsonl, SkippedJsonl};
use crate::units;

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
    tell(story(&mut CrawlDir::reading(&args.dir.dir)?, &asked(&args.url)?)?)
}

/// The text about a URL, from the data of a directory.
pub(super) fn story(dir: &mut CrawlDir, url: &Url) -> anyhow::Result<String> {
    let settings = dir.last_settings()?;
    let keys = dir.keys()?;
    let path = dir.path().to_owned();
    let seeds = dir.seeds()?.iter().map(|seed| keys.id(seed)).collect();
    let hosts_left = dir.stats()?.0.hosts_left;
    let (is_running, is_elsewhere) = (dir.is_running(), !dir.sites()?.has(keys.site(url)));
    let session = dir.session();
    let frontier = Frontier::open(&settings, &keys, session, Clock::System.now())?;
    let (dir, settings, frontier, keys, seeds) = (&*path, &settings, &frontier, &keys, &seeds);
    let story = Story { dir, is_running, settings, frontier, session, keys, seeds, hosts_left };
    let mut out = String::new();
    put!(out, "{url}\n  compared as {}\n", keys.canonicalizer.key(url).as_str());
    if is_elsewhere {
        put!(
            out,
            "  another directory of this crawl has the host of this URL: ask there; this one knows only links to it\n"
        );
    }
    story.tell(&mut out, url, keys.identify(url).0)?;
    Ok(out)
}

/// The data from which the text about a URL is made.
struct Story<'a> {
    dir: &'a Path,
    /// Whether the crawl is running now.
    is_running: bool,
    settings: &'a Settings,
    frontier: &'a Frontier,
    session: &'a Session,
    keys: &'a Keys,
    seeds: &'a HashSet<UrlId>,
    /// The number of links that were left out because their registrable domains have too many hosts.
    hosts_left: u64,
}

impl Story<'_> {
    /// Tells the state of the URL, and why it has this state.
    fn tell(&self, out: &mut String, url: &Url, id: UrlId) -> anyhow::Result<()> {
        let mut open = true;
        match self.frontier.state(id, self.session)? {
            None => {
                unseen::tell(out, url, self.hosts_left);
                if let Some(other) = with_other_scheme(url)
                    && self.frontier.state(self.keys.id(&other), self.session)?.is_some()
                {
                    put!(out, "  {other} was seen; ask about that URL\n");
                }
                return Ok(());
            }
            Some(State::Queued { before }) => self.queued(out, url, id, before)?,
            Some(State::HeldFor { counterparts, link }) => {
                put!(out, "  held back: so far only duplicate pages link to it, and links of duplicates are dropped\n");
                for counterpart in counterparts {
                    put!(out, "  held for {}\n", self.stands(counterpart)?);
                }
                self.carrier(out, &link)?;
            }
            Some(State::HeldAs { cause: HoldCause::News { .. }, link }) => {
                out.push_str(
                    "  held back as news: only duplicates link to it so far, and their twins do not have this link\n",
                );
                out.push_str("  a few such links are fetched as trials; if they bring new pages, all of them are\n");
                self.carrier(out, &link)?;
            }
            Some(State::HeldAs { cause: HoldCause::Known { corpus }, link }) => {
                put!(out, "  held back: the corpus {} has the page that links to it\n", Printable(&corpus));
                self.carrier(out, &link)?;
            }
            Some(State::Stopped { rules, reason, representative, link, .. }) => {
                match reason {
                    SkipReason::Budget => {
                        put!(out, "  stopped before its fetch: {}\n", reason.explanation());
                        put!(
                            out,
                            "  at the end of the crawl, a sample of such URLs is fetched; if it brings new pages, all are\n"
                        );
                    }
                    _ => put!(out, "  not fetched: a learned rule stops it ({})\n", reason.explanation()),
                }
                if let Some(representative) = representative {
                    put!(out, "  fetched in its place: {}\n", self.stands(representative)?);
                }
                self.rules(out, &rules)?;
                self.found_on(out, id, link.source, "  ")?;
            }
            Some(State::Refused { reason, detail, link }) => {
                self.refused(out, url, reason, detail);
                self.found_on(out, id, link.source, "  ")?;
                open = false;
            }
            Some(state @ (State::Done(visit) | State::Gone(visit))) => {
                visits::tell_gone(out, &state);
                self.fetched(out, PageId { url: id, visit: visit.number }, "  ")?;
                open = false;
            }
        }
        visits::tell_unvisited(out, id, self.session)?;
        if let Some(note) = self.frontier.note(url, self.session)? {
            of_host(out, &note);
        }
        if open && self.settings.dedup.on_duplicate != OnDuplicate::Keep {
            self.expected(out, url);
        }
        Ok(())
    }

    fn queued(&self, out: &mut String, url: &Url, id: UrlId, before: Option<Visit>) -> anyhow::Result<()> {
        if let Some((reason, detail)) = self.withheld(url)? {
            put!(out, "  not asked for when the last run ended: {} ({})\n", reason.name(), Printable(&detail));
        }
        match self.frontier.queued_as(id, self.session)? {
            Some(QueuedAs { priority, merits, depth, source, via }) => {
                let what = if before.is_some() { "to be visited again" } else { "not fetched yet" };
                put!(out, "  queued with priority {priority:.3} at depth {depth}; {what}\n");
                self.explain(out, merits, depth, priority, "    ");
                if let Some(visit) = before {
                    visits::tell(out, id, visit, self.session)?;
                }
                attempts::tell(out, url, id, self.frontier, self.session)?;
                self.came(out, id, via, source, "  ")?;
            }
            None if self.is_running => put!(out, "  being fetched now, or fetched since the last commit\n"),
            None => put!(out, "  being fetched when the crawl ended\n"),
        }
        Ok(())
    }

    /// The reason for which a queued URL could not be asked for when the last run ended. Such a URL has a line in
    /// `skipped.jsonl`.
    fn withheld(&self, url: &Url) -> io::Result<Option<(SkipReason, String)>> {
        let (mut found, text) = (None, url.as_str().as_bytes());
        Lines::open(self.dir, SkippedJsonl::NAME, None)?.each(&mut |_, line| {
            if found.is_some() || memchr::memmem::find(line, text).is_none() {
                return;
            }
            let Ok(skip) = serde_json::from_slice::<SkipLine<'_>>(line) else { return };
            if *skip.url == *url.as_str()
                && let (Some(reason), Some(detail)) = (SkipReason::named(&skip.reason), skip.detail)
            {
                found = Some((reason, detail.to_string()));
            }
        })?;
        Ok(found)
    }

    fn refused(&self, out: &mut String, url: &Url, reason: SkipReason, detail: Detail) {
        let why = refusal(self.settings, url, reason, detail);
        put!(out, "  skipped: {} ({why})\n", reason.name());
        if detail != Detail::None {
            put!(out, "  {detail}\n");
        }
    }

    fn rules(&self, out: &mut String, ids: &[RuleId]) -> anyhow::Result<()> {
        for rule in stored(self.session)?.iter().filter(|rule| ids.contains(&rule.id)) {
            put!(out, "  {}\n", rules::text(rule));
        }
        Ok(())
    }

    /// Names another URL, and its state.
    fn stands(&self, id: UrlId) -> anyhow::Result<String> {
        let state = self.frontier.state(id, self.session)?;
        let url = match &state {
            Some(State::Done(visit) | State::Gone(visit)) => {
                PageRecord::get(PageId { url: id, visit: visit.number }, self.session)?.map(|record| record.url)
            }
            Some(state) => state.link().map(|link| link.url.to_string()),
            None => None,
        };
        let url = url.unwrap_or_else(|| "a URL of another page".into());
        let place = match state {
            None => "never seen".to_owned(),
            Some(State::Done(visit)) => match visit.end {
                End::Answered { status } => format!("fetched, status {status}"),
                End::Redirected { status, .. } => format!("a redirect, status {status}"),
                End::Failed { failure } => format!("given up: {failure}"),
            },
            Some(state) => state.name().to_owned(),
        };
        Ok(format!("{} ({place})", Printable(&url)))
    }

    /// Names the duplicate page that has the link.
    fn carrier(&self, out: &mut String, link: &KeptLink) -> anyhow::Result<()> {
        if let Some(page) = link.source {
            put!(out, "  of the page that links to it:\n");
            self.fetched(out, page, "    ")?;
        }
        Ok(())
    }

    /// Tells about a fetched page from its record alone, if its line cannot be read. `but` is the reason.
    fn in_short(&self, out: &mut String, id: UrlId, record: PageRecord, but: &str, indent: &str) -> anyhow::Result<()> {
        let (url, at, status) = (&record.url, rfc3339(record.fetched_at), record.status);
        put!(out, "{indent}fetched {url} at {at}: status {status}, depth {}\n{indent}{but}\n", record.depth);
        self.came(out, id, record.via, record.source, indent)
    }

    /// Writes how a URL came to be queued, and where it was found. If it is a seed, this is written only once.
    fn came(&self, out: &mut String, id: UrlId, via: Via, from: Option<PageId>, indent: &str) -> anyhow::Result<()> {
        if via != Via::Seed || !self.seeds.contains(&id) {
            put!(out, "{indent}{}\n", how(via, from, self.settings, self.session)?);
        }
        self.found_on(out, id, from, indent)
    }

    fn found_on(&self, out: &mut String, id: UrlId, source: Option<PageId>, indent: &str) -> anyhow::Result<()> {
        match source {
            Some(page) => {
                if let Some(record) = PageRecord::get(page, self.session)? {
                    put!(out, "{indent}first found on {}\n", record.url);
                }
            }
            None if self.seeds.contains(&id) => put!(out, "{indent}a seed\n"),
            None => put!(out, "{indent}first named by a sitemap\n"),
        }
        Ok(())
    }

    /// Tells how much of the pages like this one was new.
    fn expected(&self, out: &mut String, url: &Url) {
        let Some(expected) = self.frontier.expected(url) else { return };
        put!(
            out,
            "  pages like it, so far: share of new pages on its host {:.2}; under its path prefix {:.2} times that, with its \
             query parameters {:.2} times; together a factor of {:.2} when its turn is decided\n",
            expected.host,
            expected.path,
            expected.query,
            expected.factor(&self.settings.priority)
        );
    }

    /// Tells the parts of which a priority was made. Some priorities, such as those of seeds and visits, were not made
    /// of parts.
    fn explain(&self, out: &mut String, merits: Merits, depth: u32, shown: f32, indent: &str) {
        let Settings { priority, focus, .. } = self.settings;
        let parts = Scoring::new(priority).explain(merits, depth, focus.is_on());
        if !Scoring::makes(&parts, shown) {
            return;
        }
        let parts: Vec<String> =
            parts.iter().map(|(name, part, weight)| format!("{name} {part:.2}^{weight}")).collect();
        put!(out, "{indent}priority = {} (a seed has 1)\n", parts.join(" × "));
    }

    /// Tells about a fetched page, from its line in `pages.jsonl`.
    fn fetched(&self, out: &mut String, page: PageId, indent: &str) -> anyhow::Result<()> {
        let Some(record) = PageRecord::get(page, self.session)? else {
            put!(out, "{indent}done, but nothing is recorded of it\n");
            return Ok(());
        };
        if record.offset == PageRecord::ELSEWHERE {
            let (url, status) = (&record.url, record.status);
            put!(out, "{indent}fetched {url}: status {status}; the rest is in the outputs of another worker\n");
            return Ok(());
        }
        if let Via::Requisite { .. } = record.via {
            let what = if record.status > 0 { format!("status {}", record.status) } else { "no answer".into() };
            put!(out, "{indent}fetched for the archive alone: {what}\n{indent}{}\n", words(record.via));
            return self.found_on(out, page.url, record.source, indent);
        }
        let gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        let line: Value = match Series::open(self.dir, PagesJsonl::NAME)?.line_at(record.offset) {
            Ok(line) => serde_json::from_slice(&line.context("the line of the page is not there")?)?,
            Err(error) if gone(&error) => {
                let but = format!("the rest is not there any more: {error}");
                return self.in_short(out, page.url, record, &but, indent);
            }
            Err(error) => return Err(error.into()),
        };
        let text = |field: &str| line[field].as_str().unwrap_or_default().to_owned();
        match line["status"].as_u64() {
            Some(status) => put!(
                out,
                "{indent}fetched {} at {}: status {status}, depth {}, priority {}\n",
                record.url,
                text("fetched_at"),
                line["depth"],
                line["priority"]
            ),
            None => put!(out, "{indent}tried at {}, and given up: {}\n", text("fetched_at"), Printable(&text("error"))),
        }
        let merits = &line["merits"];
        let merit = |at: usize| merits[at].as_u64().and_then(|merit| u8::try_from(merit).ok());
        if let (Some(a), Some(b), Some(c), Some(d)) = (merit(0), merit(1), merit(2), merit(3)) {
            let priority = line["priority"].as_f64().unwrap_or(f64::NAN) as f32;
            self.explain(out, Merits::from_bytes([a, b, c, d]), record.depth, priority, &format!("{indent}  "));
        }
        if let (true, Some(error)) = (line["status"].is_u64(), line["error"].as_str()) {
            put!(out, "{indent}what is wrong with the answer: {}\n", Printable(error));
        }
        if line["permissions"].is_object() {
            put!(out, "{indent}what is said about its use: {}\n", Printable(&line["permissions"].to_string()));
        }
        if let Some(target) = line["redirect_to"].as_str() {
            put!(out, "{indent}redirects to {}\n", Printable(target));
        }
        verdict(out, &line, indent);
        if let Some(canonical) = line["canonical"].as_str() {
            self.canonical(out, canonical, &record, indent)?;
        }
        put!(
            out,
            "{indent}its links: {} found, {} new, {} queued at once, {} not followed, because it is a duplicate\n",
            line["links"],
            line["links_new"],
            line["links_admitted"],
            line["links_dropped"]
        );
        self.came(out, page.url, record.via, record.source, indent)
    }
}

impl Story<'_> {
    /// Tells which URL the page names as its own, and whether the crawl believes it. It does only if both show the
    /// same.
    fn canonical(&self, out: &mut String, canonical: &str, page: &PageRecord, indent: &str) -> anyhow::Result<()> {
        let Ok(url) = Url::parse(canonical) else { return Ok(()) };
        let id = self.keys.identify(&url).0;
        let other = match self.frontier.state(id, self.session)? {
            Some(State::Done(visit) | State::Gone(visit)) => {
                PageRecord::get(PageId { url: id, visit: visit.number }, self.session)?
            }
            _ => None,
        };
        let belief = match (page.content, other.as_ref().map(|other| other.content)) {
            (_, None) => format!("not believed: {}", self.stands(id)?),
            (Some(own), Some(Some(other))) if own.agrees(other) => "believed, since it shows the same".to_owned(),
            (Some(_), Some(Some(_))) => "not believed, since it shows something else".to_owned(),
            _ => "not believed: one of them has too little text to compare".to_owned(),
        };
        put!(out, "{indent}says that its URL should be {}: {belief}\n", Printable(canonical));
        Ok(())
    }
}

/// Tells what stands out about the host.
fn of_host(out: &mut String, note: &HostNote) {
    let host = Printable(&note.host);
    if let Some(why) = note.why {
        let slots = units::counted(note.slots_lost.into(), "slot");
        put!(out, "  its host {host} lost {slots} because it made too little progress, the last time since {why}\n");
    }
    if note.stretch > 0 {
        let factor = note.delay_factor();
        let so = format!("its pages bring little text of their own, and so its delay is {factor:.1} times as long");
        put!(out, "  its host {host} is under the automatic ceiling: {so}\n");
    }
}
