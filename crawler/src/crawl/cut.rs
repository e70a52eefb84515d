//! Cuts a set of hosts out of a crawl directory. All that the state knows of them moves to an empty directory. From
//! then on, each directory has its own hosts. A link to a host of another directory is not queued: it waits in the
//! state until it is carried there (see [`crate::outbound`]).
//!
//! Outputs do not move: the lines of `pages.jsonl` about pages fetched so far stay where they were written, and so does
//! the archive. So the outputs of all directories together are those of the whole crawl.
//!
//! # Crashes
//!
//! No commit can cover two directories. So the cut has three steps, each with a commit of its own:
//!
//! 1. The directory that is cut notes what it is about to give away. From then on it cannot be crawled.
//! 2. The other directory gets a copy. It cannot be crawled before the copy is complete.
//! 3. The directory that is cut deletes what was copied, together with the note.
//!
//! So at no time can two crawls fetch pages of one host. After a crash, the same call goes on where it was.

use std::ops::ControlFlow;

use dedup_stage::judge;
use dedup_stage::store::cut::{self, KeyRange, all, as_it_is};
use dedup_stage::store::{self, Session, Space, codec};
use dedup_stage::url::{Keys, SiteId, Sites};
use frontier::Frontier;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use url::Url;

use super::{CrawlDir, OpenError};
use crate::clock::Clock;
use crate::focus::{Focus, Topic};
use crate::record::PageRecord;
use crate::spaces;

/// The key in [`Space::META`] of the hosts that a directory has, if it does not have all.
pub(super) const SHARE: &[u8] = b"share";
/// The key of the note of the hosts that are being cut out of a directory.
const LEAVING: &[u8] = b"cut-out";
/// The key of the note of the cut from which a directory was made.
const ARRIVED: &[u8] = b"cut-in";
/// The keys whose records both directories need.
const COMMON: [&[u8]; 7] = [b"secret", b"settings", b"seeds", b"recipe", b"order", Topic::RECORD, Focus::RECORD];

/// A cut that has begun.
#[derive(Debug, Serialize, Deserialize)]
struct Leaving {
    name: [u8; 16],
    sites: Sites,
}

/// The cut from which a directory was made.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Arrived {
    name: [u8; 16],
    /// Whether the copy is complete.
    complete: bool,
}

/// The reasons why a set of hosts cannot be cut out.
#[derive(Debug, thiserror::Error)]
pub enum CutError {
    /// Another set is being cut out, and that must be finished first.
    #[error("another set of hosts is being cut out of this directory: finish that first")]
    Other,
    /// The other directory is not empty.
    #[error("what is cut out needs an empty directory")]
    NotEmpty,
    /// The directory has none of these hosts.
    #[error("this directory has none of these hosts")]
    NoneOfThem,
    /// One of the directories cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// One of the states failed.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl CrawlDir {
    /// The hosts that this directory has. It has all hosts if nothing was ever cut out of it or of the directory from
    /// which it was made.
    pub fn sites(&self) -> store::Result<Sites> {
        Ok(get(SHARE, &self.session)?.unwrap_or_else(Sites::all))
    }

    /// Moves what is known of some hosts to another directory. That directory must be empty (or left by a cut of the
    /// same hosts that was interrupted). Returns the number of entries of the state that were copied; 0 if that had
    /// been done already.
    ///
    /// Both directories go on with the same seeds and settings. The other directory gets the hosts of `sites` that this
    /// one had, and this one keeps the rest.
    ///
    /// # Errors
    ///
    /// After an error, the same call goes on where it was.
    pub fn cut(&mut self, sites: &Sites, to: &mut CrawlDir) -> Result<u64, CutError> {
        let share = self.sites()?;
        let leaving: Leaving = match get(LEAVING, &self.session)? {
            Some(Leaving { sites: others, .. }) if others != share.and(sites) => return Err(CutError::Other),
            Some(leaving) => leaving,
            None if share.and(sites).is_empty() && to.came_of(sites)? => return Ok(0),
            None => self.begin(share.and(sites), to)?,
        };
        let arrived: Option<Arrived> = get(ARRIVED, &to.session)?;
        let copied = match arrived {
            Some(Arrived { name, .. }) if name != leaving.name => return Err(CutError::NotEmpty),
            Some(Arrived { complete: true, .. }) => 0,
            None if !to.is_unused()? => return Err(CutError::NotEmpty),
            Some(_) | None => self.copy(&leaving, to)?,
        };
        self.delete(&leaving.sites, share.without(&leaving.sites))?;
        Ok(copied)
    }

