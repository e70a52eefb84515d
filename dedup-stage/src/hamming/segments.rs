//! An array that grows without ever moving what it holds.

use std::ops::{Index, IndexMut};

use super::memory;

/// A growing array in segments of equal size: what is stored stays where it is, so growing never pauses to copy more than one
/// segment, and memory is touched only as it is filled. (The first segment grows by doubling, so that small arrays are small.)
#[derive(Clone, Debug)]
pub struct Segments<T> {
    segments: Vec<Vec<T>>,
    len: usize,
}

impl<T> Segments<T> {
    /// Elements of a segment. A run that starts at a multiple of its own length, a power of two, never straddles two.
    pub const SEGMENT: usize = 1 << 16;

    /// An empty array.
    pub fn new() -> Self {
        Self { segments: vec![Vec::new()], len: 0 }
    }

    /// Number of elements.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Appends an element.
    pub fn push(&mut self, element: T) {
        let segment = self.len / Self::SEGMENT;
        if segment == self.segments.len() {
            let mut new = Vec::with_capacity(Self::SEGMENT);
            memory::prefer_huge_pages(new.spare_capacity_mut());
            self.segments.push(new);
        }
        self.segments[segment].push(element);
        self.len += 1;
    }

    /// Drops the last segment, so that giving back a large array need not take long at once; false if there was none. Only for
    /// arrays that will not be read any more.
    pub fn shrink(&mut self) -> bool {
        self.segments.pop().is_some()
    }

    /// `n` elements from `start` on, as far as they lie in its segment.
    #[inline(always)]
    pub fn slice(&self, start: usize, n: usize) -> &[T] {
        let segment = &self.segments[start / Self::SEGMENT];
        let offset = start % Self::SEGMENT;
        &segment[offset..segment.len().min(offset + n)]
    }
}

impl<T> Index<usize> for Segments<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, i: usize) -> &T {
        &self.segments[i / Self::SEGMENT][i % Self::SEGMENT]
    }
}

impl<T> IndexMut<usize> for Segments<T> {
    #[inline(always)]
    fn index_mut(&mut self, i: usize) -> &mut T {
        &mut self.segments[i / Self::SEGMENT][i % Self::SEGMENT]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_stay_where_they_are() {
        let n = 3 * Segments::<usize>::SEGMENT + 5;
        let mut array = Segments::new();
        let mut places = Vec::new();
        for i in 0..n {
            array.push(i);
            places.push(&raw const array[i]);
        }
        assert_eq!(array.len(), n);
        for (i, place) in places.into_iter().enumerate() {
            assert_eq!(array[i], i);
            if i >= Segments::<usize>::SEGMENT {
                assert_eq!(&raw const array[i], place);
            }
        }
        assert_eq!(array.slice(64, 32), (64..96).collect::<Vec<_>>());
    }
}
