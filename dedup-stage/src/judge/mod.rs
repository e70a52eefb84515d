//! The judge compares each page with all pages accepted before it.
//!
//! The steps, in this order:
//!
//! 1. Guards. A page that was cut short, an error page and a file without text are not judged. A file is compared with
//!    what its URL showed at the last visit, byte by byte.
//! 2. The same URL. A page that shows what its URL showed at the last visit is *unchanged*. Otherwise the earlier
//!    content of the URL is withdrawn: no later page is a duplicate of it.
//! 3. Exact. Another URL showed the same bytes (SHA-256).
//! 4. Near. Another accepted page has a fingerprint within the Hamming distance (found with exact recall by
//!    [`crate::hamming`]), and its text is alike at the second look ([`crate::signature::Sketch`]).
//! 5. Links, media and texts in chrome. A page with the text of an earlier page is still unique if it has other
//!    links, or if it has little text and other media. It is also unique if it has a text of its own in its chrome,
//!    for example in an aside, that is long beside its content.
//!
//!    A page with too little text for a fingerprint is near only if another page says exactly the same (title, words,
//!    media: [`crate::page::Page::statement`]), and if none of its links is news.
//! 6. Known corpora. A page that says something new in this crawl may be in a corpus that exists already
//!    ([`crate::corpus::Corpora`]). Then it is a duplicate of a document there. It is not accepted, because its copies
//!    will be found in the corpus, too.
//!
//! The twin of a duplicate is the nearest accepted page. If several have the same distance, it is the earliest of them.
//! Earlier means a smaller *order* ([`Case::order`]). A page is never the twin of a page of its own URL.
//!
//! The judge keeps nothing by URL. Its caller stores the last content of each URL ([`Shown`]) with the records of
//! pages, and passes it in at the next visit.

mod accepted;
mod aside;
mod candidate;
mod counterpart;
pub mod cut;
mod digests;
mod entry;
mod exchange;
mod fingerprints;
mod follow;
mod followed;
mod glances;
mod host_seen;
mod link_records;
mod links;
mod look;
mod mapping;
mod media;
mod opaque;
mod owner;
mod recent;
mod revisit;
mod short;
mod shown;
mod sightings;
mod template;
#[cfg(test)]
mod tests;
mod verdict;

use std::sync::Arc;

use ::url::Url;

use crate::corpus::{Corpora, CorpusMatch};
use crate::digest;
use crate::hamming::Index;
use crate::page::Page;
use crate::signature;
use crate::store::{Error, Result, Session, Space};
use crate::url::{Keys, PageId, UrlId};
use accepted::Accepted;
use entry::Entry;
use fingerprints::Fingerprints;

pub use candidate::Candidate;
pub(crate) use counterpart::Comparison;
pub use counterpart::Counterpart;
use digests::Digests;
pub use fingerprints::{Ahead, Searcher};
pub use follow::Proposal;
pub use followed::{Evidence, followed};
pub use links::{LinkSet, MinWiseSample, OutLink};
use owner::Owner;
pub use shown::Shown;
pub use verdict::{Changed, Judgement, UniqueBy, Verdict};

/// A page that is to be judged.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The place of the page in the order of judging. Orders never repeat, and grow.
    pub order: u64,
    /// The URL and the visit of the page.
    pub id: PageId,
    /// The URL from which the page was fetched.
    pub url: &'a Url,
    /// The content of this URL at the last visit; `None` at the first visit.
    pub before: Option<&'a Shown>,
    /// Whether the answer shows the content of the URL: it has a complete body and a 2xx status, or it is a file whose
    /// body the crawler did not ask for. No other answer is judged.
    pub judgeable: bool,
    /// The text and fingerprints of the page. The judge does not use [`Page::links`].
    pub page: &'a Page,
    /// The links of the page, one for each URL identity, in their order. Links that may not be followed are among them,
    /// because they are part of the content.
    pub links: &'a [OutLink],
    /// The result of [`Searcher::search`] for the fingerprint of the page; `None` if no worker has searched.
    pub ahead: Option<&'a Ahead>,
}

impl Case<'_> {
    /// Whether the judge compares the page with others. An empty body says nothing, so it repeats nothing either.
    fn is_compared(&self) -> bool {
        self.judgeable && self.page.is_text && self.page.sha256 != digest::OF_NOTHING
    }
}

/// What is known about the twin of a page after the judgement: a full comparison, or only its name.
#[derive(Debug)]
pub(crate) enum BesideTwin {
    /// The page was compared with it.
    Compared(Box<Comparison>),
    /// Nothing was compared, because the page has the same bytes.
    Owner(Owner),
}

impl BesideTwin {
    fn compared(comparison: Comparison) -> Self {
        Self::Compared(Box::new(comparison))
    }
}

/// Tells the URL of a page that was judged earlier; `None` if nobody knows it.
pub type UrlOf<'a> = &'a dyn Fn(PageId, &Session) -> Result<Option<Url>>;