    /// Returns an error if a cut has begun and not ended.
    pub(super) fn check_whole(&self) -> Result<(), OpenError> {
        let leaving: Option<Leaving> = self.stored(LEAVING)?;
        let arrived: Option<Arrived> = self.stored(ARRIVED)?;
        let gift = self.gift().map_err(|error| self.store_error(error))?;
        if leaving.is_some() || gift.is_some() || arrived.is_some_and(|arrived| !arrived.complete) {
            return Err(OpenError::Cut(self.path.clone()));
        }
        Ok(())
    }

    fn stored<T: DeserializeOwned>(&self, key: &[u8]) -> Result<Option<T>, OpenError> {
        get(key, &self.session).map_err(|error| self.store_error(error))
    }

    /// Notes what will be given away. From then on, this directory cannot be crawled.
    fn begin(&mut self, sites: Sites, to: &CrawlDir) -> Result<Leaving, CutError> {
        if sites.is_empty() {
            return Err(CutError::NoneOfThem);
        }
        if !to.is_unused()? {
            return Err(CutError::NotEmpty);
        }
        let mut name = [0; 16];
        getrandom::fill(&mut name).map_err(|error| store::Error::Io(std::io::Error::other(error.to_string())))?;
        let leaving = Leaving { name, sites };
        frontier::cut::prepare(&leaving.sites, &mut self.session)?;
        put(LEAVING, &leaving, &mut self.session);
        // The last run ended with other URLs than there are now.
        self.session.delete(Space::META, *b"stop-reason");
        self.session.commit()?;
        Ok(leaving)
    }

    /// Copies everything. Returns the number of entries.
    fn copy(&mut self, leaving: &Leaving, to: &mut CrawlDir) -> Result<u64, CutError> {
        let Leaving { name, sites } = leaving;
        let keys = self.keys()?;
        put(ARRIVED, &Arrived { name: *name, complete: false }, &mut to.session);
        put(SHARE, sites, &mut to.session);
        for key in COMMON {
            if let Some(value) = self.session.get(Space::META, key)? {
                to.session.put(Space::META, key, value);
            }
        }
        to.session.commit()?;
        let (from, session) = (&self.session, &mut to.session);
        let count = judge::cut::copy(sites, from, session)? + copy_known(sites, &keys, from, session)?;
        to.count()?;
        put(ARRIVED, &Arrived { name: *name, complete: true }, &mut to.session);
        to.session.commit()?;
        Ok(count)
    }

    /// Deletes everything that was copied. `kept` are the hosts that this directory keeps.
    fn delete(&mut self, sites: &Sites, kept: Sites) -> Result<(), CutError> {
        let keys = self.keys()?;
        let session = &mut self.session;
        judge::cut::delete(sites, session)?;
        cut::delete(session, &sites.keys(spaces::PAGES, &[]), &all)?;
        delete_known(sites, &kept, &keys, session)?;
        put(SHARE, &kept, session);
        self.count()?;
        self.session.delete(Space::META, LEAVING);
        self.session.commit()?;
        Ok(())
    }

    /// Makes the counters say how many URLs there are now.
    pub(super) fn count(&mut self) -> Result<(), CutError> {
        let (settings, keys) = (self.last_settings()?, self.keys()?);
        let (mut stats, _) = self.stats()?;
        let frontier = Frontier::open(&settings, &keys, &mut self.session, Clock::System.now())?;
        stats.take_counts(&frontier.counts());
        Ok(stats.put(&mut self.session)?)
    }

