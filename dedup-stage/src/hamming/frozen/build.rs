//! Builds an index file part by part, in bounded memory.

use std::collections::BTreeMap;
use std::io::{Seek, Write};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_channel::bounded;

use super::bins::Bins;
use super::cells::{Cell, GROUP, LARGE};
use super::format::{IndexHeader, PartPlace, TablePlace};
use super::output::{Built, Output};
use super::packed;
use crate::hamming::Error;
use crate::hamming::code::low_mask;
use crate::hamming::design::Design;
use crate::hamming::key::{Key, Keyed, View};
use crate::hamming::memory::in_huge_pages;

/// A source of fingerprints. For each table, it is read once for each group of parts that fits into memory together.
pub trait Source: Sync {
    /// Number of fingerprints.
    fn rows(&self) -> u64;

    /// Fills `to` with the fingerprints from row `from` on.
    fn read(&self, from: u64, to: &mut [u64]);
}

impl Source for [u64] {
    fn rows(&self) -> u64 {
        self.len() as u64
    }

    fn read(&self, from: u64, to: &mut [u64]) {
        to.copy_from_slice(&self[from as usize..from as usize + to.len()]);
    }
}

/// What to build, and with how much memory.
#[derive(Clone, Debug)]
pub struct IndexSpec {
    /// The design.
    pub design: Design,
    /// The recipe of the fingerprints.
    pub recipe: String,
    /// Whether the index can name the rows of a fingerprint. Without rows, it has only values.
    pub with_rows: bool,
    /// The number of threads.
    pub threads: usize,
    /// Each thread holds about this many fingerprints at a time. A fingerprint takes 8 bytes, or 16 with rows.
    pub part: u64,
}

impl IndexSpec {
    /// With this value, two threads need 2 GiB, or 4 GiB with rows.
    pub const PART: u64 = 1 << 27;

    /// The number of bits that number the buckets of a table. A bucket has 4 to 8 entries, unless the key has too few
    /// bits for that.
    pub fn bits(key: Key, rows: u64) -> u32 {
        (rows / 4).max(1).ilog2().min(View::new(key).code().address_bits())
    }
}

/// Builds an index, and returns the number of bytes written. `done` is told the share of the work that was done since
/// its last call.
pub fn build(
    source: &(impl Source + ?Sized),
    spec: &IndexSpec,
    out: &mut (impl Write + Seek),
    done: &(dyn Fn(f64) + Sync),
) -> Result<u64, Error> {
    let rows = source.rows();
    let threads = spec.threads.max(1);
    let mut out = Output::new(out)?;
    // There are at least four parts, so that several threads have work. The number of parts does not depend on the
    // number of threads, so neither does the file. No part is so large that its tables take much memory.
    let part = spec.part.min((rows / 4).clamp(1 << 20, 1 << 26));
    let mut tables = Vec::new();
    let mut further = Vec::new();
    for (i, key) in spec.design.keys.iter().enumerate() {
        let bits = IndexSpec::bits(*key, rows);
        let part_bits = rows.div_ceil(part).next_power_of_two().ilog2().min(bits);
        let with_rows = spec.with_rows && i == 0;
        let row_bits = with_rows.then(|| 64 - rows.leading_zeros());
        // The number of parts that may be held in memory at a time.
        let held = spec.part.saturating_mul(threads as u64) / (rows >> part_bits).max(1);
        let together = held.clamp(1, 1 << part_bits);
        // A bin of about 2^14 entries is sorted in the cache. With 2^14 bins, the lines that are being filled fit into
        // the cache, too.
        let of_part = (rows >> part_bits >> 14).max(1).ilog2();
        let bin_bits = of_part.min(14u32.saturating_sub(together.ilog2())).min(bits - part_bits);
        let shape = Shape { view: View::new(*key), bits, part_bits, bin_bits, row_bits, together };
        let share = 1.0 / spec.design.keys.len() as f64 / f64::from(1 << part_bits);
        let done = |part| done(part * share);
        let parts = if with_rows {
            build_table::<(u64, u64)>(source, &shape, threads, &mut out, &mut further, &done)?
        } else {
            build_table::<u64>(source, &shape, threads, &mut out, &mut further, &done)?
        };
        tables.push(TablePlace { key: *key, bits, parts });
    }
    further.sort_unstable();
    let further = out.section(&further.iter().flat_map(|(value, row)| [*value, *row]).collect::<Vec<u64>>())?;
    let distinct = tables[0].parts.iter().map(|part| part.entries).sum();
    let header = IndexHeader {
        recipe: spec.recipe.clone(),
        design: spec.design.clone(),
        rows,
        distinct,
        with_rows: spec.with_rows,
        tables,
        further,
    };
    out.finish(&header)
}

