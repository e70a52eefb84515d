//! The end of a run: writes `skipped.jsonl` and the counters that need a walk over the whole state.

use std::collections::BTreeMap;
use std::path::Path;

use frontier::{Detail, Failure, HostState, Millis, SkipReason};
use url::Url;

use super::error::Result;
use super::rescue::{self, OpenEnds};
use super::state::{EngineState, withheld_for};
use super::stats::{LongDelays, StopReason};
use super::unread;
use crate::sink::write_skipped;
use crate::stub::Label;

/// The word for URLs that robots.txt forbids. They are not fetched, but this is no trouble.
const FORBIDDEN: &str = "robots";

impl EngineState<'_> {
    /// Writes `skipped.jsonl` anew, and updates the counters that need the whole state. The crawl is complete if all of
    /// this is true: nothing is queued; no URL failed (except with a 4xx answer, or because robots.txt forbids it), no
    /// body was cut, nothing was left unread ([`unread`]); every held or stopped URL is so because of a page that was
    /// fetched; and no sample of them shows that new pages are among them. `due` is the time at which the next job is
    /// due, if the run ends because that is too late.
    pub(super) fn close(&mut self, reason: StopReason, due: Option<Millis>, dir: &Path) -> Result<()> {
        self.ledger.note_end(reason)?;
        self.note_finished(reason);
        self.ledger.stats.next_due = due;
        self.ledger.stats.long_delays = due.and_then(|_| self.long_delays());
        let rules = self.frontier.rules();
        let (mut withheld, mut beyond) = (BTreeMap::<String, u64>::new(), BTreeMap::<String, u64>::new());
        let (mut tls, mut unread) = (BTreeMap::<String, u64>::new(), BTreeMap::<String, u64>::new());
        let urls = &self.settings.urls;
        let (session, hosts) = (&self.ledger.session, &mut self.hosts);
        let mut ends = OpenEnds::read(session)?;
        write_skipped(dir, &self.frontier, &|id| rules?.get(id), session, &mut |skipped, source| {
            ends.note(skipped, source, session);
            if let Some(limit) = limit(skipped.reason, skipped.detail) {
                *beyond.entry(limit.to_owned()).or_default() += 1;
            }
            if let Some(kind) = unread::kind(skipped, urls) {
                *unread.entry(kind.to_owned()).or_default() += 1;
            }
            if let Detail::NoRobots(failure) | Detail::NoAddress(failure) = skipped.detail
                && Failure::OF_TLS.contains(&failure)
            {
                *tls.entry(failure.to_string()).or_default() += 1;
            }
            let forbidden = (skipped.reason == SkipReason::Robots).then(|| FORBIDDEN.to_owned());
            let Some(kind) = withheld_for(skipped.detail).or(forbidden) else { return };
            if let Ok(url) = Url::parse(&skipped.url) {
                hosts.note_queued(&url, &kind);
            }
            *withheld.entry(kind).or_default() += 1;
        })?;
        self.count_attempts()?;
        let session = &self.ledger.session;
        let sample = self.frontier.count_held_back(session)?;
        let lost = rescue::lost(session)?;
        let behind_ends = ends.behind(session)?;
        let untried = rescue::untried(&mut self.frontier, session)?;
        if untried > 0 {
            unread.insert(unread::UNTRIED.to_owned(), untried);
        }
        let stats = &mut self.ledger.stats;
        (stats.withheld, stats.withheld_tls, stats.beyond, stats.unread) = (withheld, tls, beyond, unread);
        stats.uncovered = sample.held_back.saturating_sub(sample.covered);
        (stats.open_ends, stats.behind_ends) = (ends.count(), behind_ends);
        // If nothing is left, trouble has kept the crawl from nothing.
        let trouble = self.local.what().filter(|_| reason != StopReason::Done);
        stats.local_trouble = trouble.map(str::to_owned);
        let access = &self.settings.access;
        let has_account = !(access.login.is_empty() && access.cookies_file.is_empty());
        let walls = stats.labels.get(Label::Wall.name()).copied().unwrap_or(0);
        stats.walls_with_account = if has_account { walls } else { 0 };
        let refused = stats.standing().statuses.get(&401).copied().unwrap_or(0);
        stats.refused_with_account = if access.login.is_empty() { 0 } else { refused };
        let mut worst = self.hosts.worst().into_iter();
        (stats.worst_host, stats.further_hosts) = (worst.next(), worst.collect());
        stats.complete = reason == StopReason::Done
            && self.frontier.counts().queued == 0
            && stats.uncovered == 0
            && !lost.is_some_and(|lost| lost.any())
            && stats.withheld.keys().all(|kind| kind == FORBIDDEN)
            && stats.standing().has_all();
        // Nothing counts after this, so all reports say the same.
        self.ledger.update(self.clock.now(), &self.frontier, self.flow.judge());
        Ok(())
    }

    /// The hosts with queued URLs that wait longer than `--patience` because their robots.txt says so.
    fn long_delays(&self) -> Option<LongDelays> {
        let (mut hosts, mut first) = (0, None::<(Millis, Millis, String)>);
        let patience = self.settings.limits.patience.0;
        self.frontier.hosts(&mut |host| {
            let HostState::Waiting(due) = host.state else { return };
            let Some(delay) = host.crawl_delay.filter(|delay| *delay > patience && host.queued > 0) else { return };
            hosts += 1;
            if first.as_ref().is_none_or(|(earliest, _, name)| (due, host.name) < (*earliest, name.as_str())) {
                first = Some((due, delay, host.name.to_owned()));
            }
        });
        first.map(|(_, delay_ms, host)| LongDelays { host, delay_ms, hosts })
    }

    /// Records whether the crawl has fetched everything that it can. A round of visits does not show this, unless it
    /// went on with the crawl until nothing was left.
    fn note_finished(&mut self, reason: StopReason) {
        let finished = matches!(reason, StopReason::Done | StopReason::Waiting);
        let is_round = self.visits.as_ref().is_some_and(|visits| visits.only);
        let is_amid = self.ledger.stats.round.as_ref().is_some_and(|round| round.amid_crawl);
        match is_round {
            false => self.ledger.stats.was_finished = finished,
            true => self.ledger.stats.was_finished |= finished && !is_amid,
        }
    }
}

/// The limit of the crawl for which a URL was refused, if it was.
fn limit(reason: SkipReason, detail: Detail) -> Option<&'static str> {
    match (reason, detail) {
        (SkipReason::Depth, _) => Some("max-depth"),
        (_, Detail::HostCap) => Some("max-pages-per-host"),
        (_, Detail::DomainCap) => Some("max-pages-per-domain"),
        _ => None,
    }
}
