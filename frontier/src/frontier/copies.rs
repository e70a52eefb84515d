//! URLs for which a page of another host was fetched.

use dedup_stage::store::{Result, Session};
use dedup_stage::url::UrlId;

use super::Frontier;
use crate::reason::SkipReason;
use crate::url::State;

impl Frontier {
    /// Whether a URL is held, or stopped as one of a mirror, for a page of another host that was answered well. Each
    /// such URL has a page of its own there, so there are not more of them than pages of that host. (Rules together may
    /// stop any number of URLs for one page.)
    pub fn has_copy_elsewhere(&self, id: UrlId, session: &Session) -> Result<bool> {
        let other = match self.urls.state(id, session)? {
            Some(State::HeldFor { counterparts, .. }) => counterparts.first().copied(),
            Some(State::Stopped { rules, reason: SkipReason::Mirror, representative, .. }) if rules.len() == 1 => {
                representative
            }
            _ => None,
        };
        Ok(other.is_some_and(|other| other.site != id.site && self.is_well(other)))
    }
}
