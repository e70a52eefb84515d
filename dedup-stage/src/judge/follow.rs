//! Keeps the judges of several processes equal.
//!
//! If several processes crawl one web, all their pages have one common order. Each process judges its own pages, and
//! *follows* the pages of the others: its judge remembers the same about each page as the judge of the other process. A
//! verdict depends only on the state of the judge and on the page. So after the same pages in the same order, all
//! judges know the same, and give the verdicts that a single judge would give.
//!
//! With N processes, each page is followed N - 1 times, so this must cost little. Nearly every page that says something
//! new is kept as it came ([`super::followed`]), and only its first facts are read.

use ::url::Url;
use serde::{Deserialize, Serialize};

use super::entry::Entry;
use super::followed::{Followed, Head, Knowledge};
use super::links::LinkSet;
use super::owner::Owner;
use super::{Candidate, Case, Evidence, Judge, OutLink, Shown, UrlOf};
use crate::page::media::MediumKind;
use crate::page::{Aside, LinkTexts, Page, Passages};
use crate::signature::OddSketch;
use crate::store::{Error, Result, Session, codec};

/// Everything about a page that its verdict depends on, as bytes that are read as far as they are needed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// The stored form of [`Evidence`].
    #[serde(with = "serde_bytes")]
    evidence: Vec<u8>,
    /// The stored form of [`Rest`].
    #[serde(with = "serde_bytes")]
    rest: Vec<u8>,
}

/// What is needed only to judge the page, and not to judge later pages.
#[derive(Debug, Serialize, Deserialize)]
struct Rest {
    /// The content of the URL at its last visit.
    before: Option<Shown>,
    /// The odd sketch of the page's content.
    odd: Option<OddSketch>,
    /// The links of the page.
    links: Vec<RestLink>,
    /// The texts of the links. Left out if the page was not visited before, because no verdict needs them then.
    link_texts: LinkTexts,
    /// The passages of its content. Left out for the same reason.
    passages: Passages,
    /// The running texts in its chrome.
    asides: Vec<Aside>,
}

/// A link of the page. The fields are those of [`OutLink`].
#[derive(Debug, Serialize, Deserialize)]
struct RestLink {
    url: String,
    content: bool,
    met: bool,
}

impl Proposal {
    /// The proposal of a page that is to be judged. `fetched_at` is the time at which it was fetched, as the caller
    /// counts time. `None` if the judge does not compare the page; then no other process has to follow it.
    pub fn of(case: &Case<'_>, fetched_at: u64) -> Option<Self> {
        let Case { id, url, before, page, links, .. } = *case;
        if !case.is_compared() {
            return None;
        }
        let (sha256, signature, statement) = (page.sha256, page.signature.clone(), page.statement);
        let head = Head { id, sha256, signature, statement, is_first: before.is_none() };
        let evidence =
            Evidence { head, url: url.as_str().to_owned(), text: page.text, fetched_at, links: LinkSet::of(case) };
        let links = links.iter().map(|OutLink { url, content, met, .. }| RestLink {
            url: url.as_str().to_owned(),
            content: *content,
            met: *met,
        });
        let link_texts = before.map(|_| page.link_texts.clone()).unwrap_or_default();
        let passages = before.map(|_| page.passages.clone()).unwrap_or_default();
        let (odd, asides) = (page.odd, page.asides.clone());
        let rest = Rest { before: before.cloned(), odd, links: links.collect(), link_texts, passages, asides };
        Some(Self { evidence: codec::encode(&evidence), rest: codec::encode(&rest) })
    }

    /// A proposal that only takes a place in the common order. It is for a page of which other processes do not hear.
    pub fn of_place() -> Self {
        Self { evidence: Vec::new(), rest: Vec::new() }
    }

    /// Whether it only takes a place.
    fn is_place(&self) -> bool {
        self.evidence.is_empty()
    }

    /// What the verdicts on later pages need of the page.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if the proposal cannot be read.
    pub fn evidence(&self) -> Result<Evidence> {
        Evidence::read(&self.evidence)
    }

    /// The bytes of the proposal in a message, before compression.
    pub fn bytes(&self) -> usize {
        // Each part has its length before it.
        self.evidence.len() + self.rest.len() + 8
    }
}

impl Judge {
    /// Remembers the same about pages as the judge of the process that judges them. Each page comes with its place in
    /// the order of judging. All pages of all processes must be judged or followed here, in their common order.
    ///
    /// Returns the pages whose URLs the judge does not keep, although later pages may name them as their twins. It
    /// keeps the URLs of the other pages that may be twins ([`super::followed()`]).
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if a proposal cannot be read.
    pub fn follow(
        &mut self,
        pages: impl IntoIterator<Item = (u64, Proposal)>,
        url_of: UrlOf<'_>,
        session: &mut Session,
    ) -> Result<Vec<Evidence>> {
        let pages = pages.into_iter().filter(|(_, page)| !page.is_place());
        let pages = pages.map(|(order, page)| Ok((order, Head::read(&page.evidence)?, page)));
        let pages: Vec<(u64, Head, Proposal)> = pages.collect::<Result<_>>()?;
        self.digests.expect(pages.iter().map(|(_, head, _)| &head.sha256));
        Followed::of(session)?.expect(pages.iter().map(|(_, head, _)| head));
        let mut others = Vec::new();
        for (order, head, page) in pages {
            others.extend(self.follow_one(order, head, page, url_of, session)?);
        }
        Followed::close(session)?;
        Ok(others)
    }

