//! One table of the online index: fingerprints by a key, in buckets, growing one bucket at a time.

use super::bucket::{Bucket, Layout};
use super::code::low_mask;
use super::kernel::Kernel;
use super::key::{Key, Keyed, View};
use super::memory::prefetch;
use super::overflow::{Line, Overflow};
use super::segments::Segments;

/// Words of a bucket: two cache lines, of which the second costs little once the first is on its way.
const WORDS: usize = 32;
const LINE_WORDS: usize = 16;

/// Fingerprints by their [`Key`]: whoever differs from a query in no more of the key's bits than the key allows is found in one of the
/// buckets that the query's ball touches.
///
/// Of each entry the bucket holds what its number does not say: the other 32 bits of the fingerprint (the *filter*, compared first)
/// and the bits of the address above the bucket's number (the *rest*).
///
/// # Complexity
///
/// Linear hashing (Litwin, VLDB 1980): with `b` entries to a bucket, each insertion splits 1/b buckets, the next in turn; nothing is
/// ever rehashed as a whole. A probe reads one bucket for each element of [`Code::neighbours`], all independent.
#[derive(Clone, Debug)]
pub struct Table {
    view: View,
    /// Entries a bucket has on average before the next one is split.
    load: usize,
    buckets: Segments<Bucket<WORDS>>,
    overflow: Overflow,
    len: usize,
    /// Buckets are numbered by this many bits of the address, and by one more where `split` has passed.
    bits: u32,
    split: usize,
    /// For `bits` and before the split, as after it.
    layouts: [Layouts; 2],
    /// By syndrome: buckets to visit, relative to the query's; what may fall together is adjacent.
    neighbours: Vec<Vec<u32>>,
}

#[derive(Clone, Copy, Debug)]
struct Layouts {
    bits: u32,
    bucket: Layout,
    line: Layout,
}

impl Layouts {
    const fn new(bits: u32) -> Self {
        Self { bits, bucket: Layout::new(WORDS, 32 - bits), line: Layout::new(LINE_WORDS, 32 - bits) }
    }
}

impl Table {
    /// An empty table.
    pub fn new(key: Key, load: usize) -> Self {
        let mut buckets = Segments::new();
        buckets.push(Bucket::EMPTY);
        let mut table = Self {
            view: View::new(key),
            load,
            buckets,
            overflow: Overflow::new(),
            len: 0,
            bits: 0,
            split: 0,
            layouts: [Layouts::new(0), Layouts::new(1)],
            neighbours: Vec::new(),
        };
        table.set_bits(0);
        table
    }

