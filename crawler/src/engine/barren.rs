//! Decides whether a page has new text. A page without new text, and without a new link out of its family, is *barren*:
//! learned rules count such pages to find traps.

use dedup_stage::corpus::CorpusMatch;
use dedup_stage::judge::{Judge, Judgement, UniqueBy, Verdict};
use frontier::Job;
use frontier::rules::Family;

/// Whether the text of a page was known before: the page is a copy, or it is unique only by its links.
pub(super) fn has_known_text(judgement: &Judgement) -> bool {
    match judgement.verdict {
        Verdict::Exact { .. } => true,
        Verdict::Near { resemblance, .. } | Verdict::Known { document: CorpusMatch { resemblance, .. }, .. } => {
            resemblance >= Judge::SAME_TEXT
        }
        Verdict::Unique => matches!(judgement.unique_by, Some(UniqueBy::Links | UniqueBy::LinksOfFewWords)),
        Verdict::Unchanged { .. } | Verdict::Unjudged => false,
    }
}

/// The family of a page without new text; `None` for a page with new text, or if its URL has no family.
pub(super) fn family(job: &Job, judgement: &Judgement) -> Option<Family> {
    if has_known_text(judgement) { Family::of(&job.url) } else { None }
}
