//! Records of visits that could not be made. A URL has a record from the visit that was refused before its fetch
//! (because robots.txt forbids it now, for example). When it is fetched again, the record says since when. A host has a
//! record from the first round that could not ask it until it answers.

use std::ops::ControlFlow;

use dedup_stage::store::{Result, Session, codec};
use dedup_stage::url::{PageId, SiteId, UrlId};
use frontier::{Millis, SkipReason};
use serde::{Deserialize, Serialize};

use crate::spaces;

/// A URL that was fetched before and is refused now, or was refused and is fetched again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Why.
    pub reason: SkipReason,
    /// The number of its last visit.
    pub visit: u32,
    /// When it was refused first, in milliseconds since 1970.
    pub since: Millis,
    /// When it was refused last, in milliseconds since 1970.
    pub last: Millis,
    /// When it was fetched again, in milliseconds since 1970; 0 if it was not.
    pub back: Millis,
}

/// A host that could not be asked when a round ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreachable {
    /// Its name.
    pub host: String,
    /// The end of the first round that could not ask it, in milliseconds since 1970.
    pub since: Millis,
    /// The end of the last one, in milliseconds since 1970.
    pub last: Millis,
    /// The number of these rounds. Rounds that end within [`Unreachable::APART`] of the last one that counted do not
    /// count.
    pub rounds: u32,
    /// The end of the last round that counted, in milliseconds since 1970.
    pub counted: Millis,
    /// Pages that the last round was to visit and could not.
    pub pages: u64,
}

/// All records.
#[derive(Debug, Default)]
pub struct Records {
    /// URLs that are refused now.
    pub refused: Vec<(UrlId, Refused)>,
    /// URLs that were refused, and were fetched again.
    pub back: Vec<(UrlId, Refused)>,
    /// Hosts.
    pub unreachable: Vec<(SiteId, Unreachable)>,
}

impl Refused {
    /// The record of a URL that is refused now.
    pub fn get(url: UrlId, session: &Session) -> Result<Option<Self>> {
        let bytes = session.get(spaces::UNVISITED, &url.to_bytes())?;
        let record = bytes.map(|bytes| Self::decode(&bytes)).transpose()?;
        Ok(record.filter(|record| record.back == 0))
    }

    /// Decodes a record. Earlier versions wrote it without `back`, and deleted it when the URL was fetched again.
    fn decode(bytes: &[u8]) -> Result<Self> {
        codec::decode(bytes, "a visit that was refused").or_else(|error| {
            let (reason, visit, since, last) = codec::decode(bytes, "a visit that was refused").map_err(|_| error)?;
            Ok(Self { reason, visit, since, last, back: 0 })
        })
    }

    /// The next visit to a page was refused.
    pub fn note(page: PageId, reason: SkipReason, now: Millis, session: &mut Session) -> Result<()> {
        let before = Self::get(page.url, session)?.filter(|before| before.reason == reason);
        let since = before.map_or(now, |before| before.since);
        let record = Self { reason, visit: page.visit, since, last: now, back: 0 };
        session.put(spaces::UNVISITED, page.url.to_bytes(), codec::encode(&record));
        Ok(())
    }

    /// A URL was fetched.
    pub fn fetched(url: UrlId, now: Millis, session: &mut Session) -> Result<()> {
        if let Some(record) = Self::get(url, session)? {
            session.put(spaces::UNVISITED, url.to_bytes(), codec::encode(&Self { back: now, ..record }));
        }
        Ok(())
    }
}

impl Unreachable {
    /// Rounds that end closer to the last round that counted, in milliseconds, do not count.
    pub const APART: Millis = 3_600_000;

    /// Whether the host could not be asked in at least two rounds. Then its pages count as failed.
    pub fn is_away(&self) -> bool {
        self.rounds >= 2
    }

    /// The record of a host.
    pub fn get(site: SiteId, session: &Session) -> Result<Option<Self>> {
        let bytes = session.get(spaces::UNVISITED, &site.to_bytes())?;
        bytes.map(|bytes| codec::decode(&bytes, "a host that could not be asked")).transpose()
    }

    /// A round has ended, and could not make its visits to this many pages of a host.
    pub fn note(site: SiteId, host: &str, pages: u64, now: Millis, session: &mut Session) -> Result<()> {
        let record = match Self::get(site, session)? {
            Some(before) if now.saturating_sub(before.counted) < Self::APART => Self { last: now, pages, ..before },
            Some(before) => Self { rounds: before.rounds + 1, last: now, counted: now, pages, ..before },
            None => Self { host: host.to_owned(), since: now, last: now, rounds: 1, counted: now, pages },
        };
        session.put(spaces::UNVISITED, site.to_bytes(), codec::encode(&record));
        Ok(())
    }

    /// A host has answered.
    pub fn clear(site: SiteId, session: &mut Session) -> Result<()> {
        if session.get(spaces::UNVISITED, &site.to_bytes())?.is_some() {
            session.delete(spaces::UNVISITED, site.to_bytes());
        }
        Ok(())
    }
}

impl Records {
    /// Reads all records.
    pub fn read(session: &Session) -> Result<Self> {
        let (mut records, mut failure) = (Self::default(), None);
        session.scan(spaces::UNVISITED, &[], &[], &mut |key, value| {
            let taken = match (UrlId::read(key), SiteId::read(key)) {
                (Some(url), _) => Refused::decode(value).map(|record| {
                    let records = if record.back == 0 { &mut records.refused } else { &mut records.back };
                    records.push((url, record));
                }),
                (None, Some(site)) => codec::decode(value, "a host that could not be asked")
                    .map(|unreachable| records.unreachable.push((site, unreachable))),
                (None, None) => Ok(()),
            };
            failure = taken.err();
            if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        failure.map_or(Ok(records), Err)
    }
}

#[cfg(test)]
mod tests {
    use dedup_stage::store::Memory;

    use super::*;

    #[test]
    fn a_record_keeps_its_beginning_until_it_is_cleared() {
        let mut session = Session::new(Box::new(Memory::default()));
        let site = SiteId { domain: 1, host: 2 };
        let url = UrlId { site, url: 3 };
        for now in [5, 9] {
            Refused::note(PageId { url, visit: 2 }, SkipReason::Robots, now, &mut session).unwrap();
        }
        let apart = Unreachable::APART;
        for now in [0, 1_000, apart, 2 * apart, 2 * apart + 5] {
            Unreachable::note(site, "a.test", 7, now, &mut session).unwrap();
        }
        let Records { refused, back, unreachable } = Records::read(&session).unwrap();
        let expected = Refused { reason: SkipReason::Robots, visit: 2, since: 5, last: 9, back: 0 };
        assert_eq!((refused, back), (vec![(url, expected)], vec![]));
        let expected_host = Unreachable {
            host: "a.test".into(),
            since: 0,
            last: 2 * apart + 5,
            rounds: 3,
            counted: 2 * apart,
            pages: 7,
        };
        assert_eq!(unreachable, [(site, expected_host)]);
        Refused::fetched(url, 12, &mut session).unwrap();
        Unreachable::clear(site, &mut session).unwrap();
        let Records { refused, back, .. } = Records::read(&session).unwrap();
        assert_eq!((refused, back), (vec![], vec![(url, Refused { back: 12, ..expected })]));
        assert_eq!(Refused::get(url, &session).unwrap(), None);
        let earlier = codec::encode(&(SkipReason::Robots, 2_u32, 5 as Millis, 9 as Millis));
        assert_eq!(Refused::decode(&earlier).unwrap(), expected);
        assert_eq!(Unreachable::get(site, &session).unwrap(), None);
    }
}
