//! Asks for the words of its own that a near-duplicate has ([`crate::engine::novelty::own_words`]).

use dedup_stage::judge::{Judgement, Verdict};
use frontier::{Job, Trial, shape};
use xxhash_rust::xxh3::xxh3_64;

use crate::engine::message::PageFinding;
use crate::engine::novelty::own_words::{OwnWords, Tried};
use crate::engine::state::EngineState;

impl EngineState<'_> {
    /// The words of its own that a near-duplicate has. [`OwnWords::None`] for any page that is no trial.
    pub(super) fn own_words(&mut self, job: &Job, finding: &PageFinding, judgement: &Judgement) -> OwnWords {
        if finding.word_marks.is_empty() || job.page.visit > 1 {
            return OwnWords::None;
        }
        let tried = match job.trial.as_deref() {
            Some(Trial::News { template }) => Tried::Template(*template),
            _ => Tried::Shape(xxh3_64(shape(&job.url).as_bytes())),
        };
        let own_words = self.shown_words.page(job.page.url.site.domain, tried, &finding.word_marks);
        if matches!(judgement.verdict, Verdict::Near { .. }) { own_words } else { OwnWords::None }
    }
}
