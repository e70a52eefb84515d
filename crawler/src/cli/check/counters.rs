//! Checks the counters: they must equal the sums over the lines of `pages.jsonl` and over the states of URLs.

use frontier::{Counts, SkipReason};

use super::Findings;
use super::pages::Sums;
use crate::engine::Stats;

/// Compares the counters of pages with the sums of `pages.jsonl`.
pub(super) fn check_pages(stats: &Stats, sums: &Sums, findings: &mut Findings) {
    let told = &sums.stats;
    let mut compare = |what: &str, counted, expected| compare(what, counted, expected, findings);
    compare("pages", stats.pages, told.pages);
    compare("unique pages", stats.unique, told.unique);
    compare("exact duplicates", stats.exact, told.exact);
    compare("near duplicates", stats.near, told.near);
    compare("unchanged pages", stats.unchanged, told.unchanged);
    compare("pages that were not judged", stats.unjudged, told.unjudged);
    compare("URLs given up", stats.failed, told.failed);
    compare("URLs given up, by kind,", stats.failures.values().sum(), told.failed);
    compare("bytes", stats.bytes, told.bytes);
    compare("links", stats.links_found, told.links_found);
    compare("links kept back", stats.links_dropped, told.links_dropped);
    for status in stats.statuses.keys().chain(told.statuses.keys()) {
        let of = |stats: &Stats| stats.statuses.get(status).copied().unwrap_or(0);
        compare(&format!("answers with status {status}"), of(stats), of(told));
    }
}

/// Compares the counters of URLs with what the frontier counts. At most `open` jobs are open at once.
pub(super) fn check_urls(stats: &Stats, counts: &Counts, open: u64, findings: &mut Findings) {
    let mut compare = |what: &str, counted, expected| compare(what, counted, expected, findings);
    compare("URLs met", stats.urls_seen, counts.seen);
    compare("URLs held", stats.held, counts.states.held());
    compare("URLs stopped", stats.stopped, counts.states.stopped());
    for reason in SkipReason::ALL {
        let counted = stats.refused.get(reason.name()).copied().unwrap_or(0);
        compare(&format!("URLs refused ({})", reason.name()), counted, counts.states.refused_for(reason));
    }
    // URLs that were handed out when the counters were written are queued again.
    if !(stats.frontier..=stats.frontier + open).contains(&counts.queued) {
        compare("URLs queued", stats.frontier, counts.queued);
    }
}

fn compare(what: &str, counted: u64, expected: u64, findings: &mut Findings) {
    if counted != expected {
        findings.add(format!("the counters say {counted} {what}, and there are {expected}"));
    }
}
