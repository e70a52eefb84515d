//! The counters of a crawl, which are part of every commit, and the snapshots for observers.

use std::collections::BTreeMap;

use dedup_stage::corpus::CorpusMatch;
use dedup_stage::judge::Verdict;
use dedup_stage::store::{self, Session, Space};
use frontier::{Counts, Failure, Frontier, Millis, SkipReason};
use serde::{Deserialize, Serialize};

use super::trouble::WorstHost;
use super::visits::{Freshness, Round};
use crate::estimate::{LastEstimate, Lost};

/// Totals since the crawl began, over all its runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stats {
    /// Answers received to requests for pages: `unique + exact + near + unchanged + unjudged`.
    pub pages: u64,
    /// Pages judged new.
    pub unique: u64,
    /// Pages with the bytes of an earlier one.
    pub exact: u64,
    /// Pages that say what an earlier one said.
    pub near: u64,
    /// Pages that say what the same URL said at its last visit.
    pub unchanged: u64,
    /// Redirects, error pages, pages without text, files that are no pages.
    pub unjudged: u64,
    /// Redirects among them.
    pub redirects: u64,
    /// Redirects that lead out of the scope.
    pub redirects_out: u64,
    /// Redirects that lead back to their beginning, or have too many hops.
    pub redirects_endless: u64,
    /// Answers with the status of a redirect that name no URL to go to.
    pub redirects_nowhere: u64,
    /// Failed look-ups of addresses and requests for robots.txt, by the word for the failure. Each attempt counts.
    pub errand_failures: BTreeMap<String, u64>,
    /// Bodies that were cut, by the word for the reason.
    pub cut: BTreeMap<String, u64>,
    /// URLs given up without an answer.
    pub failed: u64,
    /// Answers by HTTP status.
    pub statuses: BTreeMap<u16, u64>,
    /// URLs given up, by the word for the failure.
    pub failures: BTreeMap<String, u64>,
    /// The URLs given up because TLS failed, by the cause, in words, if it is known.
    pub tls: BTreeMap<String, u64>,
    /// URLs queued whose last attempt failed, by its result: a status, or the word for the failure.
    pub retrying: BTreeMap<String, u64>,
    /// The troubles above that are superseded, because their URL was visited once more since, by their words.
    pub superseded: BTreeMap<String, u64>,
    /// Out-links read, one per key and page.
    pub links_found: u64,
    /// Out-links not seen before.
    pub links_new: u64,
    /// Out-links that were queued at once.
    pub links_admitted: u64,
    /// Out-links that were held, stopped or tried because their page is a duplicate.
    pub links_dropped: u64,
    /// Pages of a focused crawl whose relevance or score is known.
    pub scored: u64,
    /// The sum of their relevances.
    pub relevance: f64,
    /// Pages about which the program that scores pages gave no answer.
    pub unscored: u64,
    /// At the end of a run: URLs that could not be fetched because robots.txt forbids it or cannot be read, or because
    /// their host cannot be found, by the word for the reason.
    pub withheld: BTreeMap<String, u64>,
    /// The URLs withheld because TLS failed, by the cause, in words, if it is known.
    pub withheld_tls: BTreeMap<String, u64>,
    /// At the end of a run: the number of URLs that were refused because they lie beyond a limit of the crawl, by the
    /// name of its flag.
    pub beyond: BTreeMap<String, u64>,
    /// At the end of a run: URLs that were not fetched although the user did not exclude them, by the word for the
    /// reason (see [`super::unread`]).
    pub unread: BTreeMap<String, u64>,
    /// URLs that were held as links of duplicates, at the last commit.
    pub held: u64,
    /// URLs that were stopped by learned rules or for a spent budget, at the last commit.
    pub stopped: u64,
    /// URLs refused, by the word for the reason, at the last commit.
    pub refused: BTreeMap<String, u64>,
    /// At the end of a run: the number of URLs that are held or stopped, and whose counterpart or representative had no
    /// good answer.
    pub uncovered: u64,
    /// At the end of a run: the number of held URLs behind which nobody knows how many pages lie. They were never
    /// tried, and were met only on pages that were fetched as trials (`engine/rescue/open_ends.rs`).
    pub open_ends: u64,
    /// At the end of a run: the largest number of pages that lie behind those open ends that are the ends of chains, with
    /// a probability of 97.5 %.
    pub behind_ends: u64,
    /// Whether the last run fetched everything: see `complete` in OUTPUT.md.
    pub complete: bool,
    /// Whether the last run of `crawler crawl` had nothing left to fetch that would have become due within
    /// `--patience`. URLs queued since then were found by visits.
    pub was_finished: bool,
    /// If the last run ended because nothing that is queued becomes due within `--patience`: the time at which the
    /// first URL becomes due.
    pub next_due: Option<Millis>,
    /// If the last run ended for that reason, and because of the Crawl-delay of hosts: those hosts.
    pub long_delays: Option<LongDelays>,
    /// The trouble of this machine that kept the crawl from fetching when the last run ended, if there was any.
    pub local_trouble: Option<String>,
    /// The host with the most troubles.
    pub worst_host: Option<WorstHost>,
    /// The hosts with the most troubles after it.
    pub further_hosts: Vec<WorstHost>,
    /// The number of pages that are walls or soft 404s, by label. The first pages of each, which have no label in the
    /// outputs, count too.
    pub labels: BTreeMap<String, u64>,
    /// At the end of a run with an account (`--login`, `--cookies-file`): the walls that were shown although there was
    /// an account.
    pub walls_with_account: u64,
    /// At the end of a run with a login file (`--login`): the URLs whose last answer has status 401.
    pub refused_with_account: u64,
    /// Pages that were fetched and not kept, because they may not be used for the purpose of the crawl.
    pub not_kept: u64,
    /// Documents (PDF and office files) whose text could not be read at the first visit.
    pub documents_unread: u64,
    /// Links beyond the cap on the links of one page: they were not read.
    pub links_cut: u64,
    /// Links to hosts that were left out, because their registrable domain names hosts without end.
    pub hosts_left: u64,
    /// Links that were left out because a parameter looks like a session id, on pages with several such values.
    pub doubtful_sessions: u64,
    /// Pages that still showed the notice of their host that asks for consent, although consent was given.
    pub notices: u64,
    /// Requisites of pages fetched, which are no pages.
    pub requisites: u64,
    /// Bytes of their decoded bodies.
    pub requisite_bytes: u64,
    /// Requisites given up without an answer.
    pub requisites_failed: u64,
    /// Bytes of text beyond the cap on the text of one page: their words do not count.
    pub text_cut: u64,
    /// Sitemaps with more entries or bytes than are read.
    pub sitemaps_cut: u64,
    /// Sitemaps that were given up: there was no answer, or one with a status from 500 on.
    pub sitemaps_failed: u64,
    /// Sitemaps that were not asked for: their host has named too many, or too many lead to them one after the other.
    pub sitemaps_left: u64,
    /// Sitemaps that a sitemap of another site named: they were not asked for.
    pub sitemaps_elsewhere: u64,
    /// Bytes of decoded bodies.
    pub bytes: u64,
    /// Bytes of bodies as received.
    pub wire_bytes: u64,
    /// Time spent crawling.
    pub elapsed_ms: u64,
    /// Commits to the state.
    pub commits: u64,
    /// Distinct URLs met, at the last commit.
    pub urls_seen: u64,
    /// URLs queued, at the last commit.
    pub frontier: u64,
    /// The memory that grows with the crawl, at the last commit.
    pub memory: Memory,
    /// The last round of visits to pages that were fetched before.
    pub round: Option<Round>,
    /// In a continuous crawl, how fresh its pages are.
    pub freshness: Option<Freshness>,
}

