//! The state of the engine, and the dispatch of reports. One report changes frontier, judge, state and
//! outputs.

use std::collections::{HashSet, VecDeque};
use std::time::Instant;

use config::{OnDuplicate, Robots, Settings};
use dedup_stage::flow::Flow;
use frontier::robots::RobotsRules;
use frontier::{
    Admission, AnswerCost, Detail, FoundLink, Frontier, Job, JobKind, Merits, Millis, NamedBy, Outcome, SkipReason, Via,
};
use url::Url;

use super::doubtful_sessions::DoubtfulSessions;
use super::error::Result;
use super::ledger::Ledger;
use super::local_trouble::LocalTrouble;
use super::log::Log;
use super::message::{Finding, JobReport, Order};
use super::novelty::alike::Alike;
use super::novelty::gists::Gists;
use super::novelty::own_words::ShownWords;
use super::novelty::rearranged::{Forms, KnownPieces};
use super::novelty::shown_files::ShownFiles;
use super::peers::state::PeerState;
use super::rescue::Rescue;
use super::scores::Scores;
use super::stopwatch::Stopwatch;
use super::trouble::HostTroubles;
use super::unfinished::Unfinished;
use super::usage::{Decided, OriginUsage, is_sitemap, is_tdm_file, tdm_of};
use super::visits::{Continuous, Ended, Visits};
use crate::access::{AccessFields, SiteAccess};
use crate::clock::Clock;
use crate::fetch::FetchError;
use crate::outbound::{Outbound, Wish};
use crate::record::PageRecord;
use crate::sink::PageOut;

/// The state of the engine: the parts that decide about pages and links, and the parts that record it.
pub(super) struct EngineState<'a> {
    pub settings: &'a Settings,
    pub frontier: Frontier,
    pub flow: Flow,
    pub access: SiteAccess,
    pub usage: OriginUsage,
    pub scores: Scores,
    pub ledger: Ledger,
    pub rescue: Rescue,
    /// A sitemap of which a part was taken.
    pub unfinished: Option<Unfinished>,
    /// In a round of visits: the visits.
    pub visits: Option<Visits>,
    /// In a continuous crawl: the visits.
    pub continuous: Option<Continuous>,
    /// In a continuous crawl: when to ask again for each robots.txt that has forbidden URLs and has expired.
    pub robots_due: Option<Millis>,
    /// The number of URLs that were met when [`EngineState::drain`] last ran and found nothing to release.
    pub drained: Option<u64>,
    /// The number of pages that were fetched when [`EngineState::find_shorter_paths`] last ran and found none.
    pub shortened: Option<u64>,
    pub log: Log,
    /// Jobs that wait until the login to their site is done, or until `--max-pages` has room. Meanwhile their hosts get
    /// no other job.
    pub waiting: VecDeque<Job>,
    /// Requisites that this run has queued and not yet fetched.
    pub requisites: u64,
    /// Hosts that requisites were queued for in this run.
    pub requisite_hosts: HashSet<u64>,
    pub local: LocalTrouble,
    pub hosts: HostTroubles,
    pub alike: Alike,
    /// The gists of the last short pages of each host.
    pub gists: Gists,
    /// The forms of URLs, and whether their pages still bring something.
    pub forms: Forms,
    /// The pieces that pages have shown.
    pub known_pieces: KnownPieces,
    /// The words that trials have shown.
    pub shown_words: ShownWords,
    /// Links that were left out although they are probably pages of their own.
    pub doubtful_sessions: DoubtfulSessions,
    /// The files that were shown.
    pub shown_files: ShownFiles,
    pub clock: Clock,
    /// Measures what answers cost.
    pub stopwatch: Stopwatch,
    /// The processes that crawl with this one, if any do.
    pub peer_state: Option<PeerState>,
}