/// Compares pages with all pages before them. It has one owner, which passes in pages in their order.
#[derive(Debug)]
pub struct Judge {
    keys: Arc<Keys>,
    digests: Digests,
    fingerprints: Fingerprints,
    accepted: Accepted,
    known: Arc<Corpora>,
    /// Scratch memory: fingerprints near that of the page, with their distances.
    near: Vec<(u64, u32)>,
}

impl Judge {
    /// Two texts with at least this resemblance count as equal.
    pub const EQUAL_TEXT: f32 = 0.9;

    /// A judge that remembers what `session` has accepted.
    ///
    /// # Errors
    ///
    /// [`Error::Foreign`] if the fingerprints of the state were made by another recipe.
    pub fn open(distance: u32, keys: Keys, session: &mut Session) -> Result<Self> {
        match session.get(Space::META, b"recipe")? {
            None => session.put(Space::META, *b"recipe", signature::RECIPE),
            Some(recipe) if recipe == signature::RECIPE.as_bytes() => {}
            Some(recipe) => {
                let theirs = String::from_utf8_lossy(&recipe).into_owned();
                return Err(Error::Foreign(format!(
                    "its fingerprints are of recipe {theirs:?}, and this program makes {:?}; start with an empty directory",
                    signature::RECIPE
                )));
            }
        }
        let digests = Digests::open(session)?;
        let mut index = Index::new(distance);
        let accepted = Accepted::open(session, &mut |fingerprint| index.insert_new(fingerprint))?;
        let fingerprints = Fingerprints::new(index);
        Ok(Self { keys: Arc::new(keys), digests, fingerprints, accepted, known: Arc::default(), near: Vec::new() })
    }

    /// From now on, a page that one of these corpora has is a duplicate.
    pub fn know(&mut self, corpora: Arc<Corpora>) {
        self.known = corpora;
    }

    /// The known corpora.
    pub fn known(&self) -> &Arc<Corpora> {
        &self.known
    }

    /// Number of distinct fingerprints in the index. Those of withdrawn pages count until the state is opened again.
    pub fn fingerprints(&self) -> usize {
        self.fingerprints.len()
    }

    /// Bytes of memory that the judge takes for the accepted pages: a part of each digest and of each sketch, and the
    /// index of fingerprints.
    pub fn bytes(&self) -> usize {
        self.digests.bytes() + self.fingerprints.bytes() + self.accepted.bytes()
    }

    /// A searcher for this many page workers, which finds the fingerprints near that of a page before its turn (see
    /// [`Case::ahead`]). `None` if the workers are so few that the judge should search itself.
    pub fn searcher(&self, workers: usize) -> Option<Searcher> {
        self.fingerprints.searcher(workers)
    }

    /// Judges one page, and remembers it if it says something new.
    pub fn judge(&mut self, case: &Case<'_>, url_of: UrlOf<'_>, session: &mut Session) -> Result<Judgement> {
        Ok(self.judge_beside_twin(case, url_of, session)?.0)
    }

    /// Like [`Judge::judge`]. Also returns what the judgement has found about the twin of the page. For a page that is
    /// unique only by something that is tried ([`UniqueBy::is_tried`]), this is the first page with an equal text.
    pub(crate) fn judge_beside_twin(
        &mut self,
        case: &Case<'_>,
        url_of: UrlOf<'_>,
        session: &mut Session,
    ) -> Result<(Judgement, Option<BesideTwin>)> {
        if !case.is_compared() {
            let judgement = self.file(case, session)?;
            // Only the twin's name is known, and not under which order and fingerprint it was accepted.
            let twin = judgement.verdict.twin().map(|id| Owner { order: case.order, id, accepted_as: None });
            return Ok((judgement, twin.map(BesideTwin::Owner)));
        }
        match case.before {
            Some(before) if self.is_unchanged(case, before, session)? => self.revisit(case, before, url_of, session),
            Some(before) => {
                self.forget(before, case.id.url, session)?;
                self.compare(case, url_of, session)
            }
            None => self.compare(case, url_of, session),
        }
    }

    /// Judges an answer that is not compared with other URLs: a file, an empty body, or an answer that shows nothing.
    fn file(&mut self, case: &Case<'_>, session: &mut Session) -> Result<Judgement> {
        let Some(before) = case.before.filter(|_| case.judgeable) else { return Ok(Judgement::UNJUDGED) };
        let sha256 = case.page.sha256;
        if before.sha256 != sha256 {
            // The URL does not show its earlier content any more.
            self.forget(before, case.id.url, session)?;
            return Ok(Judgement::UNJUDGED);
        }
        // Two empty bodies say nothing, so they do not show that anything is unchanged.
        Ok(if sha256 == digest::OF_NOTHING { Judgement::UNJUDGED } else { Judgement::not_modified(before) })
    }

