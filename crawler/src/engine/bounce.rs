//! Redirects that lead back, because a site wants to set a cookie first: `/` redirects to `/check`, `/check` sets a cookie and
//! redirects to `/`. With the cookie, `/` is a page. So the URL that such a chain comes back to is asked once more, once for each
//! chain, if the chain has set a cookie that goes there. A chain that leads back without one is a circle.
//!
//! A page that asks for consent has a link in place of the first redirect. Its URL is asked once more, too: once for each host,
//! because pages of any kind have links that set a cookie and lead back (to another language, for example).

use dedup_stage::store::{Result as StoreResult, Session, codec};
use dedup_stage::url::UrlId;
use frontier::{End, Frontier, Job, State, Via, Visit};
use serde::{Deserialize, Serialize};
use url::Url;

use super::desk::Desk;
use super::error::Result;
use super::message::RedirectFinding;
use crate::spaces;

/// What is kept of a URL that redirects, until its next visit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Hop {
    /// Hashes of the names of the cookies that came with the redirect.
    cookies: Vec<u64>,
    /// Whether its chain has come back to it, and it is or was asked once more for that.
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

/// Where a redirect leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leads {
    /// To a URL that does not lead back, as far as is known.
    On,
    /// Back: its target is to be asked once more.
    BackWithCookie,
    /// Back, in a circle.
    Round,
}

impl Desk<'_> {
    /// Where the redirect of a job leads. (A redirect to its own key is followed anyway, because it may set a cookie.)
    pub(super) fn leads(&mut self, job: &Job, redirect: &RedirectFinding, target: &Url) -> Result<Leads> {
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
            return Ok(Leads::On);
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

    /// Whether a redirect leads back to the page whose link it is, and set a cookie that goes there, for the first time on
    /// the host of that page.
    fn gives_consent(&mut self, job: &Job, chain: &Hop, target: UrlId, url: &Url) -> Result<bool> {
        let session = &mut self.ledger.session;
        let is_of_page = job.hops == 0 && job.source.is_some_and(|page| page.url == target);
        if !is_of_page || chain.cookies.is_empty() {
            return Ok(false);
        }
        let state = self.frontier.state(target, session)?;
        let is_page = matches!(state, Some(State::Done(Visit { end: End::Answered { status: 200 }, number: 1 })));
        let host = target.site.to_bytes();
        if !is_page || !self.access.sends(url, &chain.cookies) || session.get(spaces::HOPS, &host)?.is_some() {
            return Ok(false);
        }
        session.put(spaces::HOPS, host, []);
        Ok(true)
    }
}
