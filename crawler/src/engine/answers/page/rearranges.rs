//! Asks whether a page only rearranges pieces that are known ([`crate::engine::novelty::rearranged`]).

use dedup_stage::judge::{Judgement, UniqueBy, Verdict};
use frontier::Job;
use frontier::rules::Area;
use xxhash_rust::xxh3::xxh3_64;

use super::is_page_with_text;
use super::worth::has_new_text;
use crate::engine::message::PageFinding;
use crate::engine::novelty::rearranged::{Kind, KnownTo, form};
use crate::engine::state::EngineState;

impl EngineState<'_> {
    /// Whether a page rearranges known pieces. A later visit to a page repeats the first one, and that says nothing
    /// about its host. A text in chrome is no piece, so a page that is unique by such a text does not rearrange.
    /// `says_little`: the page has few words and is no evidence.
    pub(super) fn rearranges(
        &mut self,
        job: &Job,
        finding: &PageFinding,
        judgement: &Judgement,
        says_little: bool,
    ) -> bool {
        let is_judged = !matches!(judgement.verdict, Verdict::Unjudged | Verdict::Unchanged { .. });
        if !is_judged || job.page.visit > 1 || !is_page_with_text(finding) {
            return false;
        }
        let site = job.page.url.site;
        let form = form(&job.url);
        let mut known = KnownTo::Nobody;
        if !finding.pieces.is_empty() {
            let area = Area::of(&job.url).map_or(form, |area| xxh3_64(area.to_string().as_bytes()));
            known = self.known_pieces.page(site, Kind { form, area }, &finding.pieces);
        }
        if judgement.unique_by == Some(UniqueBy::Aside) {
            known = KnownTo::Nobody;
        }
        self.forms.brought(site, form, has_new_text(judgement, says_little) && known == KnownTo::Nobody);
        known == KnownTo::Kind
    }
}
