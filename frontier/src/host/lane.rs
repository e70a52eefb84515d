//! Lanes: a lane is the queue of one host, group and priority band. Also the keys of entries and lanes in the store.

use std::collections::VecDeque;

use dedup_stage::store::{Result, Session, codec};
use dedup_stage::url::SiteId;
use serde::{Deserialize, Serialize};

use super::entry::Packed;
use crate::spaces;

/// The place of an entry in the order of arrival over all hosts. Places begin at 1 and have at most 51 bits.
pub type Seq = u64;

/// Number of priority bands; band 0 is the best.
pub const BANDS: u8 = 16;

/// The band of a priority in 0..1.
pub fn band(priority: f32) -> u8 {
    let steps = (priority.clamp(0.0, 1.0) * f32::from(BANDS)) as u8;
    BANDS - 1 - steps.min(BANDS - 1)
}

/// The priority that stands for a band: the middle of the band.
pub fn band_score(band: u8) -> f32 {
    (f32::from(BANDS - 1 - band) + 0.5) / f32::from(BANDS)
}

/// The queue of one host, group and band, in order of arrival.
#[derive(Debug, Default)]
pub struct Lane {
    /// The number of the group within the host.
    pub group: u8,
    /// The band.
    pub band: u8,
    /// Bytes of the buffer.
    pub(super) bytes: u32,
    /// Number of entries in the store that are behind those in the buffer.
    pub(super) unread: u32,
    /// All of the unread entries have this place or a later one.
    pub(super) read_from: Seq,
    /// The entries at the front, if they were read from the store.
    pub(super) buffer: VecDeque<(Seq, Packed)>,
    /// The entry that was handed out and is not done yet. It is still in the store.
    pub(super) open: Option<Seq>,
}

impl Lane {
    /// An empty lane. No entry has an earlier place than this.
    pub fn new(group: u8, band: u8, read_from: Seq) -> Self {
        Self { group, band, read_from, ..Self::default() }
    }

    /// Number of entries that can be handed out.
    pub fn len(&self) -> usize {
        self.buffer.len() + self.unread as usize
    }

    /// Number of entries that are not done. The one that is handed out counts, too.
    pub fn undone(&self) -> usize {
        self.len() + usize::from(self.open.is_some())
    }

    /// A bound: no entry that can be handed out has an earlier place.
    pub fn bound(&self) -> Seq {
        self.buffer.front().map_or(self.read_from, |(seq, _)| *seq)
    }

    /// The first entry, if it is in memory.
    pub fn front(&self) -> Option<&Packed> {
        self.buffer.front().map(|(_, entry)| entry)
    }

    /// Whether `bound` is exactly the place of the first entry.
    pub fn is_read(&self) -> bool {
        !self.buffer.is_empty() || self.unread == 0
    }

    /// All entries before this place are done.
    pub fn head(&self) -> Seq {
        self.open.unwrap_or_else(|| self.bound())
    }

    /// Puts on record how far the lane is done. Later entries need no record of their own.
    pub(super) fn record(&self, site: SiteId, session: &mut Session) {
        let undone = self.undone() as u32;
        let key = LaneKey { site, group: self.group, band: self.band };
        session.put(spaces::HOSTS, key.record(), codec::encode(&Stock { head: self.head(), undone }));
    }

    /// A lane from its record.
    pub(super) fn restore(key: LaneKey, stock: Stock) -> Self {
        Self { unread: stock.undone, ..Self::new(key.group, key.band, stock.head) }
    }
}

/// How far a lane is done. The record is that of the last entry that was done. It is exact while the host of the lane
/// sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stock {
    /// All entries before this place are done.
    pub head: Seq,
    /// Number of entries that are not done.
    pub undone: u32,
}

impl Stock {
    /// Reads the record.
    pub fn decode(record: &[u8]) -> Result<Self> {
        codec::decode(record, "a lane")
    }
}

/// The key of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneKey {
    /// The host.
    pub site: SiteId,
    /// The number of the group within the host.
    pub group: u8,
    /// The band.
    pub band: u8,
}

/// Bytes of the key of an entry: era, host, group, band, place within the era.
const ENTRY_KEY: usize = 4 + SiteId::BYTES + 2 + 3;

impl LaneKey {
    /// Kind of the records of lanes in [`spaces::HOSTS`].
    pub const TAG: u8 = b'l';

    /// The key of the record of this lane.
    pub(super) fn record(self) -> Vec<u8> {
        let mut key = super::key(self.site, Self::TAG);
        key.extend([self.group, self.band]);
        key
    }

    /// The lane to which a record belongs.
    pub fn of_record(key: &[u8]) -> Option<Self> {
        let (site, &[Self::TAG, group, band]) = (SiteId::read(key)?, key.get(SiteId::BYTES..)?) else { return None };
        Some(Self { site, group, band })
    }

    /// The key of the entry of this lane at this place.
    pub fn entry(self, seq: Seq) -> [u8; ENTRY_KEY] {
        let mut key = [0; ENTRY_KEY];
        key[..4].copy_from_slice(&era_start(era(seq)));
        key[4..20].copy_from_slice(&self.site.to_bytes());
        key[20] = self.group;
        key[21] = self.band;
        key[22..].copy_from_slice(&((seq & LAST_OF_ERA) as u32).to_be_bytes()[1..]);
        key
    }

    /// The end of the keys of this lane in the era of this place.
    pub(super) fn entry_end(self, seq: Seq) -> [u8; ENTRY_KEY] {
        let mut key = self.entry(seq);
        key[22..].fill(0xff);
        key
    }

    /// The lane and the place of an entry with this key.
    pub fn of_entry(key: &[u8]) -> Option<(Self, Seq)> {
        let (era, rest) = key.split_first_chunk::<4>()?;
        let (site, &[group, band, a, b, c]) = (SiteId::read(rest)?, rest.get(SiteId::BYTES..)?) else { return None };
        let seq = Seq::from(u32::from_be_bytes(*era)) << ERA | Seq::from(u32::from_be_bytes([0, a, b, c]));
        Some((Self { site, group, band }, seq))
    }
}

/// Bits of a place within its era.
const ERA: u32 = if cfg!(test) { 3 } else { 19 };
pub(super) const LAST_OF_ERA: Seq = (1 << ERA) - 1;

/// The era of a place.
pub fn era(seq: Seq) -> u32 {
    (seq >> ERA) as u32
}

/// The first key of an era in [`spaces::QUEUE`].
pub fn era_start(era: u32) -> [u8; 4] {
    era.to_be_bytes()
}
