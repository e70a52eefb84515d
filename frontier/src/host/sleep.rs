//! Hosts that are only on disk. Memory has a bounded number of hosts. The others sleep. Sleeping hosts with work are
//! woken in the order in which they are due.

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

/// The hosts that sleep and have work.
#[derive(Debug, Default)]
pub struct Sleep {
    /// The time at which this process began. It tells this process from earlier ones.
    boot: Millis,
    count: u64,
    /// The host that is due first, if it is known.
    first: Option<(Millis, SiteId)>,
}

/// What is kept of a sleeping host besides its record.
#[derive(Debug, Serialize, Deserialize)]
pub struct Asleep {
    boot: Millis,
    /// When the host is due, if it has work. This is its key in the list.
    due: Option<Millis>,
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
        self.count
    }

    /// A host goes to sleep. If it has work, it is woken at `due`.
    pub fn add(&mut self, host: &Host, due: Option<Millis>, session: &mut Session) {
        let until = match host.addresses {
            super::HostAddresses::Known { until, .. } => until,
            _ => 0,
        };
        let (pace, ips) = (host.pace.clone(), host.addresses.ips().to_vec());
        let record = Asleep { boot: self.boot, due, pace, sitemaps: host.sitemaps, ips, until };
        session.put(spaces::HOSTS, key(host.site, TAG), codec::encode(&record));
        if let Some(due) = due {
            session.put(spaces::FRONTIER_OWN, index(due, host.site), []);
            self.count += 1;
            if self.count == 1 || self.first.is_some_and(|first| (due, host.site) < first) {
                self.first = Some((due, host.site));
            }
        }
    }

    /// A host slept when the store was opened, and goes on sleeping.
    pub fn found(&mut self) {
        self.count += 1;
    }

    /// A host wakes up, and gets back what was kept.
    pub fn wake(&mut self, host: &mut Host, asleep: Asleep, session: &mut Session) {
        session.delete(spaces::HOSTS, key(host.site, TAG));
        if let Some(due) = asleep.due {
            session.delete(spaces::FRONTIER_OWN, index(due, host.site));
            self.count = self.count.saturating_sub(1);
            self.first = self.first.filter(|first| *first != (due, host.site));
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

    /// The sleeping host that is due first.
    pub fn first(&mut self, session: &Session) -> Result<Option<(Millis, SiteId)>> {
        if self.count == 0 || self.first.is_some() {
            return Ok(self.first.filter(|_| self.count > 0));
        }
        session.scan(spaces::FRONTIER_OWN, &[DUE], &[DUE + 1], &mut |key, _| {
            let due = key.get(1..9).and_then(|due| due.try_into().ok()).map(Millis::from_be_bytes);
            self.first = due.zip(key.get(9..).and_then(SiteId::read));
            ControlFlow::Break(())
        })?;
        Ok(self.first)
    }
}

impl Asleep {
    /// Whether it went to sleep with work to do.
    pub fn has_work(&self) -> bool {
        self.due.is_some()
    }
}

fn index(due: Millis, site: SiteId) -> Vec<u8> {
    [&[DUE][..], &due.to_be_bytes(), &site.to_bytes()].concat()
}

/// The host of a key of the list.
pub fn site_of(key: &[u8]) -> Option<SiteId> {
    (key.first() == Some(&DUE)).then(|| key.get(9..).and_then(SiteId::read))?
}