    /// Whether this directory was made by a cut of these hosts.
    fn came_of(&self, sites: &Sites) -> store::Result<bool> {
        let arrived: Option<Arrived> = get(ARRIVED, &self.session)?;
        let is_whole = arrived.is_some_and(|arrived| arrived.complete);
        Ok(is_whole && self.sites()?.without(sites).is_empty())
    }

    /// Whether no crawl has ever begun here.
    pub(super) fn is_unused(&self) -> store::Result<bool> {
        let mut unused = self.session.get(Space::META, b"secret")?.is_none();
        for space in spaces::of_crawl().iter().filter(|space| *space != Space::META) {
            self.session.scan(space, &[], &[], &mut |_, _| {
                unused = false;
                ControlFlow::Break(())
            })?;
        }
        Ok(unused)
    }
}

/// Copies what the frontier and the crawler know of some hosts. Returns the number of entries.
pub(super) fn copy_known(sites: &Sites, keys: &Keys, from: &Session, to: &mut Session) -> store::Result<u64> {
    let mut count = frontier::cut::copy(sites, from, to)?;
    // The lines of these pages stay in the old directory.
    let page = |_: &[u8], value: &[u8]| {
        let record = PageRecord::decode(value)?;
        Ok(Some(codec::encode(&PageRecord { offset: PageRecord::ELSEWHERE, graph: None, ..record })))
    };
    count += cut::copy(from, &sites.keys(spaces::PAGES, &[]), &page, to)?;
    for space in spaces::BY_SITE {
        count += cut::copy(from, &sites.keys(space, &[]), &as_it_is, to)?;
    }
    for (space, of) in by_name() {
        let copied = |key: &[u8], value: &[u8]| Ok(of(key, sites, keys).then(|| value.to_vec()));
        count += cut::copy(from, &[KeyRange::whole(space)], &copied, to)?;
    }
    Ok(count)
}

/// Deletes what [`copy_known`] copies, except the records of pages.
pub(super) fn delete_known(sites: &Sites, kept: &Sites, keys: &Keys, from: &mut Session) -> store::Result<()> {
    frontier::cut::delete(sites, from)?;
    for space in spaces::BY_SITE {
        cut::delete(from, &sites.keys(space, &[]), &all)?;
    }
    for (space, of) in by_name() {
        // If hosts of a domain stay here, the cookies of the domain are needed here, too.
        let meant = |key: &[u8], _: &[u8]| Ok(of(key, sites, keys) && !of(key, kept, keys));
        cut::delete(from, &[KeyRange::whole(space)], &meant)?;
    }
    Ok(())
}

/// A function that tells from its key whether an entry belongs to a host of the set.
type Of = fn(&[u8], &Sites, &Keys) -> bool;

/// The spaces whose keys are names of origins or of registrable domains.
fn by_name() -> [(Space, Of); 2] {
    let of_origin: Of = |key, sites, keys| url_of(key).is_some_and(|url| sites.has(keys.site(&url)));
    let of_domain: Of = |key, sites, keys| {
        let site = url_of(&[b"http://", key].concat()).map(|url| keys.site(&url));
        site.is_some_and(|SiteId { domain, .. }| !sites.and(&Sites::of_domains([domain])).is_empty())
    };
    [(spaces::USAGE, of_origin), (spaces::COOKIES, of_domain)]
}

fn url_of(key: &[u8]) -> Option<Url> {
    Url::parse(std::str::from_utf8(key).ok()?).ok()
}

pub(super) fn get<T: DeserializeOwned>(key: &[u8], session: &Session) -> store::Result<Option<T>> {
    let value = session.get(Space::META, key)?;
    value.map(|value| codec::decode(&value, "the hosts of a directory")).transpose()
}

pub(super) fn put<T: Serialize>(key: &[u8], value: &T, session: &mut Session) {
    session.put(Space::META, key, codec::encode(value));
}
