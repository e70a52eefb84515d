//! Huge pages, as arrays, prepared by a thread of their own.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::LazyLock;

use crossbeam_channel::Receiver;
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
// SAFETY: as above.
unsafe impl Zero for u32 {}
// SAFETY: as above.
unsafe impl Zero for u16 {}

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

    /// A page; waits for it where several are asked for at once.
    ///
    /// # Panics
    ///
    /// If there is no memory.
    pub fn new() -> Self {
        Self::from(PREPARED.recv().unwrap_or_else(|_| prepare()))
    }

    /// A page, if one is ready.
    pub fn ready() -> Option<Self> {
        PREPARED.try_recv().ok().map(Self::from)
    }

    /// A page of memory that is taken as it is touched, in small pieces.
    ///
    /// # Panics
    ///
    /// If there is no memory.
    pub fn untouched() -> Self {
        Self::from(map())
    }

    fn from(mut memory: MmapMut) -> Self {
        let start = NonNull::from(huge_page(&mut memory)).cast();
        Self { start, _memory: memory, _elements: PhantomData }
    }
}

/// Pages that have been touched: where a machine's memory is lent to it only then, that takes milliseconds. One waits here, and one
/// with the thread; which is there from the first one on that was asked for.
static PREPARED: LazyLock<Receiver<MmapMut>> = LazyLock::new(|| {
    let (sender, receiver) = crossbeam_channel::bounded(1);
    let prepare_on = move || while sender.send(prepare()).is_ok() {};
    // Without the thread, pages are prepared when they are needed.
    let _ = std::thread::Builder::new().name("pages".into()).spawn(prepare_on);
    receiver
});

fn prepare() -> MmapMut {
    let mut memory = map();
    let page = huge_page(&mut memory);
    prefer_huge_pages(page);
    page.iter_mut().step_by(4096).for_each(|byte| *byte = 0);
    memory
}

/// Memory with room for a huge page wherever it begins.
fn map() -> MmapMut {
    MmapMut::map_anon(2 * HUGE_PAGE).expect("there is memory to map")
}

/// The part of the memory that may become a huge page.
fn huge_page(memory: &mut MmapMut) -> &mut [u8] {
    let before = memory.as_ptr().addr().next_multiple_of(HUGE_PAGE) - memory.as_ptr().addr();
    &mut memory[before..][..HUGE_PAGE]
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
