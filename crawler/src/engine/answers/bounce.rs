//! Redirects that lead back because a site first wants to set a cookie: `/` redirects to `/check`, and `/check` sets a
//! cookie and redirects to `/`. With the cookie, `/` is a page. So if the chain has set a cookie for the URL to which
//! it comes back, this URL is requested once more, once for each chain. A chain that leads back without such a cookie
//! is a circle.
//!
//! A page that asks for consent has a link in place of the first redirect. Its URL is requested once more, too, but
//! only once for each host, because pages of any kind have links that set a cookie and lead back (to another language,
//! for example). [`super::consent`] has the rest.

use dedup_stage::store::{Result as StoreResult, Session, codec};
use dedup_stage::url::{PageId, UrlId};
use frontier::{End, Frontier, Job, State, Via, Visit};
use serde::{Deserialize, Serialize};
use url::Url;

use super::consent::Consent;
use crate::engine::error::Result;
use crate::engine::message::RedirectFinding;
use crate::engine::state::EngineState;
use crate::record::PageRecord;
use crate::spaces;

/// The record of a URL that redirects. It is kept until the next visit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Hop {
    /// Hashes of the names of the cookies that came with the redirect.
    cookies: Vec<u64>,
    /// Whether its chain has come back to it, so that it is or was requested once more.
    came_back: bool,
}

impl Hop {
    fn get(id: UrlId, session: &Session) -> StoreResult<Option<Self>> {
        let bytes = session.get(spaces::HOPS, &id.to_bytes())?;
        bytes.map(|bytes| codec::decode(&bytes, "a redirect")).transpose()
    }

    fn put(&self, id: UrlId, session: &mut Session) {
        session.put(spaces::HOPS, id.to_bytes(), codec::encode(self));
    }
}

/// The direction in which a redirect leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Leads {
    /// To a URL that does not lead back, as far as is known.
    On,
    /// Back, with a cookie. Its target must be requested once more.
    BackWithCookie,
    /// Back, in a circle.
    Round,
}

impl EngineState<'_> {
    /// The direction in which the redirect of a job leads. (A redirect to its own key is followed, because it may
    /// set a cookie. If it does not, a redirect to the very same URL is followed once.)
    pub(in crate::engine) fn leads(&mut self, job: &Job, redirect: &RedirectFinding, target: &Url) -> Result<Leads> {
        let from = job.page.url;
        let before = Hop::get(from, &self.ledger.session)?;
        let asked_again = matches!(job.via, Via::Redirect { again: true, .. });
        let came_back = asked_again && before.as_ref().is_some_and(|hop| hop.came_back);
        let mut chain = Hop { cookies: redirect.cookies.clone(), came_back };
        if chain != Hop::default() {
            chain.put(from, &mut self.ledger.session);
        } else if before.is_some() {
            self.ledger.session.delete(spaces::HOPS, from.to_bytes());
        }
        if redirect.again {
            // Some sites answer a second request to the same URL with the page, but none does so after many.
            let is_circle = asked_again && *target == job.url && redirect.cookies.is_empty();
            return Ok(if is_circle { Leads::Round } else { Leads::On });
        }
        let mut at = redirect.target;
        for _ in 0..Frontier::MOST_HOPS {
            match self.frontier.state(at, &self.ledger.session)? {
                Some(State::Done(Visit { end: End::Redirected { target, .. }, .. })) if at != from => {
                    if let Some(hop) = Hop::get(at, &self.ledger.session)? {
                        chain.cookies.extend(hop.cookies);
                        chain.came_back |= hop.came_back;
                    }
                    at = target;
                }
                _ => break,
            }
        }
        if at != from {
            return Ok(match self.gives_consent(job, &chain, redirect.target, target)? {
                true => Leads::BackWithCookie,
                false => Leads::On,
            });
        }
        if chain.came_back || !self.access.sends(target, &chain.cookies) {
            return Ok(Leads::Round);
        }
        Hop { came_back: true, ..Hop::default() }.put(redirect.target, &mut self.ledger.session);
        Ok(Leads::BackWithCookie)
    }

    /// Whether a redirect leads back to the page whose link it is, and has set a cookie for that page, for the first
    /// time on the host of the page.
    fn gives_consent(&mut self, job: &Job, chain: &Hop, target: UrlId, url: &Url) -> Result<bool> {
        let session = &mut self.ledger.session;
        let is_of_page = job.hops == 0 && job.source.is_some_and(|page| page.url == target);
        if !is_of_page || chain.cookies.is_empty() {
            return Ok(false);
        }
        let state = self.frontier.state(target, session)?;
        let is_page = matches!(state, Some(State::Done(Visit { end: End::Answered { status: 200 }, number: 1 })));
        if !is_page || !self.access.sends(url, &chain.cookies) || Consent::is_known(target.site, session)? {
            return Ok(false);
        }
        let page = PageRecord::get(PageId { url: target, visit: 1 }, session)?;
        Consent::of(target, page.as_ref().and_then(|page| page.shown.as_ref())).put(target.site, session);
        Ok(true)
    }
}
