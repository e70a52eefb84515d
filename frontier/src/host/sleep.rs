//! Hosts that are only on disk. Memory has a bounded number of hosts. The others sleep. Sleeping hosts with work are
//! woken in the order in which they are due. If a registrable domain has more than its share of the memory, its hosts
//! form a *crowd*. All other hosts are woken before a crowd, because a domain can have subdomains without end.

use std::ops::ControlFlow;
use std::sync::Arc;

use dedup_stage::store::{Result, Session, codec};
use dedup_stage::url::SiteId;
use serde::{Deserialize, Serialize};

use super::pace::Pace;
use super::{Host, key};
use crate::numbers::Millis;
use crate::spaces;

/// Kind of the records in [`spaces::HOSTS`] that only matter while the process lives.
pub const TAG: u8 = b'z';
/// First byte of the keys in [`spaces::FRONTIER_OWN`] that list sleeping hosts with work: by the time when they are
/// due, then by host.
const DUE: u8 = b'z';
/// This bit of the time in such a key is set for the hosts of a crowd, so that their keys come after all others.
const CROWD: u64 = 1 << 63;

/// The hosts that sleep and have work.
#[derive(Debug, Default)]
pub struct Sleep {
    /// The time at which this process began. It tells this process from earlier ones.
    boot: Millis,
    /// The hosts that belong to no crowd.
    single: List,
    /// The hosts of crowds.
    crowd: List,
}

/// The sleeping hosts that have work.
#[derive(Debug, Default)]
struct List {
    count: u64,
    /// The host that is due first, if it is known.
    first: Option<First>,
}

/// The first host of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct First {
    /// The time at which it is due.
    pub due: Millis,
    /// Its identity.
    pub site: SiteId,
    /// Whether it belongs to a crowd.
    pub is_of_crowd: bool,
}

/// What is kept of a sleeping host besides its record.
#[derive(Debug, Serialize, Deserialize)]
pub struct Asleep {
    boot: Millis,
    /// The time at which the host is due, if it has work, with the bit for crowds. This is its key in the list.
    due: Option<u64>,
    pace: Pace,
    sitemaps: u32,
    ips: Vec<std::net::IpAddr>,
    until: Millis,
}

impl Sleep {
    /// At the start no host sleeps. `boot` is the time at which this process began.
    pub fn new(boot: Millis) -> Self {
        Self { boot, ..Self::default() }
    }

    /// Number of hosts that sleep and have work.
    pub fn count(&self) -> u64 {
        self.single.count + self.crowd.count
    }

    fn list(&mut self, due: u64) -> &mut List {
        if due & CROWD == 0 { &mut self.single } else { &mut self.crowd }
    }

    /// A host goes to sleep. If it has work, it is woken at `due`.
    pub fn add(&mut self, host: &Host, due: Option<Millis>, is_of_crowd: bool, session: &mut Session) {
        let until = match host.addresses {
            super::HostAddresses::Known { until, .. } => until,
            _ => 0,
        };
        let (pace, ips) = (host.pace.clone(), host.addresses.ips().to_vec());
        let due = due.map(|due| due & !CROWD | if is_of_crowd { CROWD } else { 0 });
        let record = Asleep { boot: self.boot, due, pace, sitemaps: host.sitemaps, ips, until };
        session.put(spaces::HOSTS, key(host.site, TAG), codec::encode(&record));
        if let Some(due) = due {
            session.put(spaces::FRONTIER_OWN, index(due, host.site), []);
            let (list, added) = (self.list(due), First::new(due, host.site));
            list.count += 1;
            if list.count == 1 || list.first.is_some_and(|first| added < first) {
                list.first = Some(added);
            }
        }
    }

    /// A host slept when the store was opened, and goes on sleeping.
    pub fn found(&mut self, asleep: &Asleep) {
        if let Some(due) = asleep.due {
            self.list(due).count += 1;
        }
    }

    /// A host wakes up, and gets back what was kept.
    pub fn wake(&mut self, host: &mut Host, asleep: Asleep, session: &mut Session) {
        session.delete(spaces::HOSTS, key(host.site, TAG));
        if let Some(due) = asleep.due {
            session.delete(spaces::FRONTIER_OWN, index(due, host.site));
            let list = self.list(due);
            list.count = list.count.saturating_sub(1);
            list.first = list.first.filter(|first| first.site != host.site);
        }
        if asleep.boot == self.boot {
            let stretch = std::mem::replace(&mut host.pace, asleep.pace).stretch;
            host.pace.stretch = stretch;
            host.sitemaps = asleep.sitemaps;
            if !asleep.ips.is_empty() {
                let ips = Arc::from(asleep.ips);
                host.addresses = super::HostAddresses::Known { ips, ids: Vec::new(), until: asleep.until };
            }
        }
    }

    /// The sleeping host that comes first at `now`: a host of no crowd if one is due, otherwise the host that is due
    /// first.
    pub fn first(&mut self, now: Millis, session: &Session) -> Result<Option<First>> {
        let single = self.first_single(session)?;
        if single.is_some_and(|first| first.due <= now) {
            return Ok(single);
        }
        let crowd = self.crowd.first(CROWD, session)?;
        Ok(single.into_iter().chain(crowd).min())
    }

    /// Of the sleeping hosts that belong to no crowd, the one that is due first.
    pub fn first_single(&mut self, session: &Session) -> Result<Option<First>> {
        self.single.first(0, session)
    }
}

impl List {
    /// The host of a list that is due first. `bit` is the bit for crowds in all keys of this list.
    fn first(&mut self, bit: u64, session: &Session) -> Result<Option<First>> {
        if self.count == 0 || self.first.is_some() {
            return Ok(self.first.filter(|_| self.count > 0));
        }
        let from = [&[DUE][..], &bit.to_be_bytes()].concat();
        session.scan(spaces::FRONTIER_OWN, &from, &[DUE + 1], &mut |key, _| {
            let due = key.get(1..9).and_then(|due| due.try_into().ok()).map(u64::from_be_bytes);
            let due = due.filter(|due| due & CROWD == bit);
            self.first = due.zip(key.get(9..).and_then(SiteId::read)).map(|(due, site)| First::new(due, site));
            ControlFlow::Break(())
        })?;
        Ok(self.first)
    }
}

impl First {
    /// `due` has the bit for crowds.
    fn new(due: u64, site: SiteId) -> Self {
        Self { due: due & !CROWD, site, is_of_crowd: due & CROWD != 0 }
    }
}

impl Asleep {
    /// Whether it went to sleep with work to do.
    pub fn has_work(&self) -> bool {
        self.due.is_some()
    }
}

fn index(due: u64, site: SiteId) -> Vec<u8> {
    [&[DUE][..], &due.to_be_bytes(), &site.to_bytes()].concat()
}

/// The host of a key of the list.
pub fn site_of(key: &[u8]) -> Option<SiteId> {
    (key.first() == Some(&DUE)).then(|| key.get(9..).and_then(SiteId::read))?
}
