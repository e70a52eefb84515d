//! Hosts: for each host its addresses, its pace, its robots rules, its queued URLs, and what its copies have cost.
//!
//! A host is one name with all its ports. What must outlive the process is on record in [`spaces::HOSTS`] under the
//! identity of the host. Robots rules are in [`spaces::ROBOTS`], and queued URLs in [`spaces::QUEUE`]. So a host can
//! leave memory and come back ([`Hosts`]).
//!
//! The URLs of a host are queued in *lanes* (`lane`, `queue`): one for each *group* of URLs that are expected to be
//! alike (`groups`) and each band of priorities. An *origin* is a scheme and port of the host, with its robots rules
//! (`origins`). A host *sleeps* while it is only on disk (`sleep`).

pub mod addresses;
pub mod budget;
pub mod ceiling;
mod choose;
pub mod domains;
pub mod entry;
pub mod errands;
pub mod groups;
pub mod hosts;
pub mod lane;
mod new_share;
pub mod note;
pub mod origins;
pub mod pace;
mod port;
pub mod queue;
pub mod retries;
pub mod rules_kept;
mod sleep;
mod small;
pub mod stocks;
mod sweep;

use std::collections::HashMap;

use config::Priority;
use dedup_stage::store::{Result, Session, codec};
use dedup_stage::url::SiteId;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::failure::Failure;
use crate::job::Outcome;
use crate::numbers::{Millis, Rank, rank};
use crate::process::{Counted, Line, Progress, Shares, SlotUsage};
use crate::schedule::HostPhase;
use crate::spaces;
use addresses::HostAddresses;
use budget::{Budget, Limits};
use ceiling::Ceiling;
use entry::{Entry, Packed};
use errands::Errands;
use groups::Groups;
pub use hosts::Hosts;
use lane::{Lane, band_score};
pub use new_share::Expected;
use origins::Origins;
use pace::Pace;
use retries::Retries;
pub use sleep::{Class, First as FirstAsleep, site_of as sleep_index};
pub use sweep::EraSweep;

/// Kind of the records of hosts in [`spaces::HOSTS`].
const HOST: u8 = b'h';
/// Kind of the records of sitemaps that were met.
const SITEMAP: u8 = b's';
/// Kind of the record of a sleeping host that tells why it has no address that may be asked.
const WITHHELD: u8 = b'y';

/// The beginning of the keys of one kind of record of a host.
fn key(site: SiteId, kind: u8) -> Vec<u8> {
    let mut key = site.to_bytes().to_vec();
    key.push(kind);
    key
}

/// Pages fetched so far, by the hash of the registrable domain.
pub fn pages_by_domain(session: &Session) -> Result<HashMap<u64, u64>> {
    let mut pages = HashMap::<u64, u64>::new();
    Hosts::read_all(session, &mut |host| *pages.entry(host.site.domain).or_default() += host.pages)?;
    Ok(pages)
}

/// One host name, with all its ports.
#[derive(Debug)]
pub struct Host {
    /// Its identity.
    pub site: SiteId,
    /// Its name as in URLs, without the dot that may end it.
    pub name: Box<str>,
    /// Its place in the schedule.
    pub phase: HostPhase,
    /// How it has used its slots.
    pub progress: Progress,
    /// How much of the time it holds a slot.
    pub usage: SlotUsage,
    /// As what it is counted among the hosts that have work.
    pub counted: Counted,
    /// The rank of its best URL, for which other hosts may wait; `None` if no host should wait for this one.
    pub awaited: Option<Rank>,
    /// Whether its address has called it, and it has not started a request since.
    pub called: bool,
    /// When it may be asked again.
    pub pace: Pace,
    /// Its addresses.
    pub addresses: HostAddresses,
    /// Its schemes and ports, with their robots rules.
    pub origins: Origins,
    /// Groups of its URLs.
    pub groups: Groups,
    /// How many pages its duplicates have spent.
    pub budget: Budget,
    /// How many of its pages bring little text of their own.
    pub ceiling: Ceiling,
    /// Queued URLs.
    pub lanes: Vec<Lane>,
    /// Robots files that must be asked for here because they moved here.
    pub errands: Errands,
    /// Further attempts after server errors and cut bodies.
    pub retries: Retries,
    /// Pages fetched.
    pub pages: u64,
    /// Sitemaps queued by this process.
    pub sitemaps: u32,
    /// Jobs since it came into memory.
    pub jobs: u32,
}

/// The record of a host.
#[derive(Serialize, Deserialize)]
struct Record {
    name: Box<str>,
    not_before: u64,
    crawl_delay: u64,
    spent: u32,
    pages: u64,
    origins: Vec<origins::Record>,
}

impl Host {
    /// An answer that takes this long has held its slot for too long.
    const LONG: Millis = 10_000;
    /// A change of the delay by this many thousandths is put on record.
    const NOTED: u64 = 100;

    /// A host that was not met before.
    pub fn new(site: SiteId, name: &str) -> Self {
        Self {
            site,
            name: name.into(),
            phase: HostPhase::NEW,
            progress: Progress::default(),
            usage: SlotUsage::default(),
            counted: Counted::default(),
            awaited: None,
            called: false,
            pace: Pace::new(name),
            addresses: HostAddresses::Unknown,
            origins: Origins::default(),
            groups: Groups::default(),
            budget: Budget::default(),
            ceiling: Ceiling::default(),
            lanes: Vec::new(),
            errands: Errands::new(site.domain),
            retries: Retries::default(),
            pages: 0,
            sitemaps: 0,
            jobs: 0,
        }
    }