/// The memory that grows with the URLs and pages of a crawl, in bytes. Everything else in memory is bounded (see
/// `config::bounds`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// The seen-set: a hash and a byte for each URL that was met, and a hash for each host.
    pub seen_set: u64,
    /// For each page that says something new: a part of its digest, its fingerprint in the index, a part of its sketch.
    pub judge: u64,
    /// The indexes and filters of the tables on disk.
    pub state_index: u64,
}

impl Stats {
    /// Counts a link that the frontier left out because its registrable domain names hosts without end.
    pub(super) fn count_left_out(&mut self, admission: frontier::Admission) {
        self.hosts_left += u64::from(admission == frontier::Admission::LeftOut);
    }

    /// The hosts with which most went wrong, the worst first.
    pub fn worst_hosts(&self) -> impl Iterator<Item = &WorstHost> {
        self.worst_host.iter().chain(&self.further_hosts)
    }

    /// Counts an answer.
    pub fn count(&mut self, verdict: &Verdict, status: u16) {
        self.pages += 1;
        *self.statuses.entry(status).or_default() += 1;
        match verdict {
            Verdict::Unique => self.unique += 1,
            Verdict::Exact { .. } | Verdict::Known { document: CorpusMatch { exact: true, .. }, .. } => self.exact += 1,
            Verdict::Near { .. } | Verdict::Known { .. } => self.near += 1,
            Verdict::Unchanged { .. } => self.unchanged += 1,
            Verdict::Unjudged => self.unjudged += 1,
        }
    }

