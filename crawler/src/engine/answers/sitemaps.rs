//! Takes answers to requests for sitemaps. A sitemap can name 50,000 URLs on as many hosts, which takes a second. So a
//! large one is taken in pieces, and the engine takes the pages of other hosts between them. At most one sitemap is
//! unfinished, because the URLs that are left take memory.

use std::time::Instant;

use frontier::{Admission, AnswerCost, FoundLink, Job, Millis, NamedBy, Outcome, Via};

use crate::engine::error::Result;
use crate::engine::message::{ListAnswer, Named, SitemapFinding};
use crate::engine::state::EngineState;
use crate::engine::under_way::Weight;
use crate::engine::unfinished::Unfinished;

impl EngineState<'_> {
    /// At most this many pages of a sitemap are taken at once.
    const PIECE: usize = 256;

    /// Takes a sitemap, or its first piece. `micros` is the time that a page worker has spent on it.
    pub(in crate::engine) fn take_sitemap(
        &mut self,
        job: Job,
        at: Millis,
        mut finding: SitemapFinding,
        weight: Option<Weight>,
        micros: u64,
    ) -> Result<()> {
        self.finish_sitemap()?;
        let pages = std::mem::take(&mut finding.pages).into_iter();
        self.unfinished = Some(Unfinished { job, at, finding, pages, news: 0.0, micros, _weight: weight });
        // Processes that crawl together take reports in one order.
        if self.peer_state.is_some() { self.finish_sitemap() } else { self.go_on_with_sitemap().map(|_| ()) }
    }

    /// Takes all that is left of the unfinished sitemap.
    fn finish_sitemap(&mut self) -> Result<()> {
        while self.go_on_with_sitemap()? {}
        Ok(())
    }

    /// Takes the next piece of the unfinished sitemap. True if there is more.
    pub(in crate::engine) fn go_on_with_sitemap(&mut self) -> Result<bool> {
        let Some(mut unfinished) = self.unfinished.take() else { return Ok(false) };
        let began = Instant::now();
        let Unfinished { at, ref mut pages, .. } = unfinished;
        for Named { url, id, refusal, hints, lastmod } in pages.take(Self::PIECE) {
            let (priority, merits) = self.scores.named(hints);
            let found = FoundLink { url: &url, id, depth: 1, priority, merits, source: None, via: Via::Sitemap };
            let (admission, _) = self.admit(&found, refusal)?;
            unfinished.news += f32::from(u8::from(admission == Admission::Queued));
            if let Some(lastmod) = lastmod.filter(|_| matches!(admission, Admission::Queued | Admission::Seen)) {
                unfinished.news += self.hear_of(id, lastmod, at)?;
            }
            // A sitemap may name 50,000 hosts. If their records waited for the next commit of the engine, they would
            // take too much memory.
            if self.peer_state.is_none() && self.ledger.is_full() {
                self.commit()?;
            }
        }
        let is_done = unfinished.pages.len() == 0;
        if is_done {
            let Job { page, kind, .. } = &unfinished.job;
            let (site, kind, micros) = (page.url.site, *kind, unfinished.micros);
            self.end_sitemap(unfinished)?;
            let micros = micros + self.stopwatch.micros_since(began);
            self.taken(AnswerCost { site, kind, answered: true, heavy: false, lag: 0, micros }, at);
        } else {
            unfinished.micros += self.stopwatch.micros_since(began);
            self.unfinished = Some(unfinished);
        }
        Ok(!is_done)
    }

    /// All pages of a sitemap were taken.
    fn end_sitemap(&mut self, unfinished: Unfinished) -> Result<()> {
        let Unfinished { job, at, finding, news, .. } = unfinished;
        let SitemapFinding { status, elapsed, retry_after, redirect, sitemaps, cut, digest, validators, .. } = finding;
        self.ledger.stats.sitemaps_cut += u64::from(cut);
        self.local.answered();
        if retry_after.is_some() {
            self.ledger.commit_soon(self.clock.now());
        }
        let outcome = Outcome::Done { status, elapsed, retry_after, target: None, cut: false };
        let again = self.frontier.report(&job, outcome, at, &mut self.ledger.session)?;
        let is_something_else = (200..300).contains(&status) && digest.is_none();
        match again {
            true => {}
            false if status >= 500 || is_something_else => self.sitemap_failed(&job)?,
            false => self.sitemap_answered(&job)?,
        }
        for sitemap in sitemaps {
            self.add_sitemap(&sitemap, NamedBy::Sitemap(&job.url), job.depth + 1)?;
        }
        if let Some(moved) = redirect {
            // A sitemap that robots.txt names may redirect to another site. A sitemap that an index names may not.
            let by = if job.depth == 0 { NamedBy::Robots(&job.url) } else { NamedBy::Sitemap(&job.url) };
            self.add_sitemap(&moved, by, job.depth + 1)?;
        }
        self.sitemap_read(&job, at, ListAnswer { status, digest, news, validators })
    }
}
