//! Hosts: where each of them is, how gently it is to be treated, what it allows, what is queued for it, what its copies have
//! cost.
//!
//! A host is one name, whatever the ports. What must outlive the process is on record in [`spaces::HOSTS`] under the host's
//! identity; robots rules are in [`spaces::ROBOTS`], and queued URLs in [`spaces::QUEUE`]. So a host can leave memory and
//! come back ([`Hosts`]).

pub mod budget;
pub mod ceiling;
mod choose;
pub mod entry;
pub mod errands;
mod evidence;
pub mod groups;
pub mod hosts;
pub mod lane;
pub mod note;
pub mod origins;
pub mod pace;
pub mod place;
pub mod queue;
mod sleep;
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
use crate::numbers::Millis;
use crate::process::{Line, Progress, Shares};
use crate::schedule::{self, Phase, Rank};
use crate::spaces;
use budget::{Budget, Limits};
use ceiling::Ceiling;
use entry::{Entry, Packed};
use errands::Errands;
pub use evidence::Expected;
use groups::Groups;
pub use hosts::Hosts;
use lane::{Lane, band_score};
use origins::Origins;
use pace::Pace;
use place::Place;
pub use sleep::site_of as sleep_index;
pub use sweep::Sweep;

/// Kind of the records of hosts in [`spaces::HOSTS`] …
const HOST: u8 = b'h';
/// … and of sitemaps that were met.
const SITEMAP: u8 = b's';

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

/// One host name, whatever the ports.
#[derive(Debug)]
pub struct Host {
    /// Its identity.
    pub site: SiteId,
    /// Its name, as URLs have it, without the dot that may end it.
    pub name: Box<str>,
    /// What it is doing.
    pub phase: Phase,
    /// How it has used its slots.
    pub progress: Progress,
    /// Whether it is counted among the proven hosts that have work.
    pub counted: bool,
    /// Its rank among the hosts that others wait for.
    pub standing: Option<Rank>,
    /// When it may be asked again.
    pub pace: Pace,
    /// Where it is.
    pub place: Place,
    /// Its schemes and ports, with their robots rules.
    pub origins: Origins,
    /// Kinds of URL.
    pub groups: Groups,
    /// What its duplicates have cost.
    pub budget: Budget,
    /// What it has brought.
    pub ceiling: Ceiling,
    /// Queued URLs.
    pub lanes: Vec<Lane>,
    /// Robots files to be asked for here, because they moved here.
    pub errands: Errands,
    /// Pages fetched.
    pub pages: u64,
    /// Sitemaps queued by this process.
    pub sitemaps: u32,
    /// Jobs since it came into memory.
    pub jobs: u32,
}

/// What is recorded of a host.
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
    /// An answer that took so long held its slot for too long.
    const LONG: Millis = 10_000;
    /// A change of the delay by so many thousandths is put on record.
    const NOTED: u64 = 100;

    /// A host not met before.
    pub fn new(site: SiteId, name: &str) -> Self {
        Self {
            site,
            name: name.into(),
            phase: Phase::NEW,
            progress: Progress::default(),
            counted: false,
            standing: None,
            pace: Pace::new(name),
            place: Place::Unknown,
            origins: Origins::default(),
            groups: Groups::default(),
            budget: Budget::default(),
            ceiling: Ceiling::default(),
            lanes: Vec::new(),
            errands: Errands::default(),
            pages: 0,
            sitemaps: 0,
            jobs: 0,
        }
    }

    /// Entries that can be handed out.
    pub fn queued(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.len() as u64).sum()
    }

    /// The number of the origin of `url`, made if need be; `fixed` for the port of a seed. `None` where the host has no room
    /// for it. What is new is put on record.
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

    /// How URLs of a group usually begin: `http://a.test`.
    pub fn authority(&self, group: u8) -> String {
        let origin = self.groups.get(group).and_then(|group| self.origins.get(group.origin));
        origin.map_or_else(String::new, |origin| origin.port().authority(&self.name))
    }

    /// Whether a budget that the URLs of a group draw on is spent.
    pub fn is_spent(&self, group: u8, limits: Limits) -> bool {
        let group = self.groups.get(group).map_or(0, |group| group.budget.spent());
        group >= limits.group || self.budget.spent() >= limits.host
    }

    /// Score of a lane: that of its band, by what was learned of its group.
    pub fn score(&self, group: u8, band: u8) -> f32 {
        band_score(band) * self.groups.get(group).map_or(1.0, |group| group.expected)
    }

    /// Whether it could have a job now or later.
    pub fn has_work(&self) -> bool {
        !self.errands.is_empty() || self.has_pages()
    }

    /// Whether URLs of its own are queued.
    pub fn has_pages(&self) -> bool {
        self.lanes.iter().any(|lane| lane.len() > 0)
    }

    /// How good its best URL is; 0 is best. An errand counts as much as the best.
    pub fn rank(&self) -> Rank {
        if self.errands.due(self.has_pages()).is_some() {
            return 0;
        }
        let lanes = self.lanes.iter().filter(|lane| lane.len() > 0);
        schedule::rank(lanes.map(|lane| self.score(lane.group, lane.band)).fold(0.0, f32::max))
    }

    /// Works out what is to be expected of each group.
    pub fn expect(&mut self, weights: &Priority) {
        self.groups.expect(weights);
    }

    /// The shares of the slots that a job of it draws on.
    pub fn shares(&self) -> Box<[Line]> {
        Shares::of(self.progress, self.site.domain, self.place.ids())
    }

    /// A job of it gave its slot back.
    pub fn used_slot(&mut self, outcome: &Outcome, session: &mut Session) {
        let lost = match outcome {
            Outcome::Done { elapsed, .. } if *elapsed >= Self::LONG => Failure::Slow,
            Outcome::Failed(failure @ (Failure::Timeout | Failure::Slow | Failure::NoRoom)) => *failure,
            Outcome::Done { .. } => return self.progress.answered(),
            // A robots.txt that comes at once says little of the pages.
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

    /// A page of it was judged: whether it is like others here.
    pub fn looked_alike(&mut self, alike: bool, session: &mut Session) {
        let before = self.ceiling.stretch();
        self.ceiling.page(alike);
        let stretch = self.ceiling.stretch();
        self.pace.stretch = stretch;
        if before / Self::NOTED != stretch / Self::NOTED {
            self.record_note(session);
        }
    }

    /// Writes down what must outlive the process.
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

    /// The host as it was recorded, without its groups and lanes.
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