/// The shape of a table that is being built.
struct Shape {
    view: View,
    bits: u32,
    part_bits: u32,
    /// The number of bits that number the bins of a part.
    bin_bits: u32,
    /// The bits of a row number, if entries have rows.
    row_bits: Option<u32>,
    /// This many parts are picked out of the source at a time.
    together: u64,
}

fn build_table<E: Entry>(
    source: &(impl Source + ?Sized),
    shape: &Shape,
    threads: usize,
    out: &mut Output<'_, impl Write + Seek>,
    further: &mut Vec<(u64, u64)>,
    done: &(dyn Fn(f64) + Sync),
) -> Result<Vec<PartPlace>, Error> {
    std::thread::scope(|scope| {
        let (sender, receiver) = bounded(threads);
        // The next parts are built while the finished ones are written.
        scope.spawn(move || {
            let parts = 1 << shape.part_bits;
            for first in (0..parts).step_by(shape.together as usize) {
                let round = first..parts.min(first + shape.together);
                let picked: Vec<Vec<Bins<E>>> = shape.pick(source, round.clone(), threads, done);
                let waiting = Mutex::new(round.zip(picked));
                let work = || {
                    loop {
                        let next = waiting.lock().expect("no thread panicked").next();
                        let Some((part, bins)) = next else { return true };
                        let built = shape.build(part, &bins, done);
                        // This frees memory for the writer. If the channel is closed, writing has failed.
                        drop(bins);
                        if sender.send((part, built)).is_err() {
                            return false;
                        }
                    }
                };
                let goes_on = std::thread::scope(|scope| {
                    let working: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
                    working.into_iter().all(|thread| thread.join().expect("no thread panicked"))
                });
                if !goes_on {
                    break;
                }
            }
        });
        let mut places = Vec::new();
        let mut waiting = BTreeMap::new();
        for (part, built) in receiver {
            waiting.insert(part, built);
            // Parts are written in order, so the file does not depend on which thread was faster.
            while let Some(built) = waiting.remove(&(places.len() as u64)) {
                places.push(out.part(&built)?);
                further.extend(built.further);
            }
        }
        Ok(places)
    })
}

/// The entries that are sorted. An entry is a fingerprint as a table sees it (bucket, rest and filter, from high to
/// low), perhaps with its row.
trait Entry: Copy + Default + Ord + Send + Sync {
    fn new(sort: u64, row: u64) -> Self;
    fn sort(self) -> u64;
    fn row(self) -> u64;
}

impl Entry for u64 {
    fn new(sort: u64, _row: u64) -> Self {
        sort
    }

    fn sort(self) -> u64 {
        self
    }

    fn row(self) -> u64 {
        0
    }
}

impl Entry for (u64, u64) {
    fn new(sort: u64, row: u64) -> Self {
        (sort, row)
    }

    fn sort(self) -> u64 {
        self.0
    }

    fn row(self) -> u64 {
        self.1
    }
}

impl Shape {
    /// Bucket, rest and filter of a fingerprint, from high to low.
    #[inline(always)]
    fn sort_word(&self, keyed: Keyed) -> u64 {
        let address = u64::from(keyed.address);
        let turned =
            if self.bits == 0 { address } else { address >> self.bits | (address << (32 - self.bits)) & 0xffff_ffff };
        turned << 32 | u64::from(keyed.filter)
    }

