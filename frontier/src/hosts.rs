//! The hosts that the crawl has met: what is queued for each, how gently it is to be treated, where it is.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;
use std::net::IpAddr;
use std::sync::Arc;

use dedup_stage::store::{Error, Result, Session};
use url::Url;
use xxhash_rust::xxh3::Xxh3Default;

use crate::addresses::AddressId;
use crate::budget::{Budget, Limits};
use crate::codec::{self, Reader};
use crate::groups::{self, Groups};
use crate::job::Millis;
use crate::origins::Origin;
use crate::politeness::Pace;
use crate::queue::{self, HostId, Lane, LaneKey, Queues};
use crate::schedule::{self, Phase, Rank};
use crate::spaces;

/// One host name, whatever the ports.
#[derive(Debug)]
pub struct Host {
    /// Its name, as URLs have it.
    pub name: Box<str>,
    /// What it is doing.
    pub phase: Phase,
    /// When it may be asked again.
    pub pace: Pace,
    /// Where it is.
    pub place: Place,
    /// Its schemes and ports, with their robots rules.
    pub origins: Vec<Origin>,
    /// Kinds of URL.
    pub groups: Groups,
    /// What its duplicates have cost.
    pub budget: Budget,
    /// Queued URLs.
    pub lanes: Vec<Lane>,
    /// Robots files to be asked for here before anything else, because they moved here.
    pub errands: VecDeque<Errand>,
    /// Sitemaps queued by this process.
    pub sitemaps: u32,
    /// Its rank among the hosts that others wait for.
    pub standing: Option<Rank>,
}

/// A robots.txt to be asked for.
#[derive(Clone, Debug)]
pub struct Errand {
    /// Where it is said to be.
    pub url: Url,
    /// Any URL of the origin whose rules it has.
    pub of: Url,
    /// The host of that origin.
    pub asker: HostId,
    /// How often it moved.
    pub moves: u8,
}

/// What is known of a host's addresses.
#[derive(Debug, Default)]
pub enum Place {
    /// Nothing.
    #[default]
    Unknown,
    /// These, until the time given.
    Known {
        /// As resolved.
        ips: Arc<[IpAddr]>,
        /// Their numbers.
        ids: Vec<AddressId>,
        /// They are asked for again then.
        until: Millis,
    },
    /// Its name was asked for, and not answered.
    Unresolved,
    /// It has none that may be connected to.
    Forbidden,
}

impl Host {
    /// Most origins of one host: a host with URLs on more ports is a trap.
    const ORIGINS: usize = 32;

    fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            phase: Phase::Idle,
            pace: Pace::new(name),
            place: Place::Unknown,
            origins: Vec::new(),
            groups: Groups::default(),
            budget: Budget::default(),
            lanes: Vec::new(),
            errands: VecDeque::new(),
            sitemaps: 0,
            standing: None,
        }
    }

    /// URLs that can be handed out.
    pub fn queued(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.len() as u64).sum()
    }

    /// The number of the origin of `url`, if the host has room for it.
    pub fn origin(&mut self, url: &Url) -> Option<u8> {
        let origin = Origin::of(url);
        let at = self.origins.iter().position(|known| known.is(&origin)).or_else(|| {
            (self.origins.len() < Self::ORIGINS).then(|| {
                self.origins.push(origin);
                self.origins.len() - 1
            })
        });
        at.map(|at| at as u8)
    }

    /// Whether a budget that the URLs of a group draw on is spent.
    pub fn is_spent(&self, group: u8, limits: Limits) -> bool {
        let group = self.groups.get(group).map_or(0, |group| group.budget.spent());
        group >= limits.group || self.budget.spent() >= limits.host
    }

    /// Score of a lane: that of its band, by what was learned of its group.
    pub fn score(&self, group: u8, band: u8) -> f32 {
        let factor = self.groups.get(group).map_or(1.0, |group| group.factor * group.expected);
        queue::band_score(band) * factor
    }

    /// Whether it could have a job now or later.
    pub fn has_work(&self) -> bool {
        !self.errands.is_empty() || self.lanes.iter().any(|lane| lane.len() > 0)
    }

    /// How good its best URL is; 0 is best.
    pub fn rank(&self) -> Rank {
        if !self.errands.is_empty() {
            // Another host waits for it.
            return 0;
        }
        let lanes = self.lanes.iter().filter(|lane| lane.len() > 0);
        schedule::rank(lanes.map(|lane| self.score(lane.group, lane.band)).fold(0.0, f32::max))
    }

    /// Writes down what must outlive the process.
    pub fn record(&self, id: HostId, session: &mut Session) {
        let mut key = vec![TAG];
        key.extend(self.name.as_bytes());
        let mut value = Vec::with_capacity(16);
        codec::write(&mut value, u64::from(id));
        codec::write(&mut value, self.pace.not_before);
        codec::write(&mut value, self.pace.crawl_delay);
        codec::write(&mut value, u64::from(self.budget.spent()));
        for origin in &self.origins {
            value.push(u8::from(origin.is_https()));
            value.extend(origin.port().to_be_bytes());
        }
        session.put(spaces::HOSTS, key, value);
    }

    fn restore(&mut self, mut reader: Reader<'_>) -> Result<()> {
        self.pace.not_before = reader.number()?;
        self.pace.crawl_delay = reader.number()?;
        self.budget = Budget::new(reader.small()?);
        while !reader.is_empty() {
            let https = reader.array::<1>()?[0] != 0;
            self.origins.push(Origin::new(https, u16::from_be_bytes(reader.array()?)));
        }
        Ok(())
    }
}

