//! One table of the online index: fingerprints by a key, in buckets, growing one bucket at a time.

use super::bucket::{Bucket, Layout};
use super::code::{Code, low_mask};
use super::kernel::Kernel;
use super::memory::prefetch;
use super::overflow::{Line, Overflow};
use super::segments::Segments;

/// Words of a bucket: two cache lines, of which the second costs little once the first is on its way.
const WORDS: usize = 32;
const LINE_WORDS: usize = 16;

/// Fingerprints by their *key*, 32 bits that begin at some position. Whoever differs from a query in at most the code's
/// radius within the key's bits is found in one of the buckets that the query's ball touches.
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
    code: Code,
    /// Position of the key's lowest bit; it wraps around.
    rotation: u32,
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

/// A fingerprint as a table sees it.
#[derive(Clone, Copy, Debug)]
pub struct Keyed {
    /// Bijective image of the key: bucket number in the low bits.
    pub address: u32,
    /// The other half of the fingerprint.
    pub filter: u32,
}

impl Table {
    /// An empty table.
    pub fn new(code: Code, rotation: u32, load: usize) -> Self {
        let mut buckets = Segments::new();
        buckets.push(Bucket::EMPTY);
        let mut table = Self {
            code,
            rotation,
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
        let rotated = fingerprint.rotate_right(self.rotation);
        Keyed { address: self.code.address(rotated as u32), filter: (rotated >> 32) as u32 }
    }

    fn fingerprint(&self, keyed: Keyed) -> u64 {
        let rotated = u64::from(self.code.key(keyed.address)) | u64::from(keyed.filter) << 32;
        rotated.rotate_left(self.rotation)
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
    fn ball(&self, query: Keyed) -> impl Iterator<Item = usize> {
        let mut last = usize::MAX;
        let list = &self.neighbours[self.code.syndrome(query.address)];
        list.iter().map(move |change| self.bucket_of(query.address ^ change)).filter(move |bucket| {
            let new = *bucket != last;
            last = *bucket;
            new
        })
    }

    /// Starts loading what a probe will read.
    #[inline(always)]
    pub fn prefetch(&self, query: Keyed) {
        self.ball(query).for_each(|bucket| prefetch(&self.buckets[bucket]));
    }

    /// Calls `found` with every entry of the query's ball whose filter differs in at most `k` bits. Entries beyond the ball that
    /// share its buckets may be among them.
    #[inline(always)]
    pub fn probe(&self, kernel: impl Kernel, query: Keyed, k: u32, mut found: impl FnMut(u64)) {
        let mut overflowing: [(u32, u32); 32] = [(0, 0); 32];
        let mut pending = 0;
        for bucket in self.ball(query) {
            let entries = &self.buckets[bucket];
            let layouts = self.layouts_of(bucket);
            self.matches(kernel, entries, layouts.bucket, layouts.bits, bucket, query, k, &mut found);
            let run = entries.tag();
            if run != 0 {
                prefetch(self.overflow.first(run));
                overflowing[pending] = (run, bucket as u32);
                pending += 1;
                if pending == overflowing.len() {
                    self.probe_overflow(kernel, &overflowing, query, k, &mut found);
                    pending = 0;
                }
            }
        }
        self.probe_overflow(kernel, &overflowing[..pending], query, k, &mut found);
    }

    #[inline(always)]
    fn probe_overflow(
        &self,
        kernel: impl Kernel,
        runs: &[(u32, u32)],
        query: Keyed,
        k: u32,
        found: &mut impl FnMut(u64),
    ) {
        for &(run, bucket) in runs {
            let layouts = self.layouts_of(bucket as usize);
            for line in self.overflow.run(run) {
                self.matches(kernel, line, layouts.line, layouts.bits, bucket as usize, query, k, found);
            }
        }
    }

    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "the inner loop, once for buckets and once for overflow lines")]
    fn matches<const W: usize>(
        &self,
        kernel: impl Kernel,
        entries: &Bucket<W>,
        layout: Layout,
        bits: u32,
        bucket: usize,
        query: Keyed,
        k: u32,
        found: &mut impl FnMut(u64),
    ) {
        // The header is word 0, and is no entry; what lies behind the last entry is none either.
        let used = ((1u64 << entries.len()) - 1) as u32;
        let mut near = kernel.near(entries, query.filter, k) >> 1 & used;
        while near != 0 {
            let i = near.trailing_zeros() as usize;
            near &= near - 1;
            let address = (u64::from(entries.rest(layout, i)) << bits) as u32 | bucket as u32;
            found(self.fingerprint(Keyed { address, filter: entries.filter(i) }));
        }
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
        if self.len > self.load * self.buckets.len() && self.bits < self.code.address_bits() {
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
        let mask = low_mask((bits + 1).min(self.code.address_bits()));
        self.neighbours = self.code.neighbours();
        for list in &mut self.neighbours {
            list.iter_mut().for_each(|change| *change &= mask);
            list.sort_unstable_by_key(|change| (change & low_mask(bits), *change));
            list.dedup();
        }
    }
}