impl EngineState<'_> {
    /// A job with everything that its request needs; `None` if it cannot be done now.
    pub fn order(&mut self, job: Job) -> Result<Option<Order>> {
        if job.kind != JobKind::Resolve && self.access.waits(&job.url) {
            self.waiting.push_back(job);
            return Ok(None);
        }
        let now = self.clock.now();
        let (mut said, mut validators) = (None, None);
        if job.kind == JobKind::Page {
            said = self.usage.of(&job.url, &self.ledger.session)?;
            let session = &mut self.ledger.session;
            let outcome = match self.usage.decide(&job.url, said.as_deref()) {
                Decided::Fetch => None,
                Decided::Forbidden => Some(Outcome::Refused(SkipReason::Purpose)),
                Decided::Wait => match tdm_of(&job.url) {
                    Some(file) if self.frontier.await_file(&job, &file, session)? => Some(Outcome::Later),
                    // The file cannot be asked for, because its URL is too long.
                    _ => None,
                },
            };
            if let Some(outcome) = outcome {
                self.frontier.report(&job, outcome, now, session)?;
                return Ok(None);
            }
            validators = self.validators(&job)?;
        } else if is_sitemap(&job) {
            validators = self.list_validators(&job)?;
        } else if is_tdm_file(&job) {
            let known = self.usage.of(&job.url, &self.ledger.session)?;
            if known.is_some_and(|said| said.has_tdm()) {
                // An earlier run had queued the file, too, and its answer has come already.
                let outcome = Outcome::Refused(SkipReason::Purpose);
                self.frontier.report(&job, outcome, now, &mut self.ledger.session)?;
                return Ok(None);
            }
        }
        let access_fields =
            if job.kind == JobKind::Resolve { AccessFields::default() } else { self.access.fields(&job.url, now)? };
        let is_first = job.kind == JobKind::Page && job.page.visit == 1 && !job.is_requisite();
        let cut = is_first && self.known_pieces.wants(job.page.url);
        Ok(Some(Order { job, validators, access_fields, said, cut }))
    }

    /// The next of the waiting jobs; `None` while a login is under way.
    pub fn waited(&mut self) -> Option<Job> {
        if self.access.is_away() { None } else { self.waiting.pop_front() }
    }

    /// Takes one report.
    pub fn take(&mut self, report: JobReport) -> Result<()> {
        let began = Instant::now();
        let Job { page, kind, .. } = &report.job;
        let answered = report.answered.is_some();
        let heavy = report.heavy;
        let mut taken = AnswerCost { site: page.url.site, kind: *kind, answered, heavy, lag: 0, micros: report.micros };
        let ended_at = report.ended_at;
        // A sitemap is taken in pieces, and may not be done when this returns.
        let is_sitemap = matches!(report.finding, Finding::Sitemap(_));
        self.take_finding(report)?;
        if !is_sitemap {
            taken.micros += self.stopwatch.micros_since(began);
            self.taken(taken, ended_at);
        }
        Ok(())
    }

    /// Tells the frontier what reading and taking an answer have cost, and how long ago it came.
    pub(super) fn taken(&mut self, mut taken: AnswerCost, ended_at: Millis) {
        let now = self.clock.now();
        // In these crawls, answers also wait for other processes, or for the program that scores pages.
        let waits = self.peer_state.is_some() || self.settings.focus.has_program();
        taken.lag = if waits { 0 } else { now.saturating_sub(ended_at) };
        self.frontier.taken(&taken, now);
    }

    fn take_finding(&mut self, report: JobReport) -> Result<()> {
        self.log.note(&report);
        // `weight` is the memory that the report holds. It is given back when this function returns.
        let JobReport { job, ended_at, reaction, received, finding, weight, micros, .. } = report;
        self.frontier.received(received, ended_at);
        if let Some((status, reaction)) = reaction
            && self.access.hear(&job.url, status, &reaction, &mut self.ledger.session)
        {
            self.local.answered();
            let again = Outcome::Returned { requested: true };
            self.frontier.report(&job, again, ended_at, &mut self.ledger.session)?;
            return Ok(());
        }
        let outcome = match finding {
            Finding::Page(page) if job.is_requisite() => {
                self.local.answered();
                return self.take_requisite(&job, ended_at, &page);
            }
            Finding::Page(page) => return self.take_page(job, ended_at, *page),
            Finding::Sitemap(sitemap) => return self.take_sitemap(job, ended_at, *sitemap, weight, micros),
            Finding::Failed { error, line } => return self.take_failure(&job, ended_at, &error, &line),
            Finding::Addresses(addresses) => Outcome::Resolved(addresses),
            Finding::RobotsMoved(target) => Outcome::RobotsMoved(target),
            Finding::Tdm { status, elapsed, retry_after, file } => {
                self.local.answered();
                let outcome = Outcome::Done { status, elapsed, retry_after, target: None, cut: false };
                // If the file is asked for again, nobody knows yet what it says.
                if !self.frontier.report(&job, outcome, ended_at, &mut self.ledger.session)? {
                    self.usage.heard(&job.url, file, &mut self.ledger.session);
                }
                return Ok(());
            }
            Finding::Robots(rules, file) => {
                self.usage.heard(&job.url, file, &mut self.ledger.session);
                if rules.crawl_delay().is_some() || rules.retry_after().is_some() {
                    self.ledger.commit_soon(self.clock.now());
                }
                let politeness = &self.settings.politeness;
                let most = politeness.max_crawl_delay.max(politeness.delay);
                if let Some(delay) = rules.crawl_delay().filter(|delay| *delay > most) {
                    let url = &job.url;
                    tracing::warn!("{url} asks for a Crawl-delay of {delay}; clamped to {most} (--max-crawl-delay)");
                }
                if let Some(kind) = withheld_for(rules.trouble()) {
                    self.ledger.stats.count_errand_failure(kind);
                }
                self.name_sitemaps(&rules, &job.url)?;
                Outcome::Robots(rules)
            }
        };
        if job.kind != JobKind::Resolve {
            self.local.answered();
        }
        self.frontier.report(&job, outcome, ended_at, &mut self.ledger.session)?;
        self.ledger.stats.sitemaps_left += self.frontier.take_sitemaps_left();
        Ok(())
    }

    /// A robots.txt may name sitemaps on hosts of another frontier. (The frontier itself queues those on its own
    /// hosts.)
    fn name_sitemaps(&mut self, rules: &RobotsRules, of: &Url) -> Result<()> {
        if self.settings.scope.sitemaps && self.settings.politeness.robots == Robots::Obey {
            for sitemap in rules.sitemaps() {
                if self.frontier.is_elsewhere(self.frontier.id(sitemap).site) {
                    self.add_sitemap(sitemap, NamedBy::Robots(of), 0)?;
                }
            }
        }
        Ok(())
    }

    /// Takes a failure: no answer came.
    fn take_failure(&mut self, job: &Job, at: Millis, error: &FetchError, line: &[u8]) -> Result<()> {
        let outcome = match error {
            FetchError::Budget => Outcome::Returned { requested: true },
            FetchError::Local(what) => {
                // Hosts whose addresses are known need no lookup, so the crawl does not pause for it.
                if job.kind != JobKind::Resolve {
                    self.local.note(what, self.clock.now());
                }
                Outcome::Returned { requested: false }
            }
            // If something was answered, there is a network, and only the names of the file of hosts can be found.
            FetchError::NoNameServer if !self.local.has_begun() => {
                self.local.note(&error.to_string(), self.clock.now());
                Outcome::Returned { requested: false }
            }
            _ => Outcome::Failed(error.kind()),
        };
        if let FetchError::Slow(_) = error {
            tracing::info!("{}: {error}", job.url);
        }
        if matches!(job.kind, JobKind::Resolve | JobKind::Robots) && matches!(outcome, Outcome::Failed(_)) {
            self.ledger.stats.count_errand_failure(error.kind().name().to_owned());
        }
        let failed = matches!(outcome, Outcome::Failed(_));
        let again = self.frontier.report(job, outcome, at, &mut self.ledger.session)?;
        if again && failed {
            self.failed_for_now(job, error.kind().name().to_owned(), at)?;
        }
        if !again && is_tdm_file(job) {
            self.usage.heard(&job.url, Vec::new(), &mut self.ledger.session);
        }
        if !again && is_sitemap(job) {
            self.sitemap_failed(job)?;
        }
        if again || job.kind != JobKind::Page {
            return Ok(());
        }
        if job.is_requisite() {
            return self.lose_requisite(job, at);
        }
        self.no_more_attempts(job)?;
        self.ledger.stats.count_failure(error.kind());
        self.note_troubles(job, &[error.kind().name()])?;
        let before = self.before(job)?;
        let out = PageOut::failed(line);
        let (shown, graph) = before.map_or((None, None), |before| (before.shown, before.graph));
        let record = PageRecord { shown, graph, ..PageRecord::of(job, at, 0) };
        self.rescue.fetched(job, false, 0, &mut self.frontier, &mut self.ledger.session);
        self.ledger.record(job.page, &out, record)?;
        self.visit_ended(job, at, Ended::Trouble)
    }

    /// Queues a link, or refuses it for a reason. True if the link was new and there was no reason against it.
    pub fn admit(&mut self, found: &FoundLink<'_>, refusal: Option<SkipReason>) -> Result<(Admission, bool)> {
        let session = &mut self.ledger.session;
        let (admission, wish) = match refusal {
            Some(reason) => (self.frontier.refuse(found, reason, session)?, Wish::Refuse(reason)),
            None => (self.frontier.add(found, session)?, Wish::Follow),
        };
        let new = match admission {
            Admission::Queued => true,
            Admission::Refused(_) => refusal.is_none(),
            Admission::Elsewhere => self.put_outbound(found, wish)? && refusal.is_none(),
            Admission::Held | Admission::Seen | Admission::LeftOut => false,
        };
        self.ledger.stats.count_left_out(admission);
        Ok((admission, new))
    }

    /// Queues a sitemap. `depth` is the number of sitemaps that lead to it, each of them named by the one before.
    pub(super) fn add_sitemap(&mut self, url: &Url, by: NamedBy<'_>, depth: u32) -> Result<()> {
        match self.frontier.add_sitemap(url, by, depth, &mut self.ledger.session)? {
            Admission::Elsewhere => {
                let (id, merits) = (self.frontier.id(url), Merits::default());
                let found = FoundLink { url, id, depth, priority: 1.0, merits, source: None, via: Via::Sitemap };
                self.put_outbound(&found, Wish::Sitemap)?;
            }
            Admission::Refused(SkipReason::Scope) => self.ledger.stats.sitemaps_elsewhere += 1,
            Admission::Refused(SkipReason::Trap) | Admission::LeftOut => self.ledger.stats.sitemaps_left += 1,
            Admission::Refused(_) | Admission::Queued | Admission::Held | Admission::Seen => {}
        }
        Ok(())
    }

    /// Puts a link to a host of another directory into the state. Returns true if no link to its URL was met before.
    pub fn put_outbound(&mut self, found: &FoundLink<'_>, wish: Wish) -> Result<bool> {
        let link = Outbound::new(found, wish);
        if let Some(peer_state) = &mut self.peer_state {
            peer_state.outgoing.insert(link.key(found.id));
        }
        Ok(link.put(found.id, &mut self.ledger.session)?)
    }

    /// The record of the last visit to the URL of a job.
    pub fn before(&self, job: &Job) -> Result<Option<PageRecord>> {
        let mut page = job.page;
        if page.visit < 2 {
            return Ok(None);
        }
        page.visit -= 1;
        Ok(self.ledger.page(page)?)
    }

    /// Does a little of the frontier's work in the background. True if there is more.
    pub fn step(&mut self) -> Result<bool> {
        self.ask_robots_when_due();
        Ok(self.frontier.step(&mut self.ledger.session)?)
    }

    /// Everything queued is done: releases URLs that must be fetched after all, and goes on with the rescue. True if
    /// there is something to do.
    pub fn drain(&mut self) -> Result<bool> {
        let met = self.frontier.counts().seen;
        if self.continuous.is_some() && self.drained == Some(met) {
            // The crawl is idle now and then. Looking at everything that is held is worthwhile only if URLs were met
            // since the last time.
            return Ok(false);
        }
        // Links that were refused by mistake come before URLs that are held. After that, shorter paths are looked for
        // when nothing else is left, because that takes time.
        if self.shortened.is_none() && self.find_shorter_paths()? {
            return Ok(true);
        }
        if self.frontier.drain(&mut self.ledger.session)? {
            return Ok(true);
        }
        let states = self.frontier.counts().states;
        let rescues = match self.settings.dedup.on_duplicate {
            OnDuplicate::Drop => true,
            // URLs that rewrites had stopped have been released. The remaining ones are in traps, which have no end, or
            // have a page that a corpus knows.
            OnDuplicate::Demote => states.held() + states.stopped() > 0,
            OnDuplicate::Keep => false,
        };
        let more = rescues && self.rescue.next(self.settings, &mut self.frontier, &mut self.ledger)?;
        let more = more || self.find_shorter_paths()?;
        self.drained = Some(met).filter(|_| !more);
        Ok(more)
    }

    /// Makes everything durable.
    pub fn commit(&mut self) -> Result<()> {
        let now = self.clock.now();
        self.frontier.save(&mut self.ledger.session);
        self.scores.save(&mut self.ledger.session)?;
        self.send_links()?;
        self.ledger.update(now, &self.frontier, self.flow.judge());
        self.ledger.commit(now)
    }
}

/// The word for trouble with the robots.txt or the address of a host, because of which its pages cannot be asked for.
pub(super) fn withheld_for(detail: Detail) -> Option<String> {
    match detail {
        Detail::NoRobots(failure) | Detail::NoAddress(failure) => Some(failure.name().to_owned()),
        Detail::RobotsStatus(status) => Some(format!("robots_{status}")),
        _ => None,
    }
}