/// First byte of the keys of host records in [`spaces::HOSTS`].
const TAG: u8 = b'h';

/// Hosts by name and by number.
#[derive(Debug, Default)]
pub struct Hosts {
    numbers: HashMap<Box<str>, HostId, BuildHasherDefault<Xxh3Default>>,
    hosts: Vec<Host>,
}

impl Hosts {
    /// What `session` remembers, with the lanes given to `queues`.
    pub fn open(queues: &mut Queues, session: &Session) -> Result<Self> {
        let mut records = Vec::new();
        session.scan(spaces::HOSTS, &[], &[], &mut |key, value| {
            records.push((key.to_vec(), value.to_vec()));
            std::ops::ControlFlow::Continue(())
        })?;
        let damaged = || Error::Damaged("an entry of the frontier (a host) cannot be read".into());
        // Groups and lanes name hosts by number, which the records of hosts give.
        let mut hosts = Self::default();
        let mut named = Vec::new();
        for (key, value) in records.iter().filter(|(key, _)| key.first() == Some(&TAG)) {
            let name = std::str::from_utf8(&key[1..]).map_err(|_| damaged())?;
            let mut reader = Reader::new(value, "a host");
            let id: HostId = reader.small()?;
            let mut host = Host::new(name);
            host.restore(reader)?;
            named.push((id, host));
        }
        named.sort_unstable_by_key(|(id, _)| *id);
        for (at, (id, host)) in named.into_iter().enumerate() {
            if id as usize != at {
                return Err(damaged());
            }
            hosts.numbers.insert(host.name.clone(), id);
            hosts.hosts.push(host);
        }
        for (key, value) in &records {
            if let Some(id) = groups::host_of_record(key) {
                hosts.hosts.get_mut(id as usize).ok_or_else(damaged)?.groups.restore(value)?;
            } else if let Some(lane) = LaneKey::of_record(key) {
                let host = hosts.hosts.get_mut(lane.host as usize).ok_or_else(damaged)?;
                queues.restore(&mut host.lanes, lane, value)?;
            }
        }
        Ok(hosts)
    }

    /// The number of the host with this name, made if need be.
    pub fn of(&mut self, name: &str) -> HostId {
        if let Some(id) = self.numbers.get(name) {
            return *id;
        }
        let id = self.hosts.len() as HostId;
        self.numbers.insert(name.into(), id);
        self.hosts.push(Host::new(name));
        id
    }

    /// The number of the host with this name, if it is known.
    pub fn find(&self, name: &str) -> Option<HostId> {
        self.numbers.get(name).copied()
    }

    /// The host with this number, which [`Hosts::of`] gave.
    pub fn get(&self, id: HostId) -> &Host {
        &self.hosts[id as usize]
    }

    /// As [`Hosts::get`].
    pub fn get_mut(&mut self, id: HostId) -> &mut Host {
        &mut self.hosts[id as usize]
    }

    /// All hosts, by number.
    pub fn iter(&self) -> impl Iterator<Item = &Host> {
        self.hosts.iter()
    }

    /// Number of hosts.
    pub fn len(&self) -> usize {
        self.hosts.len()
    }
}
