//! Lists: sitemaps and feeds, which are read because they name new URLs. Here are their records, and the times at which
//! a continuous crawl reads them again. A reading waits in the same queue as the visits to pages, has the same price,
//! and counts as a visit for `--refresh-share`.
//!
//! A sitemap is no page, and the frontier fetches it before the pages of its host. A feed is a page. It is visited when
//! its expected news is worth a fetch; its change rate does not count.

use std::collections::HashMap;
use std::ops::ControlFlow;

use dedup_stage::store::{Result, Session, codec};
use dedup_stage::url::UrlId;
use frontier::refresh::news::News;
use frontier::refresh::scheduler::Refresh;
use frontier::refresh::settings::{READING, Settings};
use frontier::refresh::signals::Source;
use frontier::refresh::time::{DAY, Seconds, after};
use frontier::refresh::turns::HostNumber;
use serde::{Deserialize, Serialize};

use crate::fetch::Validators;
use crate::spaces;

/// The record of a list. The key of a sitemap is the identity that the frontier gave to its last job. The key of a feed
/// is the identity of its page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::engine) struct List {
    /// The URL of the list.
    pub url: String,
    /// Whether it is a feed, which is a page; else it is a sitemap.
    pub is_feed: bool,
    /// When it was read last. If it could not be read, when that was tried.
    pub read: Seconds,
    /// The digest of its entries with their dates, whatever their order.
    pub digest: u64,
    /// How much news the readings have brought.
    pub news: News,
    /// Validators of the last answer, for the next conditional request.
    pub validators: Validators,
}

/// If a sitemap was requested and no answer came, it is requested again after this many seconds.
const AGAIN: Seconds = DAY as Seconds;

impl List {
    /// The least time between two readings, in seconds. Many sites make their lists at most once in a quarter of an
    /// hour.
    pub const LEAST: Seconds = 900;

    /// The list with this key.
    pub fn get(id: UrlId, session: &Session) -> Result<Option<Self>> {
        let bytes = session.get(spaces::LISTS, &id.to_bytes())?;
        bytes.map(|bytes| codec::decode(&bytes, "what is known of a list")).transpose()
    }

    /// Puts it on record.
    pub fn put(&self, id: UrlId, session: &mut Session) {
        session.put(spaces::LISTS, id.to_bytes(), codec::encode(self));
    }

    /// Deletes the record of a URL that is no list any more.
    pub fn forget(id: UrlId, session: &mut Session) {
        session.delete(spaces::LISTS, id.to_bytes());
    }

    /// All lists.
    pub fn all(session: &Session) -> Result<Vec<(UrlId, Self)>> {
        let (mut lists, mut failure) = (Vec::new(), None);
        session.scan(spaces::LISTS, &[], &[], &mut |key, value| {
            match codec::decode(value, "what is known of a list") {
                Ok(list) => lists.extend(UrlId::read(key).map(|id| (id, list))),
                Err(error) => failure = Some(error),
            }
            if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        failure.map_or(Ok(lists), Err)
    }

    /// The list was read at this time. `digest`: the digest of its entries, if it is known. `news`: how many new URLs
    /// it has brought, weighted.
    pub fn was_read(&mut self, at: Seconds, digest: Option<u64>, news: f32) {
        let changed = digest.is_some_and(|digest| digest != self.digest);
        self.news.read(at.saturating_sub(self.read) as f32 / DAY, news, changed);
        self.read = at;
        self.digest = digest.unwrap_or(self.digest);
    }

    /// The time from which another reading is worth this price, in days of freshness.
    pub fn due(&self, price: f32) -> Seconds {
        after(self.read, self.news.interval(price))
    }
}

/// The lists of a continuous crawl.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// Lists, by the hash in their keys.
    pub(super) all: HashMap<u64, Entry>,
    /// Sitemaps by host.
    pub(super) sitemaps: HashMap<HostNumber, Vec<u64>>,
}

/// A list of a continuous crawl.
#[derive(Debug)]
pub(super) struct Entry {
    pub host: HostNumber,
    pub list: List,
    /// When the sitemap was requested, if it has not been read yet.
    pub asked: Option<Seconds>,
}

impl Lists {
    /// Whether a page is a feed.
    pub fn is_feed(&self, url: u64) -> bool {
        self.all.get(&url).is_some_and(|entry| entry.list.is_feed)
    }

    /// When a list is due. `None` if the list is not known.
    pub fn due(&self, url: u64, refresh: &Refresh, settings: &Settings) -> Option<Seconds> {
        let Entry { host, list, asked } = self.all.get(&url)?;
        if let Some(asked) = asked {
            return Some(asked.saturating_add(AGAIN));
        }
        let most = if refresh.learned(*host).signals.believes(Source::Sitemap) && !list.is_feed {
            // The pages of this host wait until the sitemap tells of a change. So the sitemap must be read often.
            READING.min(settings.max_age)
        } else {
            settings.max_age
        };
        let wait = list.due(refresh.price(*host)).saturating_sub(list.read).max(List::LEAST);
        let wait = wait.clamp(settings.min_age, most.max(settings.min_age));
        // A feed is a page, so its age has a bound.
        let wait = if list.is_feed { wait } else { wait.max(List::LEAST) };
        Some(list.read.saturating_add(wait))
    }

    /// When a feed is due. `None` if the page is no feed.
    pub fn due_of_feed(&self, url: u64, refresh: &Refresh, settings: &Settings) -> Option<Seconds> {
        if self.is_feed(url) { self.due(url, refresh, settings) } else { None }
    }

    /// The sitemaps of a host.
    pub fn sitemaps_of(&self, host: HostNumber) -> &[u64] {
        self.sitemaps.get(&host).map_or(&[], Vec::as_slice)
    }
}
