//! A candidate for a twin: an accepted page with all that is needed to compare later pages with it. One judge sends
//! candidates to another.

use std::collections::HashMap;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::accepted::Accepted;
use super::entry::Entry;
use super::followed::{self, Evidence, Head, Knowledge};
use super::links::LinkSet;
use super::owner::Owner;
use super::{Case, Judge, UrlOf};
use crate::signature::Signature;
use crate::spaces;
use crate::store::{Error, Result, Session};
use crate::url::{PageId, SiteId};

/// A page that later pages are compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Its place in the order of judging.
    pub order: u64,
    /// Its URL and visit.
    pub id: PageId,
    /// SHA-256 of its body.
    pub sha256: [u8; 32],
    /// Fingerprint and sketch, by which near-duplicates are found. `None` if the page has too little text, or is a
    /// near-duplicate itself.
    pub signature: Option<Signature>,
    /// The statement of a page with too little text for a fingerprint ([`crate::page::Page::statement`]).
    pub statement: Option<[u8; 32]>,
    /// Its links and media.
    pub links: LinkSet,
}

impl Candidate {
    /// Makes the candidate that a judge elsewhere needs to judge later pages.
    pub fn of(case: &Case<'_>) -> Self {
        let Case { order, id, page, .. } = *case;
        let links = LinkSet::with_url(case);
        Self { order, id, sha256: page.sha256, signature: page.signature.clone(), statement: page.statement, links }
    }
}

impl Judge {
    /// Calls `visit` with the candidates of some hosts, so that another judge can accept them. Pages that are compared
    /// by their bytes alone are among them. They come in no order. A page with a statement that was judged here comes
    /// twice: with the digest of its body, and with its statement in the place of this digest.
    pub fn candidates(
        &self,
        session: &Session,
        wanted: &dyn Fn(SiteId) -> bool,
        url_of: UrlOf<'_>,
        visit: &mut dyn FnMut(Candidate) -> Result<()>,
    ) -> Result<()> {
        let mut accepted = HashMap::new();
        each(session, spaces::ACCEPTED, &mut |key, value| {
            let entry = Entry::read(value)?;
            if wanted(entry.id.url.site) {
                let simhash = key.first_chunk().map(|simhash| u64::from_be_bytes(*simhash));
                let simhash =
                    simhash.ok_or_else(|| Error::Damaged("the key of an accepted page is too short".into()))?;
                accepted.insert(entry.id, (entry.order, Signature { simhash, sketch: entry.sketch }));
            }
            Ok(())
        })?;
        // The signature and the links of a page.
        let stored = |id: PageId| match accepted.get(&id) {
            Some((order, signature)) => {
                let links = Accepted::links(signature.simhash, *order, id, session)?;
                Ok::<_, Error>((Some(signature.clone()), links.unwrap_or_default()))
            }
            None => Ok((None, LinkSet::read(id, session)?.unwrap_or_default())),
        };
        followed::each(session, &mut |order, known, evidence| {
            let Evidence { head: Head { id, sha256, signature, statement, .. }, url, links, .. } = evidence;
            if !wanted(id.url.site) {
                return Ok(());
            }
            let (signature, statement, mut links) = match known {
                Knowledge::All => (signature, statement, links),
                // If it was accepted after all, the other records tell more.
                _ => {
                    let (signature, links) = stored(id)?;
                    (signature, None, links)
                }
            };
            links.url.get_or_insert(url);
            visit(Candidate { order, id, sha256, signature, statement, links })
        })?;
        each(session, spaces::DIGESTS, &mut |key, value| {
            let Owner { order, id, .. } = Owner::read(value)?;
            let Ok(sha256) = key.try_into() else { return Ok(()) };
            if !wanted(id.url.site) {
                return Ok(());
            }
            let (signature, mut links) = stored(id)?;
            if links.url.is_none() {
                links.url = url_of(id, session)?.map(String::from);
            }
            visit(Candidate { order, id, sha256, signature, statement: None, links })
        })
    }
}

type Visit<'a> = &'a mut dyn FnMut(&[u8], &[u8]) -> Result<()>;

/// Visits all entries of a space until one cannot be handled.
fn each(session: &Session, space: crate::store::Space, visit: Visit<'_>) -> Result<()> {
    let mut result = Ok(());
    session.scan(space, &[], &[], &mut |key, value| {
        result = visit(key, value);
        if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    result
}
