//! Messages about past visits: the last visit to a queued URL, and a round that leaves out young pages.

use std::collections::HashMap;
use std::ops::ControlFlow;

use dedup_stage::store::{self, Session};
use dedup_stage::url::{PageId, UrlId};
use frontier::{End, Millis, SkipReason, State, Via, Visit};

use super::shown::Printable;
use crate::clock::rfc3339;
use crate::record::PageRecord;
use crate::report::html::put;
use crate::spaces;
use crate::units;
use crate::unvisited::{Refused, Unreachable};

/// Tells how the last visit to a URL ended, and when.
pub(super) fn tell(out: &mut String, id: UrlId, visit: Visit, session: &Session) -> anyhow::Result<()> {
    let record = PageRecord::get(PageId { url: id, visit: visit.number }, session)?;
    let at = record.map(|record| format!(" at {}", rfc3339(record.fetched_at))).unwrap_or_default();
    let end = match visit.end {
        End::Answered { status } => format!("status {status}"),
        End::Redirected { status, .. } => format!("a redirect, status {status}"),
        End::Failed { failure } => format!("given up: {failure}"),
    };
    put!(out, "  last visit: number {}{at}: {end}\n", visit.number);
    Ok(())
}

/// Tells whether a URL is gone, and when it is asked for again.
pub(super) fn tell_gone(out: &mut String, state: &State) {
    if let State::Gone(_) = state {
        put!(
            out,
            "  gone: 404 or 410 at its last two visits; it is asked for again at growing intervals, of at most 60 days, or in \
             the next round if a link to it comes\n"
        );
    }
}

/// Tells why the next visit to a URL could not be made, and since when.
pub(super) fn tell_unvisited(out: &mut String, id: UrlId, session: &Session) -> anyhow::Result<()> {
    if let Some(Refused { reason, since, last, .. }) = Refused::get(id, session)? {
        let why = match reason {
            SkipReason::Robots => "robots.txt forbids it",
            other => other.explanation(),
        };
        let (since, last) = (rfc3339(since), rfc3339(last));
        put!(out, "  not visited again since {since}: {} ({why}); tried last at {last}\n", reason.name());
    }
    if let Some(Unreachable { host, since, last, pages, .. }) = Unreachable::get(id.site, session)? {
        let (pages, since, last) = (units::counted(pages, "page"), rfc3339(since), rfc3339(last));
        put!(
            out,
            "  its host {} could not be asked since {since}, the last time at {last}: {pages} of it not visited\n",
            Printable(&host)
        );
    }
    Ok(())
}

/// The number of URLs whose last visit was less than `min_age` milliseconds before `now`.
pub(super) fn young(min_age: Millis, now: Millis, session: &Session) -> store::Result<u64> {
    let mut last = HashMap::<u64, bool>::new();
    session.scan(spaces::PAGES, &[], &[], &mut |key, value| {
        if let (Some(page), Ok(record)) = (PageRecord::page_of(key), PageRecord::decode(value))
            && !matches!(record.via, Via::Requisite { .. })
        {
            // The visits of a URL come in their order, so the last one counts.
            last.insert(page.url.url, now.saturating_sub(record.fetched_at) < min_age);
        }
        ControlFlow::Continue(())
    })?;
    Ok(last.values().filter(|is_young| **is_young).count() as u64)
}

/// The message of a round of visits that visited nothing because the pages are young.
pub(super) fn left_out(young: u64, min_age: config::Duration) -> String {
    let (were, verb) = (units::counted(young, "page"), if young == 1 { "is" } else { "are" });
    format!(
        "note: this round visited no page: {were} {verb} younger than --min-age, which is {min_age}; the directory keeps this \
         setting until a run gives another --min-age"
    )
}

#[cfg(test)]
mod tests {
    use dedup_stage::store::Memory;
    use dedup_stage::url::SiteId;
    use frontier::Failure;

    use super::*;
    use crate::fetch::Validators;
    use crate::record::VerdictKind;

    #[test]
    fn the_last_visit_is_told_with_its_end_and_young_pages_are_counted() {
        let mut session = Session::new(Box::new(Memory::default()));
        let id = |url| UrlId { site: SiteId { domain: 1, host: 2 }, url };
        let record = |at| PageRecord {
            verdict: VerdictKind::Unjudged,
            status: 200,
            depth: 0,
            offset: 0,
            graph: None,
            source: None,
            via: Via::Link,
            fetched_at: at,
            url: "http://a.test/".into(),
            validators: Validators::default(),
            payload: None,
            content: None,
            shown: None,
        };
        for (url, visit, at) in [(3, 1, 1_000), (3, 2, 9_000), (4, 1, 2_000), (5, 1, 9_500)] {
            record(at).put(PageId { url: id(url), visit }, &mut session);
        }
        assert_eq!(young(2_000, 10_000, &session).unwrap(), 2);
        assert_eq!(young(0, 10_000, &session).unwrap(), 0);
        let mut out = String::new();
        let visit = Visit { number: 2, end: End::Failed { failure: Failure::Reset } };
        tell(&mut out, id(3), visit, &session).unwrap();
        assert_eq!(out, format!("  last visit: number 2 at {}: given up: {}\n", rfc3339(9_000), Failure::Reset));
        out.clear();
        tell(&mut out, id(9), Visit { number: 1, end: End::Answered { status: 200 } }, &session).unwrap();
        assert_eq!(out, "  last visit: number 1: status 200\n");
        let said = left_out(1, config::Duration(3_600_000));
        assert!(said.contains("1 page is younger than --min-age, which is 1h"), "{said}");
    }
}
