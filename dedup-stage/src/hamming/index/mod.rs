//! The online index: insert and ask, in any order.

mod choice;
mod probe;
#[cfg(test)]
mod tests;

pub use probe::Probe;

use super::design::Design;
use super::flat::Flat;
use super::kernel::{Kernel, Level, Work};
use super::runs::Runs;
use super::tables::Tables;

/// A set of 64-bit fingerprints that answers, exactly, which of them lie within `k` of a query; grows in place.
///
/// Up to k = 3, two tables: of the two halves of a fingerprint one has at most one error, so each half is looked up with its one-bit
/// neighbours, bucketed by nearest codeword (see `code`). Above, four tables keyed by the four 16-bit quarters, each
/// looked up with all keys within a radius; the radii add up to k - 3, so that not all four can be exceeded.
///
/// What is best for a small set is not for a large one. A small set is kept as a list, which is read faster than so many buckets,
/// and a very large one (above k = 3) in three tables keyed by thirds, which hold fewer entries for each key. Nor is what
/// is best for random fingerprints best for those of pages, which crowd: these (above k = 3) are kept in `Runs`. When a
/// set has outgrown what it is kept in, each insertion moves some of it on, so that there is no pause.
///
/// # Complexity
///
/// With N stored: k ≤ 3 reads at most 34 buckets a probe, all independent of each other, and keeps about 23 bytes a fingerprint.
/// k > 3 reads a ball of buckets in each quarter, and about N / 65,536 entries for each key in them; from millions on a larger ball
/// in each third, and about N / 2,000,000 entries for each key.
///
/// # References
///
/// Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling" (WWW 2007), section 3, for the problem. Norouzi, Punjani,
/// Fleet, "Fast Exact Search in Hamming Space with Multi-Index Hashing" (PAMI 2014), for flipping key bits; Qin et al., "GPH:
/// Similarity Search in Hamming Space" (ICDE 2018), for unequal radii.
#[derive(Clone, Debug)]
pub struct Index {
    /// What is in neither the runs nor the tables.
    flat: Flat,
    /// What is not in the tables, where they would be crowded.
    runs: Option<Runs>,
    /// Whether all is on its way to the tables, or there.
    moving: bool,
    /// Until it is, so many fingerprints are the occasion to look again what they are best kept in.
    look_at: usize,
    /// One, or two while fingerprints move from the first to the last.
    sets: Vec<Tables>,
    /// The next design, and how many fingerprints there must be for it.
    larger: Option<(usize, Design)>,
    /// Tables that all have left, on their way out of memory.
    retired: Option<Tables>,
    /// How many sets are gone.
    past: usize,
    load: usize,
    level: Level,
}

/// How full buckets are: speed for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Half: few buckets overflow.
    Fast,
    /// As full as a probe bears: buckets overflow often.
    Compact,
}

impl Fill {
    /// Entries to a bucket on average, of 20 to 24 that fit.
    fn load(self) -> usize {
        match self {
            Fill::Fast => 11,
            Fill::Compact => 19,
        }
    }

    /// Bytes of an entry in one table, about.
    pub fn bytes(self) -> f64 {
        128.0 / self.load() as f64
    }
}

impl Index {
    /// So many are kept as a list at least. (`cargo bench -p dedup-stage --bench hamming_large -- crawl` measures the whole: with fewer,
    /// small crawls are slower; with twice as many, those of 16,000 pages.)
    const LIST: usize = 1 << 12;
    /// Fingerprints that each insertion moves on.
    const MOVED: usize = 4;

    /// An empty index for distances up to `k`.
    pub fn new(k: u32) -> Self {
        Self::with_load(Design::standard(k.min(64)), Fill::Fast.load(), Self::LIST, Design::larger(k))
    }

    /// An empty index of a given design, which it keeps.
    pub fn with_design(design: Design, fill: Fill) -> Self {
        Self::with_load(design, fill.load(), Self::LIST, None)
    }

    fn with_load(design: Design, load: usize, list: usize, larger: Option<(usize, Design)>) -> Self {
        Self {
            flat: Flat::default(),
            runs: None,
            moving: list == 0,
            look_at: list,
            sets: vec![Tables::new(design, load)],
            larger,
            retired: None,
            past: 0,
            load,
            level: Level::detect(),
        }
    }

    /// The distance this index answers for.
    pub fn distance(&self) -> u32 {
        self.design().distance
    }

