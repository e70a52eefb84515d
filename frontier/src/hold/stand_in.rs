//! Follows redirects, holds and stops from a counterpart or representative to the URL that was fetched in its place.

use dedup_stage::store::{Result, Session};
use dedup_stage::url::UrlId;

use crate::url::{End, EndedAs, Standing, State, Urls};

/// What stands in for a held or stopped URL: where its counterpart or representative leads, and whether that was
/// fetched, is still queued, or failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandIn {
    /// This URL was fetched well. It is the counterpart or representative itself, or the end of its redirects, holds
    /// and stops. (A URL that is held because a corpus knows its source counts as fetched well.)
    Well(UrlId),
    /// This URL is still queued. It is the counterpart or representative itself, or the end of its redirects, holds and
    /// stops.
    Pending(UrlId),
    /// The counterpart or representative was never met, failed, was refused, is missing, waits for the URL in question,
    /// is stopped without a representative (in a trap, or for a spent budget), or is on a host that could not be asked
    /// for long. Or the redirects, holds and stops are too many.
    Failed,
    /// The counterpart or representative is held as news. It will be fetched only as a trial, if its template is
    /// followed, or if a page that is no duplicate links to it.
    News,
}

/// At most this many redirects, holds and stops are followed.
const MOST: usize = 10;

/// What stands in for `of`. `id` is its counterpart or representative.
pub fn stand_in(urls: &Urls, id: UrlId, of: UrlId, session: &Session) -> Result<StandIn> {
    let (mut at, mut steps) = (id, 0);
    loop {
        // A circle of redirects, holds or stops ends here, too.
        if at == of || steps > MOST {
            return Ok(StandIn::Failed);
        }
        steps += 1;
        let next = match urls.get(at.url) {
            None => None,
            Some(Standing::Queued { .. } | Standing::Open { .. } | Standing::Done(EndedAs::Well))
                if urls.is_away(at.site) =>
            {
                None
            }
            Some(Standing::Queued { .. } | Standing::Open { .. }) => return Ok(StandIn::Pending(at)),
            Some(Standing::Done(EndedAs::Well) | Standing::HeldAs { known: true }) => return Ok(StandIn::Well(at)),
            Some(Standing::HeldAs { known: false }) => return Ok(StandIn::News),
            Some(Standing::Done(EndedAs::Error | EndedAs::Failed) | Standing::Gone | Standing::Refused(_)) => None,
            Some(Standing::Done(EndedAs::Redirected) | Standing::HeldFor | Standing::Stopped { .. }) => {
                match urls.state(at, session)? {
                    Some(State::Done(visit)) => match visit.end {
                        End::Redirected { target, .. } => Some(target),
                        _ => None,
                    },
                    Some(State::HeldFor { counterparts, .. }) => counterparts.first().copied(),
                    Some(State::Stopped { representative, .. }) => representative,
                    _ => None,
                }
            }
        };
        match next {
            Some(next) => at = next,
            None => return Ok(StandIn::Failed),
        }
    }
}
