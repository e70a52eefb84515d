//! Stores the entries for which a bucket has no room.

use super::bucket::{Bucket, Layout};
use super::memory;
use super::segments::Segments;

/// One cache line of entries.
pub type Line = Bucket<16>;

/// The overflows of buckets. The overflow of a bucket is a *run* of adjacent cache lines. A full run moves to a place
/// with twice its room. So even the worst bucket (a million fingerprints that agree in one half) is read at the speed
/// of memory.
///
/// The tag of the first line of a run is the number of its lines in use.
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

    /// Starts a run with one entry. The number of a run is never 0.
    pub fn start(&mut self, layout: Layout, filter: u32, rest: u32) -> u32 {
        let run = self.allocate(0);
        self.lines[run as usize].set_tag(1);
        self.lines[run as usize].push(layout, filter, rest);
        run
    }

    /// Adds an entry to a run. Returns the number that the run has now.
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
    pub fn run(&self, run: u32) -> impl Iterator<Item = &Line> {
        (run..run + self.len(run)).map(|line| &self.lines[line as usize])
    }

    /// Number of lines of a run.
    #[inline(always)]
    pub fn len(&self, run: u32) -> u32 {
        self.lines[run as usize].tag()
    }

    /// A line of a run.
    pub fn line(&self, run: u32, i: u32) -> Option<&Line> {
        (i < self.len(run)).then(|| &self.lines[(run + i) as usize])
    }

    /// Starts to load the first lines of a run.
    #[inline(always)]
    pub fn prefetch(&self, run: u32, lines: u32) {
        let end = (run as usize + lines as usize).min(self.lines.len());
        (run as usize..end).for_each(|line| memory::prefetch(&self.lines[line]));
    }

    /// Frees a run.
    pub fn release(&mut self, run: u32) {
        let class = self.lines[run as usize].tag().next_power_of_two().trailing_zeros();
        self.free[class as usize].push(run);
    }

    /// Bytes in use or set aside.
    pub fn bytes(&self) -> usize {
        self.lines.bytes() + self.free.iter().map(|free| free.capacity() * 4).sum::<usize>()
    }

    /// Gives back some memory, which must never be read again. False if no memory is left.
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

    /// A run of `1 << class` lines.
    fn allocate(&mut self, class: u32) -> u32 {
        if let Some(run) = self.free[class as usize].pop() {
            self.lines[run as usize] = Line::EMPTY;
            return run;
        }
        let run = self.lines.len() as u32;
        (0..1 << class).for_each(|_| self.lines.push(Line::EMPTY));
        run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The length of a run is limited neither by the lines of a segment, nor by other runs that grow at the same time.
    #[test]
    fn runs_are_as_long_as_they_must_be() {
        let layout = Layout::new(16, 0);
        let mut overflow = Overflow::new();
        let mut runs = [0, 1, 2].map(|run| overflow.start(layout, run, 0));
        let n = 1_000_000;
        for filter in 3..n {
            let run = &mut runs[filter as usize % 3];
            *run = overflow.push(*run, layout, filter, 0);
        }
        for (i, run) in (0..).zip(runs) {
            let filters = overflow.run(run).flat_map(|line| (0..line.len()).map(|i| line.filter(i)));
            assert!(filters.eq((i..n).step_by(3)));
            assert!(overflow.line(run, overflow.len(run)).is_none());
        }
    }
}
