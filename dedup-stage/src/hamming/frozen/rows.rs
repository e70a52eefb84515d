//! Looks up the rows of fingerprints in an index file.

use super::Reader;
use crate::hamming::file::words;
use crate::hamming::memory::prefetch;

/// The rows of this many fingerprints are looked up together.
const BLOCK: usize = 64;

impl Reader<'_> {
    /// Calls `found` with every row of a fingerprint, ascending.
    pub fn rows_of(&self, fingerprint: u64, found: &mut impl FnMut(u64)) {
        self.rows_of_each(&[fingerprint], &mut |_, row| found(row));
    }

    /// Like [`Reader::rows_of`] for many fingerprints: `found` also gets the position of the fingerprint. The
    /// fingerprints are looked up together, so memory for one is loaded while others are compared.
    pub fn rows_of_each(&self, fingerprints: &[u64], found: &mut impl FnMut(usize, u64)) {
        let Some(table) = self.tables.first() else { return };
        for (first, block) in (0..).step_by(BLOCK).zip(fingerprints.chunks(BLOCK)) {
            let bucket = |fingerprint: &u64| table.own(table.view.keyed(*fingerprint)).0;
            block.iter().for_each(|fingerprint| prefetch(table.cell(bucket(fingerprint))));
            block.iter().for_each(|fingerprint| table.announce(bucket(fingerprint)));
            let mut places = [None; BLOCK];
            for (place, fingerprint) in places.iter_mut().zip(block) {
                *place = table.find(*fingerprint);
                place.inspect(|(bucket, entry)| table.announce_row(*bucket, *entry));
            }
            for ((fingerprint, i), place) in block.iter().zip(first..).zip(places) {
                let Some((bucket, entry)) = place else { continue };
                let (row, more) = table.row(bucket, entry);
                found(i, row);
                if more {
                    self.further_rows(*fingerprint, &mut |row| found(i, row));
                }
            }
        }
    }

    /// Calls `found` with all rows of a fingerprint but the first. They are in the list of repeated values.
    fn further_rows(&self, fingerprint: u64, found: &mut impl FnMut(u64)) {
        let further = &self.frozen.header.further;
        let further = words(&self.frozen.contents.bytes()[further.start as usize..further.end as usize]);
        let (pairs, _) = further.as_chunks::<2>();
        let start = pairs.partition_point(|[value, _]| *value < fingerprint);
        pairs[start..].iter().take_while(|[value, _]| *value == fingerprint).for_each(|[_, row]| found(*row));
    }
}
