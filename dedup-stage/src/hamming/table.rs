//! One table of the online index: fingerprints in buckets, by a key. It grows by one bucket at a time.

use super::bucket::{Bucket, Layout};
use super::code::low_mask;
use super::growth::Growth;
use super::kernel::Kernel;
use super::key::{Key, Keyed, View};
use super::memory::prefetch;
use super::overflow::Overflow;
use super::segments::Segments;

/// Words of a bucket: two cache lines. Reading the second line takes little more time than reading the first alone.
const WORDS: usize = 32;
const LINE_WORDS: usize = 16;

/// Fingerprints in buckets, by their [`Key`]. A query reads the buckets of its *ball*: the buckets of all keys that
/// differ from the key of the query in at most `flips` bits.
///
/// The number of a bucket tells a part of each fingerprint in it. The bucket holds the other two parts: the *filter*
/// (the 32 bits that are not in the address), which is compared first, and the *rest* (the bits of the address that the
/// number of the bucket does not tell).
///
/// # Complexity
///
/// If a bucket has b entries on average, each insertion adds 1/b buckets: the entries of one group are spread again
/// (see [`Growth`]). The whole table is never rehashed. A probe reads one bucket for each element of
/// [`Code::neighbours`](super::Code::neighbours). None of these reads waits for another.
#[derive(Clone, Debug)]
pub struct Table {
    view: View,
    /// A bucket has this many entries on average before a bucket is added.
    load: usize,
    buckets: Segments<Bucket<WORDS>>,
    overflow: Overflow,
    /// The usual number of lines of an overflow. This many are loaded ahead.
    overflow_lines: u32,
    len: usize,
    growth: Growth,
    /// Two layouts. The rests of the first leave out the bits that all addresses of a group share. The rests of the
    /// second leave out one bit less.
    layouts: [Layouts; 2],
    /// For each syndrome: the buckets to visit, relative to the bucket of the query.
    neighbours: Vec<Neighbours>,
}

