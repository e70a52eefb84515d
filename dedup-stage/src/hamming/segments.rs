//! An array that grows without ever moving what it holds.

use std::ops::{Index, IndexMut};

/// A growing array in segments of 1, 1, 2, 4, 8, … elements: what is stored stays where it is, so growing never pauses to
/// copy, and memory is touched only as it is filled.
#[derive(Clone, Debug)]
pub struct Segments<T> {
    segments: Vec<Vec<T>>,
    len: usize,
}

impl<T> Segments<T> {
    /// An empty array.
    pub fn new() -> Self {
        Self { segments: Vec::new(), len: 0 }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Segment and offset of an element.
    #[inline(always)]
    fn place(i: usize) -> (usize, usize) {
        let segment = (usize::BITS - i.leading_zeros()) as usize;
        (segment, i ^ (1 << segment >> 1))
    }

    /// Appends an element.
    pub fn push(&mut self, element: T) {
        let (segment, _) = Self::place(self.len);
        if segment == self.segments.len() {
            let capacity = (1 << segment >> 1).max(1);
            self.segments.push(Vec::with_capacity(capacity));
            super::memory::prefer_huge_pages(self.segments[segment].spare_capacity_mut());
        }
        self.segments[segment].push(element);
        self.len += 1;
    }

    /// The elements from `start` on that lie together in memory with it, at most `n`.
    pub fn slice(&self, start: usize, n: usize) -> &[T] {
        let (segment, offset) = Self::place(start);
        let segment = &self.segments[segment];
        &segment[offset..segment.len().min(offset + n)]
    }
}

impl<T> Index<usize> for Segments<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, i: usize) -> &T {
        let (segment, offset) = Self::place(i);
        &self.segments[segment][offset]
    }
}

impl<T> IndexMut<usize> for Segments<T> {
    #[inline(always)]
    fn index_mut(&mut self, i: usize) -> &mut T {
        let (segment, offset) = Self::place(i);
        &mut self.segments[segment][offset]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_stay_where_they_are() {
        let mut array = Segments::new();
        let mut places = Vec::new();
        for i in 0..1000usize {
            array.push(i);
            places.push(&raw const array[i]);
        }
        assert_eq!(array.len(), 1000);
        for (i, place) in places.into_iter().enumerate() {
            assert_eq!(array[i], i);
            assert_eq!(&raw const array[i], place);
        }
    }

    #[test]
    fn aligned_runs_lie_together() {
        let mut array = Segments::new();
        (0..64).for_each(|i| array.push(i));
        assert_eq!(array.slice(16, 16), (16..32).collect::<Vec<_>>());
    }
}