    /// Number of entries that can be handed out.
    pub fn queued(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.len() as u64).sum()
    }

    /// The number of the origin of `url`. An origin that is not known is made. `fixed`: this is the port of a seed.
    /// `None` if the host has no room for it. A new origin is put on record.
    pub fn origin(&mut self, url: &Url, fixed: bool, session: &mut Session) -> Option<u8> {
        let (groups, lanes) = (&self.groups, &self.lanes);
        let of = |lane: &Lane| groups.get(lane.group).map(|group| group.origin);
        let is_idle = |number| !lanes.iter().any(|lane| of(lane) == Some(number));
        let known = self.origins.find(url).filter(|_| !fixed);
        let number = self.origins.number(url, fixed, &is_idle);
        if number.is_some() && number != known {
            self.record(session);
        }
        number
    }

    /// The stored form of an entry of a group.
    pub fn pack(&self, entry: &Entry, url: &Url, group: u8) -> Packed {
        let origin = self.groups.get(group).and_then(|group| self.origins.get(group.origin));
        Packed::of(entry, origin.and_then(|origin| origin.port().rest(url, &self.name)))
    }

    /// The usual beginning of the URLs of a group, such as `http://a.test`.
    pub fn authority(&self, group: u8) -> String {
        let origin = self.groups.get(group).and_then(|group| self.origins.get(group.origin));
        origin.map_or_else(String::new, |origin| origin.port().authority(&self.name))
    }

    /// Whether a budget is spent that counts for the URLs of a group.
    pub fn is_spent(&self, group: u8, limits: Limits) -> bool {
        let group = self.groups.get(group).map_or(0, |group| group.budget.spent());
        group >= limits.group || self.budget.spent() >= limits.host
    }

    /// The score of a lane: the score of its band, times the factor of its group.
    pub fn score(&self, group: u8, band: u8) -> f32 {
        band_score(band) * self.groups.get(group).map_or(1.0, |group| group.expected)
    }

    /// Whether it could have a job, now or later.
    pub fn has_work(&self) -> bool {
        !self.errands.is_empty() || self.has_pages()
    }

    /// Whether it has queued URLs of its own.
    pub fn has_pages(&self) -> bool {
        self.lanes.iter().any(|lane| lane.len() > 0)
    }

    /// The number of its parts that count in memory, without its lanes.
    fn weight(&self) -> usize {
        4 + self.groups.len()
    }

    /// The rank of its best URL; 0 is best. An errand has the best rank.
    pub fn rank(&self) -> Rank {
        if self.errands.due(self.has_pages()).is_some() {
            return 0;
        }
        let lanes = self.lanes.iter().filter(|lane| lane.len() > 0);
        rank(lanes.map(|lane| self.score(lane.group, lane.band)).fold(0.0, f32::max))
    }

    /// Computes the factor of each group again.
    pub fn expect(&mut self, weights: &Priority) {
        self.groups.expect(weights);
    }

    /// The shares of the slots that count for its jobs.
    pub fn shares(&self, shares: &Shares, now: Millis) -> Box<[Line]> {
        shares.of(self.progress, self.usage.share(now), self.site.domain, self.addresses.ids())
    }

    /// A job of the host has given its slot back.
    pub fn used_slot(&mut self, outcome: &Outcome, session: &mut Session) {
        let lost = match outcome {
            Outcome::Done { elapsed, .. } if *elapsed >= Self::LONG => Failure::Slow,
            Outcome::Failed(failure @ (Failure::Timeout | Failure::Slow | Failure::NoRoom)) => *failure,
            Outcome::Done { .. } => return self.progress.answered(),
            // A robots.txt that is answered fast tells little about the pages.
            Outcome::Robots(_)
            | Outcome::RobotsMoved(_)
            | Outcome::Failed(_)
            | Outcome::Resolved(_)
            | Outcome::Returned { .. }
            | Outcome::Later
            | Outcome::Refused(_) => return,
        };
        self.progress.was_slow(lost);
        self.record_note(session);
    }

    /// A page of the host was judged. `little` says that it brought little text of its own.
    pub fn brought(&mut self, little: bool, session: &mut Session) {
        let before = self.ceiling.stretch();
        self.ceiling.page(little);
        let stretch = self.ceiling.stretch();
        self.pace.stretch = stretch;
        if before / Self::NOTED != stretch / Self::NOTED {
            self.record_note(session);
        }
    }

    /// Puts on record what must outlive the process.
    pub fn record(&self, session: &mut Session) {
        let record = Record {
            name: self.name.clone(),
            not_before: self.pace.not_before,
            crawl_delay: self.pace.crawl_delay,
            spent: self.budget.spent(),
            pages: self.pages,
            origins: self.origins.records(),
        };
        session.put(spaces::HOSTS, key(self.site, HOST), codec::encode(&record));
    }

    /// The host from its record, without its groups and lanes.
    fn restore(site: SiteId, bytes: &[u8]) -> Result<Self> {
        let record: Record = codec::decode(bytes, "a host")?;
        let mut host = Self::new(site, &record.name);
        host.pace.not_before = record.not_before;
        host.pace.crawl_delay = record.crawl_delay;
        host.budget = Budget::new(record.spent);
        host.pages = record.pages;
        host.origins = Origins::of_records(record.origins);
        Ok(host)
    }
}
