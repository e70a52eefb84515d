//! An array that grows and never moves its elements.

use std::ops::{Index, IndexMut};

use super::memory;
use super::pages::{Page, Zero};

/// A growing array in pages. Its elements never move, so it never pauses to copy them.
///
/// The first pages take memory only when they fill, so a small array takes little memory. The other pages are huge and
/// prepared. If a prepared page is ready, the array takes it before it is needed: otherwise arrays that grow together
/// would wait for their pages at the same moment.
#[derive(Debug)]
pub struct Segments<T> {
    len: usize,
    pages: Vec<Page<T>>,
    next: Option<Page<T>>,
}

impl<T: Zero> Segments<T> {
    /// Elements of a page.
    const SEGMENT: usize = Page::<T>::LEN;
    /// The first pages, up to this number, take memory only when they fill. Above 16 MB, one more huge page is little.
    const SMALL: usize = 8;
    /// The next page may be taken when there is room for this many elements. This is early enough, and leaves little
    /// memory unused.
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

    /// `n` elements from `start` on, up to the end of the page of `start`.
    #[inline(always)]
    pub fn slice(&self, start: usize, n: usize) -> &[T] {
        let n = n.min(self.len - start).min(Self::SEGMENT - start % Self::SEGMENT);
        self.pages.get(start / Self::SEGMENT).map_or(&[], |page| &page[start % Self::SEGMENT..][..n])
    }

    /// Starts to load the place of the next element.
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

    /// Drops the last page. So a large array can be given back in small steps. False if there was no page. Only for
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