    /// Builds a part from its bins. Each thread has filled its own bins.
    fn build<E: Entry>(&self, part: u64, picked: &[Bins<E>], done: &(dyn Fn(f64) + Sync)) -> Built {
        let entries: usize = picked.iter().map(Bins::len).sum();
        let buckets = 1usize << (self.bits - self.part_bits);
        let rest_bits = 32 - self.bits;
        let mut built = Built { filters: in_huge_pages(entries), ..Built::default() };
        let mut ends: Vec<u64> = in_huge_pages(buckets);
        let mut rests = packed::BitWriter::new(entries, rest_bits);
        let mut rows = packed::BitWriter::new(entries, self.row_bits.map_or(0, |bits| bits + 1));
        let mut last = None;
        let mut bin = Vec::new();
        let first_bucket = (part << (self.bits - self.part_bits)) as usize;
        let share = 0.5 / f64::from(1 << self.bin_bits);
        for i in 0..1 << self.bin_bits {
            bin.clear();
            picked.iter().flat_map(|bins| bins.of(i)).for_each(|block| bin.extend_from_slice(block));
            bin.sort_unstable();
            for (n, entry) in bin.iter().enumerate() {
                let sort = entry.sort();
                if last == Some(sort) {
                    if self.row_bits.is_some() {
                        built.further.push((self.fingerprint(sort), entry.row()));
                    }
                    continue;
                }
                last = Some(sort);
                let bucket = if self.bits == 0 { 0 } else { (sort >> (64 - self.bits)) as usize } - first_bucket;
                ends.resize(bucket, built.filters.len() as u64);
                built.filters.push(sort as u32);
                rests.push(sort >> 32 & u64::from(low_mask(rest_bits)), rest_bits);
                if let Some(row_bits) = self.row_bits {
                    let more = bin.get(n + 1).is_some_and(|next| next.sort() == sort);
                    rows.push(entry.row() << 1 | u64::from(more), row_bits + 1);
                }
            }
            done(share);
        }
        ends.resize(buckets, built.filters.len() as u64);
        (built.cells, built.large) = directory(&ends);
        built.rests = rests.finish();
        if self.row_bits.is_some() {
            built.rows = rows.finish();
        }
        built
    }

    fn fingerprint(&self, sort: u64) -> u64 {
        let turned = (sort >> 32) as u32;
        self.view.fingerprint(Keyed { address: turned.rotate_left(self.bits), filter: sort as u32 })
    }

    /// Reads the source once, with several threads. Each thread puts the fingerprints that it reads into its own bins.
    /// Returns the bins, by part, then by thread.
    fn pick<E: Entry>(
        &self,
        source: &(impl Source + ?Sized),
        parts: Range<u64>,
        threads: usize,
        done: &(dyn Fn(f64) + Sync),
    ) -> Vec<Vec<Bins<E>>> {
        const CHUNK: u64 = 1 << 14;
        let rows = source.rows();
        let n = parts.end - parts.start;
        // All threads read about the same number of fingerprints.
        let entries = (rows >> self.part_bits) as usize / threads * 9 / 8;
        let next = AtomicU64::new(0);
        let work = || {
            let mut picked: Vec<Bins<E>> = (0..n).map(|_| Bins::new(1 << self.bin_bits, entries)).collect();
            let mut chunk = vec![0; CHUNK as usize];
            let shift = 64 - self.part_bits - self.bin_bits;
            loop {
                let from = next.fetch_add(CHUNK, Ordering::Relaxed);
                if from >= rows {
                    return picked;
                }
                let chunk = &mut chunk[..CHUNK.min(rows - from) as usize];
                source.read(from, chunk);
                for (fingerprint, row) in chunk.iter().zip(from..) {
                    let sort = self.sort_word(self.view.keyed(*fingerprint));
                    // A shift by 64 is not defined.
                    let place = if shift == 64 { 0 } else { sort >> shift };
                    let part = (place >> self.bin_bits).wrapping_sub(parts.start);
                    let bin = place & ((1 << self.bin_bits) - 1);
                    // The processor cannot predict whether the fingerprint belongs to these parts, so no branch depends
                    // on it.
                    let (part, bin) = if part < n { (part, bin) } else { (0, Bins::<E>::NONE) };
                    picked[part as usize].push(bin, E::new(sort, row));
                }
                done(0.5 * n as f64 * chunk.len() as f64 / rows as f64);
            }
        };
        let by_thread: Vec<Vec<Bins<E>>> = std::thread::scope(|scope| {
            let working: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            working.into_iter().map(|thread| thread.join().expect("no thread panicked")).collect()
        });
        let mut by_part: Vec<Vec<Bins<E>>> = (0..n).map(|_| Vec::new()).collect();
        for picked in by_thread {
            by_part.iter_mut().zip(picked).for_each(|(part, bins)| part.push(bins));
        }
        by_part
    }
}

/// Makes the directory of buckets from the positions at which their entries end.
fn directory(ends: &[u64]) -> (Vec<Cell>, Vec<[u64; GROUP]>) {
    let (mut cells, mut large) = (in_huge_pages(ends.len().div_ceil(GROUP)), Vec::new());
    let mut start = 0;
    for group in ends.chunks(GROUP) {
        let last = *group.last().expect("chunks are not empty");
        let relative: [u64; GROUP] = std::array::from_fn(|i| group.get(i).copied().unwrap_or(last) - start);
        if relative[GROUP - 1] <= 255 {
            cells.push([start, u64::from_le_bytes(relative.map(|end| end as u8))]);
        } else {
            cells.push([start | LARGE, large.len() as u64]);
            large.push(relative);
        }
        start = last;
    }
    (cells, large)
}