    /// Counts a URL that was given up without an answer.
    pub fn count_failure(&mut self, failure: Failure) {
        self.failed += 1;
        *self.failures.entry(failure.name().to_owned()).or_default() += 1;
        if Failure::OF_TLS.contains(&failure) {
            *self.tls.entry(failure.to_string()).or_default() += 1;
        }
    }

    /// Counts a look-up of an address or a request for robots.txt that failed.
    pub fn count_errand_failure(&mut self, kind: String) {
        *self.errand_failures.entry(kind).or_default() += 1;
    }

    /// Writes the counters into the state.
    pub fn put(&self, session: &mut Session) -> store::Result<()> {
        let json = serde_json::to_vec(self).map_err(std::io::Error::from)?;
        session.put(Space::META, *b"stats", json);
        Ok(())
    }

    /// Takes over what the frontier counts.
    pub fn take_counts(&mut self, counts: &Counts) {
        (self.urls_seen, self.frontier) = (counts.seen, counts.queued);
        (self.held, self.stopped) = (counts.states.held(), counts.states.stopped());
        let refused = SkipReason::ALL.map(|reason| (reason.name().to_owned(), counts.states.refused_for(reason)));
        self.refused = refused.into_iter().filter(|(_, count)| *count > 0).collect();
    }

    /// URLs that were met and will not be fetched: the lines of `skipped.jsonl`, without those that stay queued.
    pub fn skipped(&self) -> u64 {
        self.held + self.stopped + self.refused.values().sum::<u64>()
    }

    /// Whether any page was answered with 2xx or 304.
    pub fn any_page(&self) -> bool {
        self.statuses.iter().any(|(status, count)| *count > 0 && matches!(status, 200..=299 | 304))
    }

    /// The estimate of the unique pages that were lost, as far as it is still valid. `found` may be from an earlier
    /// run. The pages behind the ends of chains raise the upper end.
    pub fn lost(&self, found: Option<LastEstimate>) -> Option<Lost> {
        let held_back = self.held + self.stopped;
        let lost = found?.now(held_back);
        let behind_ends = if held_back > 0 { self.behind_ends } else { 0 };
        Some(Lost { high: lost.high + behind_ends as f64, ..lost })
    }

    /// Mean relevance of the pages fetched, 0..1; `None` in a crawl without a topic.
    pub fn harvest(&self) -> Option<f64> {
        (self.scored > 0).then(|| self.relevance / self.scored as f64)
    }

