//! `crawler diff`: shows what has changed since a moment.

use std::process::ExitCode;

use dedup_stage::store::Error;
use frontier::Millis;

use super::shown::Printable;
use super::{Dir, Usage, tell};
use crate::clock::{self, Clock, rfc3339};
use crate::crawl::{CrawlDir, OpenError};
use crate::diff::edit::{Line, lines};
use crate::diff::{Diff, Page, Present, Restated, Sentences, TextDifference};
use crate::report::html::put;
use crate::sink::PagesJsonl;
use crate::terminal::say::say;
use crate::units;

/// Arguments of `crawler diff`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    dir: Dir,
    /// The moment: a time (2026-11-30T12:00:00Z), a day, or how long ago (12h, 7d) [default: the beginning of the last
    /// round of visits]
    #[arg(long, value_name = "T")]
    since: Option<String>,
    /// For scripts: JSON on stdout, and nothing else
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let path = &args.dir.dir;
    if !CrawlDir::is_at(path) {
        return Err(OpenError::Missing(path.clone()).into());
    }
    let since = args.since.as_ref().map(|text| moment(text, Clock::System.now())).transpose()?;
    let mut dir = match CrawlDir::reading(path) {
        Ok(dir) => Some(dir),
        // If the moment is given, the outputs are enough. They can be read even if another version wrote the state, or
        // if the crawl does not answer.
        Err(OpenError::Store { error: Error::Foreign(_) | Error::Locked, .. }) if since.is_some() => None,
        Err(error) => return Err(error.into()),
    };
    let since = match (since, &dir) {
        (Some(since), _) => since,
        (None, dir) => {
            let stats = dir.as_ref().map(CrawlDir::stats).transpose()?.map(|(stats, _)| stats).unwrap_or_default();
            let round = stats.round.ok_or_else(|| {
                Usage("nothing was visited again so far: run `crawler refresh DIR` first, or give --since T".into())
            })?;
            round.started
        }
    };
    let diff = match &mut dir {
        Some(dir) => {
            dir.vouched(PagesJsonl::NAME)?;
            let keys = dir.keys()?;
            Diff::read(path, since, Some(Present { dir: path, keys: &keys, session: dir.session() }))?
        }
        None => Diff::read(path, since, None)?,
    };
    for part in &diff.parts_gone {
        say!("note: {part} is gone: what it told of pages is not compared");
    }
    if args.json {
        return tell(serde_json::to_string(&diff)? + "\n");
    }
    tell(text(&diff))
}

/// Reads a moment as people write it.
fn moment(text: &str, now: Millis) -> Result<Millis, Usage> {
    if let Some(time) = clock::parse(text) {
        return Ok(time);
    }
    match text.parse::<config::Duration>() {
        Ok(ago) => Ok(now.saturating_sub(ago.0)),
        Err(_) => Err(Usage(format!(
            "--since {text:?}: a time such as {}, a day such as 2026-11-30, or how long ago, such as 12h",
            rfc3339(now)
        ))),
    }
}

/// At most this many changed places of one page are shown, and at most this many sentences of each side of a place.
const PLACES: usize = 8;
const SENTENCES: usize = 4;
/// At most this many new links, and this many links that are gone, are shown.
const LINKS: usize = 3;
/// At most this many characters of a sentence are shown.
const LONGEST: usize = 240;

