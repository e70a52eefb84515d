//! Records of what hosts say about the times at which their pages change: `lastmod` of sitemaps, and `Last-Modified`.
//! `frontier::refresh::signals` learns how far a host is believed.

use std::collections::HashMap;
use std::ops::ControlFlow;

use dedup_stage::store::{Result, Session, Space, codec};
use dedup_stage::url::{PageId, SiteId, UrlId};
use frontier::Millis;
use frontier::refresh::history::Dated;
use frontier::refresh::signals::Signals;
use frontier::refresh::time::{Seconds, seconds};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::record::PageRecord;
use crate::spaces;

/// What a sitemap says about the last change of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::engine) struct Listed {
    /// The latest time that its `lastmod` allows. If that is only a date, the end of the day.
    lastmod: Seconds,
    /// When the sitemap was first read with this `lastmod`.
    since: Seconds,
}

impl Listed {
    /// A sitemap that was read at the time `at` gives this `lastmod` for a URL. `None` if it gave the same before.
    pub fn put(url: UrlId, lastmod: Millis, at: Millis, session: &mut Session) -> Result<Option<Self>> {
        let (lastmod, since) = (seconds(lastmod), seconds(at));
        if Self::get(url, session)?.is_some_and(|before| before.lastmod == lastmod) {
            return Ok(None);
        }
        let listed = Self { lastmod, since };
        session.put(spaces::LISTED, url.to_bytes(), codec::encode(&listed));
        Ok(Some(listed))
    }

    /// What sitemaps say of a URL.
    pub fn get(url: UrlId, session: &Session) -> Result<Option<Self>> {
        let bytes = session.get(spaces::LISTED, &url.to_bytes())?;
        bytes.map(|bytes| codec::decode(&bytes, "what a sitemap says of a page")).transpose()
    }

    /// If the `lastmod` tells of a change after a visit, the time at which the sitemap was read. A `lastmod` that was
    /// read before the visit tells nothing new.
    pub fn tells(self, visited: Seconds) -> Option<Seconds> {
        (self.since > visited && self.lastmod >= visited).then_some(self.since)
    }
}

/// All records, read when visits begin.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// By the hash of the URL.
    listed: HashMap<u64, Listed>,
    /// By the hash of the URL and the number of the visit: what is known of the time of the change that the visit
    /// showed.
    dated: HashMap<(u64, u32), Dated>,
    pub signals: HashMap<SiteId, Signals>,
}

impl Records {
    pub fn read(session: &Session) -> Result<Self> {
        let mut records = Self::default();
        each(spaces::LISTED, session, |key, listed| {
            records.listed.extend(UrlId::read(key).map(|id| (id.url, listed)));
        })?;
        each(spaces::DATED, session, |key, dated| {
            records.dated.extend(PageRecord::page_of(key).map(|page| ((page.url.url, page.visit), dated)));
        })?;
        each(spaces::SIGNALS, session, |key, signals| {
            records.signals.extend(SiteId::read(key).map(|site| (site, signals)));
        })?;
        Ok(records)
    }

    /// What sitemaps say of a URL.
    pub fn of(&self, url: UrlId) -> Option<Listed> {
        self.listed.get(&url.url).copied()
    }

    /// What is known of the time of the change that this visit showed.
    pub fn dated(&self, page: PageId) -> Option<Dated> {
        self.dated.get(&(page.url.url, page.visit)).copied()
    }
}

/// Reads the records of a space.
fn each<T: DeserializeOwned>(space: Space, session: &Session, mut take: impl FnMut(&[u8], T)) -> Result<()> {
    let mut failure = None;
    session.scan(space, &[], &[], &mut |key, value| match codec::decode(value, "what a host says of its pages") {
        Ok(record) => {
            take(key, record);
            ControlFlow::Continue(())
        }
        Err(error) => {
            failure = Some(error);
            ControlFlow::Break(())
        }
    })?;
    failure.map_or(Ok(()), Err)
}
