//! Decides whether a page has new text. A page without new text, and without a new link out of its area, is *barren*:
//! learned rules count such pages to find traps. A page that is new only as a whole, because it arranges known pieces
//! in a new way, has no new text, either (`rearranges`). [`content`] is the content that learned rules compare.

use dedup_stage::corpus::CorpusMatch;
use dedup_stage::judge::{Judge, Judgement, UniqueBy, Verdict};
use frontier::Job;
use frontier::rules::{Area, Content};

use super::twin::TwinPage;
use crate::engine::message::PageFinding;
use crate::record::PageRecord;

/// Whether the text of a page was known before: the page is a copy, or it is unique only by its links.
pub(super) fn has_known_text(judgement: &Judgement) -> bool {
    match judgement.verdict {
        Verdict::Exact { .. } => true,
        Verdict::Near { resemblance, .. } | Verdict::Known { document: CorpusMatch { resemblance, .. }, .. } => {
            resemblance >= Judge::EQUAL_TEXT
        }
        Verdict::Unique => matches!(judgement.unique_by, Some(UniqueBy::Links | UniqueBy::LinksOfFewWords)),
        Verdict::Unchanged { .. } | Verdict::Unjudged => false,
    }
}

/// The area of a page without new text; `None` for a page with new text, or if its URL has no area. `rearranges`
/// says that the pieces of the page are known.
pub(in crate::engine) fn area(job: &Job, judgement: &Judgement, rearranges: bool) -> Option<Area> {
    if rearranges || has_known_text(judgement) { Area::of(&job.url) } else { None }
}

/// The content of a page for learned rules. A page with nearly the same text as its twin has the content of the twin.
/// An unchanged page has the content of its last visit. Any other page with text or media has its own content, even if
/// it has too little text for a fingerprint. `has_own_words`: it is a near-duplicate with words of its own.
pub(in crate::engine) fn content(
    job: &Job,
    finding: &PageFinding,
    (judgement, has_own_words): (&Judgement, bool),
    twin: Option<&TwinPage>,
    before: Option<&PageRecord>,
) -> Option<Content> {
    if finding.unchanged || matches!(judgement.verdict, Verdict::Unchanged { .. }) {
        return before.and_then(|before| before.content);
    }
    // The statement of a page without words tells its title and its media.
    let statement = || finding.page.statement.map_or(0, |digest| u64::from_le_bytes(*digest.first_chunk().unwrap()));
    let text = if finding.page.text != 0 { finding.page.text } else { statement() };
    if !finding.judgeable || finding.redirect.is_some() || finding.is_feed || text == 0 {
        return None;
    }
    let own = Content { text, shows: job.page.url.url };
    Some(match judgement.verdict {
        Verdict::Near { resemblance, .. } if has_own_words || resemblance < Judge::EQUAL_TEXT => own,
        verdict => match (verdict.duplicate_of(), twin.and_then(|twin| twin.shows)) {
            (Some(_), Some(shows)) => Content { text, shows },
            (Some(of), None) => Content { text, shows: of.url.url },
            (None, _) => own,
        },
    })
}
