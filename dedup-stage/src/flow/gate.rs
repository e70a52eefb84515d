//! The gate before the frontier: which links pass, by the verdict on their page.

use config::OnDuplicate;

use crate::judge::Judgement;

/// The factor for the priority of a page's links, in 0..1; `None` if no link passes the gate.
///
/// In `drop` no link of a duplicate passes. In `demote` all links of a duplicate pass, and the factor is the novelty of
/// the page. In `keep` all links pass with the factor 1. The links of a page that is no duplicate pass with the factor
/// 1. (In `drop`, the links of some unique pages are tried before they are followed: see [`super::Fate::Try`].)
pub(super) fn gate(judgement: &Judgement, on_duplicate: OnDuplicate) -> Option<f32> {
    let repeats = judgement.verdict.twin().is_some() || judgement.verdict.known().is_some();
    match on_duplicate {
        _ if !repeats => Some(1.0),
        OnDuplicate::Keep => Some(1.0),
        OnDuplicate::Demote => Some(judgement.novelty),
        OnDuplicate::Drop => None,
    }
}
