//! The records of the stage: the page that each URL showed last, and which URLs were met.

use std::ops::ControlFlow;

use ::url::Url;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::judge::Shown;
use crate::spaces;
use crate::store::{Error, Result, Session, codec};
use crate::url::{KeyMap, PageId, UrlId};

/// The name that the caller gives to a page.
#[derive(Clone, Debug)]
pub struct PageName {
    /// The URL of the page, as the caller spelt it.
    pub url: String,
    /// The `id` of the page: any JSON value.
    pub id: Option<Box<RawValue>>,
}

/// The page that a URL showed last.
#[derive(Clone, Debug)]
pub(super) struct Record {
    /// The place of the page in the order of judging.
    pub(super) order: u64,
    /// The number of visits to the URL.
    pub(super) visits: u32,
    /// The name that the caller gave to the page.
    pub(super) name: PageName,
    /// The facts about the page that the judge needs at the next visit.
    pub(super) shown: Shown,
}

/// The stored form of a record. (The order comes first, as in all values that the stage writes.)
#[derive(Serialize, Deserialize)]
struct Stored {
    order: u64,
    visits: u32,
    url: String,
    id: Option<String>,
    shown: Shown,
}

impl Record {
    pub(super) fn get(url: UrlId, session: &Session) -> Result<Option<Self>> {
        let Some(value) = session.get(spaces::STAGE_PAGES, &url.to_bytes())? else { return Ok(None) };
        let Stored { order, visits, url, id, shown } = codec::decode(&value, "a page")?;
        let id = id.map(RawValue::from_string).transpose();
        let id = id.map_err(|error| Error::Damaged(format!("the id of a page: {error}")))?;
        Ok(Some(Self { order, visits, name: PageName { url, id }, shown }))
    }

    /// Stores the record. `is_known` says whether there is an earlier record, which it replaces.
    pub(super) fn put(self, url: UrlId, is_known: bool, session: &mut Session) -> Result<()> {
        let Self { order, visits, name, shown } = self;
        let id = name.id.map(|id| String::from(Box::<str>::from(id)));
        let value = codec::encode(&Stored { order, visits, url: name.url, id, shown });
        if is_known {
            return session.overwrite(spaces::STAGE_PAGES, url.to_bytes(), Some(value));
        }
        session.put(spaces::STAGE_PAGES, url.to_bytes(), value);
        Ok(())
    }
}

/// The URL of a page that was judged earlier.
pub(super) fn url_of(page: PageId, session: &Session) -> Result<Option<Url>> {
    Ok(Record::get(page.url, session)?.and_then(|record| Url::parse(&record.name.url).ok()))
}

/// The fact that the stage remembers about a URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mark {
    /// The URL was met: as a page, or as a link that was handed back.
    #[default]
    Met,
    /// There is a record of the URL.
    Recorded,
}

/// The URLs met so far. They are in memory, so that no look into the store is needed for a URL that is met for the
/// first time.
#[derive(Debug, Default)]
pub(super) struct Urls(KeyMap<Mark>);

impl Urls {
    pub(super) fn open(session: &Session) -> Result<Self> {
        let (mut urls, mut result) = (Self::default(), Ok(()));
        session.scan(spaces::STAGE_URLS, &[], &[], &mut |_, value| {
            match codec::decode::<Vec<[u8; 8]>>(value, "the URLs met on a page") {
                Ok(hashes) => hashes.into_iter().for_each(|hash| _ = urls.meet(u64::from_be_bytes(hash))),
                Err(error) => result = Err(error),
            }
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        result?;
        session.scan(spaces::STAGE_PAGES, &[], &[], &mut |key, _| {
            if let Some(id) = UrlId::read(key) {
                urls.0.set(id.url, Mark::Recorded);
            }
            ControlFlow::Continue(())
        })?;
        Ok(urls)
    }

    /// Number of URLs.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get(&self, hash: u64) -> Option<Mark> {
        self.0.get(hash)
    }

    /// Says that these hashes will be asked for next (see [`KeyMap::expect`]).
    pub(super) fn expect(&self, hashes: impl IntoIterator<Item = u64>) {
        self.0.expect(hashes);
    }

    /// Marks a URL as met. False if it was marked before.
    pub(super) fn meet(&mut self, hash: u64) -> bool {
        let is_new = !self.0.contains(hash);
        if is_new {
            self.0.set(hash, Mark::Met);
        }
        is_new
    }

    /// Notes that a URL has a record.
    pub(super) fn record(&mut self, hash: u64) {
        self.0.set(hash, Mark::Recorded);
    }
}

/// Stores the hashes of the URLs that were met first on a page.
pub(super) fn put_met(order: u64, hashes: &[u64], session: &mut Session) {
    if !hashes.is_empty() {
        let hashes: Vec<[u8; 8]> = hashes.iter().map(|hash| hash.to_be_bytes()).collect();
        session.put(spaces::STAGE_URLS, order.to_be_bytes(), codec::encode(&hashes));
    }
}
