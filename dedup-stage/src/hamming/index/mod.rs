//! The online index: fingerprints are inserted and asked for in any order.
//!
//! An [`Index`] keeps its fingerprints in one of three forms, or in two forms while it moves them from one to the next:
//!
//! | form | used for | a query reads |
//! |---|---|---|
//! | list ([`Flat`]) | a small set, and a crowded set for which runs are not faster yet | every fingerprint |
//! | runs ([`Runs`]) | a larger set of fingerprints that crowd | the runs around the query |
//! | tables ([`Tables`]) | everything else | a few buckets of each table |
//!
//! Fingerprints *crowd* if many of those with similar keys are also similar in the other bits, so that the filter tells
//! few of them apart (`choice`). The fingerprints of the pages of one site crowd.
//!
//! `mod.rs` inserts fingerprints, and moves them from one form to the next. `choice` decides which form comes next.
//! `probe` answers queries.

mod choice;
mod probe;
#[cfg(test)]
mod tests;

pub use probe::Probe;

use super::design::Design;
use super::flat::Flat;
use super::kernel::Kernel;
use super::level::{Level, Work};
use super::runs::Runs;
use super::tables::Tables;

/// A set of 64-bit fingerprints. It answers exactly which of them lie within Hamming distance `k` of a query, and it
/// grows in place. (The words *error*, *ball*, *bucket* and others are explained in [`crate::hamming`].)
///
/// # Tables
///
/// A table has one part of the fingerprint as its *key*. A query reads the buckets of all keys that differ from its own
/// key in few bits. The tables are chosen so that at least one of them finds each fingerprint within `k`:
///
/// - For k = 3 there are two tables, one for each half. A fingerprint within distance 3 of the query has at most three
///   errors. They fall on two halves, so one half has at most one error. The query looks up each of its halves, and all
///   keys that differ from a half in one bit. (Such keys share buckets: see `code`.) For k = 1 and k = 2 the query
///   looks up fewer keys. For k = 0 there is one table.
/// - Above k = 3 there are four tables, one for each 16-bit quarter. A query looks up all keys that differ from its
///   quarter in at most as many bits as the table has flips. The flips of the four tables add up to k - 3. If every
///   quarter had more errors than its table has flips, there would be at least k + 1 errors.
///
/// # Growth
///
/// A small set is kept in a list, because reading a short list takes less time than reading many buckets. For k = 4 to
/// 8, a very large set is kept in three tables, one for each third of the fingerprint: a third is longer than a
/// quarter, so fewer fingerprints share a key. Above k = 3, fingerprints that crowd are kept in the list, and later in
/// `Runs`, because crowded buckets are slow. The index estimates whether its fingerprints crowd when it has 4,096 of
/// them, and whenever their number has doubled since. Once it uses tables, it keeps them. When another form has become
/// better, each insertion moves a few fingerprints to it. So no insertion has to wait until all fingerprints are moved.
///
/// # Complexity
///
/// With N stored fingerprints: for k ≤ 3 a probe reads at most 34 buckets, none of which waits for another, and the
/// index takes about 23 bytes a fingerprint. For k > 3 a probe reads a ball of buckets in each quarter, and about N /
/// 65,536 entries for each key of the ball. From millions of fingerprints on (for k = 4 to 8) it reads a larger ball in
/// each third, and about N / 2,000,000 entries for each key.
///
/// # References
///
/// Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling" (WWW 2007), section 3, for the problem.
/// Norouzi, Punjani, Fleet, "Fast Exact Search in Hamming Space with Multi-Index Hashing" (PAMI 2014), for flipping key
/// bits; Qin et al., "GPH: Similarity Search in Hamming Space" (ICDE 2018), for unequal radii.
#[derive(Clone, Debug)]
pub struct Index {
    /// The fingerprints of the list.
    flat: Flat,
    /// The fingerprints of the runs, if runs are used.
    runs: Option<Runs>,
    /// Whether tables are in use. If so, new fingerprints go to the tables, and the fingerprints of list and runs move
    /// there.
    uses_tables: bool,
    /// While no tables are in use: the number of fingerprints at which the form is chosen again.
    look_at: usize,
    /// Sets of tables: one, or two while fingerprints move from the first set to the second.
    sets: Vec<Tables>,
    /// The next design of the tables, and the number of fingerprints from which on it is used.
    larger: Option<(usize, Design)>,
    /// A set of tables whose fingerprints have all moved to the next set. Its memory is given back a little at a time.
    retired: Option<Tables>,
    /// The number of sets that were used before `sets[0]` and are given up. A [`Probe`] sees by it that the sets have
    /// changed.
    past: usize,
    /// The average number of entries in a bucket when the table grows ([`Fill::load`]).
    load: usize,
    level: Level,
}