    /// Number of buckets: it grows, and when it does, balls change.
    pub fn buckets(&self) -> usize {
        self.buckets.len()
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Bytes in use or set aside for entries.
    pub fn bytes(&self) -> usize {
        self.buckets.len() * size_of::<Bucket<WORDS>>() + self.overflow.bytes()
    }

    /// How this table sees a fingerprint.
    #[inline(always)]
    pub fn keyed(&self, fingerprint: u64) -> Keyed {
        self.view.keyed(fingerprint)
    }

    /// The bucket of an address.
    #[inline(always)]
    fn bucket_of(&self, address: u32) -> usize {
        let after = address as usize & ((2 << self.bits) - 1);
        if after < self.buckets.len() { after } else { after ^ (1 << self.bits) }
    }

    #[inline(always)]
    fn layouts_of(&self, bucket: usize) -> &Layouts {
        let after = bucket < self.split || bucket >> self.bits != 0;
        &self.layouts[usize::from(after)]
    }

    /// The buckets of a query's ball, each once.
    #[inline(always)]
    pub fn ball(&self, query: Keyed) -> impl Iterator<Item = u32> {
        let mut last = u32::MAX;
        let list = &self.neighbours[self.view.code().syndrome(query.address)];
        list.iter().map(move |change| self.bucket_of(query.address ^ change) as u32).filter(move |bucket| {
            let new = *bucket != last;
            last = *bucket;
            new
        })
    }

    /// Starts loading a bucket.
    #[inline(always)]
    pub fn prefetch(&self, bucket: u32) {
        prefetch(&self.buckets[bucket as usize]);
    }

    /// Calls `found` with every entry of a bucket whose filter differs in at most `k` bits, and returns whether the bucket has an
    /// overflow, which is now being loaded.
    #[inline(always)]
    pub fn probe(&self, kernel: impl Kernel, bucket: u32, filter: u32, k: u32, found: &mut impl FnMut(u64)) -> bool {
        let entries = &self.buckets[bucket as usize];
        let run = entries.tag();
        if run != 0 {
            prefetch(self.overflow.first(run));
        }
        let mut near = matches(kernel, entries, filter, k);
        while near != 0 {
            let layouts = self.layouts_of(bucket as usize);
            self.report(entries, layouts.bucket, bucket, near.trailing_zeros() as usize, found);
            near &= near - 1;
        }
        run != 0
    }

    /// As [`Table::probe`], for the overflow of a bucket that has one.
    #[inline(always)]
    pub fn probe_overflow(&self, kernel: impl Kernel, bucket: u32, filter: u32, k: u32, found: &mut impl FnMut(u64)) {
        for line in self.overflow.run(self.buckets[bucket as usize].tag()) {
            let mut near = matches(kernel, line, filter, k);
            while near != 0 {
                let layouts = self.layouts_of(bucket as usize);
                self.report(line, layouts.line, bucket, near.trailing_zeros() as usize, found);
                near &= near - 1;
            }
        }
    }

    #[inline(always)]
    fn report<const W: usize>(
        &self,
        entries: &Bucket<W>,
        layout: Layout,
        bucket: u32,
        i: usize,
        found: &mut impl FnMut(u64),
    ) {
        let bits = self.layouts_of(bucket as usize).bits;
        let address = (u64::from(entries.rest(layout, i)) << bits) as u32 | bucket;
        found(self.view.fingerprint(Keyed { address, filter: entries.filter(i) }));
    }

    /// Whether a fingerprint is there.
    pub fn contains(&self, keyed: Keyed) -> bool {
        let bucket = self.bucket_of(keyed.address);
        let layouts = self.layouts_of(bucket);
        let rest = (u64::from(keyed.address) >> layouts.bits) as u32;
        let entries = &self.buckets[bucket];
        let here = |i: usize| entries.filter(i) == keyed.filter && entries.rest(layouts.bucket, i) == rest;
        (0..entries.len()).any(here)
            || entries.tag() != 0
                && self.overflow.run(entries.tag()).iter().any(|line| {
                    (0..line.len()).any(|i| line.filter(i) == keyed.filter && line.rest(layouts.line, i) == rest)
                })
    }

    /// Adds a fingerprint that is not there yet, and lets the table grow by at most one bucket.
    pub fn insert(&mut self, keyed: Keyed) {
        self.put(self.bucket_of(keyed.address), keyed);
        self.len += 1;
        if self.len > self.load * self.buckets.len() && self.bits < self.view.code().address_bits() {
            self.split_next();
        }
    }

    fn put(&mut self, bucket: usize, keyed: Keyed) {
        let layouts = *self.layouts_of(bucket);
        let rest = (u64::from(keyed.address) >> layouts.bits) as u32;
        let entries = &mut self.buckets[bucket];
        if entries.tag() == 0 && entries.push(layouts.bucket, keyed.filter, rest) {
            return;
        }
        let run = match entries.tag() {
            0 => self.overflow.start(layouts.line, keyed.filter, rest),
            run => self.overflow.push(run, layouts.line, keyed.filter, rest),
        };
        entries.set_tag(run);
    }

    /// Divides the entries of the next bucket in turn between itself and a new one, by one more bit of their addresses.
    fn split_next(&mut self) {
        let bucket = self.split;
        let from = self.layouts[0];
        let old = std::mem::replace(&mut self.buckets[bucket], Bucket::EMPTY);
        self.buckets.push(Bucket::EMPTY);
        self.split += 1;
        let address = |rest: u32| (u64::from(rest) << from.bits) as u32 | bucket as u32;
        for i in 0..old.len() {
            let keyed = Keyed { address: address(old.rest(from.bucket, i)), filter: old.filter(i) };
            self.put(self.bucket_of(keyed.address), keyed);
        }
        if old.tag() != 0 {
            for n in 0..self.overflow.run(old.tag()).len() {
                let line: Line = self.overflow.run(old.tag())[n].clone();
                for i in 0..line.len() {
                    let keyed = Keyed { address: address(line.rest(from.line, i)), filter: line.filter(i) };
                    self.put(self.bucket_of(keyed.address), keyed);
                }
            }
            self.overflow.release(old.tag());
        }
        if self.split == 1 << self.bits {
            self.set_bits(self.bits + 1);
        }
    }

    fn set_bits(&mut self, bits: u32) {
        self.bits = bits;
        self.split = 0;
        self.layouts = [Layouts::new(bits), Layouts::new((bits + 1).min(32))];
        let mask = low_mask((bits + 1).min(self.view.code().address_bits()));
        self.neighbours = self.view.code().neighbours();
        for list in &mut self.neighbours {
            list.iter_mut().for_each(|change| *change &= mask);
            list.sort_unstable_by_key(|change| (change & low_mask(bits), *change));
            list.dedup();
        }
    }
}

/// The entries of a bucket whose filters differ from `filter` in at most `k` bits, as bits.
#[inline(always)]
fn matches<const W: usize>(kernel: impl Kernel, entries: &Bucket<W>, filter: u32, k: u32) -> u32 {
    // The header is word 0, and is no entry; what lies behind the last entry is none either.
    kernel.near(entries, filter, k) >> 1 & ((1 << entries.len()) - 1)
}
