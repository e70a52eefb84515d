//! The memory of all runs. Its entries are in blocks, so that a kernel always compares as many parts as it can.

use super::entry::Entry;
use crate::hamming::kernel::{Kernel, Limits};
use crate::hamming::memory::prefetch;
use crate::hamming::segments::Segments;

/// The place of a run in memory, and its length. Its room is the next power of two, and at least two. The number of its
/// first entry is a multiple of its room, so a run begins with a block or lies within one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Run {
    pub at: u32,
    pub len: u32,
}

/// The parts and the rests of entries, under the same numbers.
#[derive(Clone, Debug)]
pub struct Pool {
    /// Whole blocks.
    parts: Segments<u32>,
    rests: Segments<u16>,
    /// Unused room for 1, 2, 4, … entries.
    free: Vec<Vec<u32>>,
}

impl Pool {
    /// Entries of a block.
    const BLOCK: u32 = 32;

    /// An empty pool. It has one block, so that the place of an empty run exists.
    pub fn new() -> Self {
        let mut pool = Self { parts: Segments::new(), rests: Segments::new(), free: vec![Vec::new(); 32] };
        pool.extend(Self::BLOCK);
        pool
    }

    /// Bytes in use or set aside.
    pub fn bytes(&self) -> usize {
        let free: usize = self.free.iter().map(Vec::capacity).sum();
        self.parts.bytes() + self.rests.bytes() + free * size_of::<u32>()
    }

    /// The blocks of a run: the number of the first entry, the parts, and a word in which bit i is set if entry i of
    /// the block belongs to the run.
    #[inline(always)]
    pub fn blocks(&self, run: Run) -> impl Iterator<Item = (u32, &[u32; Self::BLOCK as usize], u32)> {
        let skipped = run.at % Self::BLOCK;
        let (start, end) = (run.at - skipped, run.at + run.len);
        let parts = self.parts.slice(start as usize, (end - start).next_multiple_of(Self::BLOCK) as usize);
        // A run that skips entries has no other block than the last.
        let (last, used) =
            (end.saturating_sub(1) / Self::BLOCK, u32::MAX >> (end.wrapping_neg() % Self::BLOCK) & u32::MAX << skipped);
        let blocks = parts.as_chunks().0.iter().zip(start / Self::BLOCK..);
        blocks.map(move |(parts, i)| (i * Self::BLOCK, parts, if i == last { used } else { u32::MAX }))
    }

    /// Starts to load the first parts of a run. (A branch that depends on the length would wait for the length.)
    #[inline(always)]
    pub fn prefetch(&self, run: Run) {
        let last = run.len.saturating_sub(1);
        for place in [0, 16, 32, 48] {
            prefetch(&self.parts[(run.at + last.min(place)) as usize]);
        }
    }

    /// Starts to load the rest of an entry.
    #[inline(always)]
    pub fn prefetch_rest(&self, at: u32) {
        prefetch(&self.rests[at as usize]);
    }

    /// The entry with this number.
    #[inline(always)]
    pub fn entry(&self, at: u32) -> Entry {
        Entry { part: self.parts[at as usize], rest: self.rests[at as usize] }
    }

    fn set(&mut self, at: u32, entry: Entry) {
        (self.parts[at as usize], self.rests[at as usize]) = (entry.part, entry.rest);
    }

    /// The number of an entry of a run.
    #[inline(always)]
    pub fn find(&self, kernel: impl Kernel, run: Run, entry: Entry) -> Option<u32> {
        self.blocks(run).find_map(|(at, parts, used)| {
            let mut same = kernel.near_parts(parts, entry.part, Limits { upper: 0, whole: 0 }) & used;
            while same != 0 {
                let at = at + same.trailing_zeros();
                if self.rests[at as usize] == entry.rest {
                    return Some(at);
                }
                same &= same - 1;
            }
            None
        })
    }

    /// Adds an entry to a run.
    pub fn push(&mut self, run: &mut Run, entry: Entry) {
        match run.len {
            0 => run.at = self.allocate(1),
            len if len > 1 && len.is_power_of_two() => {
                let (class, to) = (len.trailing_zeros(), self.allocate(len.trailing_zeros() + 1));
                (0..len).for_each(|i| self.set(to + i, self.entry(run.at + i)));
                self.free[class as usize].push(run.at);
                run.at = to;
            }
            _ => {}
        }
        self.set(run.at + run.len, entry);
        run.len += 1;
    }

    /// Takes the entry with this number out of a run.
    pub fn remove(&mut self, run: &mut Run, at: u32) {
        run.len -= 1;
        self.set(at, self.entry(run.at + run.len));
        match run.len {
            0 => {
                self.free[1].push(run.at);
                *run = Run::default();
            }
            // The upper half is not needed any more.
            len if len > 1 && len.is_power_of_two() => self.free[len.trailing_zeros() as usize].push(run.at + len),
            _ => {}
        }
    }

    /// A place for `1 << class` entries. Its number is a multiple of `1 << class`.
    fn allocate(&mut self, class: u32) -> u32 {
        let whole = class.max(Self::BLOCK.trailing_zeros());
        // Larger room is not cut, unless it is within a block: a longer run will need it.
        let found = (class..=whole).find_map(|from| self.free[from as usize].pop().map(|at| (at, from)));
        let (at, from) = found.unwrap_or_else(|| (self.append(whole), whole));
        // The second half is free, and the second half of the first half, …
        (class..from).for_each(|class| self.free[class as usize].push(at + (1 << class)));
        at
    }

    /// New room for `1 << class` entries, which are whole blocks.
    fn append(&mut self, class: u32) -> u32 {
        // What alignment skips is free for shorter runs.
        while !self.parts.len().is_multiple_of(1 << class) {
            let gap = self.parts.len().trailing_zeros();
            self.free[gap as usize].push(self.parts.len() as u32);
            self.extend(1 << gap);
        }
        let at = self.parts.len() as u32;
        self.extend(1 << class);
        at
    }

    fn extend(&mut self, n: u32) {
        for _ in 0..n {
            self.parts.push(0);
            self.rests.push(0);
        }
    }
}