/// The differences as text.
fn text(diff: &Diff) -> String {
    let mut out = String::new();
    put!(out, "since {}:", diff.since);
    let groups = [
        ("new", &diff.new),
        ("changed", &diff.changed),
        ("gone", &diff.gone),
        ("missing", &diff.missing),
        ("back", &diff.back),
        ("moved", &diff.moved),
        ("failing", &diff.failing),
        ("withheld", &diff.withheld),
        ("restated", &diff.restated),
    ];
    // Few crawls have pages of the last two groups.
    let is_rare = |name: &str| matches!(name, "withheld" | "restated");
    for (name, pages) in groups.iter().filter(|(name, pages)| !is_rare(name) || !pages.is_empty()) {
        put!(out, " {} {name}", units::count(pages.len() as u64));
        if *name == "new" && diff.new_copies > 0 {
            let verb = if diff.new_copies == 1 { "is a copy" } else { "are copies" };
            put!(out, " ({} {verb})", units::count(diff.new_copies));
        }
        out.push(',');
    }
    put!(out, " {} unchanged", units::count(diff.unchanged));
    if diff.not_compared > 0 {
        put!(out, ", {} not compared (bodies cut at a limit, or not read)", units::count(diff.not_compared));
    }
    out.push('\n');
    let meanings = [
        "new: fetched for the first time",
        "changed: say something else",
        "gone: 404 or 410 at two visits in a row",
        "missing: 404 or 410 at the last visit; gone if they are at the next one",
        "back: were missing, moved or withheld, and are there again",
        "moved: had a page, and redirect elsewhere now",
        "failing: had a page, and are answered with another error than 404 and 410, a broken body, or not at all now",
        "withheld: robots.txt forbids them now, or they may not be used any more for the purpose of the crawl",
        "restated: say the same, and name another canonical URL, or ask otherwise whether they may be listed (noindex)",
    ];
    for ((_, pages), meaning) in groups.iter().zip(meanings) {
        if !pages.is_empty() {
            put!(out, "\n{meaning}\n");
            let is_changed = meaning.starts_with("changed");
            // Copies do not look like news: they come last.
            let (copies, own): (Vec<&Page>, Vec<&Page>) = pages.iter().partition(|page| page.is_copy && !is_changed);
            own.into_iter().chain(copies).for_each(|page| tell_page(&mut out, page, is_changed));
        }
    }
    if !diff.unreachable.is_empty() {
        put!(out, "\nunreachable: hosts that could not be asked when the last round ended\n");
        for host in &diff.unreachable {
            let pages = units::counted(host.pages, "page");
            put!(out, "  {}  {pages} not visited  (since {})\n", Printable(&host.host), host.since);
        }
    }
    if diff.changed.iter().any(|page| page.sentences.is_none()) {
        put!(
            out,
            "\nfor some changed pages no sentences are shown: the archive (--warc) must have both versions, of \
             different seconds\n"
        );
    }
    out
}

fn tell_page(out: &mut String, page: &Page, is_changed: bool) {
    put!(out, "  {}", Printable(&page.url));
    if let Some(title) = &page.title {
        put!(out, "  {}", Printable(title));
    }
    // A restated page says the same, as its group tells.
    if let Some(alike) = page.resemblance_before.filter(|alike| *alike < 1.0 || page.restated.is_none()) {
        // A page that has changed is never shown as 100 % alike.
        put!(out, "  ({:.0} % as before)", (100.0 * alike).min(if is_changed { 99.0 } else { 100.0 }));
    }
    match (&page.redirect_to, page.status, &page.error) {
        (Some(target), ..) => put!(out, "  (to {})", Printable(target)),
        (None, Some(status @ 400..), _) if !matches!(status, 404 | 410) => put!(out, "  (status {status})"),
        (None, None, Some(error)) => put!(out, "  ({})", Printable(error)),
        _ => {}
    }
    if let (Some(reason), Some(since)) = (page.reason, &page.since) {
        put!(out, "  ({reason}, since {since})");
    }
    if let Some(original) = page.duplicate_of.as_ref().filter(|_| page.is_copy) {
        put!(out, "  (a copy of {})", Printable(original));
    }
    if let Some(from) = &page.moved_from {
        put!(out, "  (moved from {})", Printable(from));
    }
    if let Some(restated) = &page.restated {
        tell_restated(out, restated);
    }
    if page.copies > 0 {
        let copies = if page.copies == 1 { "copy" } else { "copies" };
        put!(out, "  (and {} {copies}, not visited)", units::count(page.copies));
    }
    out.push('\n');
    if let Some(sentences) = &page.sentences {
        tell_sentences(out, sentences);
    }
    for (what, links) in [("links to new URLs", &page.new_links), ("links gone", &page.gone_links)] {
        if !links.is_empty() {
            put!(out, "    {what}: ");
            for (at, link) in links.iter().take(LINKS).enumerate() {
                put!(out, "{}{}", if at > 0 { ", " } else { "" }, Printable(link));
            }
            put!(out, "{}\n", more(links.len(), LINKS));
        }
    }
}

fn tell_restated(out: &mut String, restated: &Restated) {
    match (restated.noindex_before, restated.noindex) {
        (false, true) => put!(out, "  (noindex now)"),
        (true, false) => put!(out, "  (no noindex any more)"),
        _ => {}
    }
    match (&restated.canonical_before, &restated.canonical) {
        (before, now) if before == now => {}
        (Some(before), None) => put!(out, "  (no canonical URL any more; it was {})", Printable(before)),
        (None, Some(now)) => put!(out, "  (canonical URL now: {})", Printable(now)),
        (Some(before), Some(now)) => put!(out, "  (canonical URL: {}; it was {})", Printable(now), Printable(before)),
        (None, None) => {}
    }
}

