//! Judges pages that have too little text for a fingerprint. Such a page is compared only by its statement
//! ([`crate::page::Page::statement`]), which is a digest of all that it says.

use super::counterpart::Comparison;
use super::links::LinkSet;
use super::owner::Owner;
use super::verdict::UniqueBy;
use super::{BesideTwin, Case, Judge, Judgement, UrlOf, Verdict};
use crate::store::{Result, Session};

impl Judge {
    /// Compares a page with the first page that made the same statement. If there is none, remembers the page. A page
    /// that says nothing is not judged.
    pub(super) fn compare_statement(
        &mut self,
        case: &Case<'_>,
        owner: Owner,
        url_of: UrlOf<'_>,
        session: &mut Session,
    ) -> Result<(Judgement, Option<BesideTwin>)> {
        let Some(statement) = &case.page.statement else { return Ok((Judgement::UNJUDGED, None)) };
        let unique = Judgement { verdict: Verdict::Unique, novelty: 1.0, unique_by: None };
        let Some(first) = self.digests.owner(statement, session)?.filter(|first| first.id.url != case.id.url) else {
            self.digests.claim(statement, owner, session)?;
            LinkSet::of(case).write(case.id, case.order, session)?;
            return Ok((unique, None));
        };
        let known = LinkSet::read(first.id, session)?;
        let mut twin = Comparison::accepted(case, first.id, known, &self.keys);
        if twin.has_any_news(case, url_of, session)? {
            // The links are stored for the next visit of this URL.
            LinkSet::of(case).write(case.id, case.order, session)?;
            return Ok((Judgement { unique_by: Some(UniqueBy::LinksOfFewWords), ..unique }, None));
        }
        let verdict = Verdict::Near { of: first.id, distance: 0, resemblance: 1.0 };
        let novelty = (1.0 - (1.0 + twin.common(case)) / 2.0).clamp(0.0, 1.0);
        Ok((Judgement { verdict, novelty, unique_by: None }, Some(BesideTwin::compared(twin))))
    }
}
