//! One compressed table of an index file.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::cells::{Cell, GROUP, LARGE};
use super::format::{PartPlace, Section, TablePlace};
use super::packed;
use crate::hamming::code::low_mask;
use crate::hamming::file::{half_words, words};
use crate::hamming::kernel::Kernel;
use crate::hamming::key::{Keyed, View};
use crate::hamming::memory::prefetch_in;

/// Entries in the order of their buckets. Filters are plain words; rests are packed.
#[derive(Debug)]
pub struct Table<'a> {
    /// How the table sees a fingerprint.
    pub view: View,
    /// The number of bits of the address that number the buckets. The highest of these bits number the parts.
    bits: u32,
    part_shift: u32,
    row_bits: u32,
    neighbours: Vec<Vec<u32>>,
    large_groups: bool,
    /// The parts, each with a range of buckets.
    parts: Vec<Part<'a>>,
}

/// A range of buckets.
#[derive(Debug)]
pub struct Part<'a> {
    cells: &'a [Cell],
    large: &'a [[u64; GROUP]],
    /// The filters.
    pub filters: &'a [u32],
    rests: &'a [u64],
    rows: &'a [u64],
    /// Becomes true if the directory points to entries that are not there.
    damaged: &'a AtomicBool,
}

impl Part<'_> {
    /// The positions of the entries of a bucket, which is given by its number within the part. If the directory is
    /// damaged and points elsewhere, the index is marked as damaged, and there are no positions.
    #[inline(always)]
    pub fn entries(&self, bucket: u32) -> Range<usize> {
        let [start, ends] = &self.cells[bucket as usize / GROUP];
        let i = bucket as usize % GROUP;
        let start_of_group = start & !LARGE;
        let (from, to) = if start & LARGE == 0 {
            (ends << 8 >> (8 * i) & 255, ends >> (8 * i) & 255)
        } else {
            let Some(ends) = self.large.get(*ends as usize) else { return self.no_entries() };
            (if i == 0 { 0 } else { ends[i - 1] }, ends[i])
        };
        let (from, to) = (start_of_group.wrapping_add(from) as usize, start_of_group.wrapping_add(to) as usize);
        if from <= to && to <= self.filters.len() { from..to } else { self.no_entries() }
    }

    #[cold]
    fn no_entries(&self) -> Range<usize> {
        self.damaged.store(true, Ordering::Relaxed);
        0..0
    }
}

impl<'a> Table<'a> {
    /// The table at this place of a file. `damaged` becomes true if a read meets damage.
    pub fn new(place: &TablePlace, bytes: &'a [u8], row_bits: u32, damaged: &'a AtomicBool) -> Self {
        let section = |section: &Section| &bytes[section.start as usize..section.end as usize];
        let view = View::new(place.key);
        let mask = low_mask(place.bits);
        let mut neighbours = view.code().neighbours();
        for list in &mut neighbours {
            list.iter_mut().for_each(|change| *change &= mask);
            list.sort_unstable();
            list.dedup();
        }
        let part = |part: &PartPlace| Part {
            cells: words(section(&part.cells)).as_chunks().0,
            large: words(section(&part.large)).as_chunks().0,
            filters: &half_words(section(&part.filters))[..part.entries as usize],
            rests: words(section(&part.rests)),
            rows: words(section(&part.rows)),
            damaged,
        };
        let part_bits = place.parts.len().trailing_zeros();
        let large_groups = place.parts.iter().any(|part| part.large.len() > 0);
        Self {
            view,
            bits: place.bits,
            part_shift: place.bits - part_bits,
            row_bits,
            neighbours,
            large_groups,
            parts: place.parts.iter().map(part).collect(),
        }
    }

    /// The buckets of the ball of a query.
    #[inline(always)]
    pub fn ball(&self, query: Keyed) -> impl Iterator<Item = u32> {
        let (bucket, syndrome) = self.own(query);
        self.neighbours[syndrome].iter().map(move |change| bucket ^ change)
    }

    /// The own bucket of a fingerprint, and the syndrome that chooses its list of [`Table::changes`].
    #[inline(always)]
    pub fn own(&self, query: Keyed) -> (u32, usize) {
        (query.address & low_mask(self.bits), self.view.code().syndrome(query.address))
    }

    /// For each syndrome: XOR each entry of the list to the own bucket of a fingerprint to get every bucket of its
    /// ball.
    pub fn changes(&self) -> &[Vec<u32>] {
        &self.neighbours
    }

    /// The number of bits that number the buckets.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The largest number of buckets in a ball.
    pub fn ball_size(&self) -> usize {
        self.neighbours.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// The number of bits that number the buckets within a part.
    pub fn part_bits(&self) -> u32 {
        self.part_shift
    }

    /// The part of a bucket.
    #[inline(always)]
    pub fn part(&self, bucket: u32) -> &Part<'a> {
        &self.parts[(u64::from(bucket) >> self.part_shift) as usize]
    }

