//! The assignment of partitions to shares, and the moves that keep the shares equally large when workers join and
//! leave.
//!
//! The record is [`Assignment`]. It is changed by compare-and-set. The moves that are due follow from it: every worker
//! that reads the record computes the same moves ([`Assignment::due`]), so nobody has to plan them. A worker that has
//! too many partitions gives some away.

use std::collections::BTreeMap;
use std::ops::Range;

use dedup_stage::url::Sites;
use serde::{Deserialize, Serialize};

use super::record::Worker;

/// A set of partitions. The ranges of their numbers are sorted and not empty, and there is a gap between any two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partitions(Vec<(u32, u32)>);

/// The shares of a crawl, and their workers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// The shares, by number. A share stays on the list when its worker has left.
    pub shares: Vec<Share>,
    /// Whether the hosts have been shared. After that, shares are added one by one, and begin without hosts.
    pub settled: bool,
    /// The number of shares among which the hosts were shared at the start.
    pub first: usize,
    /// The gifts that were not taken yet.
    pub moves: Vec<Move>,
}

/// A share and its worker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The worker whose directory has the state of the share.
    pub worker: Worker,
    /// The process that took the share last. No other process changes this entry.
    pub life: String,
    /// The partitions of the share.
    pub partitions: Partitions,
    /// The name of its last gift ([`Move::name`]).
    pub gave: String,
    /// Whether the share should have partitions.
    pub stay: Stay,
}

/// Whether a share should have partitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stay {
    /// It should have as many as any other share.
    #[default]
    Stays,
    /// It gives all its partitions away.
    Leaves,
    /// It has given all its partitions away, and takes none any more.
    Left,
}

/// A gift of partitions on their way from one share to another. In the record, the partitions already belong to the
/// other share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Move {
    /// The name of the gift. No two gifts have the same name.
    pub name: String,
    /// The share that gets the partitions.
    pub to: usize,
    /// The partitions that move.
    pub partitions: Partitions,
    /// The places of the first and last messages of the gift in the stream of commits.
    pub places: (u64, u64),
}

impl Partitions {
    /// The set of the partitions in these ranges.
    pub fn of(ranges: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut ranges: Vec<(u32, u32)> = ranges.into_iter().filter(|(from, to)| from < to).collect();
        ranges.sort_unstable();
        let mut joined: Vec<(u32, u32)> = Vec::new();
        for (from, to) in ranges {
            match joined.last_mut() {
                Some((_, end)) if from <= *end => *end = to.max(*end),
                _ => joined.push((from, to)),
            }
        }
        Self(joined)
    }

    /// The ranges of the set.
    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.0
    }

    /// The number of partitions in the set.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|(from, to)| to - from).sum()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the set has this partition.
    pub fn has(&self, partition: u32) -> bool {
        let before = self.0.partition_point(|(from, _)| *from <= partition);
        before > 0 && partition < self.0[before - 1].1
    }

    /// Whether the set has all partitions of another set.
    pub fn has_all(&self, others: &Self) -> bool {
        others.0.iter().all(|(from, to)| self.0.iter().any(|(begin, end)| begin <= from && to <= end))
    }

    /// The union of two sets.
    pub fn or(&self, other: &Self) -> Self {
        Self::of(self.0.iter().chain(&other.0).copied())
    }

    /// The partitions of this set that are not in the other.
    pub fn without(&self, others: &Self) -> Self {
        let mut left = Vec::new();
        for &(first, to) in &self.0 {
            let mut from = first;
            for &(begin, end) in others.0.iter().filter(|(begin, end)| *end > first && *begin < to) {
                left.push((from, begin));
                from = from.max(end);
            }
            left.push((from, to));
        }
        Self::of(left)
    }

    /// The last `count` partitions of the set.
    fn last(&self, mut count: u32) -> Self {
        let mut last = Vec::new();
        for (from, to) in self.0.iter().rev() {
            let some = count.min(to - from);
            last.push((to - some, *to));
            count -= some;
        }
        Self::of(last)
    }

    /// The hosts of this set. `partitions` is the number of all partitions.
    pub fn sites(&self, partitions: u32) -> Sites {
        let parts = self.0.iter().map(|(from, to)| Sites::parts(*from..*to, partitions));
        parts.fold(Sites::default(), |all, part| all.or(&part))
    }
}

impl Assignment {
    /// The partitions that a share had at the start.
    pub fn at_first(&self, share: usize, partitions: u32) -> Partitions {
        Partitions::of((share < self.first).then(|| even(partitions, share, self.first)).map(|at| (at.start, at.end)))
    }

    /// Shares the hosts among the workers that have come.
    pub fn settle(&mut self, partitions: u32) {
        (self.settled, self.first) = (true, self.shares.len());
        for share in 0..self.first {
            self.shares[share].partitions = self.at_first(share, partitions);
        }
    }

    /// The share that has a partition.
    pub fn share_of(&self, partition: u32) -> Option<usize> {
        self.shares.iter().position(|share| share.partitions.has(partition))
    }

