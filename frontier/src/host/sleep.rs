//! Hosts that are only on disk. Memory has a bounded number of hosts. The others sleep. Sleeping hosts with work are
//! woken in the order in which they are due, and by their [`Class`]: hosts that have shown pages come before hosts that
//! nobody knows yet, because a page can name hosts without end. Most hosts of large registrable domains (a *crowd*) come
//! last, because a domain can have subdomains without end.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use dedup_stage::store::{Result, Session, codec};
use dedup_stage::url::SiteId;
use serde::{Deserialize, Serialize};

use super::pace::Pace;
use super::{Host, WITHHELD, key};
use crate::numbers::Millis;
use crate::spaces;

/// Kind of the records in [`spaces::HOSTS`] that only matter while the process lives.
pub const TAG: u8 = b'z';
/// First byte of the keys in [`spaces::FRONTIER_OWN`] that list sleeping hosts with work: by the time when they are
/// due, then by host.
const DUE: u8 = b'z';
/// The bits of the time in such a key that are not the time: they tell the class.
const CLASS: u64 = 0b11 << 62;

/// What decides, before the time, which sleeping host is woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// It has shown a page, and was not slow lately.
    Shown,
    /// It has shown no page yet, or was slow lately.
    Unknown,
    /// It belongs to a large registrable domain.
    Crowd,
}

impl Class {
    /// The bits of this class in a key, in the order of the classes.
    fn bits(self) -> u64 {
        (self as u64) << 62
    }

    /// The class of a time with such bits.
    fn of(due: u64) -> Self {
        match due >> 62 {
            0 => Class::Shown,
            1 => Class::Unknown,
            _ => Class::Crowd,
        }
    }
}

/// The hosts that sleep and have work.
#[derive(Debug)]
pub struct Sleep {
    /// The time at which this process began. It tells this process from earlier ones.
    boot: Millis,
    /// The hosts of each class.
    lists: [List; 3],
    /// The number of hosts of other classes that woke since a host of the crowd did.
    in_a_row: u32,
}

impl Default for Sleep {
    fn default() -> Self {
        Self::new(0)
    }
}

/// The sleeping hosts of one class that have work.
///
/// The store keeps the keys of hosts that woke up until it merges them away, and a scan passes over all of them. So no
/// scan begins at the start of the list. Each begins where the last one ended, and reads some hosts ahead.
#[derive(Debug)]
struct List {
    count: u64,
    /// The hosts that are due first: all that come before `unread`.
    ahead: BTreeSet<First>,
    /// The place from which on the hosts were not read. `None` if all were read.
    unread: Option<First>,
    class: Class,
}

/// The first host of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct First {
    /// The time at which it is due.
    pub due: Millis,
    /// Its identity.
    pub site: SiteId,
    /// Its class.
    pub class: Class,
}

/// What is kept of a sleeping host besides its record.
#[derive(Debug, Serialize, Deserialize)]
pub struct Asleep {
    boot: Millis,
    /// The time at which the host is due, if it has work, with the bits of its class. This is its key in the list.
    due: Option<u64>,
    pace: Pace,
    sitemaps: u32,
    ips: Vec<std::net::IpAddr>,
    until: Millis,
}

impl Sleep {
    /// After this many hosts of other classes, a host of the crowd wakes up, if one is due.
    const IN_A_ROW: u32 = 15;

    /// At the start no host sleeps. `boot` is the time at which this process began.
    pub fn new(boot: Millis) -> Self {
        Self { boot, lists: [Class::Shown, Class::Unknown, Class::Crowd].map(List::new), in_a_row: 0 }
    }

    /// Number of hosts that sleep and have work.
    pub fn count(&self) -> u64 {
        self.lists.iter().map(|list| list.count).sum()
    }

    fn list(&mut self, class: Class) -> &mut List {
        &mut self.lists[class as usize]
    }