    /// The directory cell of a bucket.
    #[inline(always)]
    pub fn cell(&self, bucket: u32) -> &Cell {
        let within = bucket & self.part_mask();
        &self.part(bucket).cells[within as usize / GROUP]
    }

    /// Whether some groups of buckets have their ends in lists.
    #[inline(always)]
    pub fn has_large_groups(&self) -> bool {
        self.large_groups
    }

    /// Starts to load the list of ends of the group of a bucket, if there is a list.
    pub fn announce_ends(&self, bucket: u32) {
        let [start, list] = self.cell(bucket);
        if start & LARGE != 0 {
            prefetch_in(self.part(bucket).large, *list as usize);
        }
    }

    /// The bits of the number of a bucket that count within its part.
    pub fn part_mask(&self) -> u32 {
        low_mask(self.part_shift)
    }

    /// The positions of the entries of a bucket within its part.
    #[inline(always)]
    pub fn entries(&self, bucket: u32) -> Range<usize> {
        self.part(bucket).entries(bucket & self.part_mask())
    }

    /// The fingerprint of an entry of a bucket.
    pub fn fingerprint(&self, bucket: u32, entry: usize) -> u64 {
        let part = self.part(bucket);
        let rest = packed::get(part.rests, entry, 32 - self.bits);
        let address = (rest << self.bits) as u32 | bucket;
        self.view.fingerprint(Keyed { address, filter: part.filters[entry] })
    }

    /// Calls `visit` with every fingerprint.
    pub fn for_each(&self, visit: &mut impl FnMut(u64)) {
        for bucket in 0..=low_mask(self.bits) {
            self.entries(bucket).for_each(|entry| visit(self.fingerprint(bucket, entry)));
        }
    }

    /// The bucket and the entry of a fingerprint.
    pub fn find(&self, fingerprint: u64) -> Option<(u32, usize)> {
        let keyed = self.view.keyed(fingerprint);
        let bucket = keyed.address & low_mask(self.bits);
        let part = self.part(bucket);
        let rest = u64::from(keyed.address) >> self.bits;
        self.entries(bucket)
            .find(|entry| {
                part.filters[*entry] == keyed.filter && packed::get(part.rests, *entry, 32 - self.bits) == rest
            })
            .map(|entry| (bucket, entry))
    }

    /// Starts to load what [`Table::find`] compares in a bucket.
    pub fn announce(&self, bucket: u32) {
        let part = self.part(bucket);
        let entries = self.entries(bucket);
        for entry in [entries.start, entries.end] {
            prefetch_in(part.filters, entry);
            prefetch_in(part.rests, entry * (32 - self.bits) as usize / 64);
        }
    }

    /// Starts to load what [`Table::fingerprint`] reads.
    #[inline(always)]
    pub fn announce_rest(&self, bucket: u32, entry: usize) {
        prefetch_in(self.part(bucket).rests, entry * (32 - self.bits) as usize / 64);
    }

    /// Loads the directory and the filters of consecutive buckets of one part, in order, so that the processor
    /// prefetches by itself.
    pub fn load(&self, first: u32, buckets: u32) {
        const LINE: usize = 64;
        let part = self.part(first);
        let within = first & self.part_mask();
        let cells = &part.cells[within as usize / GROUP..(within as usize + buckets as usize).div_ceil(GROUP)];
        let filters = self.entries(first).start..self.entries(first + (buckets - 1)).end;
        let filters = part.filters.get(filters).unwrap_or_default();
        let mut sum = cells.iter().step_by(LINE / size_of::<Cell>()).fold(0, |sum, cell| sum ^ cell[0]);
        sum ^= filters.iter().step_by(LINE / size_of::<u32>()).fold(0, |sum, filter| sum ^ u64::from(*filter));
        std::hint::black_box(sum);
    }

    /// Starts to load what [`Table::row`] reads.
    pub fn announce_row(&self, bucket: u32, entry: usize) {
        prefetch_in(self.part(bucket).rows, entry * (self.row_bits + 1) as usize / 64);
    }

    /// The first row of an entry, and whether there are further rows.
    pub fn row(&self, bucket: u32, entry: usize) -> (u64, bool) {
        let packed = packed::get(self.part(bucket).rows, entry, self.row_bits + 1);
        (packed >> 1, packed & 1 == 1)
    }
}

/// Compares the filters of entries with `filter`, sixteen at a time. If some of the sixteen differ in at most `k` bits,
/// calls `found` with the position of the first of the sixteen, and with one bit for each that does.
#[inline(always)]
pub fn near_entries(
    kernel: impl Kernel,
    filters: &[u32],
    entries: Range<usize>,
    filter: u32,
    k: u32,
    found: &mut impl FnMut(usize, u32),
) {
    let mut start = entries.start;
    loop {
        let near = kernel.near_words(&filters[start..], entries.end - start, filter, k);
        if near != 0 {
            found(start, near);
        }
        start += 16;
        if start >= entries.end {
            break;
        }
    }
}
