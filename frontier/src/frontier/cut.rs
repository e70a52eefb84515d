//! Cutting a set of hosts out of a state. Everything that is known of a host lies under keys that begin with its identity (in
//! the queue, behind the era), so that it can be moved as ranges of keys; what is known of no host stays.

use std::ops::ControlFlow;

use dedup_stage::store::{Result, Session, Space};
use dedup_stage::url::SiteId;

use crate::hold::works;
use crate::host::lane::{era, era_start};
use crate::host::queue::Queues;
use crate::host::sleep_index;
use crate::spaces;

/// Keys of a space, from the first one on and up to, but not with, the second one.
pub type Range = (Space, Vec<u8>, Vec<u8>);

/// A set of hosts.
#[derive(Clone, Debug, Default)]
pub struct Set(Vec<SiteId>);

impl Set {
    /// These hosts.
    pub fn new(mut sites: Vec<SiteId>) -> Self {
        sites.sort_unstable();
        sites.dedup();
        Self(sites)
    }

    /// Whether a host is among them.
    pub fn has(&self, site: SiteId) -> bool {
        self.0.binary_search(&site).is_ok()
    }

    /// The ranges of keys of [`spaces::FRONTIER`] under which everything lies that is known of these hosts, as `session`
    /// stands.
    pub fn ranges(&self, session: &Session) -> Result<Vec<Range>> {
        let mut ranges = Vec::new();
        for space in [spaces::URLS, spaces::HOSTS, spaces::ROBOTS, spaces::RULES, spaces::HELD_FOR] {
            ranges.extend(self.0.iter().map(|site| (space, site.to_bytes().to_vec(), end(site.to_bytes().to_vec()))));
        }
        for era in 0..=era(Queues::open(session)?.arrivals()) {
            ranges.extend(self.0.iter().map(|site| {
                let from = [&era_start(era)[..], &site.to_bytes()].concat();
                (spaces::QUEUE, from.clone(), end(from))
            }));
        }
        Ok(ranges)
    }

    /// Moves these hosts from one state, which no frontier has open, to another one, which may be empty and must be of the
    /// same crawl: with the same secret. Entries are copied and committed first, and deleted where they were after that.
    /// Returns how many there were.
    pub fn cut(&self, from: &mut Session, to: &mut Session) -> Result<u64> {
        let ranges = self.ranges(from)?;
        let arrivals = Queues::open(from)?.arrivals().max(Queues::open(to)?.arrivals());
        Queues::reserve(arrivals, to);
        super::put_format(to);
        let mut moved = 0;
        for (space, start, end) in &ranges {
            moved += each(*space, start, end, from, &mut |entries, _| {
                entries.iter().for_each(|(key, value)| to.put(*space, key.as_slice(), value.as_slice()));
                to.commit()
            })?;
        }
        moved += self.move_own(from, to)?;
        to.commit()?;
        for (space, start, end) in &ranges {
            each(*space, start, end, from, &mut |entries, from| {
                entries.iter().for_each(|(key, _)| from.delete(*space, key.as_slice()));
                from.commit()
            })?;
        }
        from.commit()?;
        Ok(moved)
    }

    /// What lies under keys that do not begin with a host, though it is of one: hosts that sleep, and work in the background.
    fn move_own(&self, from: &mut Session, to: &mut Session) -> Result<u64> {
        let (mut mine, mut last, mut failure) = (Vec::new(), 0, None);
        from.scan(spaces::FRONTIER_OWN, &[], &[], &mut |key, value| {
            let site = match works::site_of(key, value) {
                Ok(site) => site.or_else(|| sleep_index(key)),
                Err(error) => {
                    failure = Some(error);
                    return ControlFlow::Break(());
                }
            };
            if site.is_some_and(|site| self.has(site)) {
                mine.push((key.to_vec(), value.to_vec()));
            }
            ControlFlow::Continue(())
        })?;
        if let Some(error) = failure {
            return Err(error);
        }
        to.scan(spaces::FRONTIER_OWN, &[], &[], &mut |key, _| {
            last = last.max(works::number_of(key).map_or(0, |number| number + 1));
            ControlFlow::Continue(())
        })?;
        for (key, value) in &mine {
            from.delete(spaces::FRONTIER_OWN, key.as_slice());
            let key = match works::number_of(key) {
                Some(_) => {
                    last += 1;
                    works::key(last - 1)
                }
                None => key.clone(),
            };
            to.put(spaces::FRONTIER_OWN, key, value.as_slice());
        }
        Ok(mine.len() as u64)
    }
}

/// Entries that are moved in one commit.
const PART: usize = 4_096;

type Entries = [(Vec<u8>, Vec<u8>)];

/// Calls `act` for the entries of a range, part by part. Returns how many there were.
fn each(
    space: Space,
    from: &[u8],
    to: &[u8],
    session: &mut Session,
    act: &mut dyn FnMut(&Entries, &mut Session) -> Result<()>,
) -> Result<u64> {
    let (mut at, mut count) = (from.to_vec(), 0);
    loop {
        let mut entries = Vec::new();
        session.scan(space, &at, to, &mut |key, value| {
            entries.push((key.to_vec(), value.to_vec()));
            if entries.len() == PART { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        let Some((last, _)) = entries.last() else { return Ok(count) };
        at = [last.as_slice(), &[0]].concat();
        count += entries.len() as u64;
        act(&entries, session)?;
    }
}

/// The end of the keys that begin with `prefix`.
fn end(mut prefix: Vec<u8>) -> Vec<u8> {
    while let Some(last) = prefix.pop() {
        if last < 0xff {
            prefix.push(last + 1);
            return prefix;
        }
    }
    prefix
}
