//! The desk where reports are taken: what one report changes in frontier, judge, state and outputs.

use config::{OnDuplicate, Settings};
use dedup_stage::flow::Flow;
use frontier::{Admission, Detail, Found, Frontier, Job, JobKind, Millis, Outcome, SkipReason, Via};

use super::Result;
use super::alike::Alike;
use super::ledger::Ledger;
use super::message::{Finding, Named, Order, Report, SitemapFinding};
use super::rescue::Rescue;
use super::scores::Scores;
use super::trouble::{HostTroubles, LocalTrouble};
use super::usage::{Decided, Usage, is_tdm, tdm_of};
use crate::access::{Access, Worn};
use crate::clock::Clock;
use crate::fetch::FetchError;
use crate::record::PageRecord;
use crate::sink::PageOut;

/// What decides about pages and links, and what keeps books of it.
pub(super) struct Desk<'a> {
    pub settings: &'a Settings,
    pub frontier: Frontier,
    pub flow: Flow,
    pub access: Access,
    pub usage: Usage,
    pub scores: Scores,
    pub ledger: Ledger,
    pub rescue: Rescue,
    pub local: LocalTrouble,
    pub hosts: HostTroubles,
    pub alike: Alike,
    pub clock: Clock,
}

impl Desk<'_> {
    /// A job with everything that its request needs; `None` where it is not to be done now.
    pub fn order(&mut self, job: Job) -> Result<Option<Order>> {
        let now = self.clock.now();
        let (mut said, mut validators) = (None, None);
        if job.kind == JobKind::Page {
            said = self.usage.of(&job.url, &self.ledger.session)?;
            let outcome = match self.usage.decide(&job.url, said.as_deref()) {
                Decided::Fetch => None,
                Decided::Forbidden => Some(Outcome::Refused(SkipReason::Purpose)),
                Decided::Wait(first) => {
                    if let Some(file) = tdm_of(&job.url).filter(|_| first) {
                        self.frontier.add_sitemap(&file, &mut self.ledger.session)?;
                    }
                    Some(Outcome::Later)
                }
            };
            if let Some(outcome) = outcome {
                self.frontier.report(&job, outcome, now, &mut self.ledger.session)?;
                return Ok(None);
            }
            let before = self.before(&job)?;
            validators = before.map(|before| before.validators).filter(|known| !known.is_empty());
        }
        let worn = if job.kind == JobKind::Resolve { Worn::default() } else { self.access.wear(&job.url, now)? };
        Ok(Some(Order { job, validators, worn, said }))
    }

    /// What one report changes.
    pub fn take(&mut self, report: Report) -> Result<()> {
        // What it weighs counts until it is done.
        let Report { job, ended_at, heard, received, finding, weight: _weight, .. } = report;
        self.frontier.received(received, ended_at);
        if let Some((status, heard)) = heard
            && self.access.hear(&job.url, status, &heard, &mut self.ledger.session)
        {
            self.local.answered();
            let again = Outcome::Returned { requested: true };
            self.frontier.report(&job, again, ended_at, &mut self.ledger.session)?;
            return Ok(());
        }
        let outcome = match finding {
            Finding::Page(page) => return self.take_page(job, ended_at, *page),
            Finding::Sitemap(sitemap) => return self.take_sitemap(&job, ended_at, *sitemap),
            Finding::Failed { error, line } => return self.take_failure(&job, ended_at, &error, &line),
            Finding::Addresses(addresses) => Outcome::Resolved(addresses),
            Finding::RobotsMoved(target) => Outcome::RobotsMoved(target),
            Finding::Tdm { status, elapsed, retry_after, file } => {
                self.usage.heard(&job.url, file, &mut self.ledger.session);
                Outcome::Done { status, elapsed, retry_after, target: None }
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
                Outcome::Robots(rules)
            }
        };
        if job.kind != JobKind::Resolve {
            self.local.answered();
        }
        self.frontier.report(&job, outcome, ended_at, &mut self.ledger.session)?;
        Ok(())
    }

    /// No answer came.
    fn take_failure(&mut self, job: &Job, at: Millis, error: &FetchError, line: &[u8]) -> Result<()> {
        let outcome = match error {
            FetchError::Budget => Outcome::Returned { requested: true },
            FetchError::Local(what) => {
                self.local.note(what, self.clock.now());
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
        let again = self.frontier.report(job, outcome, at, &mut self.ledger.session)?;
        if !again && is_tdm(&job.url) {
            self.usage.heard(&job.url, Vec::new(), &mut self.ledger.session);
        }
        if again || job.kind != JobKind::Page {
            return Ok(());
        }
        self.ledger.stats.count_failure(error.kind());
        self.hosts.note(&job.url, error.kind().name());
        let before = self.before(job)?;
        let out = PageOut::failed(line);
        let record = PageRecord {
            verdict: out.judgement.verdict.into(),
            status: 0,
            depth: job.depth,
            offset: 0,
            source: job.source,
            via: job.via,
            fetched_at: at,
            url: job.url.as_str().to_owned(),
            validators: Default::default(),
            payload: None,
            content: None,
            shown: before.and_then(|before| before.shown),
        };
        self.rescue.fetched(job, false, &mut self.ledger.session);
        self.ledger.record(job.page, &out, record)
    }

    fn take_sitemap(&mut self, job: &Job, at: Millis, finding: SitemapFinding) -> Result<()> {
        let SitemapFinding { status, elapsed, retry_after, redirect, pages, sitemaps, cut } = finding;
        self.ledger.stats.sitemaps_cut += u64::from(cut);
        self.local.answered();
        if retry_after.is_some() {
            self.ledger.commit_soon(self.clock.now());
        }
        let outcome = Outcome::Done { status, elapsed, retry_after, target: None };
        self.frontier.report(job, outcome, at, &mut self.ledger.session)?;
        let (priority, merits) = self.scores.named();
        for Named { url, id, refusal } in pages {
            let found = Found { url: &url, id, depth: 1, priority, merits, source: None, via: Via::Sitemap };
            self.admit(&found, refusal)?;
        }
        for sitemap in sitemaps.into_iter().chain(redirect) {
            self.frontier.add_sitemap(&sitemap, &mut self.ledger.session)?;
        }
        Ok(())
    }

    /// One link asks to be queued, unless there is a reason against it.
    pub fn admit(&mut self, found: &Found<'_>, refusal: Option<SkipReason>) -> Result<Admission> {
        let session = &mut self.ledger.session;
        Ok(match refusal {
            Some(reason) => self.frontier.refuse(found, reason, session)?,
            None => self.frontier.add(found, session)?,
        })
    }

    /// What was recorded of the URL's last visit.
    pub fn before(&self, job: &Job) -> Result<Option<PageRecord>> {
        let mut page = job.page;
        if page.visit < 2 {
            return Ok(None);
        }
        page.visit -= 1;
        Ok(self.ledger.page(page)?)
    }

    /// Does a little of what the frontier has to do in the background. True if there is more.
    pub fn step(&mut self) -> Result<bool> {
        Ok(self.frontier.step(&mut self.ledger.session)?)
    }

    /// Everything queued is done: releases what must be fetched after all. True if there is anything.
    pub fn drain(&mut self) -> Result<bool> {
        if self.frontier.drain(&mut self.ledger.session)? {
            return Ok(true);
        }
        let drop = self.settings.dedup.on_duplicate == OnDuplicate::Drop;
        Ok(drop && self.rescue.next(self.settings, &mut self.frontier, &mut self.ledger)?)
    }

    /// Makes everything durable.
    pub fn commit(&mut self) -> Result<()> {
        let now = self.clock.now();
        self.frontier.save(&mut self.ledger.session);
        self.scores.save(&mut self.ledger.session)?;
        self.ledger.update(now, &self.frontier.counts());
        self.ledger.commit(now)
    }
}

/// The word for why the pages of a host are not asked for, where that is trouble with its robots.txt or its address.
pub(super) fn withheld_for(detail: Detail) -> Option<String> {
    match detail {
        Detail::NoRobots(failure) | Detail::NoAddress(failure) => Some(failure.name().to_owned()),
        Detail::RobotsStatus(status) => Some(format!("robots_{status}")),
        _ => None,
    }
}
