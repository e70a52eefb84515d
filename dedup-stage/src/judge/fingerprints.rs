//! The fingerprints of all accepted pages. Page workers may search among them, too.
//!
//! To find the fingerprints near that of a page is the most expensive step of a judgement in a large crawl. The step
//! needs only the fingerprint of the page, so a page worker can do it [ahead](Ahead) of the page's turn. Until the turn
//! comes, the judge accepts other pages. It knows among how many fingerprints the worker has searched, and compares the
//! page with those that came later. So the result is that of a search at the page's turn, whatever the threads did in
//! between.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use crate::hamming::Index;

/// The index of fingerprints. The judge adds to it, and page workers search in it.
#[derive(Clone, Debug)]
pub struct Searcher(Arc<RwLock<Index>>);

/// The result of a search that a page worker has made before the page's turn.
#[derive(Clone, Debug, Default)]
pub struct Ahead {
    /// The number of fingerprints among which the worker has searched: the first ones in the order in which they were
    /// accepted.
    asked: usize,
    /// The fingerprints within the distance, with their distances, in no order.
    near: Vec<(u64, u32)>,
}

/// The fingerprints of all accepted pages, as the judge has them.
#[derive(Debug)]
pub(super) struct Fingerprints {
    distance: u32,
    searcher: Searcher,
    /// The number of fingerprints in the index. Only the judge inserts, so it knows this number without the lock.
    indexed: usize,
    /// The newest fingerprints, in the order in which they were accepted. The last of them may not be in the index yet.
    newest: VecDeque<u64>,
    /// The number of fingerprints that were accepted before the first of `newest`.
    before: usize,
}

impl Searcher {
    /// With fewer page workers than this, the judge searches itself. It has the time, and it does not search for pages
    /// whose bytes are those of an earlier page. (`tests/peers/crawl/bench.py growth --pages 300000`, twice each, with
    /// two workers that search: 7 % more CPU a page in the last three tenths.)
    const WORKERS: usize = 4;

    /// Finds the fingerprints near this one.
    pub fn search(&self, fingerprint: u64) -> Ahead {
        let index = self.read();
        let mut near = Vec::new();
        index.within(fingerprint, &mut near);
        Ahead { asked: index.len(), near }
    }

    fn read(&self) -> RwLockReadGuard<'_, Index> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fingerprints {
    /// At most this many of the newest fingerprints are kept after an insertion into the index. If more were accepted
    /// while a page waited for its turn, the search for this page is made again.
    const KEPT: usize = 1 << 12;
    /// If this many fingerprints wait because page workers read the index, the judge waits for the workers.
    const WAITING: usize = 256;

    /// Begins with the fingerprints of `index`.
    pub(super) fn new(index: Index) -> Self {
        let (distance, indexed) = (index.distance(), index.len());
        let searcher = Searcher(Arc::new(RwLock::new(index)));
        Self { distance, searcher, indexed, newest: VecDeque::new(), before: indexed }
    }

    /// A searcher for this many page workers. `None` if they are so few that the judge should search itself.
    pub(super) fn searcher(&self, workers: usize) -> Option<Searcher> {
        (workers >= Searcher::WORKERS).then(|| self.searcher.clone())
    }

    /// Number of distinct fingerprints.
    pub(super) fn len(&self) -> usize {
        self.before + self.newest.len()
    }

    /// Bytes of the index.
    pub(super) fn bytes(&self) -> usize {
        self.searcher.read().bytes()
    }

    /// Appends every fingerprint near `fingerprint`, with its distance, to `near`, in no order. `ahead` is the result
    /// of a page worker for this fingerprint, if one has searched.
    pub(super) fn near(&self, fingerprint: u64, ahead: Option<&Ahead>, near: &mut Vec<(u64, u32)>) {
        let asked = match ahead.filter(|ahead| ahead.asked >= self.before) {
            Some(ahead) => {
                near.extend_from_slice(&ahead.near);
                ahead.asked
            }
            None => {
                self.searcher.read().within(fingerprint, near);
                self.indexed
            }
        };
        for other in self.newest.range(asked - self.before..) {
            let distance = (other ^ fingerprint).count_ones();
            if distance <= self.distance {
                near.push((*other, distance));
            }
        }
    }

    /// Adds a fingerprint. False if it was there already.
    pub(super) fn insert(&mut self, fingerprint: u64) -> bool {
        let waits = self.newest.range(self.indexed - self.before..).any(|other| *other == fingerprint);
        let is_new = !waits && !self.searcher.read().contains(fingerprint);
        if is_new {
            self.insert_new(fingerprint);
        }
        is_new
    }

