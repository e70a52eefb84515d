//! Judges a URL that was visited before: decides whether it shows the same again, and what follows from that.

use super::counterpart::Comparison;
use super::digests::Owner;
use super::entry::Entry;
use super::links::LinkSet;
use super::{Case, Judge, Judgement, Shown, UniqueBy, UrlOf, Verdict};
use crate::signature::Sketch;
use crate::store::{Result, Session};
use crate::url::PageId;

/// If a page has this many words for each link in its content, it is not about its links. Then other links (in a box of
/// related pages, for example) do not change what the page says.
const WORDS_PER_LINK: usize = 25;
/// Other links change what a page says only if at least this many of them lead to URLs that were not met before.
const NEW_LINKS: usize = 2;

impl Judge {
    /// Whether a page says what its URL said at the last visit. It does if it has the same bytes. It also does if its
    /// text is the same and its links and media say nothing new. The text is the same if its words are the same, or
    /// nearly the same, or if only the template of the host has changed.
    pub(super) fn is_unchanged(&mut self, case: &Case<'_>, before: &Shown, session: &mut Session) -> Result<bool> {
        if case.page.sha256 == before.sha256 {
            return Ok(true);
        }
        if !has_same_text(case, before) && !self.is_template(case, before, session)? {
            return Ok(false);
        }
        if !before.accepted {
            // The links of a page that was not accepted are not stored.
            return Ok(true);
        }
        let id = PageId { url: case.id.url, visit: before.visit };
        let words = case.page.signature.as_ref().map_or(0, |signature| signature.sketch.words());
        let mut earlier = Comparison::accepted(case, id, &self.keys, session)?;
        let media = earlier.media(case, words);
        Ok(match earlier.contradicts(case, &media, None, &|_, _| Ok(None), session)? {
            None => true,
            Some(UniqueBy::Aside | UniqueBy::Media | UniqueBy::MediumBesideShared) => false,
            Some(UniqueBy::Links | UniqueBy::LinksOfFewWords) => {
                let content = case.links.iter().filter(|link| link.content);
                let new = content.clone().filter(|link| !link.met).count();
                let links = content.count();
                words as usize >= WORDS_PER_LINK * links || new < NEW_LINKS
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
        self.resemblance_to(before, case, session)
    }

    /// Estimated resemblance of a page's text to an earlier content; `None` if one of them has too little text.
    pub(super) fn resemblance_to(&mut self, before: &Shown, case: &Case<'_>, session: &Session) -> Result<Option<f32>> {
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

    /// Judges a page that says what its URL said at the last visit. What the judge has stored about the page stays as
    /// it is. Only a page that was a duplicate is compared again, because its twin may say something else by now.
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
        // The page has too little text for a fingerprint, so its record does not tell whether a corpus had it.
        let known = if before.simhash.is_none() { self.find_known(&case.page.sha256, None)? } else { None };
        let verdict = Verdict::Unchanged { bytes, of: None, known: known.map(|(corpus, _)| corpus) };
        Ok((Judgement { verdict, novelty: 0.0, unique_by: None }, None))
    }
}

/// Whether a page has the same words as its URL showed before, or nearly the same. A page without words and media says
/// nothing. It still says nothing if its bytes are others (a script has a new name, say).
fn has_same_text(case: &Case<'_>, before: &Shown) -> bool {
    if before.says_nothing() {
        return case.page.says_nothing();
    }
    if before.text != 0 && case.page.text == before.text || before.statement.is_some() {
        // For a page with little text, title and media count as well.
        return case.page.statement == before.statement;
    }
    match (&case.page.odd, &before.odd) {
        (Some(now), Some(then)) => now.is_same(then, &now.difference(then), 0),
        _ => false,
    }
}
