//! Queued URLs. They live in the store, in *lanes*: one lane for each host, group and priority band, in order of arrival.
//! Memory holds a lane's cursor and the few entries at its front.
//!
//! The store merges what it writes by key, and merging grows with what is there. So keys begin with an *era*, which changes
//! every half a million arrivals: what is queued now is never merged with what was queued long ago, and a push costs the
//! same at ten thousand URLs and at ten million. For the same reason what is done is not deleted one by one: a lane is
//! handed out in order, and its cursor, which is on record, tells what is done. Eras with nothing live are deleted whole,
//! and only when they are as many as the others (see [`crate::sweep`]).

use std::collections::VecDeque;
use std::ops::ControlFlow;

use dedup_stage::judge::Row;
use dedup_stage::store::{Error, Result, Session};

use crate::codec::{self, Reader};
use crate::job::Merits;
use crate::spaces;

/// Number of a host, dense from 0.
pub type HostId = u32;

/// Place of an entry in the order of arrival over all hosts, from 1; at most 51 bits.
pub type Seq = u64;

/// Number of priority bands; band 0 is the best.
pub const BANDS: u8 = 16;

/// The band of a priority in 0..1.
pub fn band(priority: f32) -> u8 {
    let steps = (priority.clamp(0.0, 1.0) * f32::from(BANDS)) as u8;
    BANDS - 1 - steps.min(BANDS - 1)
}

/// The priority that stands for a band: its middle.
pub fn band_score(band: u8) -> f32 {
    (f32::from(BANDS - 1 - band) + 0.5) / f32::from(BANDS)
}

/// One queued URL.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// As it will be fetched.
    pub url: Box<str>,
    /// Hash of its key.
    pub hash: u64,
    /// Links from a seed.
    pub depth: u32,
    /// Static priority, 0..1, in steps of 1/65535.
    pub priority: f32,
    /// What it was made of.
    pub merits: Merits,
    /// The page that carried it.
    pub source: Option<Row>,
    /// Redirect hops that led here.
    pub hops: u8,
    /// Attempts so far.
    pub attempts: u32,
    /// A sitemap, not a page.
    pub sitemap: bool,
    /// Fetched before, and to be fetched again.
    pub again: bool,
}

impl Entry {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.url.len() + 24);
        out.extend(self.hash.to_be_bytes());
        out.extend(((self.priority.clamp(0.0, 1.0) * 65535.0).round() as u16).to_be_bytes());
        out.extend(self.merits.to_bytes());
        out.push(u8::from(self.sitemap) | u8::from(self.again) << 1);
        codec::write(&mut out, u64::from(self.depth));
        codec::write(&mut out, self.source.map_or(0, |row| row + 1));
        codec::write(&mut out, u64::from(self.hops));
        codec::write(&mut out, u64::from(self.attempts));
        out.extend(self.url.as_bytes());
        out
    }

    fn decode(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes, "a queued URL");
        let hash = u64::from_be_bytes(reader.array()?);
        let priority = f32::from(u16::from_be_bytes(reader.array()?)) / 65535.0;
        let merits = Merits::from_bytes(reader.array()?);
        let [kind] = reader.array()?;
        Ok(Self {
            hash,
            priority,
            merits,
            sitemap: kind & 1 != 0,
            again: kind & 2 != 0,
            depth: reader.small()?,
            source: reader.number()?.checked_sub(1),
            hops: reader.small()?,
            attempts: reader.small()?,
            url: reader.text()?.into(),
        })
    }
}

/// The queue of one host, group and band.
#[derive(Debug, Default)]
pub struct Lane {
    /// Group, within its host.
    pub group: u8,
    /// Band.
    pub band: u8,
    /// The entries at the front, if they were read.
    buffer: VecDeque<(Seq, Entry)>,
    /// Entries in the store behind those in the buffer …
    unread: u32,
    /// … none of them before this place.
    read_from: Seq,
    /// The entry handed out and not yet done: still in the store.
    open: Option<Seq>,
}

impl Lane {
    /// Entries that can be handed out.
    pub fn len(&self) -> usize {
        self.buffer.len() + self.unread as usize
    }

    /// A place before which the lane has nothing to hand out.
    pub fn bound(&self) -> Seq {
        self.buffer.front().map_or(self.read_from, |(seq, _)| *seq)
    }

    /// The first entry, if it is in memory.
    pub fn front(&self) -> Option<&Entry> {
        self.buffer.front().map(|(_, entry)| entry)
    }

    /// A place before which all entries are done.
    pub fn head(&self) -> Seq {
        self.open.unwrap_or_else(|| self.bound())
    }

    /// Writes down where the lane stands.
    fn record(&self, host: HostId, session: &mut Session) {
        let mut value = Vec::with_capacity(12);
        codec::write(&mut value, self.head());
        codec::write(&mut value, (self.len() + usize::from(self.open.is_some())) as u64);
        session.put(spaces::HOSTS, LaneKey { host, group: self.group, band: self.band }.record(), value);
    }

