//! What has become of a URL that something is held or stopped for.

use dedup_stage::store::{Result, Session};
use dedup_stage::url::UrlId;

use crate::url::{Cause, End, Ended, Standing, State, Urls};

/// What has become of a counterpart or representative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// This URL was fetched well in its place: itself, where its redirects lead, or what it is held or stopped for.
    Well(UrlId),
    /// This URL is still to be fetched in its place.
    Pending(UrlId),
    /// It was never met, it failed, was refused, is missing, or waits for itself.
    Fallen,
    /// It is itself news of a duplicate: nobody will fetch it but for a trial.
    News,
}

/// Redirects, holds and stops that are followed.
const MOST: usize = 10;

/// What has become of `id`, for a URL `of` that is held or stopped for it.
pub fn fate(urls: &Urls, id: UrlId, of: UrlId, session: &Session) -> Result<Fate> {
    let (mut at, mut steps) = (id, 0);
    loop {
        // A circle of redirects, holds or stops ends here, too.
        if at == of || steps > MOST {
            return Ok(Fate::Fallen);
        }
        steps += 1;
        let next = match urls.get(at.url) {
            None => None,
            Some(Standing::Queued { .. } | Standing::Open { .. }) => return Ok(Fate::Pending(at)),
            Some(Standing::Done(Ended::Well) | Standing::HeldAs { known: true }) => return Ok(Fate::Well(at)),
            Some(Standing::HeldAs { known: false }) => return Ok(Fate::News),
            Some(Standing::Done(Ended::Error | Ended::Failed) | Standing::Gone | Standing::Refused(_)) => None,
            Some(Standing::Done(Ended::Redirected) | Standing::HeldFor | Standing::Stopped { .. }) => {
                match urls.state(at, session)? {
                    Some(State::Done(visit)) => match visit.end {
                        End::Redirected { target, .. } => Some(target),
                        _ => None,
                    },
                    Some(State::HeldFor { counterparts, .. }) => counterparts.first().copied(),
                    Some(State::HeldAs { cause: Cause::News { .. }, .. }) => None,
                    Some(State::Stopped { representative, .. }) => representative,
                    _ => None,
                }
            }
        };
        match next {
            Some(next) => at = next,
            None => return Ok(Fate::Fallen),
        }
    }
}