    fn follow_one(
        &mut self,
        order: u64,
        head: Head,
        page: Proposal,
        url_of: UrlOf<'_>,
        session: &mut Session,
    ) -> Result<Option<Evidence>> {
        if !head.is_first {
            return self.judge_followed(order, &page, url_of, session).map(Some);
        }
        if self.digests.owner(&head.sha256, session)?.is_some_and(|owner| owner.id.url != head.id.url) {
            return Ok(None);
        }
        let known = match (&head.signature, &head.statement) {
            (Some(signature), _) => {
                self.near.clear();
                self.fingerprints.near(signature.simhash, None, &mut self.near);
                let has_own = self.near.iter().all(|(_, distance)| *distance > 0);
                self.accepted.retain_alike(&mut self.near, &signature.sketch);
                (self.near.is_empty() && has_own).then_some(Knowledge::All)
            }
            (None, Some(statement)) => self.digests.owner(statement, session)?.is_none().then_some(Knowledge::All),
            (None, None) => None,
        };
        if known == Some(Knowledge::All) {
            return self.follow_new(order, head, page, session);
        }
        // The page repeats another one, or its text decides whether it does. In any case it owns its bytes.
        let is_kept = self.takes(&head, Knowledge::Body, session)?;
        let evidence = page.evidence()?;
        if is_kept {
            Followed::add(order, &head, Knowledge::Body, page.evidence.clone(), session)?;
        } else {
            self.digests.claim(&head.sha256, Owner { order, id: head.id, accepted_as: None }, session)?;
        }
        if head.signature.is_some() || head.statement.is_some() {
            self.judge_followed(order, &page, url_of, session)?;
        }
        Ok((!is_kept).then_some(evidence))
    }

    /// Remembers a page that certainly says something new.
    fn follow_new(
        &mut self,
        order: u64,
        head: Head,
        page: Proposal,
        session: &mut Session,
    ) -> Result<Option<Evidence>> {
        if !self.takes(&head, Knowledge::All, session)? {
            let evidence = page.evidence()?;
            let Head { id, sha256, signature, statement, .. } = head;
            let links = evidence.links.clone();
            self.accept(&Candidate { order, id, sha256, signature, statement, links }, session)?;
            return Ok(Some(evidence));
        }
        if let Some(signature) = &head.signature {
            self.fingerprints.insert_new(signature.simhash);
            self.accepted.note(signature.simhash, Entry { order, id: head.id, sketch: signature.sketch });
        }
        Followed::add(order, &head, Knowledge::All, page.evidence, session)?;
        Ok(None)
    }

    /// Whether a page can be kept as it came.
    fn takes(&self, head: &Head, known: Knowledge, session: &Session) -> Result<bool> {
        let statement = head.statement.as_ref().filter(|_| known == Knowledge::All);
        let is_new = [Some(&head.sha256), statement].into_iter().flatten().all(|digest| !self.digests.may_have(digest));
        Ok(is_new && Followed::of(session)?.takes(head, known))
    }

    /// Judges a page as the other process does.
    fn judge_followed(
        &mut self,
        order: u64,
        page: &Proposal,
        url_of: UrlOf<'_>,
        session: &mut Session,
    ) -> Result<Evidence> {
        let evidence = page.evidence()?;
        let rest: Rest = codec::decode(&page.rest, "a page of another process")?;
        let Head { id, sha256, signature, statement, .. } = &evidence.head;
        let url = parse(&evidence.url)?;
        let links = rest.links.iter().map(|RestLink { url, content, met }| {
            Ok(OutLink { met: *met, ..OutLink::new(parse(url)?, *content, &self.keys) })
        });
        let links: Vec<OutLink> = links.collect::<Result<_>>()?;
        let media = evidence.links.media.members().into_iter();
        let read = Page {
            is_text: true,
            sha256: *sha256,
            text: evidence.text,
            odd: rest.odd,
            link_texts: rest.link_texts,
            passages: rest.passages,
            signature: signature.clone(),
            statement: *statement,
            media: media.filter(|medium| MediumKind::of(*medium) != MediumKind::Text).map(u64::from).collect(),
            asides: rest.asides,
            ..Page::default()
        };
        let case = Case {
            order,
            id: *id,
            url: &url,
            before: rest.before.as_ref(),
            judgeable: true,
            page: &read,
            links: &links,
            ahead: None,
        };
        self.judge(&case, url_of, session)?;
        Ok(evidence)
    }
}

fn parse(url: &str) -> Result<Url> {
    Url::parse(url).map_err(|error| Error::Damaged(format!("a page that was judged elsewhere: {url:?}: {error}")))
}
