//! Queued URLs. The store has them in lanes ([`Lane`]), in the order of arrival. Memory has the position of each lane,
//! and a few entries at its front.
//!
//! The store merges what it writes by key, and a merge takes longer if there is more to merge with. So keys begin with
//! an *era*, which changes every half a million arrivals. Entries of one era are never merged with those of an earlier
//! one. So a push takes as long at ten million URLs as at ten thousand. A push writes only the entry.
//!
//! For the same reason, entries that are done are not deleted one by one. A lane is handed out in order, and the
//! position of the lane is on record. The entries before this position are done. Eras in which all entries are done are
//! deleted as a whole, once they are as many as the other eras (see [`super::sweep`]).

use std::ops::ControlFlow;

use dedup_stage::store::{Error, Result, Session, codec};
use dedup_stage::url::SiteId;

use super::entry::Packed;
use super::lane::{LAST_OF_ERA, Lane, LaneKey, Seq, Stock};
use super::small;
use crate::spaces;

/// What all lanes share: the order of arrival, and a bound for the entries in memory.
#[derive(Debug, Default)]
pub struct Queues {
    arrivals: Seq,
    /// The places up to this one are on record as taken.
    reserved: Seq,
    /// Bytes of the entries in memory.
    bytes: usize,
    /// Number of lanes in memory.
    lanes: usize,
}

impl Queues {
    /// The bytes of entries in memory, over all lanes. Each lane has an equal share of them, within the next two
    /// bounds.
    const BYTES: usize = if cfg!(test) { 1_500 } else { config::bounds::QUEUE };
    /// The share of a lane is at most this many bytes.
    const AHEAD: usize = if cfg!(test) { 400 } else { 8 << 10 };
    /// The share of a lane is at least this many bytes, even if there are many lanes, because reading entries one by
    /// one takes too long.
    const FEW: usize = if cfg!(test) { 200 } else { 1 << 10 };
    /// Memory that an entry takes besides its bytes.
    const BESIDE: usize = 40;
    /// This many places are put on record at once.
    const RESERVE: Seq = if cfg!(test) { 3 } else { 1 << 16 };
    /// Key in [`spaces::FRONTIER_OWN`] of the places on record.
    pub const RESERVED: &[u8] = b"arrivals";

    /// Continues the order of arrival of the last process.
    pub fn open(session: &Session) -> Result<Self> {
        let reserved = match session.get(spaces::FRONTIER_OWN, Self::RESERVED)? {
            Some(record) => codec::decode(&record, "the order of arrival")?,
            None => 0,
        };
        Ok(Self { arrivals: reserved, reserved, ..Self::default() })
    }

    /// Puts on record that all places up to this one are taken.
    pub fn reserve(arrivals: Seq, session: &mut Session) {
        session.put(spaces::FRONTIER_OWN, Self::RESERVED, codec::encode(&arrivals));
    }

    /// The number of bytes of entries that one lane may have in memory.
    fn share(&self) -> usize {
        (Self::BYTES / self.lanes.max(1)).clamp(Self::FEW, Self::AHEAD)
    }

    /// The place of the last arrival.
    pub fn arrivals(&self) -> Seq {
        self.arrivals
    }

    /// Lanes in memory.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Takes back a lane from the store.
    pub fn restore(&mut self, lanes: &mut Vec<Lane>, key: LaneKey, stock: Stock) {
        if stock.undone > 0 {
            self.lanes += 1;
            small::push(lanes, Lane::restore(key, stock));
        }
    }

    /// The lanes of a host leave memory. Their records are in the store.
    pub fn forget(&mut self, lanes: &[Lane]) {
        self.lanes -= lanes.len();
        self.bytes -= lanes.iter().map(|lane| lane.bytes as usize).sum::<usize>();
    }

    /// Queues an entry at the end of its lane.
    pub fn push(&mut self, lanes: &mut Vec<Lane>, key: LaneKey, entry: Packed, session: &mut Session) {
        self.arrivals += 1;
        if self.arrivals > self.reserved {
            // A place is never used twice. The entry that stood there may be done, but it is still in the store.
            self.reserved += Self::RESERVE;
            Self::reserve(self.reserved, session);
        }
        let seq = self.arrivals;
        session.put(spaces::QUEUE, key.entry(seq), entry.bytes());
        let at = find(lanes, key).unwrap_or_else(|| {
            self.lanes += 1;
            small::push(lanes, Lane::new(key.group, key.band, seq));
            lanes.len() - 1
        });
        let (lane, cost) = (&mut lanes[at], Self::cost(&entry));
        let fits = lane.bytes as usize + cost <= self.share() && self.bytes + cost <= Self::BYTES;
        if lane.unread == 0 && fits {
            small::push_back(&mut lane.buffer, (seq, entry));
            lane.read_from = seq + 1;
            self.bytes += cost;
            lane.bytes += cost as u32;
        } else {
            lane.unread += 1;
        }
    }

