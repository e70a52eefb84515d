//! What the frontier learns from a page: the verdict, a lesson for rules, and the result of a trial.

use dedup_stage::judge::{Judgement, UniqueBy, Verdict};
use frontier::rules::{Content, Lesson};
use frontier::{Brought, Job};
use url::Url;

use crate::engine::barren::has_known_text;
use crate::engine::error::Result;
use crate::engine::ledger;
use crate::engine::links::LinkCounts;
use crate::engine::message::PageFinding;
use crate::engine::own_words::OwnWords;
use crate::engine::state::EngineState;
use crate::engine::twin::TwinPage;

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

    /// Teaches the frontier: the verdict on the page, its lesson for rules, and the result of a trial.
    pub(super) fn teach(
        &mut self,
        job: &Job,
        finding: &PageFinding,
        judgement: &Judgement,
        seen: Seen<'_>,
    ) -> Result<()> {
        let Seen { content, twin, counts, says } = seen;
        // An unchanged page was a lesson at an earlier visit, so now it only tests what was suggested since. Little
        // text is a lesson only if an earlier page has it: then the page may belong to a trap.
        let is_lesson = !matches!(judgement.verdict, Verdict::Unjudged | Verdict::Unchanged { .. })
            && (!says.little || has_known_text(judgement));
        let is_lesson = is_lesson && content.is_some();
        let (frontier, session) = (&mut self.frontier, &mut self.ledger.session);
        match judgement.verdict {
            Verdict::Unjudged if finding.status >= 400 => frontier.verdict(job, None, 0.0, session)?,
            Verdict::Unjudged => match says.new_file {
                Some(is_new) => frontier.file(job, is_new, session)?,
                None => frontier.no_verdict(job, false, session)?,
            },
            _ if says.little => frontier.says_little(job, is_lesson, session)?,
            Verdict::Unique if says.rearranges && !counts.promise() => frontier.says_little(job, is_lesson, session)?,
            verdict => {
                let brought = match judgement.unique_by {
                    _ if says.own_words == OwnWords::Few => Brought::Words,
                    _ if says.own_words == OwnWords::OfStock => Brought::WordsOfStock,
                    _ if verdict.is_duplicate() => Brought::Nothing,
                    // The pages that it leads to are not fetched, so no trial can tell what they are worth.
                    Some(UniqueBy::Links) if counts.away >= LinkCounts::MANY_AWAY => Brought::Media,
                    Some(UniqueBy::Links) => Brought::Links,
                    Some(
                        UniqueBy::Media | UniqueBy::MediumBesideShared | UniqueBy::Aside | UniqueBy::LinksOfFewWords,
                    ) => Brought::Media,
                    None if says.rearranges => Brought::Media,
                    None => Brought::Content,
                };
                frontier.verdict(job, Some(brought), judgement.novelty, session)?;
            }
        }
        let is_unchanged = matches!(judgement.verdict, Verdict::Unchanged { .. }) && !says.little;
        let Some(content) = content.filter(|_| is_lesson || is_unchanged) else { return Ok(()) };
        let twin = twin.filter(|twin| twin.agrees(content)).and_then(|twin| Url::parse(&twin.url).ok());
        let lesson = Lesson {
            url: &job.url,
            id: job.page.url,
            content,
            twin: twin.as_ref(),
            barren: (has_known_text(judgement) || says.rearranges)
                && says.own_words != OwnWords::Few
                && counts.beyond == 0,
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

/// What a page shows, for the rules.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    pub content: Option<Content>,
    /// The page that it repeats.
    pub twin: Option<&'a TwinPage>,
    pub counts: LinkCounts,
    pub says: Says,
}

/// How far a page says something that its host has not said before.
#[derive(Clone, Copy)]
pub(super) struct Says {
    /// It is unique, but its few words are no evidence ([`EngineState::says_little`]).
    pub little: bool,
    /// Its pieces are known ([`EngineState::rearranges`]).
    pub rearranges: bool,
    /// The words of its own that a near-duplicate has ([`EngineState::own_words`]).
    pub own_words: OwnWords,
    /// Whether it is a file that the crawl was not shown before; `None` if it is no file.
    pub new_file: Option<bool>,
}