    /// The comparison of a page with its twin.
    pub(crate) fn comparison(&self, case: &Case<'_>, beside: BesideTwin, session: &Session) -> Result<Box<Comparison>> {
        let Owner { order, id, accepted_as } = match beside {
            BesideTwin::Compared(comparison) => return Ok(comparison),
            BesideTwin::Owner(owner) => owner,
        };
        let fingerprint = accepted_as.or(case.page.signature.as_ref().map(|signature| signature.simhash));
        let links = fingerprint.map(|fingerprint| Accepted::links(fingerprint, order, id, session)).transpose()?;
        let links = match links.flatten() {
            None => LinkSet::read(id, session)?,
            known => known,
        };
        Ok(Box::new(Comparison::new(case, id, links, &self.keys)))
    }

    /// Compares a page with those of other URLs, and remembers it if it says something new.
    fn compare(
        &mut self,
        case: &Case<'_>,
        url_of: UrlOf<'_>,
        session: &mut Session,
    ) -> Result<(Judgement, Option<BesideTwin>)> {
        let digest = &case.page.sha256;
        if let Some(owner) = self.digests.owner(digest, session)?.filter(|owner| owner.id.url != case.id.url) {
            let judgement = Judgement { verdict: Verdict::Exact { of: owner.id }, novelty: 0.0, unique_by: None };
            return Ok((judgement, Some(BesideTwin::Owner(owner))));
        }
        let owner = Owner { order: case.order, id: case.id, accepted_as: None };
        let Some(signature) = &case.page.signature else {
            if let Some((corpus, document)) = self.find_known(digest, None)? {
                return Ok((known(corpus, document), None));
            }
            self.digests.claim(digest, owner, session)?;
            return self.compare_statement(case, owner, url_of, session);
        };
        let found = self.look(case, signature, url_of, session)?;
        if found.judgement.verdict == Verdict::Unique
            && let Some((corpus, document)) = self.find_known(digest, Some((signature.simhash, &signature.sketch)))?
        {
            return Ok((known(corpus, document), None));
        }
        self.digests.claim(digest, owner, session)?;
        if found.judgement.verdict == Verdict::Unique {
            let entry = Entry { order: case.order, id: case.id, sketch: signature.sketch };
            self.add(signature.simhash, !found.is_known, entry, &LinkSet::with_url(case), session)?;
        }
        Ok((found.judgement, found.twin.map(BesideTwin::compared)))
    }

    /// The document of a known corpus that a page repeats, with the number of the corpus ([`Corpora::find`]).
    fn find_known(
        &self,
        digest: &[u8; 32],
        signature: Option<(u64, &signature::Sketch)>,
    ) -> Result<Option<(u32, CorpusMatch)>> {
        self.known.find(digest, signature).map_err(|error| Error::Known(error.to_string()))
    }

    /// Adds a page with which later pages are compared. `is_new` says that no page ever had this fingerprint.
    fn add(&mut self, simhash: u64, is_new: bool, entry: Entry, links: &LinkSet, session: &mut Session) -> Result<()> {
        if is_new {
            self.fingerprints.insert_new(simhash);
        }
        self.accepted.insert(simhash, is_new, entry, links, session)
    }

    /// Remembers a page that was judged elsewhere. Pages may come in any order: the earlier page counts.
    pub fn accept(&mut self, candidate: &Candidate, session: &mut Session) -> Result<()> {
        let Candidate { order, id, sha256, signature, statement, links } = candidate;
        for digest in [Some(sha256), statement.as_ref()].into_iter().flatten() {
            self.digests.claim(digest, Owner { order: *order, id: *id, accepted_as: None }, session)?;
        }
        let Some(signature) = signature else { return links.clone().write(*id, *order, session) };
        let is_new = self.fingerprints.insert(signature.simhash);
        let entry = Entry { order: *order, id: *id, sketch: signature.sketch };
        self.accepted.insert(signature.simhash, is_new, entry, links, session)
    }

    /// Forgets the earlier content of a URL, and remembers the present one.
    pub fn replace(&mut self, before: &Shown, candidate: &Candidate, session: &mut Session) -> Result<()> {
        self.forget(before, candidate.id.url, session)?;
        self.accept(candidate, session)
    }

    /// Forgets the content of a URL, for example of one that is gone: no later page is a duplicate of it.
    pub fn forget(&mut self, shown: &Shown, url: UrlId, session: &mut Session) -> Result<()> {
        for digest in [Some(&shown.sha256), shown.statement.as_ref()].into_iter().flatten() {
            self.digests.release(digest, url, session)?;
        }
        LinkSet::remove(PageId { url, visit: shown.visit }, session)?;
        if let Some(simhash) = shown.simhash.filter(|_| shown.accepted) {
            // The index keeps the fingerprint. A query may still find it, but finds no page with it.
            self.accepted.remove(simhash, shown.order, session)?;
        }
        Ok(())
    }
}

/// The judgement on a page that a known corpus has.
fn known(corpus: u32, document: CorpusMatch) -> Judgement {
    let novelty = (1.0 - document.resemblance).clamp(0.0, 1.0);
    Judgement { verdict: Verdict::Known { corpus, document }, novelty, unique_by: None }
}
