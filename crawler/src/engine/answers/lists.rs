//! The records of sitemaps and feeds. They hold what each reading has brought, so that a list is read again when that
//! is worth a fetch.

use std::collections::HashMap;

use frontier::refresh::time::{DAY, seconds};
use frontier::{Job, Millis};

use super::honesty::Honesty;
use crate::engine::error::Result;
use crate::engine::message::{ListAnswer, PageFinding};
use crate::engine::state::EngineState;
use crate::engine::visits::List;
use crate::fetch::Validators;
use crate::spaces;

/// A round of visits reads all sitemaps of a host that has at most this many. Each costs one request, and few sites
/// have more.
const FEW: usize = 16;

impl EngineState<'_> {
    /// The validators for a request for a sitemap.
    pub(in crate::engine) fn list_validators(&self, job: &Job) -> Result<Option<Validators>> {
        let list = List::get(job.page.url, &self.ledger.session)?;
        let known = list.map(|list| list.validators).filter(|known| !known.is_empty());
        let is_believed = Honesty::get(job.page.url.site, &self.ledger.session)?.is_believed();
        Ok(known.filter(|_| is_believed))
    }

    /// Counts a sitemap that was given up. It counts once, and after it was answered it does not count any more.
    pub(in crate::engine) fn sitemap_failed(&mut self, job: &Job) -> Result<()> {
        let key = job.page.url.to_bytes();
        if self.ledger.session.get(spaces::FAILED_SITEMAPS, &key)?.is_none() {
            self.ledger.session.put(spaces::FAILED_SITEMAPS, key, []);
            self.ledger.stats.sitemaps_failed += 1;
        }
        Ok(())
    }

    /// A sitemap was answered.
    pub(super) fn sitemap_answered(&mut self, job: &Job) -> Result<()> {
        let key = job.page.url.to_bytes();
        if self.ledger.stats.sitemaps_failed > 0 && self.ledger.session.get(spaces::FAILED_SITEMAPS, &key)?.is_some() {
            self.ledger.session.delete(spaces::FAILED_SITEMAPS, key);
            self.ledger.stats.sitemaps_failed -= 1;
        }
        Ok(())
    }

    /// Records the reading of a sitemap.
    pub(super) fn sitemap_read(&mut self, job: &Job, at: Millis, reading: ListAnswer) -> Result<()> {
        self.list_read(job, at, false, reading)
    }

    /// Records the reading of a feed, if the visited page is a feed or was one before. `new` is the number of new URLs
    /// that it brought.
    pub(super) fn feed_read(&mut self, job: &Job, at: Millis, finding: &PageFinding, new: u32) -> Result<()> {
        if !finding.is_feed && job.page.visit == 1 {
            // Most pages are not feeds, and never were.
            return Ok(());
        }
        let is_answer = (200..300).contains(&finding.status);
        if !finding.is_feed || !is_answer {
            let known = List::get(job.page.url, &self.ledger.session)?.is_some();
            if !known {
                return Ok(());
            }
            if is_answer {
                List::forget(job.page.url, &mut self.ledger.session);
                self.continuous.iter_mut().for_each(|visits| visits.list_gone(job.page.url));
                return Ok(());
            }
        }
        let digest = Some(finding.page.text).filter(|_| is_answer && finding.is_feed);
        let reading =
            ListAnswer { status: finding.status, digest, news: new as f32, validators: Validators::default() };
        self.list_read(job, at, true, reading)
    }

    fn list_read(&mut self, job: &Job, at: Millis, is_feed: bool, reading: ListAnswer) -> Result<()> {
        let ListAnswer { status, digest, news, validators } = reading;
        let (id, session) = (job.page.url, &mut self.ledger.session);
        let list = match List::get(id, session)? {
            Some(mut list) => {
                list.was_read(seconds(at), digest, news);
                match status {
                    200..300 => list.validators = validators,
                    // A 304 need not repeat the validators that it confirms.
                    304 => {
                        list.validators.etag = validators.etag.or(list.validators.etag);
                        list.validators.last_modified = validators.last_modified.or(list.validators.last_modified);
                    }
                    _ => list.validators = Validators::default(),
                }
                list
            }
            // The entries at the first reading are no news, because they may be years old.
            None => List {
                url: job.url.as_str().to_owned(),
                is_feed,
                read: seconds(at),
                digest: digest.unwrap_or(0),
                news: Default::default(),
                validators,
            },
        };
        list.put(id, session);
        if let Some(visits) = &mut self.continuous {
            visits.list_read(id, list);
        }
        Ok(())
    }

    /// Queues the sitemaps that a round of visits reads. If a host has many, only those are read whose news is worth
    /// the request. (Feeds are pages, and are planned with them.)
    pub(in crate::engine) fn poll_sitemaps(&mut self) -> Result<()> {
        if !self.settings.scope.sitemaps {
            return Ok(());
        }
        let lists = List::all(&self.ledger.session)?;
        if lists.is_empty() {
            // An earlier version has kept no records of sitemaps. robots.txt will name them again.
            self.frontier.forget_sitemaps();
        }
        let refresh = &self.settings.refresh;
        let (price, now) = (refresh.min_gain.0 as f32 / (1_000.0 * DAY), self.clock.now());
        let least = |list: &List| list.read.saturating_add(seconds(refresh.min_age.0));
        let mut of_host = HashMap::<u64, usize>::new();
        for (id, _) in lists.iter().filter(|(_, list)| !list.is_feed) {
            *of_host.entry(id.site.host).or_default() += 1;
        }
        for (id, list) in lists.into_iter().filter(|(_, list)| !list.is_feed) {
            let is_one_of_few = of_host[&id.site.host] <= FEW && list.read.saturating_add(List::LEAST) <= seconds(now);
            if (is_one_of_few || list.due(price) <= seconds(now))
                && least(&list) <= seconds(now)
                && let Ok(url) = url::Url::parse(&list.url)
            {
                self.frontier.poll_sitemap(&url, &mut self.ledger.session)?;
            }
        }
        Ok(())
    }
}
