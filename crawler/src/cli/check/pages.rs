//! Checks the pages. Each line of `pages.jsonl` must have a record that names its place, and each URL must have as many
//! visits as its record says.

use std::ops::ControlFlow;

use dedup_stage::store::{self, Session, Space};
use dedup_stage::url::{Keys, PageId, Sites, UrlId};
use frontier::{End, Frontier, State, Via, Visit};
use url::Url;

use super::{Findings, hash};
use crate::clock::rfc3339;
use crate::engine::Stats;
use crate::record::{PageRecord, VerdictKind};
use crate::report::line::{PageLine, Word};
use crate::report::source::Lines;
use crate::spaces;

/// Sums over the lines of `pages.jsonl`.
#[derive(Debug, Default)]
pub(super) struct Sums {
    /// Number of lines of pages whose hosts belong to this directory. (Other lines are of hosts that were cut out after
    /// their pages were fetched.)
    pub own: u64,
    /// The counters of the crawl, as far as they can be computed from the lines.
    pub stats: Stats,
}

/// Compares each line for which the state vouches with the record of its page.
pub(super) fn check_lines(
    lines: &Lines,
    (keys, sites): (&Keys, &Sites),
    session: &Session,
    findings: &mut Findings,
) -> anyhow::Result<Sums> {
    let (mut sums, mut failure) = (Sums::default(), None);
    lines.each(&mut |offset, line| {
        let parsed = PageLine::parse(line).and_then(|page| Some((Url::parse(&page.url).ok()?, page)));
        let Some((url, page)) = parsed else {
            return findings.add(format!("the line of pages.jsonl at byte {offset} cannot be read"));
        };
        sums.add(&page);
        let id = PageId { url: keys.id(&url), visit: page.visit };
        if !sites.has(id.url.site) {
            return;
        }
        match PageRecord::get(id, session) {
            // The host of the page was given away and came back.
            Ok(Some(record)) if record.offset == PageRecord::ELSEWHERE => {}
            Ok(Some(record)) => {
                sums.own += 1;
                for what in differences(&page, offset, &record) {
                    findings.add(format!(
                        "visit {} of {url}: pages.jsonl and the state disagree about the {what}",
                        page.visit
                    ));
                }
            }
            Ok(None) => {
                sums.own += 1;
                let visit = page.visit;
                findings.add(format!("visit {visit} of {url} has a line in pages.jsonl, but is not in the state"));
            }
            Err(error) => failure = Some(error),
        }
    })?;
    failure.map_or(Ok(sums), |error: store::Error| Err(error.into()))
}