    /// Adds a fingerprint that is not there.
    pub(super) fn insert_new(&mut self, fingerprint: u64) {
        self.newest.push_back(fingerprint);
        let waiting = self.len() - self.indexed;
        let index = match self.searcher.0.try_write() {
            Ok(index) => Some(index),
            // Page workers are reading the index.
            Err(_) if waiting < Self::WAITING => None,
            Err(_) => Some(self.searcher.0.write().unwrap_or_else(PoisonError::into_inner)),
        };
        let Some(mut index) = index else { return };
        self.newest.range(self.indexed - self.before..).for_each(|waiting| index.insert_new(*waiting));
        self.indexed += waiting;
        drop(index);
        let old = self.newest.len().saturating_sub(Self::KEPT);
        self.newest.drain(..old);
        self.before += old;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DISTANCE: u32 = 3;

    fn sorted(mut near: Vec<(u64, u32)>) -> Vec<(u64, u32)> {
        near.sort_unstable();
        near
    }

    /// The result of a search at the page's turn, by comparing with all fingerprints.
    fn all_near(all: &[u64], fingerprint: u64) -> Vec<(u64, u32)> {
        let near = all.iter().map(|other| (*other, (other ^ fingerprint).count_ones()));
        sorted(near.filter(|(_, distance)| *distance <= DISTANCE).collect())
    }

    proptest! {
        /// Whenever a worker searches, and however long others read the index, nothing is missed and nothing is found
        /// twice.
        #[test]
        fn a_search_ahead_finds_what_a_search_in_turn_finds(
            steps in prop::collection::vec((0u64..64, 0u8..4, any::<bool>()), 1..200),
        ) {
            let mut fingerprints = Fingerprints::new(Index::new(DISTANCE));
            let (searcher, mut all, mut ahead) = (fingerprints.searcher(Searcher::WORKERS).unwrap(), Vec::new(), Vec::new());
            for (fingerprint, step, is_read) in steps {
                match step {
                    0 => ahead.push((fingerprint, searcher.search(fingerprint))),
                    1 => {
                        // A worker reads while the judge accepts.
                        let reads = is_read.then(|| searcher.read());
                        let is_new = !all.contains(&fingerprint);
                        if is_new {
                            fingerprints.insert_new(fingerprint);
                            all.push(fingerprint);
                        }
                        drop(reads);
                    }
                    2 => prop_assert_eq!(fingerprints.insert(fingerprint), !all.contains(&fingerprint) && {
                        all.push(fingerprint);
                        true
                    }),
                    _ => {
                        let found = ahead.pop();
                        let fingerprint = found.as_ref().map_or(fingerprint, |(asked, _)| *asked);
                        let mut near = Vec::new();
                        fingerprints.near(fingerprint, found.as_ref().map(|(_, ahead)| ahead), &mut near);
                        prop_assert_eq!(sorted(near), all_near(&all, fingerprint));
                    }
                }
                prop_assert_eq!(fingerprints.len(), all.len());
            }
        }
    }

    #[test]
    fn a_search_that_is_too_old_is_made_again() {
        let mut fingerprints = Fingerprints::new(Index::new(DISTANCE));
        let ahead = fingerprints.searcher(Searcher::WORKERS).unwrap().search(0);
        let all: Vec<u64> = (0..2 * Fingerprints::KEPT as u64).collect();
        all.iter().for_each(|fingerprint| fingerprints.insert_new(*fingerprint));
        assert!(fingerprints.newest.len() <= Fingerprints::KEPT, "the newest have a bound");
        let mut near = Vec::new();
        fingerprints.near(0, Some(&ahead), &mut near);
        assert_eq!(sorted(near), all_near(&all, 0));
    }

    #[test]
    fn the_judge_waits_for_workers_only_when_many_fingerprints_wait() {
        let mut fingerprints = Fingerprints::new(Index::new(DISTANCE));
        let searcher = fingerprints.searcher(Searcher::WORKERS).unwrap();
        let reads = searcher.read();
        (1..Fingerprints::WAITING as u64).for_each(|fingerprint| fingerprints.insert_new(fingerprint));
        assert_eq!((reads.len(), fingerprints.len()), (0, Fingerprints::WAITING - 1));
        drop(reads);
        fingerprints.insert_new(0);
        assert_eq!((searcher.read().len(), fingerprints.len()), (Fingerprints::WAITING, Fingerprints::WAITING));
    }
}
