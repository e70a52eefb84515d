//! The part of `crawler why` about failed attempts: for a queued URL that was asked for in vain, and for one whose host
//! is left alone after failures.

use dedup_stage::store::Session;
use dedup_stage::url::UrlId;
use frontier::Frontier;
use url::Url;

use super::shown::Printable;
use crate::clock::rfc3339;
use crate::engine::Attempt;
use crate::outcome;
use crate::report::html::put;

/// Tells the result of the last attempt, and when the next one may be made.
pub(super) fn tell(
    out: &mut String,
    url: &Url,
    id: UrlId,
    frontier: &Frontier,
    session: &Session,
) -> anyhow::Result<()> {
    let until = frontier.rests_until(url, session)?;
    let rests = until.map(|until| format!("next attempt not before {}", rfc3339(until)));
    let rests = rests.unwrap_or_else(|| "it is tried again at its turn".into());
    let brought = |Attempt { kind, at, .. }: &Attempt| format!("{}, at {}", outcome::attempt(kind), rfc3339(*at));
    if let Some(attempt) = Attempt::get(id, session)? {
        put!(out, "  last answer (attempt {}): {}; {rests}\n", attempt.number, brought(&attempt));
    } else if let (Some(_), Some(attempt)) = (until, Attempt::last_of(id.site, session)?) {
        put!(
            out,
            "  its host is left alone; its last answer: {} (to {}); {rests}\n",
            brought(&attempt),
            Printable(&attempt.url)
        );
    }
    Ok(())
}