    /// A host goes to sleep. If it has work, it is woken at `due`.
    pub fn add(&mut self, host: &Host, due: Option<Millis>, class: Class, session: &mut Session) {
        let until = match host.addresses {
            super::HostAddresses::Known { until, .. } => until,
            _ => 0,
        };
        let (pace, ips) = (host.pace.clone(), host.addresses.ips().to_vec());
        let due = due.map(|due| due & !CLASS | class.bits());
        let record = Asleep { boot: self.boot, due, pace, sitemaps: host.sitemaps, ips, until };
        session.put(spaces::HOSTS, key(host.site, TAG), codec::encode(&record));
        if let Some(due) = due {
            session.put(spaces::FRONTIER_OWN, index(due, host.site), []);
            self.list(class).add(First::new(due, host.site));
        }
    }

    /// A host slept when the store was opened, and goes on sleeping.
    pub fn found(&mut self, asleep: &Asleep) {
        if let Some(due) = asleep.due {
            self.list(Class::of(due)).count += 1;
        }
    }

    /// A host wakes up, and gets back what was kept.
    pub fn wake(&mut self, host: &mut Host, asleep: Asleep, session: &mut Session) {
        session.delete(spaces::HOSTS, key(host.site, TAG));
        if host.addresses.withholds().is_some() {
            session.delete(spaces::HOSTS, key(host.site, WITHHELD));
            host.addresses = super::HostAddresses::Unknown;
        }
        if let Some(due) = asleep.due {
            session.delete(spaces::FRONTIER_OWN, index(due, host.site));
            let first = First::new(due, host.site);
            self.in_a_row = if first.class == Class::Crowd { 0 } else { self.in_a_row.saturating_add(1) };
            let list = self.list(first.class);
            list.count = list.count.saturating_sub(1);
            list.ahead.remove(&first);
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

    /// The sleeping host that comes first at `now`: of the hosts that are due, one of the first class that has some;
    /// otherwise the host that is due first. If there is room for all (`has_room`), now and then a host of the crowd comes
    /// before the others.
    pub fn first(&mut self, now: Millis, has_room: bool, session: &Session) -> Result<Option<First>> {
        let mut firsts = Vec::new();
        for list in &mut self.lists {
            firsts.extend(list.first(session)?);
        }
        let is_due = |first: &&First| first.due <= now;
        let is_turn_of_crowd = has_room && self.in_a_row >= Self::IN_A_ROW;
        let of_crowd = firsts.iter().filter(|first| is_turn_of_crowd && first.class == Class::Crowd).find(is_due);
        Ok(of_crowd.or(firsts.iter().find(is_due)).or(firsts.iter().min()).copied())
    }

    /// Of the sleeping hosts up to a class, the one that is due first.
    pub fn first_up_to(&mut self, class: Class, session: &Session) -> Result<Option<First>> {
        let mut first: Option<First> = None;
        for list in &mut self.lists[..=class as usize] {
            first = first.into_iter().chain(list.first(session)?).min();
        }
        Ok(first)
    }
}

impl List {
    /// This many hosts are read ahead, and at most twice as many are kept.
    const AHEAD: usize = if cfg!(test) { 2 } else { 256 };

    fn new(class: Class) -> Self {
        let start = First { due: 0, site: SiteId { domain: 0, host: 0 }, class };
        Self { count: 0, ahead: BTreeSet::new(), unread: Some(start), class }
    }

    /// A host was put into the list.
    fn add(&mut self, added: First) {
        self.count += 1;
        if self.unread.is_some_and(|unread| added >= unread) {
            return;
        }
        self.ahead.insert(added);
        if self.ahead.len() > 2 * Self::AHEAD {
            self.unread = self.ahead.pop_last();
        }
    }

    /// The host of the list that is due first.
    fn first(&mut self, session: &Session) -> Result<Option<First>> {
        if self.count == 0 {
            return Ok(None);
        }
        if let Some(unread) = self.unread.filter(|_| self.ahead.is_empty()) {
            self.unread = None;
            let to = match self.class {
                Class::Shown => [&[DUE][..], &Class::Unknown.bits().to_be_bytes()].concat(),
                Class::Unknown => [&[DUE][..], &Class::Crowd.bits().to_be_bytes()].concat(),
                Class::Crowd => vec![DUE + 1],
            };
            session.scan(spaces::FRONTIER_OWN, &unread.key(), &to, &mut |key, _| {
                let due = key.get(1..9).and_then(|due| due.try_into().ok()).map(u64::from_be_bytes);
                let Some((due, site)) = due.zip(site_of(key)) else { return ControlFlow::Continue(()) };
                let read = First::new(due, site);
                if self.ahead.len() == Self::AHEAD {
                    self.unread = Some(read);
                    return ControlFlow::Break(());
                }
                self.ahead.insert(read);
                ControlFlow::Continue(())
            })?;
        }
        Ok(self.ahead.first().copied())
    }
}

impl First {
    /// `due` has the bits of the class.
    fn new(due: u64, site: SiteId) -> Self {
        Self { due: due & !CLASS, site, class: Class::of(due) }
    }

    /// The key of the host in the list.
    fn key(self) -> Vec<u8> {
        index(self.due | self.class.bits(), self.site)
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use dedup_stage::store::{Batch, Space, Store, Visitor};

    use super::*;

    /// A store in which deleted entries stay, and a scan passes over them, as in a log-structured store.
    #[derive(Default)]
    struct Strata {
        entries: BTreeMap<(usize, Vec<u8>), Option<Vec<u8>>>,
        passed: Arc<AtomicUsize>,
    }

    impl Store for Strata {
        fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>> {
            Ok(self.entries.get(&(space.number(), key.to_vec())).cloned().flatten())
        }

        fn scan(&self, space: Space, from: &[u8], to: &[u8], visit: &mut Visitor<'_>) -> Result<()> {
            for ((_, key), value) in self.entries.range((space.number(), from.to_vec())..(space.number(), to.to_vec()))
            {
                self.passed.fetch_add(1, Ordering::Relaxed);
                if value.as_ref().is_some_and(|value| visit(key, value).is_break()) {
                    break;
                }
            }
            Ok(())
        }

        fn commit(&mut self, batch: &Batch) -> Result<()> {
            let changes =
                batch.iter().map(|change| ((change.space.number(), change.key.clone()), change.value.clone()));
            self.entries.extend(changes);
            Ok(())
        }
    }

    /// Catches a list that is read from its beginning each time, over all hosts that woke before. With some 100,000
    /// hosts, waking them took minutes.
    #[test]
    fn the_hosts_that_woke_before_are_not_read_again() {
        const HOSTS: u64 = 2_000;
        let strata = Strata::default();
        let passed = Arc::clone(&strata.passed);
        let (mut session, mut sleep) = (Session::new(Box::new(strata)), Sleep::new(0));
        let host = |number| Host::new(SiteId { domain: number % 7, host: number }, "");
        for number in 0..HOSTS {
            let class = [Class::Crowd, Class::Shown, Class::Crowd, Class::Unknown][number as usize % 4];
            sleep.add(&host(number), Some(number / 3), class, &mut session);
        }
        session.commit().unwrap();
        let mut woken = Vec::new();
        while let Some(first) = sleep.first(HOSTS, true, &session).unwrap() {
            let asleep = session.get(spaces::HOSTS, &key(first.site, TAG)).unwrap().unwrap();
            let mut awake = host(first.site.host);
            sleep.wake(&mut awake, codec::decode(&asleep, "a sleeping host").unwrap(), &mut session);
            session.commit().unwrap();
            woken.push(first);
            // Some go to sleep again, and are due at once.
            if first.site.host.is_multiple_of(10) && woken.len() < HOSTS as usize {
                sleep.add(&awake, Some(0), first.class, &mut session);
                session.commit().unwrap();
            }
        }
        assert!(woken.len() as u64 >= HOSTS && sleep.count() == 0, "{} of {}", woken.len(), sleep.count());
        let others = woken.iter().filter(|first| first.class != Class::Crowd && first.due > 0);
        assert!(others.is_sorted_by_key(|first| (first.class, first.due)), "by class, and in the order of the time");
        let early = woken.iter().take(640).filter(|first| first.class == Class::Crowd).count();
        assert!((30..=50).contains(&early), "{early} of a crowd among the first 640");
        let passed = passed.load(Ordering::Relaxed);
        assert!(passed < 10 * woken.len(), "{passed} entries for {} hosts", woken.len());
    }
}