    /// The number of shares that should have partitions.
    pub fn staying(&self) -> usize {
        self.shares.iter().filter(|share| share.stay == Stay::Stays).count()
    }

    /// The next partitions that a share should give away, and the share that should get them.
    pub fn due(&self, share: usize) -> Option<(usize, Partitions)> {
        let wanted = self.wanted()?;
        let has: Vec<u32> = self.shares.iter().map(|share| share.partitions.count()).collect();
        // The partitions that some shares have too many fill the gaps of the others. Both are taken in the order of the
        // shares.
        let mut lacks: BTreeMap<usize, u32> =
            (0..has.len()).filter(|at| wanted[*at] > has[*at]).map(|at| (at, wanted[at] - has[at])).collect();
        for from in 0..=share {
            let mut over = has[from].saturating_sub(wanted[from]);
            while over > 0 {
                let mut next = lacks.first_entry()?;
                let some = over.min(*next.get());
                if from == share {
                    return Some((*next.key(), self.shares[share].partitions.last(some)));
                }
                over -= some;
                *next.get_mut() -= some;
                if *next.get() == 0 {
                    next.remove();
                }
            }
        }
        None
    }

    /// Whether other shares have partitions to give to this one.
    pub fn is_owed(&self, share: usize) -> bool {
        (0..self.shares.len()).any(|from| self.due(from).is_some_and(|(to, _)| to == share))
    }

    /// The number of partitions that each share should have: as many as any other, ± 1, and so that few partitions
    /// move. `None` if no share should have any.
    fn wanted(&self) -> Option<Vec<u32>> {
        let all: u32 = self.shares.iter().map(|share| share.partitions.count()).sum();
        let mut staying: Vec<usize> =
            (0..self.shares.len()).filter(|share| self.shares[*share].stay == Stay::Stays).collect();
        // The shares that have most get one more.
        staying.sort_by_key(|share| std::cmp::Reverse(self.shares[*share].partitions.count()));
        let (each, more) = (all.checked_div(staying.len() as u32)?, all as usize % staying.len());
        let mut wanted = vec![0; self.shares.len()];
        for (place, share) in staying.into_iter().enumerate() {
            wanted[share] = each + u32::from(place < more);
        }
        Some(wanted)
    }

    /// Whether a share has something to do: give, take or leave.
    pub fn concerns(&self, share: usize) -> bool {
        self.due(share).is_some() || self.moves.iter().any(|one| one.to == share) || self.is_empty_handed(share)
    }

    /// Marks a share as one that gives all its partitions away. Returns false if that changes nothing, or if no other
    /// share stays.
    pub fn begin_to_leave(&mut self, share: usize) -> bool {
        let others = self.staying() - usize::from(self.shares[share].stay == Stay::Stays);
        let changes = self.shares[share].stay == Stay::Stays && others > 0;
        if changes {
            self.shares[share].stay = Stay::Leaves;
        }
        changes
    }

    /// Whether a share that leaves has given everything away. (Also true for a share whose worker died when it had just
    /// left.)
    pub fn is_empty_handed(&self, share: usize) -> bool {
        let Share { stay, partitions, .. } = &self.shares[share];
        *stay != Stay::Stays && partitions.is_empty() && self.moves.iter().all(|one| one.to != share)
    }

    /// Hands partitions over. Returns false if they do not belong to this share any more, or if no share should get
    /// them.
    pub fn hand_over(&mut self, from: usize, name: &str, partitions: &Partitions, places: (u64, u64)) -> bool {
        // Workers may have come and gone since the gift was begun.
        let to = self.due(from).map(|(to, _)| to).filter(|_| self.shares[from].partitions.has_all(partitions));
        let Some(to) = to else { return false };
        let left = self.shares[from].partitions.without(partitions);
        self.shares[from].partitions = left;
        self.shares[from].gave = name.to_owned();
        self.shares[to].partitions = self.shares[to].partitions.or(partitions);
        self.moves.push(Move { name: name.to_owned(), to, partitions: partitions.clone(), places });
        true
    }
}

