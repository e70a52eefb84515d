//! An array that grows without ever moving what it holds.

use std::ops::{Index, IndexMut};

use super::memory;
use super::pages::{Page, Zero};

/// A growing array in pages: what is stored stays where it is, so that growing never pauses to copy.
///
/// The first pages take memory only as they fill, so that a small array is small. The others are huge and prepared; the next of them is
/// taken ahead of time if it is ready: arrays that grow together would wait for each other's at the same moment.
#[derive(Debug)]
pub struct Segments<T> {
    len: usize,
    pages: Vec<Page<T>>,
    next: Option<Page<T>>,
}

impl<T: Zero> Segments<T> {
    /// Elements of a segment.
    const SEGMENT: usize = Page::<T>::LEN;
    /// So many pages take memory as they fill: above 16 MB, a huge page more is little.
    const SMALL: usize = 8;
    /// Elements for which there is still room when the next page may be taken: time enough, yet little memory that is not used.
    const AHEAD: usize = Self::SEGMENT / 4;

    /// An empty array.
    pub fn new() -> Self {
        Self { len: 0, pages: Vec::new(), next: None }
    }

    /// Number of elements.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Bytes in use or set aside.
    pub fn bytes(&self) -> usize {
        let huge = (self.pages.len() + usize::from(self.next.is_some())) * Self::SEGMENT;
        if self.pages.len() > Self::SMALL { huge * size_of::<T>() } else { self.len * size_of::<T>() }
    }

    /// Appends an element.
    pub fn push(&mut self, element: T) {
        let (segment, place) = (self.len / Self::SEGMENT, self.len % Self::SEGMENT);
        if segment == self.pages.len() {
            self.add_page();
        }
        self.pages[segment][place] = element;
        self.len += 1;
        if place >= Self::SEGMENT - Self::AHEAD && self.next.is_none() && self.pages.len() >= Self::SMALL {
            self.next = Page::ready();
        }
    }

    /// `n` elements from `start` on, as far as they lie in its segment.
    #[inline(always)]
    pub fn slice(&self, start: usize, n: usize) -> &[T] {
        let n = n.min(self.len - start).min(Self::SEGMENT - start % Self::SEGMENT);
        self.pages.get(start / Self::SEGMENT).map_or(&[], |page| &page[start % Self::SEGMENT..][..n])
    }

    /// Starts loading the place of the next element.
    #[inline(always)]
    pub fn prefetch_next(&self) {
        if let Some(page) = self.pages.get(self.len / Self::SEGMENT) {
            memory::prefetch(&page[self.len % Self::SEGMENT]);
        }
    }

    #[cold]
    fn add_page(&mut self) {
        let next = self.next.take();
        let page = if self.pages.len() < Self::SMALL { Page::untouched } else { Page::new };
        self.pages.push(next.unwrap_or_else(page));
    }

    /// Drops the last segment, so that giving back a large array need not take long at once; false if there was none. Only for
    /// arrays that will not be read any more.
    pub fn shrink(&mut self) -> bool {
        (self.len, self.next) = (0, None);
        self.pages.pop().is_some()
    }
}

impl<T: Zero> Index<usize> for Segments<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, i: usize) -> &T {
        &self.pages[i / Self::SEGMENT][i % Self::SEGMENT]
    }
}

impl<T: Zero> IndexMut<usize> for Segments<T> {
    #[inline(always)]
    fn index_mut(&mut self, i: usize) -> &mut T {
        &mut self.pages[i / Self::SEGMENT][i % Self::SEGMENT]
    }
}

impl<T: Zero + Clone> Clone for Segments<T> {
    fn clone(&self) -> Self {
        let mut clone = Self::new();
        (0..self.len).for_each(|i| clone.push(self[i].clone()));
        clone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_stay_where_they_are() {
        let n = (Segments::<u64>::SMALL + 3) * Segments::<u64>::SEGMENT + 5;
        let mut array = Segments::new();
        let mut places = Vec::new();
        for i in 0..n {
            array.push(i as u64);
            places.push(&raw const array[i]);
            assert_eq!(array[i / 2], i as u64 / 2);
        }
        assert_eq!(array.len(), n);
        for (i, place) in places.into_iter().enumerate() {
            assert_eq!(array[i], i as u64);
            assert_eq!(&raw const array[i], place);
        }
        let segment = Segments::<u64>::SEGMENT;
        for (start, end) in [(0, 32), (64, 96), (segment - 1, segment), (n - 3, n), (n, n)] {
            assert!(array.slice(start, 32).iter().copied().eq(start as u64..end as u64));
        }
        array[n - 1] = 1;
        assert_eq!(array.clone()[n - 1], 1);
        assert!(array.bytes() >= 8 * n);
        assert!((0..Segments::<u64>::SMALL + 4).all(|_| array.shrink()) && !array.shrink());
    }
}
