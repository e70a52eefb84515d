//! An array that grows without ever moving what it holds.

use std::ops::{Index, IndexMut};

use super::memory;
use super::pages::{Page, Zero};

/// A growing array in huge pages: what is stored stays where it is, so that growing never pauses to copy. (A small array is moved as it
/// doubles, and takes no more than it needs.)
///
/// The next page is taken ahead of time if it is ready: arrays that grow together would wait for each other's at the same moment.
#[derive(Debug)]
pub struct Segments<T> {
    len: usize,
    /// The elements of a small array.
    small: Vec<T>,
    /// Those of a large one.
    pages: Vec<Page<T>>,
    next: Option<Page<T>>,
}

impl<T: Zero> Segments<T> {
    /// Elements of a segment.
    const SEGMENT: usize = Page::<T>::LEN;
    /// Elements of a small array, at most.
    const SMALL: usize = Self::SEGMENT / 2;
    /// Elements for which there is still room when the next page may be taken: time enough, yet little memory that is not used.
    const AHEAD: usize = Self::SEGMENT / 4;

    /// An empty array.
    pub fn new() -> Self {
        Self { len: 0, small: Vec::new(), pages: Vec::new(), next: None }
    }

    /// Number of elements.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Bytes in use or set aside.
    pub fn bytes(&self) -> usize {
        let pages = self.pages.len() + usize::from(self.next.is_some());
        self.small.capacity() * size_of::<T>() + pages * Self::SEGMENT * size_of::<T>()
    }

    /// Appends an element.
    pub fn push(&mut self, element: T) {
        if self.len < Self::SMALL {
            self.small.push(element);
        } else {
            if self.len / Self::SEGMENT == self.pages.len() {
                self.add_page();
            }
            self.pages[self.len / Self::SEGMENT][self.len % Self::SEGMENT] = element;
        }
        self.len += 1;
        let room =
            if self.len < Self::SMALL { Self::SMALL - self.len } else { Self::SEGMENT - self.len % Self::SEGMENT };
        if room <= Self::AHEAD && self.next.is_none() {
            self.next = Page::ready();
        }
    }

    /// `n` elements from `start` on, as far as they lie in its segment.
    #[inline(always)]
    pub fn slice(&self, start: usize, n: usize) -> &[T] {
        let n = n.min(self.len - start).min(Self::SEGMENT - start % Self::SEGMENT);
        let (segment, start) = match self.pages.get(start / Self::SEGMENT) {
            Some(page) => (&page[..], start % Self::SEGMENT),
            None => (&self.small[..], start),
        };
        segment.get(start..start + n).unwrap_or(&[])
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
        let mut page = self.next.take().unwrap_or_else(Page::new);
        std::mem::take(&mut self.small).into_iter().zip(&mut *page).for_each(|(element, place)| *place = element);
        self.pages.push(page);
    }

    /// Drops the last segment, so that giving back a large array need not take long at once; false if there was none. Only for
    /// arrays that will not be read any more.
    pub fn shrink(&mut self) -> bool {
        (self.len, self.next) = (0, None);
        let small = std::mem::take(&mut self.small);
        self.pages.pop().is_some() || !small.is_empty()
    }
}

impl<T: Zero> Index<usize> for Segments<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, i: usize) -> &T {
        match self.pages.is_empty() {
            true => &self.small[i],
            false => &self.pages[i / Self::SEGMENT][i % Self::SEGMENT],
        }
    }
}

impl<T: Zero> IndexMut<usize> for Segments<T> {
    #[inline(always)]
    fn index_mut(&mut self, i: usize) -> &mut T {
        match self.pages.is_empty() {
            true => &mut self.small[i],
            false => &mut self.pages[i / Self::SEGMENT][i % Self::SEGMENT],
        }
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
        let n = 3 * Segments::<u64>::SEGMENT + 5;
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
            if i >= Segments::<u64>::SMALL {
                assert_eq!(&raw const array[i], place);
            }
        }
        let segment = Segments::<u64>::SEGMENT;
        for (start, end) in [(0, 32), (64, 96), (segment - 1, segment), (n - 3, n), (n, n)] {
            assert!(array.slice(start, 32).iter().copied().eq(start as u64..end as u64));
        }
        array[n - 1] = 1;
        assert_eq!(array.clone()[n - 1], 1);
        assert!((0..4).all(|_| array.shrink()) && !array.shrink());
    }
}