/// The fields in which a line differs from the record.
fn differences(page: &PageLine<'_>, offset: u64, record: &PageRecord) -> Vec<&'static str> {
    let verdict = match page.verdict {
        Word::Unique => VerdictKind::Unique,
        Word::Exact => VerdictKind::Exact,
        Word::Near => VerdictKind::Near,
        Word::Unchanged => VerdictKind::Unchanged,
        Word::Unjudged => VerdictKind::Unjudged,
    };
    let digest = match &record.shown {
        // An answer without content does not change what the URL showed before.
        Some(shown) if verdict != VerdictKind::Unjudged => Some(shown.sha256),
        _ => None,
    };
    let digest = digest.map(|digest| digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    // A 304 has no body.
    let digest = digest.filter(|_| page.status != Some(304));
    let same = [
        ("place", offset == record.offset),
        ("URL", *page.url == *record.url),
        ("status", page.status.unwrap_or(0) == record.status),
        ("verdict", verdict == record.verdict),
        ("depth", page.depth == record.depth),
        ("time", *page.fetched_at == *rfc3339(record.fetched_at)),
        ("digest", digest.is_none_or(|digest| page.sha256.as_deref() == Some(&*digest))),
    ];
    same.into_iter().filter(|(_, same)| !same).map(|(what, _)| what).collect()
}

impl Sums {
    fn add(&mut self, page: &PageLine<'_>) {
        let stats = &mut self.stats;
        stats.bytes += page.bytes;
        stats.links_found += page.links;
        stats.links_dropped += page.links_dropped;
        let Some(status) = page.status else {
            stats.failed += 1;
            return;
        };
        stats.pages += 1;
        *stats.statuses.entry(status).or_default() += 1;
        *match page.verdict {
            Word::Unique => &mut stats.unique,
            Word::Exact => &mut stats.exact,
            Word::Near => &mut stats.near,
            Word::Unchanged => &mut stats.unchanged,
            Word::Unjudged => &mut stats.unjudged,
        } += 1;
    }
}

/// Compares the records of pages with the records of their URLs, which say how often each URL was visited, and how the
/// last visit ended. Returns the number of records that have a line in this directory.
pub(super) fn check_records(
    frontier: &Frontier,
    keys: &Keys,
    session: &Session,
    findings: &mut Findings,
) -> anyhow::Result<u64> {
    let orders =
        session.get(Space::META, b"order")?.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_be_bytes);
    let (mut records, mut fetched, mut failure) = (0, 0, None);
    // The visits of one URL come one after the other.
    let mut last: Option<(UrlId, u32, u16)> = None;
    let mut whole = |(url, visits, status): (UrlId, u32, u16), findings: &mut Findings| -> store::Result<()> {
        let state = frontier.state(url, session)?;
        fetched += u64::from(matches!(state, Some(State::Done(_) | State::Gone(_))));
        if let Some(finding) = visits_of(state.as_ref(), visits, status) {
            findings.add(format!("{}: {finding}", hash(url)));
        }
        Ok(())
    };
    session.scan(spaces::PAGES, &[], &[], &mut |key, value| {
        let (Some(page), Ok(record)) = (PageRecord::page_of(key), PageRecord::decode(value)) else {
            records += 1;
            findings.add("the record of a page cannot be read".into());
            return ControlFlow::Continue(());
        };
        // Requisites have no line. Pages that another directory fetched have their lines there.
        let has_line = record.offset != PageRecord::ELSEWHERE && !matches!(record.via, Via::Requisite { .. });
        records += u64::from(has_line);
        if Url::parse(&record.url).ok().is_none_or(|url| keys.id(&url) != page.url) {
            findings.add(format!("the record of {} lies under the key of another URL", record.url));
        }
        if record.shown.as_ref().is_some_and(|shown| shown.order > orders) {
            findings.add(format!("{} was judged later than the order of judging has come", record.url));
        }
        let before = last.filter(|(url, ..)| *url == page.url).map_or(0, |(_, visit, _)| visit);
        if page.visit != before + 1 {
            findings.add(format!("{} has a record of visit {} after one of visit {before}", record.url, page.visit));
        }
        if let Some(before) = last.replace((page.url, page.visit, record.status)).filter(|(url, ..)| *url != page.url)
            && let Err(error) = whole(before, findings)
        {
            failure = Some(error);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    if let Some(error) = failure {
        return Err(error.into());
    }
    if let Some(last) = last {
        whole(last, findings)?;
    }
    let counted = frontier.counts().states.fetched();
    if fetched != counted {
        findings.add(format!("{counted} URLs were fetched, and {fetched} have the record of a page"));
    }
    Ok(records)
}

/// Tells what is wrong with a URL in this state that has this many recorded visits. The last visit was answered with
/// `status` (0: no answer).
fn visits_of(state: Option<&State>, visits: u32, status: u16) -> Option<String> {
    let known = match state {
        Some(State::Done(visit) | State::Gone(visit)) => Some(*visit),
        // The URL is queued again for its next visit.
        Some(State::Queued { before }) => *before,
        _ => None,
    };
    let Some(Visit { number, end }) = known else {
        let state = state.map_or("never met", State::name);
        return Some(format!("it has a record of visit {visits}, and is {state}"));
    };
    if number != visits {
        return Some(format!("it was visited {number} times, and visit {visits} is the last one with a record"));
    }
    let ended = match end {
        End::Answered { status } | End::Redirected { status, .. } => status,
        End::Failed { .. } => 0,
    };
    (ended != status).then(|| format!("its last visit ended with {ended}, and the record of the page says {status}"))
}
