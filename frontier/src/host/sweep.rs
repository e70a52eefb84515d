//! Deletes entries that are done: whole eras of [`spaces::QUEUE`] in which all entries are done (*dead* eras).
//!
//! A deletion makes the store merge everything between the deleted keys and the keys that are written now. So deletions
//! are seldom: they happen when the dead eras are as many as the others. Then the queue takes at most twice the space,
//! and the cost is a constant share of the cost of a push.

use std::ops::ControlFlow;

use dedup_stage::store::{Result, Session, codec};

use super::Hosts;
use super::lane::{self, Lane, LaneKey, Seq, Stock};
use crate::spaces;

/// Deletes dead eras in small steps.
#[derive(Debug, Default)]
pub struct EraSweep {
    /// The eras before this one are deleted.
    swept: u32,
    /// The eras before this one are to be deleted.
    until: u32,
    /// The key from which to go on.
    cursor: Vec<u8>,
    /// Number of calls since the last search for dead eras.
    calls: u64,
}

impl EraSweep {
    /// Number of calls between two searches: as many as an era has entries.
    const EVERY: u64 = if cfg!(test) { 16 } else { 1 << 19 };
    /// Fewer dead eras than this are not worth a sweep.
    const LEAST: u32 = if cfg!(test) { 1 } else { 4 };
    /// At most this many entries are deleted in one call.
    const STEP: usize = if cfg!(test) { 5 } else { 64 };
    /// Key in [`spaces::FRONTIER_OWN`] of the first era that may still exist.
    const RECORD: &[u8] = b"swept";

    /// Continues where the last process ended.
    pub fn open(session: &Session) -> Result<Self> {
        let swept = match session.get(spaces::FRONTIER_OWN, Self::RECORD)? {
            Some(record) => codec::decode(&record, "the first era")?,
            None => 0,
        };
        Ok(Self { swept, until: swept, ..Self::default() })
    }

    /// To be called when an entry is done. Makes one small step.
    pub fn step(&mut self, hosts: &Hosts, arrivals: Seq, session: &mut Session) -> Result<()> {
        self.calls += 1;
        if self.calls.is_multiple_of(Self::EVERY) && self.until == self.swept {
            let first_live = lane::era(first_live(hosts, session)?.unwrap_or(arrivals));
            let (dead, live) = (first_live - self.swept.min(first_live), lane::era(arrivals) - first_live + 1);
            if dead >= live.max(Self::LEAST) {
                self.until = first_live;
                self.cursor = lane::era_start(self.swept).to_vec();
            }
        }
        if self.until == self.swept {
            return Ok(());
        }
        let mut dead = Vec::new();
        session.scan(spaces::QUEUE, &self.cursor, &lane::era_start(self.until), &mut |key, _| {
            dead.push(key.to_vec());
            if dead.len() == Self::STEP { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        match dead.last() {
            Some(last) => self.cursor.clone_from(last),
            None => {
                self.swept = self.until;
                session.put(spaces::FRONTIER_OWN, Self::RECORD, codec::encode(&self.swept));
            }
        }
        for key in dead {
            session.delete(spaces::QUEUE, key);
        }
        Ok(())
    }
}

/// A place before which no lane of any host has entries that are not done. The records are exact for the hosts that
/// sleep. For hosts in memory they may name an earlier place, which does no harm.
fn first_live(hosts: &Hosts, session: &Session) -> Result<Option<Seq>> {
    let lanes = hosts.iter().flat_map(|(_, host)| &host.lanes);
    let (mut first, mut failure) = (lanes.map(Lane::head).min(), None);
    session.scan(spaces::HOSTS, &[], &[], &mut |key, value| {
        if LaneKey::of_record(key).is_some() {
            match Stock::decode(value) {
                Ok(stock) if stock.undone == 0 => {}
                Ok(stock) => first = Some(first.map_or(stock.head, |first| first.min(stock.head))),
                Err(error) => {
                    failure = Some(error);
                    return ControlFlow::Break(());
                }
            }
        }
        ControlFlow::Continue(())
    })?;
    failure.map_or(Ok(first), Err)
}
