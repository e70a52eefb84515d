//! A URL that was visited before: whether it shows the same again, and what follows from that.

use super::counterpart::Comparison;
use super::digests::Owner;
use super::entry::Entry;
use super::links::LinkSet;
use super::{Acquitted, Case, Judge, Judgement, Shown, UrlOf, Verdict};
use crate::signature::Sketch;
use crate::store::{Result, Session};
use crate::url::PageId;

/// A page with so many words for each link of its content is not about its links: other links, in a box of related pages,
/// say, do not change what it says.
const WORDS_PER_LINK: usize = 25;

impl Judge {
    /// Whether a page says what its URL said at the last visit. It has the same bytes; or it has the same words (or
    /// nearly the same words, or other words as other pages of its host have them), and its links and media say nothing
    /// new.
    pub(super) fn is_unchanged(&self, case: &Case<'_>, before: &Shown, session: &mut Session) -> Result<bool> {
        if case.page.sha256 == before.sha256 {
            return Ok(true);
        }
        if !has_same_text(case, before) && !self.is_template(case, before, session)? {
            return Ok(false);
        }
        if !before.accepted {
            // The links of a page that was not accepted are not kept.
            return Ok(true);
        }
        let id = PageId { url: case.id.url, visit: before.visit };
        let words = case.page.signature.as_ref().map_or(0, |signature| signature.sketch.words());
        let mut earlier = Comparison::accepted(case, id, &self.keys, session)?;
        Ok(match earlier.contradicts(case, words, &|_, _| Ok(None), session)? {
            None => true,
            Some(Acquitted::ByMedia) => false,
            Some(Acquitted::ByLinks) => {
                let links = case.links.iter().filter(|link| link.content).count();
                words as usize >= WORDS_PER_LINK * links
            }
        })
    }

    /// Estimated resemblance of a page's text to the text of its URL at the last visit, 0..1; `None` if one of them has
    /// too little text. To be called before the page is judged, because the judge then forgets the earlier text.
    pub fn resemblance_to_before(&mut self, case: &Case<'_>, session: &Session) -> Result<Option<f32>> {
        let Some(before) = case.before.filter(|_| case.is_compared()) else { return Ok(None) };
        if case.page.sha256 == before.sha256 || case.page.text == before.text && before.text != 0 {
            return Ok(Some(1.0));
        }
        let Some(signature) = &case.page.signature else { return Ok(None) };
        Ok(self.sketch_of(before, session)?.map(|sketch| signature.sketch.compare(&sketch).resemblance))
    }

    /// The sketch of an earlier content of a URL.
    fn sketch_of(&mut self, shown: &Shown, session: &Session) -> Result<Option<Sketch>> {
        match (shown.sketch, shown.simhash) {
            (Some(sketch), _) => Ok(Some(sketch)),
            (None, Some(simhash)) => {
                let entry = self.accepted.get(simhash, shown.order, session)?;
                Ok(entry.map(|Entry { sketch, .. }| sketch))
            }
            (None, None) => Ok(None),
        }
    }

    /// Judges a page that says what its URL said at the last visit. The judge's records of it stay as they are. Only a
    /// page that was a duplicate is compared again, because its twin may say something else by now.
    pub(super) fn revisit(
        &mut self,
        case: &Case<'_>,
        before: &Shown,
        url_of: UrlOf<'_>,
        session: &mut Session,
    ) -> Result<(Judgement, Option<Comparison>)> {
        let bytes = case.page.sha256 != before.sha256;
        if bytes {
            self.digests.release(&before.sha256, case.id.url, session)?;
        }
        if before.is_duplicate() {
            let (judgement, twin) = self.compare(case, url_of, session)?;
            let (of, known) = (judgement.verdict.twin(), judgement.verdict.known());
            return Ok((
                Judgement { verdict: Verdict::Unchanged { bytes, of, known }, novelty: 0.0, ..judgement },
                twin,
            ));
        }
        if bytes {
            let id = PageId { url: case.id.url, visit: before.visit };
            self.digests.claim(&case.page.sha256, Owner { order: case.order, id }, session)?;
            if before.accepted {
                LinkSet::of(case).rewrite(id, before.order, session)?;
            }
        }
        // The page has too little text for a fingerprint, so the record does not tell whether a corpus had it.
        let known = if before.simhash.is_none() { self.known.find(&case.page.sha256, None) } else { None };
        let verdict = Verdict::Unchanged { bytes, of: None, known: known.map(|(corpus, _)| corpus) };
        Ok((Judgement { verdict, novelty: 0.0, acquitted: None }, None))
    }
}

/// Whether a page has the words that its URL showed before, or nearly so.
fn has_same_text(case: &Case<'_>, before: &Shown) -> bool {
    if before.text != 0 && case.page.text == before.text || before.statement.is_some() {
        // Of a page with little text, title and media count as well.
        return case.page.statement == before.statement;
    }
    match (&case.page.odd, &before.odd) {
        (Some(now), Some(then)) => now.is_same(then, &now.difference(then), 0),
        _ => false,
    }
}
