//! Queued URLs. They live in the store, in *lanes*: one lane for each host, group and priority band, in order of arrival.
//! Memory holds a lane's cursor and the few entries at its front.
//!
//! An entry stays in the store until its URL is done: handing it out removes it from memory only, so that after a crash it
//! is found again. A lane knows where its first live entry may be, hence no scan walks over what was deleted.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use dedup_stage::judge::Row;
use dedup_stage::store::{Error, Result, Session, Space};

use crate::codec::{self, Reader};

/// Number of a host, dense from 0.
pub type HostId = u32;

/// Place of an entry in the order of arrival over all hosts; 48 bits.
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
    /// The page that carried it.
    pub source: Option<Row>,
    /// Redirect hops that led here.
    pub hops: u8,
    /// Attempts so far.
    pub attempts: u32,
    /// A sitemap, not a page.
    pub sitemap: bool,
}

impl Entry {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.url.len() + 20);
        out.extend(self.hash.to_be_bytes());
        out.extend(((self.priority.clamp(0.0, 1.0) * 65535.0).round() as u16).to_be_bytes());
        out.push(u8::from(self.sitemap));
        codec::write(&mut out, u64::from(self.depth));
        codec::write(&mut out, self.source.map_or(0, |row| row + 1));
        codec::write(&mut out, u64::from(self.hops));
        codec::write(&mut out, u64::from(self.attempts));
        out.extend(self.url.as_bytes());
        out
    }

    fn decode(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes, "a queued URL");
        Ok(Self {
            hash: u64::from_be_bytes(reader.array()?),
            priority: f32::from(u16::from_be_bytes(reader.array()?)) / 65535.0,
            sitemap: reader.array::<1>()?[0] != 0,
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

    /// Whether `bound` is the place of the first entry, not only a bound of it.
    pub fn is_read(&self) -> bool {
        !self.buffer.is_empty() || self.unread == 0
    }
}

/// What all lanes share: the order of arrival, and a bound on the entries in memory.
#[derive(Debug, Default)]
pub struct Queues {
    arrivals: Seq,
    buffered: usize,
    queued: u64,
}

impl Queues {
    /// Entries in memory, over all lanes, beyond which they are only read one handful at a time.
    const BUFFERED: usize = 32_768;
    /// Most entries that one lane buffers.
    const AHEAD: usize = 64;
    /// A handful.
    const FEW: usize = 4;

    /// Entries that can be handed out, over all lanes.
    pub fn queued(&self) -> u64 {
        self.queued
    }

    /// Takes back a lane that was recorded in the store.
    pub fn restore(&mut self, lanes: &mut Vec<Lane>, key: LaneKey, record: &[u8]) -> Result<()> {
        let mut reader = Reader::new(record, "a lane");
        let read_from = reader.number()?;
        let unread = reader.small()?;
        let last = reader.number()?;
        self.arrivals = self.arrivals.max(last);
        self.queued += u64::from(unread);
        lanes.push(Lane { group: key.group, band: key.band, unread, read_from, ..Lane::default() });
        Ok(())
    }

    /// Queues an entry at the end of its lane.
    pub fn push(&mut self, lanes: &mut Vec<Lane>, key: LaneKey, entry: Entry, session: &mut Session) {
        self.arrivals += 1;
        self.queued += 1;
        let seq = self.arrivals;
        session.put(Space::Queue, entry_key(key, seq), entry.encode());
        let at = lanes.iter().position(|lane| lane.group == key.group && lane.band == key.band).unwrap_or_else(|| {
            lanes.push(Lane { group: key.group, band: key.band, read_from: seq, ..Lane::default() });
            lanes.len() - 1
        });
        let lane = &mut lanes[at];
        if lane.unread == 0 && lane.buffer.len() < Self::AHEAD && self.buffered < Self::BUFFERED {
            lane.buffer.push_back((seq, entry));
            lane.read_from = seq + 1;
            self.buffered += 1;
        } else {
            lane.unread += 1;
        }
        self.record(lane, key.host, session);
    }

    /// Reads the front of a lane, if it is in the store only.
    pub fn read(&mut self, lane: &mut Lane, host: HostId, session: &Session) -> Result<()> {
        if lane.is_read() {
            return Ok(());
        }
        let key = LaneKey { host, group: lane.group, band: lane.band };
        let wanted = if self.buffered < Self::BUFFERED { Self::AHEAD } else { Self::FEW };
        let mut damaged = None;
        session.scan(Space::Queue, &entry_key(key, lane.read_from), &entry_key(key, LAST), &mut |at, value| {
            match Entry::decode(value) {
                Ok(entry) => lane.buffer.push_back((seq_of(at), entry)),
                Err(error) => damaged = Some(error),
            }
            if damaged.is_some() || lane.buffer.len() == wanted {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        if let Some(error) = damaged {
            return Err(error);
        }
        let Some((last, _)) = lane.buffer.back() else {
            return Err(Error::Damaged(format!("{} queued URLs of a lane are not there", lane.unread)));
        };
        lane.read_from = last + 1;
        lane.unread = lane.unread.saturating_sub(lane.buffer.len() as u32);
        self.buffered += lane.buffer.len();
        Ok(())
    }

    /// Hands out the first entry of a lane that was read; it stays in the store until [`Queues::finish`].
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

    /// An entry that was taken is done: it leaves the store.
    pub fn finish(&mut self, lanes: &mut Vec<Lane>, key: LaneKey, seq: Seq, session: &mut Session) {
        session.delete(Space::Queue, entry_key(key, seq));
        let Some(at) = lanes.iter().position(|lane| lane.group == key.group && lane.band == key.band) else { return };
        lanes[at].open = None;
        if lanes[at].len() == 0 {
            lanes.swap_remove(at);
            session.delete(Space::Hosts, key.record());
        } else {
            self.record(&lanes[at], key.host, session);
        }
    }

    /// Writes down where a lane stands.
    fn record(&self, lane: &Lane, host: HostId, session: &mut Session) {
        let mut value = Vec::with_capacity(16);
        codec::write(&mut value, lane.open.unwrap_or_else(|| lane.bound()));
        codec::write(&mut value, (lane.len() + usize::from(lane.open.is_some())) as u64);
        codec::write(&mut value, self.arrivals);
        session.put(Space::Hosts, LaneKey { host, group: lane.group, band: lane.band }.record(), value);
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
    /// First byte of the keys of lane records in [`Space::Hosts`].
    pub const TAG: u8 = b'l';

    fn record(self) -> [u8; 7] {
        let [a, b, c, d] = self.host.to_be_bytes();
        [Self::TAG, a, b, c, d, self.group, self.band]
    }

    /// The lane that a record key names.
    pub fn of_record(key: &[u8]) -> Option<Self> {
        let &[Self::TAG, a, b, c, d, group, band] = key else { return None };
        Some(Self { host: u32::from_be_bytes([a, b, c, d]), group, band })
    }
}

const LAST: Seq = (1 << 48) - 1;

fn entry_key(lane: LaneKey, seq: Seq) -> [u8; 12] {
    let mut key = [0; 12];
    key[..4].copy_from_slice(&lane.host.to_be_bytes());
    key[4] = lane.group;
    key[5] = lane.band;
    key[6..].copy_from_slice(&seq.to_be_bytes()[2..]);
    key
}

fn seq_of(key: &[u8]) -> Seq {
    key.iter().rev().take(6).rev().fold(0, |seq, byte| seq << 8 | Seq::from(*byte))
}
