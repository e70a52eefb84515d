//! Pages whose text was known before, and the families of URLs that they tell something about.

use dedup_stage::corpus::Twin;
use dedup_stage::judge::{Acquitted, Judge, Judgement, Verdict};
use frontier::Job;
use frontier::rules::Family;

/// Whether the text of a page was known before: that of a copy, or of one page of a list.
pub(super) fn has_known_text(judgement: &Judgement) -> bool {
    match judgement.verdict {
        Verdict::Exact { .. } => true,
        Verdict::Near { resemblance, .. } | Verdict::Known { twin: Twin { resemblance, .. }, .. } => {
            resemblance >= Judge::SAME_TEXT
        }
        Verdict::Unique => judgement.acquitted == Some(Acquitted::ByLinks),
        Verdict::Unchanged { .. } | Verdict::Unjudged => false,
    }
}

/// The family of URLs that a page tells something about: only a page without new text does.
pub(super) fn family(job: &Job, judgement: &Judgement) -> Option<Family> {
    if has_known_text(judgement) { Family::of(&job.url) } else { None }
}
