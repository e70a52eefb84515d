//! Moves a set of hosts to another state of the same crawl. No frontier may have one of the states open. The other
//! state is empty ([`copy`]), or has other hosts: then what belongs to no host is put together ([`merge`]).
//!
//! All records of a host lie under keys that begin with the identity of the host (in the queue, with the era before
//! it). So they move as ranges of keys. Three kinds of entries have other keys:
//!
//! - An entry of the index of held URLs ([`spaces::HELD_FOR`]) begins with the URL that is waited for, which may be on
//!   a host that does not move. The entry goes where the held URL goes.
//! - Hosts that sleep on disk are listed by the time when they are due.
//! - Work in the background is copied to the other state, and also stays here. In the state that has none of its URLs,
//!   it finds nothing to do.
//!
//! A URL can be held for a URL on the other side of the cut. After the cut, the frontier of the held URL does not learn
//! when that other URL is fetched. So [`prepare`] asks for a new decision about each of these held URLs, unless the
//! other URL was fetched well already: then the held URL is a copy, and stays held.

use std::collections::BTreeSet;

use dedup_stage::store::cut::{self, KeyRange, all, as_it_is, each_part};
use dedup_stage::store::{Result, Session, codec};
use dedup_stage::url::{Sites, UrlId};

use crate::hold::is_fallen_set;
use crate::hold::works::{Task, Works, is_work};
use crate::host::lane::{era, era_start};
use crate::host::queue::Queues;
use crate::host::sleep_index;
use crate::spaces;
use crate::url::{EndedAs, Standing, Urls};

/// Asks for new decisions about the URLs that are held across the cut. To be called first, and to be committed before
/// anything is copied.
pub fn prepare(sites: &Sites, from: &mut Session) -> Result<()> {
    let mut awaited = BTreeSet::new();
    each_part(from, &KeyRange::whole(spaces::HELD_FOR), &mut |entries| {
        for (key, _) in entries {
            if let Some((anchor, held)) = of_index(key)
                && sites.has(anchor.site) != sites.has(held.site)
            {
                awaited.insert(anchor);
            }
        }
        Ok(())
    })?;
    let mut works = Works::open(from)?;
    for anchor in awaited {
        if !was_fetched(anchor, from)? {
            works.add(Task::Ended(anchor), from);
        }
    }
    Ok(())
}

/// Copies these hosts to another state, which has no hosts (or some of these, after a crash). Returns the number of
/// entries.
pub fn copy(sites: &Sites, from: &Session, to: &mut Session) -> Result<u64> {
    super::put_format(to);
    Queues::reserve(Queues::open(from)?.arrivals(), to);
    let mut count = cut::copy(from, &ranges(sites, from)?, &as_it_is, to)?;
    let held = |key: &[u8], _: &[u8]| Ok(holds(key, sites).then(Vec::new));
    count += cut::copy(from, &[KeyRange::whole(spaces::HELD_FOR)], &held, to)?;
    let own = |key: &[u8], value: &[u8]| {
        Ok((is_work(key) || is_fallen_set(key) || sleeps(key, sites)).then(|| value.to_vec()))
    };
    count += cut::copy(from, &[KeyRange::whole(spaces::FRONTIER_OWN)], &own, to)?;
    Ok(count)
}

/// Puts entries of [`spaces::FRONTIER_OWN`] that were copied from another frontier beside those of this one, which has
/// other hosts. Work in the background may be done twice then, which changes nothing.
pub fn merge(entries: &[(Vec<u8>, Vec<u8>)], to: &mut Session) -> Result<()> {
    let mut works = Works::open(to)?;
    for (key, value) in entries {
        if is_work(key) {
            works.adopt(codec::decode(value, "work in the background")?, to);
        } else if key == Queues::RESERVED {
            // Places in the order of arrival are compared within a host, and never used twice.
            let theirs = codec::decode(value, "the order of arrival")?;
            Queues::reserve(Queues::open(to)?.arrivals().max(theirs), to);
        } else {
            to.put(spaces::FRONTIER_OWN, key.as_slice(), value.as_slice());
        }
    }
    Ok(())
}

/// Deletes these hosts. Returns the number of entries.
pub fn delete(sites: &Sites, from: &mut Session) -> Result<u64> {
    let mut count = cut::delete(from, &ranges(sites, from)?, &all)?;
    count += cut::delete(from, &[KeyRange::whole(spaces::HELD_FOR)], &|key, _| Ok(holds(key, sites)))?;
    count += cut::delete(from, &[KeyRange::whole(spaces::FRONTIER_OWN)], &|key, _| Ok(sleeps(key, sites)))?;
    Ok(count)
}

/// The ranges of keys that begin with one of these hosts, or with an era and one of them.
fn ranges(sites: &Sites, session: &Session) -> Result<Vec<KeyRange>> {
    let by_host = [spaces::URLS, spaces::HOSTS, spaces::ROBOTS, spaces::RULES];
    let mut ranges: Vec<KeyRange> = by_host.iter().flat_map(|space| sites.keys(*space, &[])).collect();
    for era in 0..=era(Queues::open(session)?.arrivals()) {
        ranges.extend(sites.keys(spaces::QUEUE, &era_start(era)));
    }
    Ok(ranges)
}

/// The two halves of an entry of the index: the URL or template that is waited for, and the URL that is held for it.
fn of_index(key: &[u8]) -> Option<(UrlId, UrlId)> {
    UrlId::read(key).zip(key.get(UrlId::BYTES..).and_then(UrlId::read))
}

/// Whether the held URL of an entry of the index is one of these hosts.
fn holds(key: &[u8], sites: &Sites) -> bool {
    of_index(key).is_some_and(|(_, held)| sites.has(held.site))
}

/// Whether an entry lists one of these hosts as asleep.
fn sleeps(key: &[u8], sites: &Sites) -> bool {
    sleep_index(key).is_some_and(|site| sites.has(site))
}

/// Whether a URL was answered well, or with a redirect.
fn was_fetched(id: UrlId, session: &Session) -> Result<bool> {
    let key = id.to_bytes();
    let Some(record) = session.get(spaces::URLS, &key)? else { return Ok(false) };
    let standing = Standing::of(&Urls::read(&key, &record)?.1);
    Ok(matches!(standing, Standing::Done(EndedAs::Well | EndedAs::Redirected)))
}