    /// Whether `bound` is the place of the first entry, not only a bound of it.
    pub fn is_read(&self) -> bool {
        !self.buffer.is_empty() || self.unread == 0
    }
}

/// What all lanes share: the order of arrival, and a bound on the entries in memory.
#[derive(Debug, Default)]
pub struct Queues {
    arrivals: Seq,
    /// Places up to this one are on record as taken.
    reserved: Seq,
    /// Entries in memory.
    buffered: usize,
    /// Lanes with entries.
    lanes: usize,
    queued: u64,
}

impl Queues {
    /// Entries in memory, over all lanes: each lane has an even share of them …
    const BUFFERED: usize = if cfg!(test) { 12 } else { 1 << 20 };
    /// … at most so many …
    const AHEAD: usize = if cfg!(test) { 3 } else { 64 };
    /// … and, however many lanes there are, so many: reading them one by one costs too much.
    const FEW: usize = if cfg!(test) { 2 } else { 8 };
    /// Places put on record at once.
    const RESERVE: Seq = if cfg!(test) { 3 } else { 1 << 16 };
    /// Key in [`spaces::HOSTS`] of the places on record.
    const RESERVED: &[u8] = b"arrivals";

    /// The order of arrival goes on where it was.
    pub fn open(session: &Session) -> Result<Self> {
        let reserved = match session.get(spaces::HOSTS, Self::RESERVED)? {
            Some(record) => Reader::new(&record, "the order of arrival").number()?,
            None => 0,
        };
        Ok(Self { arrivals: reserved, reserved, ..Self::default() })
    }

    /// How many entries one of so many lanes may have in memory.
    fn share(lanes: usize) -> usize {
        (Self::BUFFERED / lanes.max(1)).clamp(Self::FEW, Self::AHEAD)
    }

    /// Entries that can be handed out, over all lanes.
    pub fn queued(&self) -> u64 {
        self.queued
    }

    /// The place of the last arrival.
    pub fn arrivals(&self) -> Seq {
        self.arrivals
    }

    /// Takes back a lane that was recorded in the store.
    pub fn restore(&mut self, lanes: &mut Vec<Lane>, key: LaneKey, record: &[u8]) -> Result<()> {
        let mut reader = Reader::new(record, "a lane");
        let read_from = reader.number()?;
        let unread = reader.small()?;
        self.queued += u64::from(unread);
        self.lanes += 1;
        lanes.push(Lane { group: key.group, band: key.band, unread, read_from, ..Lane::default() });
        Ok(())
    }

    /// Queues an entry at the end of its lane.
    pub fn push(&mut self, lanes: &mut Vec<Lane>, key: LaneKey, entry: Entry, session: &mut Session) {
        self.arrivals += 1;
        self.queued += 1;
        if self.arrivals > self.reserved {
            // A place is never used twice, though what stood there is done: it would stand there still.
            self.reserved += Self::RESERVE;
            let mut value = Vec::new();
            codec::write(&mut value, self.reserved);
            session.put(spaces::HOSTS, Self::RESERVED, value);
        }
        let seq = self.arrivals;
        session.put(spaces::QUEUE, key.entry(seq), entry.encode());
        let at = lanes.iter().position(|lane| lane.group == key.group && lane.band == key.band).unwrap_or_else(|| {
            self.lanes += 1;
            lanes.push(Lane { group: key.group, band: key.band, read_from: seq, ..Lane::default() });
            lanes.len() - 1
        });
        let lane = &mut lanes[at];
        if lane.unread == 0 && lane.buffer.len() < Self::share(self.lanes) && self.buffered < Self::BUFFERED {
            lane.buffer.push_back((seq, entry));
            lane.read_from = seq + 1;
            self.buffered += 1;
        } else {
            lane.unread += 1;
        }
        lane.record(key.host, session);
    }

    /// Reads the front of a lane, if it is in the store only.
    pub fn read(&mut self, lane: &mut Lane, host: HostId, session: &Session) -> Result<()> {
        if lane.is_read() {
            return Ok(());
        }
        let key = LaneKey { host, group: lane.group, band: lane.band };
        let wanted = Self::share(self.lanes).min(lane.unread as usize);
        let buffer = &mut lane.buffer;
        self.stored(key, lane.read_from, session, &mut |seq, entry| {
            buffer.push_back((seq, entry));
            buffer.len() < wanted
        })?;
        let Some((last, _)) = lane.buffer.back() else {
            return Err(Error::Damaged(format!("{} queued URLs of a lane are not there", lane.unread)));
        };
        lane.read_from = last + 1;
        lane.unread -= lane.buffer.len() as u32;
        self.buffered += lane.buffer.len();
        Ok(())
    }

