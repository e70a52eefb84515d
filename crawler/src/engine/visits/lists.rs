//! Sitemaps and feeds, which are read for their news: the records that the state keeps of them, and when they are read
//! again in a continuous crawl. They stand in the same queue as visits to pages, at the same price, and count for
//! `--refresh-share`.
//!
//! A sitemap is no page: the frontier fetches it before the pages of its host. A feed is one: it is visited as pages
//! are, but when its news is worth it, whatever its change rate.

use std::collections::HashMap;
use std::ops::ControlFlow;

use dedup_stage::store::{Result, Session, codec};
use dedup_stage::url::UrlId;
use frontier::refresh::news::News;
use frontier::refresh::scheduler::Refresh;
use frontier::refresh::settings::{READING, Settings};
use frontier::refresh::signals::Source;
use frontier::refresh::time::{DAY, Seconds, after};
use frontier::refresh::turns::HostId;
use serde::{Deserialize, Serialize};

use crate::fetch::Validators;
use crate::spaces;

/// What is known of a list. Its key is the identity of its last job: of a sitemap that is the frontier's own, of a feed
/// that of its page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::engine) struct List {
    /// Where it is.
    pub url: String,
    /// Whether it is a feed, which is a page; else it is a sitemap.
    pub is_feed: bool,
    /// When it was read last, or asked for in vain.
    pub read: Seconds,
    /// The digest of its entries with their dates, whatever their order.
    pub digest: u64,
    /// What readings have brought.
    pub news: News,
    /// For a conditional request.
    pub validators: Validators,
}

/// A sitemap that was asked for, and of which nothing was heard, is asked for again after this time.
const AGAIN: Seconds = DAY as Seconds;

impl List {
    /// No list is read again sooner: many sites make them anew each quarter of an hour at most.
    pub const LEAST: Seconds = 900;

    /// The list with this key.
    pub fn get(id: UrlId, session: &Session) -> Result<Option<Self>> {
        let bytes = session.get(spaces::LISTS, &id.to_bytes())?;
        bytes.map(|bytes| codec::decode(&bytes, "what is known of a sitemap")).transpose()
    }

    /// Writes it.
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
            match codec::decode(value, "what is known of a sitemap") {
                Ok(list) => lists.extend(UrlId::read(key).map(|id| (id, list))),
                Err(error) => failure = Some(error),
            }
            if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        failure.map_or(Ok(lists), Err)
    }

    /// It was read at this time. `digest`: of what it lists now, where that is known; `news`: what it has brought.
    pub fn was_read(&mut self, at: Seconds, digest: Option<u64>, news: f32) {
        let changed = digest.is_some_and(|digest| digest != self.digest);
        self.news.read(at.saturating_sub(self.read) as f32 / DAY, news, changed);
        self.read = at;
        self.digest = digest.unwrap_or(self.digest);
    }

    /// The time from which on another reading is worth this price.
    pub fn due(&self, price: f32) -> Seconds {
        after(self.read, self.news.interval(price))
    }
}

/// The lists of a continuous crawl.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// By the hash in their keys.
    pub(super) all: HashMap<u64, Entry>,
    /// Sitemaps by host.
    pub(super) sitemaps: HashMap<HostId, Vec<u64>>,
}

/// A list of a continuous crawl.
#[derive(Debug)]
pub(super) struct Entry {
    pub host: HostId,
    pub list: List,
    /// When a sitemap was asked for that is not read yet.
    pub asked: Option<Seconds>,
}

impl Lists {
    /// Whether a page is a feed.
    pub fn is_feed(&self, url: u64) -> bool {
        self.all.get(&url).is_some_and(|entry| entry.list.is_feed)
    }

    /// When a list is due; `None` where it is not known.
    pub fn due(&self, url: u64, refresh: &Refresh, settings: &Settings) -> Option<Seconds> {
        let Entry { host, list, asked } = self.all.get(&url)?;
        if let Some(asked) = asked {
            return Some(asked.saturating_add(AGAIN));
        }
        let most = if refresh.learned(*host).signals.believes(Source::Sitemap) && !list.is_feed {
            // Pages of this host are not visited while it tells of no change: it has to be heard.
            READING.min(settings.max_age)
        } else {
            settings.max_age
        };
        let wait = list.due(refresh.price(*host)).saturating_sub(list.read);
        Some(list.read.saturating_add(wait.max(List::LEAST).clamp(settings.min_age, most.max(settings.min_age))))
    }

    /// When a page is due because it is a feed; `None` where it is none.
    pub fn due_of_feed(&self, url: u64, refresh: &Refresh, settings: &Settings) -> Option<Seconds> {
        if self.is_feed(url) { self.due(url, refresh, settings) } else { None }
    }

    /// The sitemaps of a host.
    pub fn sitemaps_of(&self, host: HostId) -> &[u64] {
        self.sitemaps.get(&host).map_or(&[], Vec::as_slice)
    }
}
