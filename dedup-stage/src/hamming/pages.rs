//! Huge pages, as arrays.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use memmap2::MmapMut;

use super::memory::{HUGE_PAGE, prefer_huge_pages};

/// Types of which all bits zero is a value, and that own nothing.
///
/// # Safety
///
/// Both must be true.
pub unsafe trait Zero: Send + Sync + 'static {}

// SAFETY: zero is a number, and numbers own nothing.
unsafe impl Zero for u64 {}

/// As many zeros as fit into a huge page, at the start of one: a random read of what lies in huge pages misses the caches, but not the
/// page tables too.
#[derive(Debug)]
pub struct Page<T> {
    start: NonNull<T>,
    _memory: MmapMut,
    _elements: PhantomData<T>,
}

// SAFETY: a page owns its elements, which are `Send` and `Sync`.
unsafe impl<T: Zero> Send for Page<T> {}
// SAFETY: as above.
unsafe impl<T: Zero> Sync for Page<T> {}

impl<T: Zero> Page<T> {
    /// Number of elements.
    pub const LEN: usize = HUGE_PAGE / size_of::<T>();

    /// Maps a page and touches all of it: a machine whose memory is lent to it only when it is touched takes milliseconds for that.
    ///
    /// # Panics
    ///
    /// If there is no memory.
    pub fn new() -> Self {
        let mut memory = MmapMut::map_anon(2 * HUGE_PAGE).expect("there is memory to map");
        let address = memory.as_ptr().addr();
        let page = &mut memory[address.next_multiple_of(HUGE_PAGE) - address..][..HUGE_PAGE];
        prefer_huge_pages(page);
        page.iter_mut().step_by(4096).for_each(|byte| *byte = 0);
        let start = NonNull::from(page).cast();
        Self { start, _memory: memory, _elements: PhantomData }
    }
}

impl<T: Zero> Deref for Page<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: the page is mapped, aligned, and as long as `memory` lives; zeros are a value of `T`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), Self::LEN) }
    }
}

impl<T: Zero> DerefMut for Page<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and nobody else has it.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), Self::LEN) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_an_aligned_array_of_zeros() {
        let mut page = Page::<u64>::new();
        assert_eq!(page.as_ptr().addr() % HUGE_PAGE, 0);
        assert_eq!(page[..], vec![0; HUGE_PAGE / 8]);
        page.iter_mut().zip(1..).for_each(|(element, i)| *element = i);
        assert!(std::thread::spawn(move || page.iter().copied().eq(1..=Page::<u64>::LEN as u64)).join().unwrap());
    }
}