fn tell_sentences(out: &mut String, Sentences { places, numbers, .. }: &Sentences) {
    for place in places.iter().take(PLACES) {
        let (mut removed, mut added) = (0, 0);
        for line in lines(place) {
            let (sign, sentence, count) = match &line {
                Line::Edited(sentence) => {
                    put!(out, "    ~ {}\n", Printable(&short(sentence)));
                    continue;
                }
                Line::Removed(sentence) => ('-', sentence, &mut removed),
                Line::Added(sentence) => ('+', sentence, &mut added),
            };
            *count += 1;
            if *count <= SENTENCES {
                put!(out, "    {sign} {}\n", Printable(&short(sentence)));
            }
        }
        for (sign, count) in [('-', removed), ('+', added)] {
            if count > SENTENCES {
                put!(out, "    {sign} … and {} more\n", count - SENTENCES);
            }
        }
    }
    if places.len() > PLACES {
        let rest = &places[PLACES..];
        let count =
            |side: fn(&TextDifference) -> &Vec<String>| rest.iter().map(|place| side(place).len() as u64).sum::<u64>();
        let (removed, added) = (count(|place| &place.removed), count(|place| &place.added));
        let (removed, added) = (units::count(removed), units::count(added));
        let places = units::counted(rest.len() as u64, "more place");
        put!(out, "    … and {places} (sentences: {removed} removed, {added} added)\n");
    }
    if *numbers > 0 {
        let verb = if *numbers == 1 { "differs" } else { "differ" };
        put!(out, "    {} {verb} in numbers only\n", units::counted(*numbers as u64, "sentence"));
    }
}

/// ` and N more`, if there are more than are shown.
fn more(all: usize, shown: usize) -> String {
    if all > shown { format!(" and {} more", all - shown) } else { String::new() }
}

/// The beginning of a long sentence.
fn short(sentence: &str) -> String {
    let mut short: String = sentence.chars().take(LONGEST).collect();
    if short.len() < sentence.len() {
        short.push_str(" …");
    }
    short
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_moment_is_a_time_a_day_or_a_while_ago() {
        let now = 1_700_000_000_000;
        assert_eq!(moment("1h", now).unwrap(), now - 3_600_000);
        assert_eq!(moment("2023-11-14T22:13:20Z", now).unwrap(), now);
        assert_eq!(moment("2023-11-14", now).unwrap(), 1_699_920_000_000);
        assert!(moment("yesterday", now).is_err());
    }

    #[test]
    fn the_text_tells_of_each_page_in_its_group() {
        let page = |url: &str| Page { url: url.into(), title: Some("T\u{1b}[2J".into()), ..Page::default() };
        let place = TextDifference { removed: vec!["Old.".into()], added: vec!["New.".into(); 6] };
        let edit = TextDifference { removed: vec!["It is so.".into()], added: vec!["It is not so.".into()] };
        let sentences = Sentences { places: vec![place, edit], numbers: 2, ..Sentences::default() };
        let changed = Page {
            sentences: Some(sentences),
            copies: 2,
            resemblance_before: Some(0.5),
            gone_links: BTreeSet::from(["http://a.test/g".into()]),
            ..page("http://a.test/c")
        };
        let diff = Diff {
            since: "2026-01-01T00:00:00.000Z".into(),
            new: vec![page("http://a.test/n")],
            changed: vec![changed],
            moved: vec![Page {
                redirect_to: Some("http://a.test/".into()),
                status: Some(301),
                ..page("http://a.test/m")
            }],
            failing: vec![Page { status: Some(503), ..page("http://a.test/f") }],
            back: vec![Page { resemblance_before: Some(1.0), ..page("http://a.test/b") }],
            unchanged: 3,
            ..Diff::default()
        };
        let text = text(&diff);
        assert!(
            text.starts_with(
                "since 2026-01-01T00:00:00.000Z: 1 new, 1 changed, 0 gone, 0 missing, 1 back, 1 moved, 1 failing, 3 unchanged\n"
            )
        );
        assert!(text.contains("http://a.test/m  T<U+001B>[2J  (to http://a.test/)\n"), "{text}");
        assert!(text.contains("http://a.test/b  T<U+001B>[2J  (100 % as before)\n"), "{text}");
        assert!(text.contains("http://a.test/f  T<U+001B>[2J  (status 503)\n"), "{text}");
        assert!(text.contains("  http://a.test/c  T<U+001B>[2J  (50 % as before)  (and 2 copies, not visited)\n    - Old.\n    + New.\n"), "{text}");
        assert!(
            text.contains("    + … and 2 more\n    ~ It is {+not+} so.\n    2 sentences differ in numbers only\n    links gone: http://a.test/g\n") && !text.contains("(--warc)") && !text.contains("\ngone: "),
            "{text}"
        );
    }
}
