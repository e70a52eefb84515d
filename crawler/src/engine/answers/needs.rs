//! Requisites in the engine: images, styles and scripts of accepted pages. They are fetched before further pages. Of
//! the outputs, only the archive has them.

use dedup_stage::judge::{Judgement, Verdict};
use frontier::{Admission, FoundLink, Job, JobKind, Merits, Millis, Outcome, Via};

use crate::engine::error::Result;
use crate::engine::message::{Need, PageFinding};
use crate::engine::state::EngineState;
use crate::record::PageRecord;
use crate::requisites::MOST_HOPS;
use crate::sink::PageOut;

impl EngineState<'_> {
    /// Whether a job fetches a requisite, or something that must come before one: an address or a robots.txt.
    pub(in crate::engine) fn is_for_requisites(&self, job: &Job) -> bool {
        match job.kind {
            JobKind::Page => job.is_requisite(),
            JobKind::Resolve | JobKind::Robots => self.requisite_hosts.contains(&job.page.url.site.host),
            JobKind::Sitemap => false,
        }
    }

    /// Queues the requisites of a page, if the page is accepted.
    pub(in crate::engine) fn need(&mut self, job: &Job, judgement: &Judgement, finding: &PageFinding) -> Result<()> {
        let is_accepted = match judgement.verdict {
            Verdict::Unique => true,
            Verdict::Unjudged => (200..300).contains(&finding.status),
            _ => false,
        };
        if is_accepted { self.queue_needs(job, &finding.needs, 0) } else { Ok(()) }
    }

    fn queue_needs(&mut self, job: &Job, needs: &[Need], hops: u8) -> Result<()> {
        for Need { url, id } in needs {
            let found = FoundLink {
                url,
                id: *id,
                depth: job.depth + 1,
                // Requisites come before further pages, so that a page and its requisites are from the same time.
                priority: 1.0,
                merits: Merits::default(),
                source: Some(job.page),
                via: Via::Requisite { hops },
            };
            let admission = self.frontier.add(&found, &mut self.ledger.session)?;
            self.ledger.stats.count_left_out(admission);
            if admission == Admission::Queued {
                self.requisites += 1;
                self.requisite_hosts.insert(id.site.host);
            }
        }
        Ok(())
    }

    /// Takes the answer to a request for a requisite.
    pub(in crate::engine) fn take_requisite(&mut self, job: &Job, at: Millis, finding: &PageFinding) -> Result<()> {
        let PageFinding { status, elapsed, retry_after, .. } = *finding;
        let target = finding.redirect.as_ref().map(|redirect| redirect.target);
        let outcome = Outcome::Done { status, elapsed, retry_after, target, cut: false };
        if self.frontier.report(job, outcome, at, &mut self.ledger.session)? {
            return Ok(());
        }
        if let Via::Requisite { hops } = job.via
            && hops < MOST_HOPS
        {
            self.queue_needs(job, &finding.needs, hops + 1)?;
        }
        let stats = &mut self.ledger.stats;
        stats.requisites += 1;
        stats.requisite_bytes += finding.bytes;
        let out = PageOut { exchange: finding.exchange.as_ref(), is_requisite: true, ..PageOut::failed(&[]) };
        self.record_requisite(job, at, status, &out)
    }

    /// Takes a failure of a request for a requisite.
    pub(in crate::engine) fn lose_requisite(&mut self, job: &Job, at: Millis) -> Result<()> {
        self.ledger.stats.requisites_failed += 1;
        self.record_requisite(job, at, 0, &PageOut { is_requisite: true, ..PageOut::failed(&[]) })
    }

    fn record_requisite(&mut self, job: &Job, at: Millis, status: u16, out: &PageOut<'_>) -> Result<()> {
        self.requisites = self.requisites.saturating_sub(1);
        self.ledger.record(job.page, out, PageRecord::of(job, at, status))
    }
}