/// How full the buckets are. Fuller buckets take less memory, and more time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Buckets are about half full, so few of them overflow.
    Fast,
    /// Buckets are nearly full, so they overflow often.
    Compact,
}

impl Fill {
    /// Average number of entries in a bucket, which has room for 20 to 24.
    fn load(self) -> usize {
        match self {
            Fill::Fast => 11,
            Fill::Compact => 19,
        }
    }

    /// Bytes that a fingerprint takes in one table, about.
    pub fn bytes(self) -> f64 {
        128.0 / self.load() as f64
    }
}

impl Index {
    /// Up to this number, fingerprints are kept in a list. (`cargo bench -p dedup-stage --bench hamming_large -- crawl`
    /// measures whole crawls: a smaller number makes small crawls slower, twice the number makes crawls of 16,000 pages
    /// slower.)
    const LIST: usize = 1 << 12;
    /// Each insertion moves this many fingerprints to the next form.
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
            uses_tables: list == 0,
            look_at: list,
            sets: vec![Tables::new(design, load)],
            larger,
            retired: None,
            past: 0,
            load,
            level: Level::detect(),
        }
    }

    /// The distance `k` that this index answers for.
    pub fn distance(&self) -> u32 {
        self.design().distance
    }

    /// The design of the tables. While fingerprints move from one set of tables to another, this is the design of the
    /// new set.
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
        let is_new = !self.contains(fingerprint);
        if is_new {
            self.insert_new(fingerprint);
        }
        is_new
    }

    /// Whether a fingerprint is there.
    pub fn contains(&self, fingerprint: u64) -> bool {
        self.level.run(Gathered { index: self, fingerprint })
            || self.uses_tables && self.sets.iter().any(|set| set.contains(fingerprint))
    }

    /// Adds a fingerprint. The caller must know that the index does not have it.
    pub fn insert_new(&mut self, fingerprint: u64) {
        if self.uses_tables {
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

    /// Takes a fingerprint out of the list, or out of the runs if the list is empty.
    fn take_gathered(&mut self) -> Option<u64> {
        let next = self.flat.pop().or_else(|| self.runs.as_mut().and_then(Runs::pop));
        if next.is_none() {
            self.runs = None;
        }
        next
    }

    /// Takes a fingerprint out of the older set of tables, if there are two sets.
    fn take_from_first(&mut self) -> Option<u64> {
        match &mut self.sets[..] {
            [first, _] => first.take(),
            _ => None,
        }
    }

    fn newest_mut(&mut self) -> &mut Tables {
        self.sets.last_mut().expect("there is always a set of tables")
    }

    /// Moves a few fingerprints from list, runs or the older set of tables to the newest set.
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

/// Whether list or runs have a fingerprint, to be compiled for each kernel.
struct Gathered<'a> {
    index: &'a Index,
    fingerprint: u64,
}

impl Work for Gathered<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self, kernel: impl Kernel) -> bool {
        let Self { index: Index { flat, runs, .. }, fingerprint } = self;
        flat.contains(kernel, fingerprint) || runs.as_ref().is_some_and(|runs| runs.contains(kernel, fingerprint))
    }
}
