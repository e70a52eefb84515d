//! Hosts that are on disk only. Memory holds a bounded number of hosts; the others sleep, and those with work are called in
//! the order in which they are due.

use std::ops::ControlFlow;
use std::sync::Arc;

use dedup_stage::store::{Result, Session, codec};
use dedup_stage::url::SiteId;
use serde::{Deserialize, Serialize};

use super::pace::Pace;
use super::{Host, key};
use crate::numbers::Millis;
use crate::spaces;

/// Kind of the records in [`spaces::HOSTS`] of what only matters while the process lives.
pub const TAG: u8 = b'z';
/// First byte of the keys in [`spaces::FRONTIER_OWN`] by which sleeping hosts with work are found: time when due, host.
const DUE: u8 = b'z';

/// The hosts that sleep and have work.
#[derive(Debug, Default)]
pub struct Sleep {
    /// Tells this process from earlier ones.
    boot: Millis,
    count: u64,
    /// The first one, if it is known which it is.
    first: Option<(Millis, SiteId)>,
}

/// What is kept of a sleeping host beside its record.
#[derive(Debug, Serialize, Deserialize)]
pub struct Asleep {
    boot: Millis,
    /// Its key in the index, if it has work.
    due: Option<Millis>,
    pace: Pace,
    sitemaps: u32,
    ips: Vec<std::net::IpAddr>,
    until: Millis,
}

impl Sleep {
    /// Nobody sleeps; `boot` is when this process began.
    pub fn new(boot: Millis) -> Self {
        Self { boot, ..Self::default() }
    }

    /// Hosts that sleep and have work.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// A host goes to sleep; where it has work it is called at `due`.
    pub fn add(&mut self, host: &Host, due: Option<Millis>, session: &mut Session) {
        let until = match host.place {
            super::Place::Known { until, .. } => until,
            _ => 0,
        };
        let (pace, ips) = (host.pace.clone(), host.place.ips().to_vec());
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

    /// A host that was asleep when the store was opened, and stays so.
    pub fn found(&mut self) {
        self.count += 1;
    }

    /// A host wakes up: gives it back what was kept.
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
                host.place = super::Place::Known { ips, ids: Vec::new(), until: asleep.until };
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
    /// Whether it was put to sleep with work to do.
    pub fn has_work(&self) -> bool {
        self.due.is_some()
    }
}

fn index(due: Millis, site: SiteId) -> Vec<u8> {
    [&[DUE][..], &due.to_be_bytes(), &site.to_bytes()].concat()
}

/// The host of a key of the index.
pub fn site_of(key: &[u8]) -> Option<SiteId> {
    (key.first() == Some(&DUE)).then(|| key.get(9..).and_then(SiteId::read))?
}