    /// Reads the front of a lane from the store, if it is not in memory.
    pub fn read(&mut self, lane: &mut Lane, site: SiteId, session: &Session) -> Result<()> {
        if lane.is_read() {
            return Ok(());
        }
        let key = LaneKey { site, group: lane.group, band: lane.band };
        let share = self.share().min(Self::BYTES.saturating_sub(self.bytes));
        let (mut bytes, mut wanted) = (0, lane.unread);
        let buffer = &mut lane.buffer;
        self.stored(key, lane.read_from, session, &mut |seq, entry| {
            let entry = Packed::new(entry);
            bytes += Self::cost(&entry);
            wanted -= 1;
            small::push_back(buffer, (seq, entry));
            bytes < share && wanted > 0
        })?;
        let Some((last, _)) = lane.buffer.back() else {
            return Err(Error::Damaged(format!("{} queued URLs of a lane are not there", lane.unread)));
        };
        lane.read_from = last + 1;
        lane.unread = wanted;
        lane.bytes = bytes as u32;
        self.bytes += bytes;
        Ok(())
    }

    /// If the entries in memory are too many, forgets the entries of these lanes. They are still in the store.
    pub fn shrink(&mut self, lanes: &mut [Lane]) {
        if self.bytes < Self::BYTES {
            return;
        }
        for lane in lanes.iter_mut().filter(|lane| !lane.buffer.is_empty()) {
            lane.read_from = lane.bound();
            lane.unread += lane.buffer.len() as u32;
            self.bytes -= lane.bytes as usize;
            lane.bytes = 0;
            lane.buffer = Default::default();
        }
    }

    /// Calls `visit` with the entries of a lane that are not done, in order. The one that is handed out is included.
    /// Ends when `visit` returns false.
    pub fn look(
        &self,
        lane: &Lane,
        site: SiteId,
        session: &Session,
        visit: &mut dyn FnMut(Seq, &[u8]) -> bool,
    ) -> Result<()> {
        let key = LaneKey { site, group: lane.group, band: lane.band };
        let mut left = lane.undone();
        if left == 0 {
            return Ok(());
        }
        self.stored(key, lane.head(), session, &mut |seq, entry| {
            left -= 1;
            visit(seq, entry) && left > 0
        })
    }

    /// Calls `visit` with the entries of a lane that are in the store, era by era.
    fn stored(
        &self,
        key: LaneKey,
        mut from: Seq,
        session: &Session,
        visit: &mut dyn FnMut(Seq, &[u8]) -> bool,
    ) -> Result<()> {
        let mut more = true;
        while from <= self.arrivals && more {
            session.scan(spaces::QUEUE, &key.entry(from), &key.entry_end(from), &mut |at, value| {
                if let Some((_, seq)) = LaneKey::of_entry(at) {
                    more = visit(seq, value);
                }
                if more { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            from = (from | LAST_OF_ERA) + 1;
        }
        Ok(())
    }

    /// Hands out the first entry of a lane whose front is in memory. The entry stays in the store until
    /// [`Queues::finish`].
    pub fn take(&mut self, lane: &mut Lane) -> Option<(Seq, Packed)> {
        let (seq, entry) = lane.buffer.pop_front()?;
        let cost = Self::cost(&entry);
        self.bytes -= cost;
        lane.bytes -= cost as u32;
        lane.open = Some(seq);
        Some((seq, entry))
    }

    /// Undoes [`Queues::take`]: the entry is the first of its lane again.
    pub fn put_back(&mut self, lanes: &mut [Lane], key: LaneKey, seq: Seq, entry: Packed) {
        if let Some(at) = find(lanes, key) {
            let cost = Self::cost(&entry);
            self.bytes += cost;
            lanes[at].bytes += cost as u32;
            lanes[at].open = None;
            lanes[at].buffer.push_front((seq, entry));
        }
    }

    /// The first entry of a lane whose front is in memory becomes the last one.
    pub fn turn(&mut self, lanes: &mut Vec<Lane>, at: usize, site: SiteId, session: &mut Session) {
        let key = LaneKey { site, group: lanes[at].group, band: lanes[at].band };
        if let Some((_, entry)) = self.take(&mut lanes[at]) {
            self.push(lanes, key, entry, session);
            self.finish(lanes, key, session);
        }
    }

    /// The entry of the lane that was handed out is done.
    pub fn finish(&mut self, lanes: &mut Vec<Lane>, key: LaneKey, session: &mut Session) {
        let Some(at) = find(lanes, key) else { return };
        lanes[at].open = None;
        lanes[at].record(key.site, session);
        if lanes[at].len() == 0 {
            lanes.swap_remove(at);
            self.lanes -= 1;
        }
    }

    fn cost(entry: &Packed) -> usize {
        entry.bytes().len() + Self::BESIDE
    }
}

fn find(lanes: &[Lane], key: LaneKey) -> Option<usize> {
    lanes.iter().position(|lane| lane.group == key.group && lane.band == key.band)
}
