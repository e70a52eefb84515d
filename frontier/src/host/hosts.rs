//! The hosts that the crawl has met. Some are in memory, by number. The others sleep on disk.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;
use std::ops::ControlFlow;

use dedup_stage::store::{Error, Result, Session, codec};
use dedup_stage::url::{KeySet, SiteId};
use xxhash_rust::xxh3::Xxh3Default;

use super::domains::Domains;
use super::groups::Groups;
use super::lane::{LaneKey, Stock};
use super::queue::Queues;
use super::sleep::{self, Asleep, Class, Sleep};
use super::stocks::Stocks;
use super::{HOST, Host, HostAddresses, SITEMAP, WITHHELD, note};
use crate::numbers::{HostId, Millis};
use crate::spaces;

/// Hosts by identity and by number.
#[derive(Debug, Default)]
pub struct Hosts {
    slots: Vec<Option<Box<Host>>>,
    free: Vec<HostId>,
    /// Numbers of hosts in memory, by the hash of the name.
    numbers: HashMap<u64, HostId, BuildHasherDefault<Xxh3Default>>,
    /// Hashes of the names of all hosts ever met.
    known: KeySet,
    /// Hashes of the sitemaps that were met.
    sitemaps: HashSet<u64>,
    /// The hosts that are only on disk and have work.
    pub sleep: Sleep,
    /// The number of groups and lanes of all hosts in memory.
    weight: usize,
    /// The registrable domains of the hosts.
    domains: Domains,
}

/// The records of one host, as far as they were read.
struct Read {
    host: Host,
    asleep: Option<Asleep>,
}

/// What is left to do after all hosts were read.
struct Rest<'a> {
    stocks: &'a Stocks,
    /// Hosts that are in memory now, and their records from when they slept.
    awake: Vec<(HostId, Asleep)>,
    /// Hosts with work that were in memory before, and for which there is no room now.
    tired: Vec<SiteId>,
}

impl Hosts {
    /// At most this many hosts are in memory.
    pub const MOST: usize = if cfg!(test) { 3 } else { config::bounds::HOSTS };
    /// The hosts in memory have at most this many groups and lanes together.
    const WEIGHT: usize = if cfg!(test) { 40 } else { config::bounds::HOST_PARTS };

