//! What a join gets, and where it puts what it finds.

/// The fingerprints whose pairs are wanted.
#[derive(Clone, Copy, Debug)]
pub enum Sides<'a> {
    /// All pairs of different positions in one set.
    One(&'a [u64]),
    /// All pairs with one in each of two sets.
    Two(&'a [u64], &'a [u64]),
}

/// One of the two sets of a join. With one set alone, both are the same set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first set.
    First,
    /// The second set.
    Second,
}

/// Receives the pairs of a join.
pub trait Visitor: Send {
    /// Visits a pair: a position in the first set, and one in the second set (or in the first, if there is only one).
    fn pair(&mut self, i: u32, j: u32);

    /// Whether [`Visitor::group`] knows any groups.
    fn has_groups(&self) -> bool {
        false
    }

    /// The group of a position, if it has one. Pairs within a group are not wanted any more, so that the join need not
    /// list all pairs of a large group. Groups may grow and become one while the join goes on, but never part.
    fn group(&self, _side: Side, _position: u32) -> Option<u64> {
        None
    }
}

impl<F: FnMut(u32, u32) + Send> Visitor for F {
    fn pair(&mut self, i: u32, j: u32) {
        self(i, j);
    }
}

impl<'a> Sides<'a> {
    pub(super) fn first(self) -> &'a [u64] {
        match self {
            Sides::One(first) | Sides::Two(first, _) => first,
        }
    }

    pub(super) fn second(self) -> Option<&'a [u64]> {
        match self {
            Sides::One(_) => None,
            Sides::Two(_, second) => Some(second),
        }
    }

    /// The number of pairs of any distance.
    pub(super) fn pairs(self) -> f64 {
        match self {
            Sides::One(first) => first.len() as f64 * first.len() as f64 / 2.0,
            Sides::Two(first, second) => first.len() as f64 * second.len() as f64,
        }
    }
}

/// Some fingerprints and their positions.
#[derive(Clone, Copy)]
pub struct Listing<'a> {
    pub values: &'a [u64],
    pub positions: &'a [u32],
}

impl<'a> Listing<'a> {
    /// Those from this place on.
    #[inline(always)]
    pub fn from(self, place: usize) -> Self {
        Self { values: &self.values[place..], positions: &self.positions[place..] }
    }

    /// Those in this range.
    #[inline(always)]
    pub fn range(self, range: std::ops::Range<usize>) -> Self {
        Self { values: &self.values[range.clone()], positions: &self.positions[range] }
    }
}
