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
use crate::fetch::FetchError;
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

/// Compares each line for which the state vouches with the record of its page, and the line of a URL's last visit with
/// the record of the URL.
pub(super) fn check_lines(
    lines: &Lines,
    (keys, sites): (&Keys, &Sites),
    frontier: &Frontier,
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
        match frontier.state(id.url, session) {
            Ok(state) => {
                let ended = state.as_ref().and_then(last_visit).filter(|visit| visit.number == page.visit);
                if let Some(what) = ended.and_then(|visit| other_end(&page, visit.end, keys)) {
                    findings.add(format!("visit {} of {url}: {what}", page.visit));
                }
            }
            Err(error) => failure = Some(error),
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

/// Tells what is wrong if the line of a URL's last visit and the record of the URL say different ends. The HTTP status is
/// not compared here: [`check_records`] does so.
fn other_end(page: &PageLine<'_>, end: End, keys: &Keys) -> Option<String> {
    let target = page.redirect_to.as_deref().map(|url| Url::parse(url).ok().map(|url| keys.id(&url)));
    let failure = page.error.as_deref().filter(|_| page.status.is_none()).and_then(FetchError::kind_of);
    match end {
        End::Redirected { target: recorded, .. } if target != Some(Some(recorded)) => {
            Some("pages.jsonl and the record of the URL disagree about where it redirects to".into())
        }
        End::Answered { .. } | End::Failed { .. } if target.is_some() => {
            Some("pages.jsonl has a redirect, and the record of the URL has none".into())
        }
        End::Failed { failure: recorded } if failure.is_some_and(|failure| failure != recorded) => {
            Some("pages.jsonl and the record of the URL disagree about why it failed".into())
        }
        _ => None,
    }
}

/// The last visit of a URL in this state. `None` if the URL was never visited.
fn last_visit(state: &State) -> Option<Visit> {
    match state {
        State::Done(visit) | State::Gone(visit) => Some(*visit),
        // The URL is queued again for its next visit.
        State::Queued { before } => *before,
        _ => None,
    }
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
    let Some(Visit { number, end }) = state.and_then(last_visit) else {
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

#[cfg(test)]
mod tests {
    use dedup_stage::url::{Canonicalizer, KeyHasher};
    use frontier::Failure;
    use serde_json::json;

    use super::*;

    /// Catches two URLs whose records were exchanged although their statuses are the same.
    #[test]
    fn the_ends_of_visits_are_compared() {
        let hasher = KeyHasher::new([9; KeyHasher::SECRET]);
        let keys = Keys { canonicalizer: Canonicalizer::default(), hasher };
        let id = |url: &str| keys.id(&Url::parse(url).unwrap());
        let is_other = |redirect_to: Option<&str>, error: Option<&str>, end: End| {
            let status = error.map_or(Some(301), |_| None);
            let line = json!({"status": status, "redirect_to": redirect_to, "error": error}).to_string();
            other_end(&PageLine::parse(line.as_bytes()).unwrap(), end, &keys).is_some()
        };
        let (one, other) = ("http://a.test/1", "http://a.test/2");
        let redirected = |url: &str| End::Redirected { status: 301, target: id(url) };
        let failed = |failure| End::Failed { failure };
        assert!(!is_other(Some(one), None, redirected(one)));
        assert!(is_other(Some(one), None, redirected(other)));
        assert!(is_other(None, None, redirected(one)));
        assert!(is_other(Some(one), None, End::Answered { status: 301 }));
        assert!(!is_other(None, None, End::Answered { status: 301 }));
        assert!(!is_other(None, Some("reset: by the peer"), failed(Failure::Reset)));
        assert!(is_other(None, Some("reset: by the peer"), failed(Failure::Timeout)));
        assert!(!is_other(None, Some("another text"), failed(Failure::Timeout)), "it does not tell the reason");
        assert!(is_other(Some("no URL"), None, redirected(one)));
    }
}
