//! Records of pages that other processes judged, in memory.

use std::collections::VecDeque;

/// The records that were put here last.
#[derive(Debug, Default)]
pub(super) struct RecentRecords {
    /// The keys and the records, the newest last.
    records: VecDeque<(u64, Vec<u8>)>,
    /// The bytes of the records.
    bytes: usize,
}

impl RecentRecords {
    /// At most this many bytes of records are kept, or the newest record alone.
    const MOST: usize = 1 << 20;

    /// The record with a key, if it is here.
    pub(super) fn get(&self, key: u64) -> Option<&[u8]> {
        self.records.iter().rev().find(|(other, _)| *other == key).map(|(_, record)| record.as_slice())
    }

    /// Adds a record that is not here.
    pub(super) fn put(&mut self, key: u64, record: Vec<u8>) {
        self.bytes += record.len();
        self.records.push_back((key, record));
        while self.bytes > Self::MOST && self.records.len() > 1 {
            let oldest = self.records.pop_front();
            self.bytes -= oldest.map_or(0, |(_, record)| record.len());
        }
    }

    /// Drops the record with a key.
    pub(super) fn forget(&mut self, key: u64) {
        self.records.retain(|(other, _)| *other != key);
        self.bytes = self.records.iter().map(|(_, record)| record.len()).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_records_are_here_and_their_bytes_have_a_bound() {
        let mut recent = RecentRecords::default();
        let record = |key: u64| vec![key as u8; 1 + key as usize * 1_000];
        for key in 0..200 {
            recent.put(key, record(key));
            assert!(recent.get(key) == Some(&record(key)));
            let held: usize = recent.records.iter().map(|(_, record)| record.len()).sum();
            assert!(held == recent.bytes && held <= RecentRecords::MOST);
        }
        assert!(recent.get(0).is_none() && recent.get(198).is_some());
        recent.forget(198);
        assert!(recent.get(198).is_none() && recent.get(199).is_some());
        recent.put(200, vec![0; 2 * RecentRecords::MOST]);
        assert!(recent.get(200).is_some() && recent.get(199).is_none());
    }
}