/// The range of a share if all shares are equally large.
fn even(partitions: u32, share: usize, shares: usize) -> Range<u32> {
    let from = |share: usize| (u64::from(partitions) * share as u64 / shares as u64) as u32;
    from(share)..from(share + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assignment(partitions: u32, shares: usize) -> Assignment {
        let mut assignment = Assignment { shares: vec![Share::default(); shares], ..Assignment::default() };
        assignment.settle(partitions);
        assignment
    }

    /// Checks that every partition has one owner.
    fn check(assignment: &Assignment, partitions: u32) {
        let all = assignment.shares.iter().fold(Partitions::default(), |all, share| all.or(&share.partitions));
        assert_eq!(all, Partitions::of([(0, partitions)]));
        assert_eq!(assignment.shares.iter().map(|share| share.partitions.count()).sum::<u32>(), partitions);
    }

    /// Makes all moves that are due, with the givers in a random order. Returns the number of partitions that moved.
    fn move_all(assignment: &mut Assignment, partitions: u32, random: &mut fastrand::Rng) -> u32 {
        let mut moved = 0;
        loop {
            let donors: Vec<usize> =
                (0..assignment.shares.len()).filter(|share| assignment.due(*share).is_some()).collect();
            let Some(&from) = random.choice(&donors) else { return moved };
            let (to, some) = assignment.due(from).unwrap();
            assert!(from != to && !some.is_empty());
            assert!(assignment.hand_over(from, &moved.to_string(), &some, (1, 1)));
            moved += some.count();
            check(assignment, partitions);
            assert!(moved < 4 * partitions, "it goes on for ever");
        }
    }

    #[test]
    fn shares_are_even_at_first() {
        for (partitions, shares) in [(256, 1), (256, 3), (256, 256), (7, 7), (1000, 13), (5, 2)] {
            let assignment = assignment(partitions, shares);
            check(&assignment, partitions);
            for partition in 0..partitions {
                let share = assignment.share_of(partition).unwrap();
                assert!(assignment.at_first(share, partitions).has(partition));
            }
            assert!((0..shares).all(|share| !assignment.concerns(share)));
        }
    }

    #[test]
    fn whoever_comes_and_goes_shares_are_even_and_few_partitions_move() {
        let mut random = fastrand::Rng::with_seed(5);
        for partitions in [256, 100, 7] {
            let mut assignment = assignment(partitions, 3);
            for _ in 0..40 {
                let staying: Vec<usize> = (0..assignment.shares.len())
                    .filter(|share| assignment.shares[*share].stay == Stay::Stays)
                    .collect();
                let mut least = 0;
                if staying.len() > 1 && random.bool() {
                    let leaver = *random.choice(&staying).unwrap();
                    assignment.shares[leaver].stay = Stay::Leaves;
                    least = assignment.shares[leaver].partitions.count();
                } else {
                    assignment.shares.push(Share::default());
                }
                let moved = move_all(&mut assignment, partitions, &mut random);
                assignment.moves.clear();
                let (mut most, mut fewest) = (0, u32::MAX);
                for (number, share) in assignment.shares.iter().enumerate() {
                    let count = share.partitions.count();
                    if share.stay == Stay::Stays {
                        (most, fewest) = (most.max(count), fewest.min(count));
                    } else {
                        assert_eq!(count, 0);
                        assert!(assignment.is_empty_handed(number));
                    }
                }
                assert!(most - fewest <= 1, "{most} and {fewest}");
                // A new share takes its part, the others get the partitions of one that leaves, and nothing else moves.
                let staying = assignment.staying() as u32;
                let expected = if least > 0 { least } else { partitions / staying };
                assert!(moved <= expected + staying, "{moved} moved, {expected} expected");
            }
        }
    }

    #[test]
    fn nobody_gives_what_is_another_s_or_nobody_is_to_have() {
        let mut assignment = assignment(8, 2);
        let (mine, theirs) = (Partitions::of([(0, 2)]), Partitions::of([(4, 6)]));
        assert!(!assignment.hand_over(0, "a", &mine, (1, 1)), "shares are even");
        assignment.shares.push(Share::default());
        assert!(!assignment.hand_over(0, "a", &theirs, (1, 1)));
        assert!(assignment.hand_over(0, "a", &mine, (1, 1)));
        assert!(!assignment.hand_over(0, "b", &mine, (1, 1)), "it was given away before");
        assert_eq!((assignment.share_of(0), assignment.shares[0].gave.as_str()), (Some(2), "a"));
        assert!(assignment.concerns(2) && !assignment.concerns(0));
        assert!(assignment.begin_to_leave(1) && !assignment.begin_to_leave(1));
        assert!(assignment.begin_to_leave(0) && !assignment.begin_to_leave(2), "the last one stays");
    }

    #[test]
    fn sets_of_partitions_do_what_sets_do() {
        let mut random = fastrand::Rng::with_seed(9);
        for _ in 0..500 {
            let mut draw = || -> Vec<u32> { (0..20).filter(|_| random.bool()).collect() };
            let (a, b) = (draw(), draw());
            let set = |numbers: &[u32]| Partitions::of(numbers.iter().map(|number| (*number, number + 1)));
            let numbers = |set: &Partitions| (0..20).filter(|number| set.has(*number)).collect::<Vec<_>>();
            assert_eq!(numbers(&set(&a)), a);
            assert_eq!(set(&a).count() as usize, a.len());
            let without: Vec<u32> = a.iter().copied().filter(|number| !b.contains(number)).collect();
            assert_eq!(set(&a).without(&set(&b)), set(&without));
            assert_eq!(set(&without).or(&set(&b)), set(&a).or(&set(&b)));
            assert_eq!(set(&a).has_all(&set(&b)), b.iter().all(|number| a.contains(number)));
            let last = a.len() / 2;
            assert_eq!(numbers(&set(&a).last(last as u32)), a[a.len() - last..]);
            let sites = set(&a).sites(20);
            for number in 0..20 {
                let part = Sites::parts(number..number + 1, 20);
                assert_eq!(sites.and(&part).is_empty(), !a.contains(&number));
            }
        }
    }
}