    /// The design of the tables, the new one where it changes.
    pub fn design(&self) -> &Design {
        &self.newest().design
    }

    fn newest(&self) -> &Tables {
        self.sets.last().expect("there is always a set of tables")
    }

    /// Number of distinct fingerprints.
    pub fn len(&self) -> usize {
        self.gathered() + self.sets.iter().map(Tables::len).sum::<usize>()
    }

    /// Number of fingerprints that are not in the tables.
    fn gathered(&self) -> usize {
        self.flat.len() + self.runs.as_ref().map_or(0, Runs::len)
    }

    /// Whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes in use or set aside for fingerprints.
    pub fn bytes(&self) -> usize {
        let gathered = self.flat.bytes() + self.runs.as_ref().map_or(0, Runs::bytes);
        gathered + self.sets.iter().chain(&self.retired).map(Tables::bytes).sum::<usize>()
    }

    /// All fingerprints, in no order.
    pub fn fingerprints(&self) -> Vec<u64> {
        let mut all = Vec::with_capacity(self.len());
        self.for_each_gathered(&mut |fingerprint| all.push(fingerprint));
        self.sets.iter().for_each(|set| set.for_each(&mut |fingerprint| all.push(fingerprint)));
        all
    }

    fn for_each_gathered(&self, visit: &mut impl FnMut(u64)) {
        self.flat.for_each(visit);
        self.runs.iter().for_each(|runs| runs.for_each(visit));
    }

    /// Adds a fingerprint; false if it was there already.
    pub fn insert(&mut self, fingerprint: u64) -> bool {
        let known = self.level.run(Listed { list: &self.flat, fingerprint })
            || self.runs.as_ref().is_some_and(|runs| runs.contains(fingerprint))
            || self.moving && self.sets.iter().any(|set| set.contains(fingerprint));
        if !known {
            self.insert_new(fingerprint);
        }
        !known
    }

    /// Adds a fingerprint that is not there, as whoever has just asked for what is near it knows.
    pub fn insert_new(&mut self, fingerprint: u64) {
        if self.moving {
            self.newest_mut().insert(fingerprint);
            self.move_on();
            return;
        }
        match &mut self.runs {
            Some(runs) => {
                runs.insert(fingerprint);
                (0..Self::MOVED).map_while(|_| self.flat.pop()).for_each(|moved| runs.insert(moved));
            }
            None => self.flat.push(fingerprint),
        }
        if self.gathered() == self.look_at {
            self.choose();
            self.look_at *= 2;
        }
    }

    /// One that is not in the tables.
    fn take_gathered(&mut self) -> Option<u64> {
        let next = self.flat.pop().or_else(|| self.runs.as_mut().and_then(Runs::pop));
        if next.is_none() {
            self.runs = None;
        }
        next
    }

    /// One that is in tables on their way out.
    fn take_from_first(&mut self) -> Option<u64> {
        match &mut self.sets[..] {
            [first, _] => first.take(),
            _ => None,
        }
    }

    fn newest_mut(&mut self) -> &mut Tables {
        self.sets.last_mut().expect("there is always a set of tables")
    }

    /// Moves a few fingerprints to where they are found faster, if any are to move.
    fn move_on(&mut self) {
        if self.retired.as_mut().is_some_and(|retired| !retired.shrink()) {
            self.retired = None;
        }
        if let Some((_, design)) = self.larger.take_if(|(from, _)| self.sets[0].len() >= *from) {
            self.sets.push(Tables::new(design, self.load));
        }
        let mut moved = [0; Self::MOVED];
        let mut n = 0;
        while n < moved.len() {
            let Some(next) = self.take_gathered().or_else(|| self.take_from_first()) else { break };
            self.newest().prefetch(next);
            moved[n] = next;
            n += 1;
        }
        moved[..n].iter().for_each(|fingerprint| self.newest_mut().insert(*fingerprint));
        if n < moved.len() && self.sets.len() > 1 {
            let retired = self.sets.remove(0);
            self.past += 1;
            self.retired = Some(retired);
        }
    }
}

/// [`Flat::contains`], to be compiled for each kernel.
struct Listed<'a> {
    list: &'a Flat,
    fingerprint: u64,
}

impl Work for Listed<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self, kernel: impl Kernel) -> bool {
        self.list.contains(kernel, self.fingerprint)
    }
}