    /// Shows the entries of a lane from the place `from` on, in order, until `visit` has seen enough and returns false.
    pub fn look(
        &self,
        lane: &Lane,
        key: LaneKey,
        from: Seq,
        session: &Session,
        visit: &mut dyn FnMut(Seq, Entry) -> bool,
    ) -> Result<()> {
        for (seq, entry) in lane.buffer.iter().filter(|(seq, _)| *seq >= from) {
            if !visit(*seq, entry.clone()) {
                return Ok(());
            }
        }
        if lane.unread == 0 {
            return Ok(());
        }
        self.stored(key, from.max(lane.read_from), session, visit)
    }

    /// Shows the entries of a lane that are in the store, era by era.
    fn stored(
        &self,
        key: LaneKey,
        mut from: Seq,
        session: &Session,
        visit: &mut dyn FnMut(Seq, Entry) -> bool,
    ) -> Result<()> {
        let (mut damaged, mut more) = (None, true);
        while from <= self.arrivals && more {
            session.scan(spaces::QUEUE, &key.entry(from), &key.entry_end(from), &mut |at, value| {
                match Entry::decode(value) {
                    Ok(entry) => more = visit(seq_of(at), entry),
                    Err(error) => (damaged, more) = (Some(error), false),
                }
                if more { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            from = (from | LAST_OF_ERA) + 1;
        }
        damaged.map_or(Ok(()), Err)
    }

    /// Hands out the first entry of a lane that was read; it is live in the store until [`Queues::finish`].
    pub fn take(&mut self, lane: &mut Lane) -> Option<(Seq, Entry)> {
        let (seq, entry) = lane.buffer.pop_front()?;
        self.buffered -= 1;
        self.queued -= 1;
        lane.open = Some(seq);
        Some((seq, entry))
    }

    /// Undoes a [`Queues::take`]: the entry is first in its lane again.
    pub fn put_back(&mut self, lanes: &mut [Lane], key: LaneKey, seq: Seq, entry: Entry) {
        if let Some(lane) = lanes.iter_mut().find(|lane| lane.group == key.group && lane.band == key.band) {
            self.buffered += 1;
            self.queued += 1;
            lane.open = None;
            lane.buffer.push_front((seq, entry));
        }
    }

    /// The entry of the lane that was taken is done.
    pub fn finish(&mut self, lanes: &mut Vec<Lane>, key: LaneKey, session: &mut Session) {
        let Some(at) = lanes.iter().position(|lane| lane.group == key.group && lane.band == key.band) else { return };
        lanes[at].open = None;
        if lanes[at].len() == 0 {
            lanes.swap_remove(at);
            self.lanes -= 1;
            session.delete(spaces::HOSTS, key.record());
        } else {
            lanes[at].record(key.host, session);
        }
    }
}

/// Names a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneKey {
    /// Host.
    pub host: HostId,
    /// Group, within the host.
    pub group: u8,
    /// Band.
    pub band: u8,
}

impl LaneKey {
    /// First byte of the keys of lane records in [`spaces::HOSTS`].
    pub const TAG: u8 = b'l';

    fn record(self) -> [u8; 7] {
        let [a, b, c, d] = self.host.to_be_bytes();
        [Self::TAG, a, b, c, d, self.group, self.band]
    }

    /// The key of the entry of this lane at a place: era, lane, place within the era.
    pub fn entry(self, seq: Seq) -> [u8; 13] {
        let mut key = [0; 13];
        key[..4].copy_from_slice(&era_start(era(seq)));
        key[4..8].copy_from_slice(&self.host.to_be_bytes());
        key[8] = self.group;
        key[9] = self.band;
        key[10..].copy_from_slice(&((seq & LAST_OF_ERA) as u32).to_be_bytes()[1..]);
        key
    }

    /// The end of the keys of this lane in the era of a place.
    fn entry_end(self, seq: Seq) -> [u8; 13] {
        let mut key = self.entry(seq);
        key[10..].fill(0xff);
        key
    }

    /// The lane that a record key names.
    pub fn of_record(key: &[u8]) -> Option<Self> {
        let &[Self::TAG, a, b, c, d, group, band] = key else { return None };
        Some(Self { host: u32::from_be_bytes([a, b, c, d]), group, band })
    }
}

/// Binary digits of a place within its era.
const ERA: u32 = if cfg!(test) { 3 } else { 19 };
const LAST_OF_ERA: Seq = (1 << ERA) - 1;

/// The era of a place.
pub fn era(seq: Seq) -> u32 {
    (seq >> ERA) as u32
}

/// Where the keys of an era begin in [`spaces::QUEUE`].
pub fn era_start(era: u32) -> [u8; 4] {
    era.to_be_bytes()
}

fn seq_of(key: &[u8]) -> Seq {
    let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | Seq::from(*byte));
    number(&key[..4.min(key.len())]) << ERA | number(key.get(10..).unwrap_or_default())
}
