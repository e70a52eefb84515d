//! Moving a set of hosts to another state of the same crawl, while no frontier has either open.
//!
//! Everything that is known of a host lies under keys that begin with its identity, in the queue behind the era: so it moves
//! as ranges of keys. Three kinds of entries have other keys:
//!
//! - The index of what is held ([`spaces::HELD_FOR`]) lies under what is waited for, which may be on a host that does not
//!   move. An entry of it goes where the URL goes that is held.
//! - Hosts that sleep are found by the time when they are due.
//! - Work in the background is copied, and stays: where none of the URLs is that it is about, it finds nothing to do.
//!
//! A URL can be held for one that is on the other side of the cut, where nobody tells of its end. [`prepare`] has each of these
//! looked at once more, unless what it is held for was fetched well: then a copy is not missed.

use std::collections::BTreeSet;

use dedup_stage::store::cut::{self, KeyRange, all, as_it_is, each_part};
use dedup_stage::store::{Result, Session};
use dedup_stage::url::{Sites, UrlId};

use crate::hold::works::{Task, Works, is_work};
use crate::host::lane::{era, era_start};
use crate::host::queue::Queues;
use crate::host::sleep_index;
use crate::spaces;
use crate::url::{Ended, Standing, Urls};

/// To be called first, and committed before anything is copied: looks for what is held across the cut.
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

/// Copies these hosts to a state that has none but, after a crash, some of these. Returns how many entries there were.
pub fn copy(sites: &Sites, from: &Session, to: &mut Session) -> Result<u64> {
    super::put_format(to);
    Queues::reserve(Queues::open(from)?.arrivals(), to);
    let mut count = cut::copy(from, &ranges(sites, from)?, &as_it_is, to)?;
    let held = |key: &[u8], _: &[u8]| Ok(holds(key, sites).then(Vec::new));
    count += cut::copy(from, &[KeyRange::whole(spaces::HELD_FOR)], &held, to)?;
    let own = |key: &[u8], value: &[u8]| Ok((is_work(key) || sleeps(key, sites)).then(|| value.to_vec()));
    count += cut::copy(from, &[KeyRange::whole(spaces::FRONTIER_OWN)], &own, to)?;
    Ok(count)
}

/// Deletes these hosts. Returns how many entries there were.
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

/// What is waited for, and what is held for it, of an entry of the index.
fn of_index(key: &[u8]) -> Option<(UrlId, UrlId)> {
    UrlId::read(key).zip(key.get(UrlId::BYTES..).and_then(UrlId::read))
}

/// Whether an entry of the index tells of a URL of these hosts that is held.
fn holds(key: &[u8], sites: &Sites) -> bool {
    of_index(key).is_some_and(|(_, held)| sites.has(held.site))
}

/// Whether an entry names one of these hosts as asleep.
fn sleeps(key: &[u8], sites: &Sites) -> bool {
    sleep_index(key).is_some_and(|site| sites.has(site))
}

/// Whether a URL was answered well, or with a redirect.
fn was_fetched(id: UrlId, session: &Session) -> Result<bool> {
    let key = id.to_bytes();
    let Some(record) = session.get(spaces::URLS, &key)? else { return Ok(false) };
    let standing = Standing::of(&Urls::read(&key, &record)?.1);
    Ok(matches!(standing, Standing::Done(Ended::Well | Ended::Redirected)))
}