    /// Pages a second over the whole time.
    pub fn pages_per_second(&self) -> f64 {
        if self.elapsed_ms == 0 { 0.0 } else { self.pages as f64 * 1000.0 / self.elapsed_ms as f64 }
    }
}

/// Hosts whose robots.txt asks for a Crawl-delay that is longer than `--patience`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LongDelays {
    /// The host among them that is due first.
    pub host: String,
    /// Its Crawl-delay, or `--max-crawl-delay` if that is shorter, in milliseconds.
    pub delay_ms: Millis,
    /// The number of these hosts in memory.
    pub hosts: u64,
}

/// The reason why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Nothing is left to fetch; in a round of visits: the round is over.
    Done,
    /// All queued URLs become due only after `--patience`.
    Waiting,
    /// `--max-pages`.
    PageLimit,
    /// `--time-limit`.
    TimeLimit,
    /// SIGINT, SIGTERM, or the dashboard.
    Stopped,
}

impl StopReason {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            StopReason::Done => "done",
            StopReason::Waiting => "waiting",
            StopReason::PageLimit => "page_limit",
            StopReason::TimeLimit => "time_limit",
            StopReason::Stopped => "stopped",
        }
    }

    /// The reason with this word.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Done, Self::Waiting, Self::PageLimit, Self::TimeLimit, Self::Stopped]
            .into_iter()
            .find(|reason| reason.name() == name)
    }
}

/// The state of the crawl that observers see, some times a second.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    /// Totals.
    pub stats: &'a Stats,
    /// Totals of the frontier.
    pub counts: Counts,
    /// For the table of hosts.
    pub frontier: &'a Frontier,
    /// Jobs open.
    pub in_flight: usize,
    /// The estimate of the unique pages among the URLs held back, if there is one.
    pub lost: Option<Lost>,
    /// In a focused crawl, the mean relevance of the pages fetched.
    pub harvest: Option<f64>,
    /// Trouble on this machine, while it lasts: nothing is fetched then.
    pub trouble: Option<&'a str>,
    /// The time.
    pub now: Millis,
    /// In the last snapshot: the reason why the run ended.
    pub stopped: Option<StopReason>,
}

/// Watches a crawl: the terminal, the live page, tests.
pub trait Observer {
    /// Takes a snapshot: one every [`TICK`], and one at the end.
    fn tick(&mut self, snapshot: &Snapshot<'_>);
}

/// Milliseconds between two snapshots.
pub const TICK: Millis = 250;

/// An observer that does nothing.
#[derive(Debug)]
pub struct Nobody;

impl Observer for Nobody {
    fn tick(&mut self, _snapshot: &Snapshot<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_lost_than_is_held() {
        let lost = Lost { estimate: 30.0, low: 10.0, high: 50.0 };
        let found = Some(LastEstimate { lost, held_back: 90 });
        let stats = Stats { held: 15, stopped: 5, ..Stats::default() };
        assert_eq!(stats.lost(found), Some(Lost { estimate: 20.0, low: 10.0, high: 20.0 }));
        assert_eq!(Stats { held: 90, ..Stats::default() }.lost(found), Some(lost));
        assert_eq!(Stats::default().lost(found), Some(Lost::default()), "everything was fetched since");
        assert_eq!(Stats::default().lost(None), None);
    }

    #[test]
    fn what_lies_behind_the_held_urls_counts_while_they_are_held() {
        let lost = Lost { estimate: 0.0, low: 0.0, high: 42.0 };
        let found = Some(LastEstimate { lost, held_back: 2 });
        let of = |held| Stats { held, ..Stats::default() }.lost(found).map(|lost| lost.high);
        assert_eq!([2, 1, 0].map(of), [Some(42.0), Some(21.0), Some(0.0)]);
        // The ends of chains raise the upper end only.
        let of = |held| Stats { held, behind_ends: 400, ..Stats::default() }.lost(found);
        assert_eq!(of(2), Some(Lost { high: 442.0, ..lost }));
        assert_eq!(of(0), Some(Lost::default()));
    }
}
