//! Where entries go that their bucket has no room for.

use super::bucket::{Bucket, Layout};
use super::memory;
use super::segments::Segments;

/// One cache line of entries.
pub type Line = Bucket<16>;

/// Runs of cache lines, each run a bucket's overflow. A run lies together in memory, and doubles by moving, so that even
/// the worst bucket (a million fingerprints that agree in one half) is read at the speed of memory.
///
/// The tag of a run's first line is the number of lines in use.
#[derive(Clone, Debug)]
pub struct Overflow {
    lines: Segments<Line>,
    /// Unused runs of 1, 2, 4, … lines.
    free: Vec<Vec<u32>>,
}

impl Overflow {
    /// No runs.
    pub fn new() -> Self {
        let mut lines = Segments::new();
        lines.push(Line::EMPTY); // So that 0 can mean "no run".
        Self { lines, free: vec![Vec::new(); 28] }
    }

    /// Starts a run with one entry; its number is never 0.
    pub fn start(&mut self, layout: Layout, filter: u32, rest: u32) -> u32 {
        let run = self.allocate(0);
        self.lines[run as usize].set_tag(1);
        self.lines[run as usize].push(layout, filter, rest);
        run
    }

    /// Adds an entry to a run, and returns where the run is now.
    pub fn push(&mut self, run: u32, layout: Layout, filter: u32, rest: u32) -> u32 {
        let used = self.lines[run as usize].tag();
        let last = run + used - 1;
        if self.lines[last as usize].push(layout, filter, rest) {
            return run;
        }
        let run = if used.is_power_of_two() { self.double(run, used) } else { run };
        let line = &mut self.lines[(run + used) as usize];
        *line = Line::EMPTY;
        line.push(layout, filter, rest);
        self.lines[run as usize].set_tag(used + 1);
        run
    }

    /// The lines of a run.
    #[inline(always)]
    pub fn run(&self, run: u32) -> &[Line] {
        let used = self.lines[run as usize].tag() as usize;
        self.lines.slice(run as usize, used)
    }

    /// Starts loading the first lines of a run.
    #[inline(always)]
    pub fn prefetch(&self, run: u32, lines: u32) {
        self.lines.slice(run as usize, lines as usize).iter().for_each(memory::prefetch);
    }

    /// Gives a run up.
    pub fn release(&mut self, run: u32) {
        let class = self.lines[run as usize].tag().next_power_of_two().trailing_zeros();
        self.free[class as usize].push(run);
    }

    /// Bytes in use or set aside.
    pub fn bytes(&self) -> usize {
        self.lines.len() * size_of::<Line>() + self.free.iter().map(|free| free.capacity() * 4).sum::<usize>()
    }

    /// Gives back some memory, never to be read again; false if none is left.
    pub fn shrink(&mut self) -> bool {
        self.lines.shrink()
    }

    fn double(&mut self, run: u32, used: u32) -> u32 {
        let to = self.allocate(used.trailing_zeros() + 1);
        for i in 0..used {
            self.lines[(to + i) as usize] = self.lines[(run + i) as usize].clone();
        }
        self.release(run);
        to
    }

    /// A run of `1 << class` lines, at a multiple of its size: it never straddles two segments.
    fn allocate(&mut self, class: u32) -> u32 {
        if let Some(run) = self.free[class as usize].pop() {
            self.lines[run as usize] = Line::EMPTY;
            return run;
        }
        // What alignment skips is free for smaller runs.
        while !self.lines.len().is_multiple_of(1 << class) {
            let gap = self.lines.len().trailing_zeros();
            self.free[gap as usize].push(self.lines.len() as u32);
            self.extend(1 << gap);
        }
        let run = self.lines.len() as u32;
        self.extend(1 << class);
        run
    }

    fn extend(&mut self, lines: usize) {
        (0..lines).for_each(|_| self.lines.push(Line::EMPTY));
    }
}