/// XOR each change to an address to get all addresses of its ball. Addresses of one group stand next to each other.
#[derive(Clone, Debug)]
struct Neighbours {
    changes: Vec<u32>,
    /// Whether two of the addresses belong to one group, so that they may be in one bucket.
    shared: bool,
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
        let view = View::new(key);
        let growth = Growth::new(view.code().address_bits());
        let mut buckets = Segments::new();
        (0..growth.buckets()).for_each(|_| buckets.push(Bucket::EMPTY));
        let mut table = Self {
            view,
            load,
            buckets,
            overflow: Overflow::new(),
            overflow_lines: 1,
            len: 0,
            growth,
            layouts: [Layouts::new(0), Layouts::new(0)],
            neighbours: Vec::new(),
        };
        table.begin_round();
        table
    }

    /// The number of buckets. When it grows, balls change.
    pub fn buckets(&self) -> usize {
        self.buckets.len()
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Bytes in use or set aside for entries.
    pub fn bytes(&self) -> usize {
        self.buckets.bytes() + self.overflow.bytes()
    }

    /// How this table sees a fingerprint.
    #[inline(always)]
    pub fn keyed(&self, fingerprint: u64) -> Keyed {
        self.view.keyed(fingerprint)
    }

    #[inline(always)]
    fn layouts_of(&self, bucket: u32) -> &Layouts {
        let known = self.growth.known_bits(bucket);
        &self.layouts[usize::from(known != self.growth.group_bits())]
    }

    /// The buckets of a query's ball, each once.
    #[inline(always)]
    pub fn ball(&self, query: Keyed) -> impl Iterator<Item = u32> {
        let growth = self.growth;
        let list = &self.neighbours[self.view.code().syndrome(query.address)];
        let (mut group, mut seen) = (u32::MAX, 0u32);
        list.changes.iter().map(move |change| growth.bucket_of(query.address ^ change)).filter(move |bucket| {
            if !list.shared {
                return true;
            }
            let own = bucket & low_mask(growth.group_bits());
            seen = if own == group { seen } else { 0 };
            group = own;
            let bit = 1 << (bucket >> growth.group_bits());
            let new = seen & bit == 0;
            seen |= bit;
            new
        })
    }

    /// Whether `ball` still has all buckets of a ball that was computed when the table had `then` buckets.
    pub fn is_whole(&self, then: usize, mut ball: impl Iterator<Item = u32>) -> bool {
        let mask = low_mask(self.growth.group_bits());
        then == self.buckets()
            || self.growth.grown_since(then).is_some_and(|grown| ball.all(|bucket| !grown.contains(&(bucket & mask))))
    }

    /// Starts to load a bucket.
    #[inline(always)]
    pub fn prefetch(&self, bucket: u32) {
        prefetch(&self.buckets[bucket as usize]);
    }

    /// Calls `found` with every entry of a bucket whose filter differs from `filter` in at most `k` bits. Returns
    /// whether the bucket has an overflow. If it does, the overflow is being loaded now.
    #[inline(always)]
    pub fn probe(&self, kernel: impl Kernel, bucket: u32, filter: u32, k: u32, found: &mut impl FnMut(u64)) -> bool {
        let entries = &self.buckets[bucket as usize];
        let run = entries.tag();
        if run != 0 {
            self.overflow.prefetch(run, self.overflow_lines);
        }
        let mut near = matches(kernel, entries, filter, k);
        while near != 0 {
            let layouts = self.layouts_of(bucket);
            found(self.read(entries, layouts.bucket, bucket, near.trailing_zeros() as usize));
            near &= near - 1;
        }
        run != 0
    }

    /// Like [`Table::probe`], for the overflow of a bucket that has one.
    #[inline(always)]
    pub fn probe_overflow(&self, kernel: impl Kernel, bucket: u32, filter: u32, k: u32, found: &mut impl FnMut(u64)) {
        for line in self.overflow.run(self.buckets[bucket as usize].tag()) {
            let mut near = matches(kernel, line, filter, k);
            while near != 0 {
                let layouts = self.layouts_of(bucket);
                found(self.read(line, layouts.line, bucket, near.trailing_zeros() as usize));
                near &= near - 1;
            }
        }
    }

    /// The fingerprint of an entry.
    #[inline(always)]
    fn read<const W: usize>(&self, entries: &Bucket<W>, layout: Layout, bucket: u32, i: usize) -> u64 {
        let bits = self.layouts_of(bucket).bits;
        let address = (u64::from(entries.rest(layout, i)) << bits) as u32 | bucket & low_mask(bits);
        self.view.fingerprint(Keyed { address, filter: entries.filter(i) })
    }

    /// The bucket that has a fingerprint, or that would have it.
    #[inline(always)]
    pub fn bucket_of(&self, keyed: Keyed) -> u32 {
        self.growth.bucket_of(keyed.address)
    }

    /// Fingerprint number `i` of a bucket and its overflow.
    pub fn entry(&self, bucket: u32, i: usize) -> Option<u64> {
        let entries = &self.buckets[bucket as usize];
        let layouts = self.layouts_of(bucket);
        if i < entries.len() {
            return Some(self.read(entries, layouts.bucket, bucket, i));
        }
        if entries.tag() == 0 {
            return None;
        }
        // The lines are filled one after the other.
        let (line, i) = ((i - entries.len()) / layouts.line.capacity, (i - entries.len()) % layouts.line.capacity);
        let line = self.overflow.line(entries.tag(), line as u32)?;
        (i < line.len()).then(|| self.read(line, layouts.line, bucket, i))
    }

    /// Gives back some memory of a table that is not needed any more. False if no memory is left.
    pub fn shrink(&mut self) -> bool {
        self.buckets.shrink() || self.overflow.shrink()
    }

    /// Whether a fingerprint is there.
    pub fn contains(&self, keyed: Keyed) -> bool {
        let bucket = self.growth.bucket_of(keyed.address);
        let layouts = self.layouts_of(bucket);
        let rest = keyed.address >> layouts.bits;
        let entries = &self.buckets[bucket as usize];
        let here = |i: usize| entries.filter(i) == keyed.filter && entries.rest(layouts.bucket, i) == rest;
        (0..entries.len()).any(here)
            || entries.tag() != 0
                && self.overflow.run(entries.tag()).any(|line| {
                    (0..line.len()).any(|i| line.filter(i) == keyed.filter && line.rest(layouts.line, i) == rest)
                })
    }

    /// Adds a fingerprint that the table does not have. The table grows by at most one bucket.
    pub fn insert(&mut self, keyed: Keyed) {
        self.put(keyed);
        self.len += 1;
        if self.len.is_multiple_of(1 << 14) {
            let [Layouts { bucket, line, .. }, _] = self.layouts;
            let beyond = (self.len / self.buckets.len()).saturating_sub(bucket.capacity);
            self.overflow_lines = 1 + (beyond / line.capacity).min(15) as u32;
        }
        if self.len > self.load * self.buckets.len() && self.growth.can_grow() {
            self.grow();
        }
    }

    fn put(&mut self, keyed: Keyed) {
        let bucket = self.growth.bucket_of(keyed.address);
        let layouts = *self.layouts_of(bucket);
        self.put_into(bucket, layouts, keyed);
    }

    #[inline(always)]
    fn put_into(&mut self, bucket: u32, layouts: Layouts, keyed: Keyed) {
        let rest = keyed.address >> layouts.bits;
        let entries = &mut self.buckets[bucket as usize];
        if entries.tag() == 0 && entries.push(layouts.bucket, keyed.filter, rest) {
            return;
        }
        let run = match entries.tag() {
            0 => self.overflow.start(layouts.line, keyed.filter, rest),
            run => self.overflow.push(run, layouts.line, keyed.filter, rest),
        };
        entries.set_tag(run);
    }

    /// Gives the next group one more bucket, and spreads the entries of the group again.
    fn grow(&mut self) {
        let step = self.growth.step();
        let layouts = *self.layouts_of(step.first);
        let mut old = [Bucket::EMPTY; 3];
        for (i, old) in (0..step.size).zip(&mut old) {
            std::mem::swap(old, &mut self.buckets[(step.first + i * step.stride) as usize]);
        }
        self.buckets.push(Bucket::EMPTY);
        self.growth.grow();
        if self.growth.step().stride != step.stride {
            self.begin_round();
        }
        let now = *self.layouts_of(step.first);
        for (i, old) in (0..step.size).zip(&old) {
            let bucket = step.first + i * step.stride;
            self.spread(bucket, old, layouts.bucket, layouts.bits, now);
            if old.tag() != 0 {
                for n in 0..self.overflow.len(old.tag()) {
                    let Some(line) = self.overflow.line(old.tag(), n).cloned() else { break };
                    self.spread(bucket, &line, layouts.line, layouts.bits, now);
                }
                self.overflow.release(old.tag());
            }
        }
        // The next group grows soon, so load its buckets.
        let next = self.growth.step();
        (0..next.size).for_each(|i| self.prefetch(next.first + i * next.stride));
        self.buckets.prefetch_next();
    }

    fn spread<const W: usize>(&mut self, bucket: u32, entries: &Bucket<W>, layout: Layout, bits: u32, now: Layouts) {
        for i in 0..entries.len() {
            let address = (u64::from(entries.rest(layout, i)) << bits) as u32 | bucket & low_mask(bits);
            let keyed = Keyed { address, filter: entries.filter(i) };
            self.put_into(self.growth.bucket_of(address), now, keyed);
        }
    }

    /// Computes everything that depends on the number of bits that name a group.
    fn begin_round(&mut self) {
        let bits = self.growth.group_bits();
        self.layouts = [Layouts::new(bits), Layouts::new(bits.saturating_sub(1))];
        let mask = low_mask(self.growth.deciding_bits());
        let group = low_mask(bits);
        let prepare = |mut changes: Vec<u32>| {
            changes.iter_mut().for_each(|change| *change &= mask);
            changes.sort_unstable_by_key(|change| (change & group, *change));
            changes.dedup();
            let shared = changes.windows(2).any(|pair| pair[0] & group == pair[1] & group);
            Neighbours { changes, shared }
        };
        self.neighbours = self.view.code().neighbours().into_iter().map(prepare).collect();
    }
}

/// One bit for each entry of a bucket: whether its filter differs from `filter` in at most `k` bits.
#[inline(always)]
fn matches<const W: usize>(kernel: impl Kernel, entries: &Bucket<W>, filter: u32, k: u32) -> u32 {
    // Word 0 is the header, and no entry. The words behind the last entry are no entries either.
    kernel.near(entries, filter, k) >> 1 & ((1 << entries.len()) - 1)
}
