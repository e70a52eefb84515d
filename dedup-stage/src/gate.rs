//! What becomes of the out-links of a page, by its verdict: the gate before the frontier.

use crate::old_judge::{Judgement, Verdict};

pub use config::OnDuplicate;

/// What happens to the links of one page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Passage {
    /// They go to the frontier, with their priority multiplied by this factor in 0..1.
    Follow(f32),
    /// They are kept aside; none reaches the frontier.
    Hold,
}

/// The gate: in `drop` mode no link of a duplicate passes, in `demote` all pass with the novelty of their page as a
/// factor, in `keep` all pass unchanged.
pub fn gate(judgement: &Judgement, on_duplicate: OnDuplicate) -> Passage {
    match (judgement.verdict, on_duplicate) {
        (Verdict::Unique | Verdict::Unjudged, _) | (_, OnDuplicate::Keep) => Passage::Follow(1.0),
        (Verdict::Exact { .. } | Verdict::Near { .. }, OnDuplicate::Drop) => Passage::Hold,
        (Verdict::Exact { .. } | Verdict::Near { .. }, OnDuplicate::Demote) => Passage::Follow(judgement.novelty),
    }
}
