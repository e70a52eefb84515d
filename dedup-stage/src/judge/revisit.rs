//! Judges a URL that was visited before: decides whether it shows the same again, and what follows from that.

use super::accepted::Accepted;
use super::counterpart::Comparison;
use super::entry::Entry;
use super::links::LinkSet;
use super::owner::Owner;
use super::{BesideTwin, Case, Judge, Judgement, OutLink, Shown, UniqueBy, UrlOf, Verdict};
use crate::signature::{Difference, OddSketch, Sketch};
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
    /// nearly the same, if it consists mostly of links and shows other known links, or if only the template of the host
    /// has changed.
    pub(super) fn is_unchanged(&mut self, case: &Case<'_>, before: &Shown, session: &mut Session) -> Result<bool> {
        if case.page.sha256 == before.sha256 {
            return Ok(true);
        }
        if !has_text_of_last_visit(case, before) {
            let Some(difference) = self.difference(case, before, session)? else { return Ok(false) };
            if !difference.is_links() && !self.is_template(case, before, &difference, session)? {
                return Ok(false);
            }
        }
        if !before.accepted {
            // The links of a page that was not accepted are not stored.
            return Ok(true);
        }
        let words = case.page.signature.as_ref().map_or(0, |signature| signature.sketch.words());
        let mut earlier = self.beside_earlier(case, before, session)?;
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

    /// The difference between a page and its earlier content, without known links in place of other links. `None` if
    /// one of the two has no words.
    fn difference(&self, case: &Case<'_>, before: &Shown, session: &Session) -> Result<Option<TextDifference>> {
        let (Some(now), Some(then)) = (&case.page.odd, &before.odd) else { return Ok(None) };
        let whole = TextDifference { what: now.difference(then), gone: 0, most: now.most(then) };
        // The links of a page that was not accepted are not stored.
        if case.page.link_texts.is_empty() || !before.accepted {
            return Ok(Some(whole));
        }
        let earlier = self.beside_earlier(case, before, session)?;
        Ok(Some(without_links(case, &earlier, whole).unwrap_or(whole)))
    }

    /// Compares a page with the earlier content of its URL, which was accepted.
    fn beside_earlier(&self, case: &Case<'_>, before: &Shown, session: &Session) -> Result<Comparison> {
        let id = PageId { url: case.id.url, visit: before.visit };
        let links = match before.simhash {
            Some(simhash) => Accepted::links(simhash, before.order, id, session)?,
            None => LinkSet::read(id, session)?,
        };
        Ok(Comparison::accepted(case, id, links, &self.keys))
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
    ) -> Result<(Judgement, Option<BesideTwin>)> {
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
        let id = PageId { url: case.id.url, visit: before.visit };
        if let (Some(then), Some(statement)) = (&before.statement, &case.page.statement)
            && then != statement
        {
            // The next page that makes the statement of today is a copy of this one.
            self.digests.release(then, case.id.url, session)?;
            self.digests.claim(statement, Owner { order: case.order, id, accepted_as: None }, session)?;
        }
        if bytes {
            let now = case.page.signature.as_ref().map(|signature| signature.simhash);
            let accepted = before.simhash.filter(|_| before.accepted);
            let owner = Owner { order: case.order, id, accepted_as: accepted.filter(|simhash| now != Some(*simhash)) };
            self.digests.claim(&case.page.sha256, owner, session)?;
            match accepted {
                Some(simhash) => {
                    Accepted::replace_links(simhash, before.order, id, &LinkSet::with_url(case), session)?;
                }
                None if before.accepted => LinkSet::of(case).rewrite(id, before.order, session)?,
                None => {}
            }
        }
        // The page has too little text for a fingerprint, so its record does not tell whether a corpus had it.
        let known = if before.simhash.is_none() { self.find_known(&case.page.sha256, None)? } else { None };
        let verdict = Verdict::Unchanged { bytes, of: None, known: known.map(|(corpus, _)| corpus) };
        Ok((Judgement { verdict, novelty: 0.0, unique_by: None }, None))
    }
}

/// The difference between the texts of a page at two visits.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextDifference {
    /// The pairs of words that only one of the texts has.
    pub(super) what: Difference,
    /// About how many of these pairs belong to links that were exchanged for others.
    pub(super) gone: usize,
    /// A difference with fewer pairs is none.
    most: f32,
}

impl TextDifference {
    /// The length of the texts of links that went is only estimated. So this times as many pairs may belong to them.
    const GONE: f32 = 1.25;

    /// Whether links were exchanged for others, and the rest of the text is the same.
    fn is_links(&self) -> bool {
        self.gone > 0 && self.is_small(&self.what, 0)
    }

    /// Whether the texts say the same. `rest` is what remains of the difference after `parts` known differences were
    /// taken out of it.
    pub(super) fn is_small(&self, rest: &Difference, parts: usize) -> bool {
        let of_parts = (OddSketch::PART * parts as f32).min(self.most);
        rest.is_less_than(self.most + of_parts + Self::GONE * self.gone as f32)
    }
}

/// The difference between a page that consists mostly of links and its earlier content, without the links that came and
/// those that went. `None` if a link came whose URL was not met before: then the page says something new by its links.
/// Also `None` if the links were not exchanged: if none came or none went, or if more than twice as many came as went,
/// or the other way round. (A box of related pages exchanges known links, for example.)
///
/// The texts of the links that came are known, so their words are taken out of the difference. The texts of the links
/// that went are not known any more. They are counted as if they were as long as those that came.
fn without_links(case: &Case<'_>, earlier: &Comparison, whole: TextDifference) -> Option<TextDifference> {
    let (mut what, mut came, mut pairs) = (whole.what, 0, 0);
    for text in case.page.link_texts.iter() {
        let links = text.links.iter().filter_map(|link| case.links.get(*link as usize));
        let others: Vec<&OutLink> = links.filter(|link| earlier.lacks(link)).collect();
        if others.iter().any(|link| !link.met) {
            return None;
        }
        if !others.is_empty() {
            (came, pairs) = (came + others.len(), pairs + text.flips.len());
            what = what.without_passage(text.flips);
        }
    }
    let went = earlier.links_gone(case)?;
    let is_exchange = came > 0 && went > 0 && came <= 2 * went && went <= 2 * came;
    is_exchange.then(|| TextDifference { what, gone: (pairs * went).div_ceil(came), ..whole })
}

/// Whether a page has the same words as its URL showed before, or nearly the same. A page with little text has the same
/// only if each word of its content is the same ([`crate::page`], `short.rs`). A page without words and media says
/// nothing, and still says nothing if its bytes change (a script has a new name, say).
fn has_text_of_last_visit(case: &Case<'_>, before: &Shown) -> bool {
    if before.says_nothing() {
        return case.page.says_nothing();
    }
    if let (Some(now), Some(then)) = (&case.page.statement, &before.statement) {
        // The media of a short page that was not accepted are not stored, so only its statement tells them.
        let is_same = before.accepted && before.odd.is_some() && case.page.odd == before.odd;
        return now == then || is_same;
    }
    if before.text != 0 && case.page.text == before.text {
        // For a page with little text, title and media count as well.
        return case.page.statement == before.statement;
    }
    match (&case.page.odd, &before.odd) {
        (Some(now), Some(then)) => now.is_same(then),
        _ => false,
    }
}
