//! Keeps the judges of several processes equal.
//!
//! If several processes crawl one web, all their pages have one common order. Each process judges its own pages, and
//! *follows* the pages of the others: its judge remembers the same about each page as the judge of the other process. A
//! verdict depends only on the state of the judge and on the page. So after the same pages in the same order, all
//! judges have the same state, and give the verdicts that a single judge would give.

use ::url::Url;
use serde::{Deserialize, Serialize};

use super::digests::Owner;
use super::links::LinkSet;
use super::{Candidate, Case, Judge, OutLink, Shown, UrlOf};
use crate::page::media::MediumKind;
use crate::page::{Aside, Page};
use crate::signature::OddSketch;
use crate::store::{Error, Result, Session};

/// Everything about a page that its verdict depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// The facts that the judge remembers if the page says something new. The order is that of the process that
    /// follows.
    pub candidate: Candidate,
    /// The URL from which the page was fetched.
    pub url: String,
    /// The content of this URL at its last visit.
    pub before: Option<Shown>,
    /// The hash of all words of the page.
    pub text: u64,
    /// The odd sketch of the page's content.
    pub odd: Option<OddSketch>,
    /// The links of the page, and whether each stands in the content. They are needed only if another page has the same
    /// text.
    pub links: Vec<(String, bool)>,
    /// The running texts in its chrome.
    pub asides: Vec<Aside>,
}

impl Proposal {
    /// The proposal of a page that is to be judged. `None` if the judge does not compare the page; then no other
    /// process has to follow it.
    pub fn of(case: &Case<'_>) -> Option<Self> {
        let Case { order, id, url, before, page, links, .. } = *case;
        let candidate = Candidate {
            order,
            id,
            sha256: page.sha256,
            signature: page.signature.clone(),
            statement: page.statement,
            links: LinkSet::of(case),
        };
        case.is_compared().then(|| Self {
            candidate,
            url: url.as_str().to_owned(),
            before: before.cloned(),
            text: page.text,
            odd: page.odd,
            links: links.iter().map(|link| (link.url.as_str().to_owned(), link.content)).collect(),
            asides: page.asides.clone(),
        })
    }
}

impl Judge {
    /// Remembers the same about a page as the judge of the process that judges it. All pages of all processes must be
    /// judged or followed here, in their common order. Returns true if later pages may name this page as their twin.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if the proposal has a URL that cannot be parsed.
    pub fn follow(&mut self, page: &Proposal, url_of: UrlOf<'_>, session: &mut Session) -> Result<bool> {
        let Candidate { order, id, sha256, signature, statement, .. } = &page.candidate;
        if page.before.is_none() {
            if self.digests.owner(sha256, session)?.is_some_and(|owner| owner.id.url != id.url) {
                return Ok(false);
            }
            let is_new = match (signature, statement) {
                (Some(signature), _) => {
                    self.near.clear();
                    self.fingerprints.near(signature.simhash, None, &mut self.near);
                    self.near.is_empty()
                }
                (None, Some(statement)) => self.digests.owner(statement, session)?.is_none(),
                (None, None) => {
                    self.digests.claim(sha256, Owner { order: *order, id: *id }, session)?;
                    return Ok(true);
                }
            };
            if is_new {
                self.accept(&page.candidate, session)?;
                return Ok(true);
            }
        }
        let url = parse(&page.url)?;
        let links = page.links.iter().map(|(url, content)| Ok(OutLink::new(parse(url)?, *content, &self.keys)));
        let links: Vec<OutLink> = links.collect::<Result<_>>()?;
        let media = page.candidate.links.media.members().into_iter();
        let read = Page {
            is_text: true,
            sha256: *sha256,
            text: page.text,
            odd: page.odd,
            signature: signature.clone(),
            statement: *statement,
            media: media.filter(|medium| MediumKind::of(*medium) != MediumKind::Text).map(u64::from).collect(),
            asides: page.asides.clone(),
            ..Page::default()
        };
        let before = page.before.as_ref();
        let case = Case {
            order: *order,
            id: *id,
            url: &url,
            before,
            judgeable: true,
            page: &read,
            links: &links,
            ahead: None,
        };
        self.judge(&case, url_of, session)?;
        Ok(true)
    }
}

fn parse(url: &str) -> Result<Url> {
    Url::parse(url).map_err(|error| Error::Damaged(format!("a page that was judged elsewhere: {url:?}: {error}")))
}
