//! How many links to new URLs the visits to a page have brought. A front page, or a page of a section, may change before
//! each visit. Such a visit buys little freshness, and yet it is the only way to the new pages that it lists. So its
//! worth in a round is also the days for which these pages would wait ([`frontier::refresh::news`]). Only pages whose
//! later visits have brought such links have a record.

use std::collections::HashMap;
use std::ops::ControlFlow;

use dedup_stage::store::{Result, Session, codec};
use dedup_stage::url::UrlId;
use frontier::Millis;
use frontier::refresh::news::News;
use frontier::refresh::time::DAY;
use serde::{Deserialize, Serialize};

use crate::spaces;

/// What the visits to a page have brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::engine) struct NewLinks {
    news: News,
    /// The time of the last visit.
    visited: Millis,
}

impl NewLinks {
    /// A page was visited at `at`, and before that at `before`. The visit brought links to `new` URLs.
    pub fn note(id: UrlId, before: Millis, at: Millis, new: u32, session: &mut Session) -> Result<()> {
        let known = session.get(spaces::NEW_LINKS, &id.to_bytes())?;
        let known: Option<Self> = known.map(|known| codec::decode(&known, WHAT)).transpose()?;
        if new == 0 && known.is_none() {
            return Ok(());
        }
        let Self { mut news, visited } = known.unwrap_or_default();
        let days = at.saturating_sub(before.max(visited)) as f32 / (1_000.0 * DAY);
        news.read(days, new as f32, new > 0);
        session.put(spaces::NEW_LINKS, id.to_bytes(), codec::encode(&Self { news, visited: at }));
        Ok(())
    }

    /// What a visit buys this many days after the last one, in days for which new pages have waited. It is at most as
    /// much as one page that has waited all the time. Otherwise a trap, whose pages name new URLs without end, would
    /// take the visits of all other pages.
    pub fn gain(self, days: f32) -> f32 {
        self.news.gain(days).min(days)
    }

    /// The records of all pages that have one, by the hash of the URL.
    pub fn all(session: &Session) -> Result<HashMap<u64, Self>> {
        let (mut all, mut failure) = (HashMap::new(), None);
        session.scan(spaces::NEW_LINKS, &[], &[], &mut |key, value| {
            match codec::decode(value, WHAT) {
                Ok(record) => all.extend(UrlId::read(key).map(|id| (id.url, record))),
                Err(error) => failure = Some(error),
            }
            if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        failure.map_or(Ok(all), Err)
    }
}

/// What the record is called in errors.
const WHAT: &str = "the new links of a page";
