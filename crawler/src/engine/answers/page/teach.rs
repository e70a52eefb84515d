//! What the frontier learns from a page: what it is worth, a lesson for rules, and the result of a trial.

use dedup_stage::judge::{Judgement, Shown, UniqueBy, Verdict};
use frontier::Job;
use frontier::rules::{Content, Lesson};
use url::Url;

use super::worth::Worth;
use crate::engine::answers::links::LinkCounts;
use crate::engine::answers::twin::TwinPage;
use crate::engine::error::Result;
use crate::engine::ledger;
use crate::engine::message::PageFinding;
use crate::engine::state::EngineState;

impl EngineState<'_> {
    /// Whether a page is unique, but has so little text that it is no evidence about other pages: the text is too short
    /// for a fingerprint, and, apart from numbers, dates and words of its own URL, it says nothing, or only what the
    /// host has shown lately. A page that has the few words of an earlier page, and other links, is no evidence,
    /// either.
    pub(super) fn says_little(&mut self, job: &Job, finding: &PageFinding, judgement: &Judgement) -> bool {
        if judgement.verdict != Verdict::Unique || finding.page.signature.is_some() {
            return false;
        }
        let is_new = self.gists.is_new(job.page.url.site.host, finding.page.gist);
        !is_new || judgement.unique_by == Some(UniqueBy::LinksOfFewWords)
    }

    /// If a page was visited before, and was a copy of a page that it does not repeat any more, the frontier counts it.
    /// If learned rules say that it shows what another page shows, the frontier compares the two. (A page that was no
    /// copy at its last two visits has its own content, even if it was a copy at first.)
    pub(super) fn learn_parted(
        &mut self,
        job: &Job,
        judgement: &Judgement,
        content: Option<Content>,
        before: Option<&Shown>,
    ) -> Result<()> {
        let Some(before) = before.filter(|_| judgement.verdict != Verdict::Unjudged) else { return Ok(()) };
        let repeats = judgement.verdict.twin().map(|twin| twin.url);
        if let Some(original) = before.of.map(|page| page.url)
            && !matches!(judgement.verdict, Verdict::Unchanged { .. })
            && repeats != Some(original)
        {
            self.frontier.copy_parted(job.page.url, original, &mut self.ledger.session)?;
        }
        let Some(content) = content else { return Ok(()) };
        let is_own = judgement.verdict.twin().is_none() && before.of.is_none();
        let shows = if is_own { job.page.url.url } else { content.shows };
        let content = Content { shows, ..content };
        Ok(self.frontier.learn_parted(job, content, &ledger::shows, &mut self.ledger.session)?)
    }

    /// Teaches the frontier: what the page is worth, its lesson for rules, and the result of a trial.
    pub(super) fn teach(&mut self, job: &Job, judgement: &Judgement, seen: Seen<'_>) -> Result<()> {
        let Seen { content, twin, counts, worth } = seen;
        let is_lesson = worth.is_lesson && content.is_some();
        let (frontier, session) = (&mut self.frontier, &mut self.ledger.session);
        frontier.teach(job, worth.taught, is_lesson, session)?;
        let is_test = matches!(judgement.verdict, Verdict::Unchanged { .. });
        let Some(content) = content.filter(|_| is_lesson || is_test) else { return Ok(()) };
        let twin = twin.filter(|twin| twin.agrees(content)).and_then(|twin| Url::parse(&twin.url).ok());
        let lesson = Lesson {
            url: &job.url,
            id: job.page.url,
            content,
            twin: twin.as_ref(),
            barren: worth.is_barren,
            depth: job.depth,
            offspring: counts.within,
        };
        match is_lesson {
            true => frontier.learn(job, &lesson, &ledger::shows, session)?,
            false => frontier.learn_again(&lesson, &ledger::shows, session)?,
        }
        Ok(())
    }
}

/// What a page shows, for the frontier.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    /// Its content, as rules compare it.
    pub content: Option<Content>,
    /// The page that it repeats.
    pub twin: Option<&'a TwinPage>,
    pub counts: LinkCounts,
    pub worth: Worth,
}
