//! What speaks for holding a URL: a page of another host that was fetched in its place, and trials of other URLs that
//! were held or stopped for the same reason in the same place.

use dedup_stage::store::{Result, Session};
use dedup_stage::url::UrlId;
use url::Url;

use super::Frontier;
use super::hold::pair_key;
use super::plan::stop_key;
use crate::hold::ladder::{Ladder, Strictness};
use crate::rules::Stop;
use crate::url::{Ended, Standing, State};

/// Trials that agreed, all on one ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vouchers {
    /// The identity of the ladder.
    pub ladder: u64,
    /// The number of trials.
    pub trials: u32,
}

impl Frontier {
    /// Whether a URL is held or stopped for a page of another host that was answered well. So there are not more such
    /// URLs than pages of that host.
    pub fn has_copy_elsewhere(&self, id: UrlId, session: &Session) -> Result<bool> {
        let other = match self.urls.state(id, session)? {
            Some(State::HeldFor { counterparts, .. }) => counterparts.first().copied(),
            Some(State::Stopped { representative, .. }) => representative,
            _ => None,
        };
        let is_well = |url| self.urls.get(url) == Some(Standing::Done(Ended::Well));
        Ok(other.is_some_and(|other| other.site != id.site && is_well(other.url)))
    }

    /// The trials that speak for a URL that is held for a URL of another domain, or that a rewrite stops. `None` if
    /// there are none, or one has differed.
    pub fn vouchers(&self, id: UrlId, session: &Session) -> Result<Option<Vouchers>> {
        let key = match self.urls.state(id, session)? {
            Some(State::HeldFor { counterparts, .. }) => {
                let foreign = |other: &&UrlId| Strictness::between(id.site, other.site) == Strictness::Foreign;
                counterparts.first().filter(foreign).map(|other| pair_key(id, *other))
            }
            Some(State::Stopped { rules, reason, representative: Some(other), link }) => {
                let stop = Stop { rules, reason, representative: Some(other) };
                let known = self.rules.as_ref().zip(Url::parse(&link.url).ok());
                known.and_then(|(rules, url)| stop_key(&stop, rules, id, &url))
            }
            _ => None,
        };
        let Some(key) = key else { return Ok(None) };
        let trials = Ladder::get(key, session)?.vouches();
        Ok((trials > 0).then_some(Vouchers { ladder: key.identity(), trials }))
    }
}