    /// Opens the hosts that `session` remembers. Gives `queues` the lanes that have `stocks`. Hosts with work come into
    /// memory as long as there is room. `boot` is the time at which this process began.
    pub fn open(stocks: &Stocks, queues: &mut Queues, session: &mut Session, boot: Millis) -> Result<Self> {
        let mut hosts = Self { sleep: Sleep::new(boot), ..Self::default() };
        let (mut read, mut failure) = (None::<Read>, None);
        let mut rest = Rest { stocks, awake: Vec::new(), tired: Vec::new() };
        // All records of a host are stored side by side.
        session.scan(spaces::HOSTS, &[], &[], &mut |key, value| {
            if let Some([SITEMAP, hash @ ..]) = key.get(SiteId::BYTES..) {
                hosts.sitemaps.extend(hash.try_into().map(u64::from_be_bytes));
            }
            match part(key, value, &mut read, queues) {
                Ok(done) => {
                    hosts.take_in(done, queues, &mut rest);
                    ControlFlow::Continue(())
                }
                Err(error) => {
                    failure = Some(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        if let Some(error) = failure {
            return Err(error);
        }
        hosts.take_in(read, queues, &mut rest);
        for (id, asleep) in rest.awake {
            let Self { slots, sleep, .. } = &mut hosts;
            if let Some(host) = slots[id as usize].as_deref_mut() {
                sleep.found(&asleep);
                sleep.wake(host, asleep, session);
            }
        }
        for site in rest.tired {
            let (id, _) = hosts.of(site, "", queues, session)?;
            let host = hosts.get_mut(id);
            queues.forget(&host.lanes);
            host.lanes.clear();
            for (key, stock) in stocks.of(site) {
                queues.restore(&mut host.lanes, *key, *stock);
            }
            hosts.put_to_sleep(id, Some(boot), queues, session);
        }
        Ok(hosts)
    }

    /// All records of a host were read.
    fn take_in(&mut self, read: Option<Read>, queues: &mut Queues, rest: &mut Rest<'_>) {
        let Some(Read { mut host, asleep }) = read else { return };
        self.meet(host.site);
        // The records of lanes may be out of date.
        queues.forget(&host.lanes);
        host.lanes.clear();
        for (key, stock) in rest.stocks.of(host.site) {
            queues.restore(&mut host.lanes, *key, *stock);
        }
        if host.has_work() && !self.is_full(queues) {
            let id = self.insert(host);
            rest.awake.extend(asleep.map(|asleep| (id, asleep)));
            return;
        }
        queues.forget(&host.lanes);
        if host.has_work() {
            match asleep.filter(Asleep::has_work) {
                Some(asleep) => self.sleep.found(&asleep),
                None => rest.tired.push(host.site),
            }
        }
    }

    /// The number of a host in memory.
    pub fn find(&self, site: SiteId) -> Option<HostId> {
        self.numbers.get(&site.host).copied()
    }

    /// The number of a host, and how the host came to be in memory. If it is not in memory, it is brought there.
    pub fn of(
        &mut self,
        site: SiteId,
        name: &str,
        queues: &mut Queues,
        session: &mut Session,
    ) -> Result<(HostId, Came)> {
        if let Some(id) = self.find(site) {
            return Ok((id, Came::WasThere));
        }
        if self.meet(site) {
            let host = Host::new(site, name);
            host.record(session);
            return Ok((self.insert(host), Came::New));
        }
        let mut read = Read { host: Host::new(site, name), asleep: None };
        let mut failure = None;
        let (from, to) = (site.to_bytes(), [&site.to_bytes()[..], &[0xff]].concat());
        session.scan(spaces::HOSTS, &from, &to, &mut |key, value| match read.add(key, value, queues) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        })?;
        if let Some(error) = failure {
            return Err(error);
        }
        let Read { mut host, asleep } = read;
        if let Some(asleep) = asleep {
            self.sleep.wake(&mut host, asleep, session);
        }
        Ok((self.insert(host), Came::Woke))
    }

    /// A host as the store has it, whether it is in memory or not; `None` if it was never met. Its lanes are exact only
    /// if it sleeps.
    pub fn read(site: SiteId, session: &Session) -> Result<Option<Host>> {
        let mut found = None;
        Self::read_range(&site.to_bytes(), &[&site.to_bytes()[..], &[0xff]].concat(), session, &mut |host| {
            found = Some(host);
            ControlFlow::Break(())
        })?;
        Ok(found)
    }

    /// Calls `visit` with every host as the store has it.
    pub fn read_all(session: &Session, visit: &mut dyn FnMut(&Host)) -> Result<()> {
        Self::read_from(&[], session, &mut |host| {
            visit(&host);
            ControlFlow::Continue(())
        })
    }

    /// Calls `visit` with every host as the store has it, from this key on, until `visit` breaks.
    pub fn read_from(from: &[u8], session: &Session, visit: &mut dyn FnMut(Host) -> ControlFlow<()>) -> Result<()> {
        Self::read_range(from, &[], session, visit)
    }

    fn read_range(
        from: &[u8],
        to: &[u8],
        session: &Session,
        visit: &mut dyn FnMut(Host) -> ControlFlow<()>,
    ) -> Result<()> {
        // These queues are only for reading, and take no room among those in memory.
        let mut queues = Queues::default();
        let (mut read, mut failure) = (None::<Read>, None);
        session.scan(spaces::HOSTS, from, to, &mut |key, value| match part(key, value, &mut read, &mut queues) {
            Ok(None) => ControlFlow::Continue(()),
            Ok(Some(done)) => {
                let flow = visit(done.host);
                if flow.is_break() {
                    read = None;
                }
                flow
            }
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        })?;
        failure.map_or(Ok(()), Err)?;
        read.into_iter().for_each(|done| _ = visit(done.host));
        Ok(())
    }

    fn insert(&mut self, host: Host) -> HostId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            (self.slots.len() - 1) as HostId
        });
        self.numbers.insert(host.site.host, id);
        self.domains.came(host.site.domain);
        self.weight += host.weight();
        self.slots[id as usize] = Some(Box::new(host));
        id
    }

    /// A host leaves memory. If it has work, it comes back at `due`.
    pub fn put_to_sleep(&mut self, id: HostId, due: Option<Millis>, queues: &mut Queues, session: &mut Session) {
        let Some(host) = self.slots[id as usize].take() else { return };
        host.record(session);
        if host.note().is_some() {
            host.record_note(session);
        }
        host.lanes.iter().for_each(|lane| lane.record(host.site, session));
        if let Some(why) = host.addresses.withholds() {
            session.put(spaces::HOSTS, super::key(host.site, WITHHELD), codec::encode(&why));
        }
        let class = match (self.domains.is_large(host.site.domain), host.progress.is_proven()) {
            (true, _) => Class::Crowd,
            (false, true) => Class::Shown,
            (false, false) => Class::Unknown,
        };
        self.sleep.add(&host, due, class, session);
        queues.forget(&host.lanes);
        self.numbers.remove(&host.site.host);
        self.domains.left(host.site.domain);
        self.weight -= host.weight();
        self.free.push(id);
    }

    /// Bytes of memory of the set of hosts that were ever met.
    pub fn seen_set_bytes(&self) -> usize {
        self.known.bytes()
    }

    /// A host was met. Returns true if it was never met before.
    fn meet(&mut self, site: SiteId) -> bool {
        let is_new = self.known.insert(site.host);
        if is_new {
            self.domains.meet(site.domain);
        }
        is_new
    }

    /// Whether the registrable domain of a host is large, and has more hosts in memory than its share.
    pub fn is_of_large_domain(&self, id: HostId) -> bool {
        self.domains.is_over(self.get(id).site.domain)
    }

    /// Whether a large domain has more hosts in memory than its share.
    pub fn has_large_domain(&self) -> bool {
        self.domains.has_one_over()
    }

    /// Whether a host was met before, or its domain may get one more. `namer` is the registrable domain of the page that
    /// names it, if a page does. If this returns true, the host counts as added.
    pub fn may_come(&mut self, site: SiteId, namer: Option<u64>) -> bool {
        self.known.contains(site.host) || self.domains.may_add(site.domain, namer)
    }

    /// A page of a host was fetched, so its domain may add some more hosts.
    pub fn earn(&mut self, site: SiteId) {
        self.domains.earn(site.domain);
    }

    /// Whether memory has as many hosts as it may have.
    pub fn is_full(&self, queues: &Queues) -> bool {
        self.numbers.len() >= Self::MOST || self.weight + queues.lanes() >= Self::WEIGHT
    }

    /// Whether some more hosts may come into memory.
    pub fn has_room(&self, queues: &Queues) -> bool {
        let weight = self.weight + queues.lanes();
        self.numbers.len() + Self::MOST / 16 < Self::MOST && weight + Self::WEIGHT / 16 < Self::WEIGHT
    }

    /// A host in memory has got groups. Counts them.
    pub fn weigh(&mut self, groups_before: usize, id: HostId) {
        self.weight += self.get(id).groups.len() - groups_before;
    }

    /// The host with this number.
    ///
    /// # Panics
    ///
    /// If the host has left memory. (Code that removes a host from memory must also forget its number.)
    pub fn get(&self, id: HostId) -> &Host {
        self.slots[id as usize].as_deref().expect("a host with a number is in memory")
    }

    /// Like [`Hosts::get`].
    pub fn get_mut(&mut self, id: HostId) -> &mut Host {
        self.slots[id as usize].as_deref_mut().expect("a host with a number is in memory")
    }

    /// All hosts in memory, by number.
    pub fn iter(&self) -> impl Iterator<Item = (HostId, &Host)> {
        self.slots.iter().enumerate().filter_map(|(id, host)| Some((id as HostId, host.as_deref()?)))
    }

    /// Number of hosts ever met.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether a sitemap, given by its hash, was met.
    pub fn has_met_sitemap(&self, hash: u64) -> bool {
        self.sitemaps.contains(&hash)
    }

    /// Notes a sitemap, given by its hash, that was found on this day.
    pub fn meet_sitemap(&mut self, site: SiteId, hash: u64, day: u32, session: &mut Session) {
        if self.sitemaps.insert(hash) {
            let key = [&super::key(site, SITEMAP)[..], &hash.to_be_bytes()].concat();
            session.put(spaces::HOSTS, key, day.to_be_bytes());
        }
    }

    /// Forgets all sitemaps, as if none had been met.
    pub fn forget_sitemaps(&mut self) {
        self.sitemaps.clear();
    }
}

/// Takes one record of a scan. If it belongs to another host than the one before, returns the host before.
fn part(key: &[u8], value: &[u8], read: &mut Option<Read>, queues: &mut Queues) -> Result<Option<Read>> {
    let damaged = || Error::Damaged("an entry of the frontier (a host) cannot be read".into());
    let site = SiteId::read(key).ok_or_else(damaged)?;
    let done = read.take_if(|read| read.host.site != site);
    let current = read.get_or_insert_with(|| Read { host: Host::new(site, ""), asleep: None });
    current.add(key, value, queues)?;
    Ok(done)
}

/// How a host came to be in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// The host was in memory.
    WasThere,
    /// The host was never met before.
    New,
    /// The host was on disk.
    Woke,
}

impl Read {
    /// Takes one record of the host.
    fn add(&mut self, key: &[u8], value: &[u8], queues: &mut Queues) -> Result<()> {
        let damaged = || Error::Damaged("an entry of the frontier (a host) cannot be read".into());
        match &key[SiteId::BYTES..] {
            [Groups::TAG, number] => self.host.groups.restore(*number, value)?,
            [HOST] => {
                let groups = std::mem::take(&mut self.host.groups);
                let lanes = std::mem::take(&mut self.host.lanes);
                self.host = Host { groups, lanes, ..Host::restore(self.host.site, value)? };
            }
            // The tag of the note comes after that of the host, so the host was read before.
            [note::TAG] => self.host.restore_note(value)?,
            [LaneKey::TAG, ..] => {
                let lane = LaneKey::of_record(key).ok_or_else(damaged)?;
                queues.restore(&mut self.host.lanes, lane, Stock::decode(value)?);
            }
            [SITEMAP, ..] => {}
            [WITHHELD] => self.host.addresses = HostAddresses::withheld(codec::decode(value, "why a host sleeps")?),
            [sleep::TAG] => self.asleep = Some(codec::decode(value, "a sleeping host")?),
            _ => return Err(damaged()),
        }
        Ok(())
    }
}
