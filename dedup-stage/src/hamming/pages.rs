//! Huge pages that are used as arrays. A thread of their own prepares them.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::LazyLock;

use crossbeam_channel::Receiver;
use memmap2::MmapMut;

use super::memory::{HUGE_PAGE, prefer_huge_pages};

/// Types of which all bits zero is a value, and whose values own nothing.
///
/// # Safety
///
/// Both must be true for the type.
pub unsafe trait Zero: Send + Sync + 'static {}

// SAFETY: zero is a number, and numbers own nothing.
unsafe impl Zero for u64 {}
// SAFETY: as above.
unsafe impl Zero for u32 {}
// SAFETY: as above.
unsafe impl Zero for u16 {}

/// An array of zeros that fills one huge page, from the start of the page. A random read in a huge page may miss the
/// data caches, but hardly ever the TLB.
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

    /// A page. If several pages are asked for at once, this call waits.
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

    /// A page of memory that the system provides in small pieces, each when it is touched for the first time.
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

/// Pages that have been touched already. Some machines provide memory only when it is touched, which takes
/// milliseconds. One page waits in the channel, and one waits with the thread. The thread exists once the first page
/// was asked for.
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

/// Memory that is large enough to contain a huge page, wherever the memory begins.
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
        // SAFETY: the page is mapped and aligned, and lives as long as `memory`. Zeros are a value of `T`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), Self::LEN) }
    }
}

impl<T: Zero> DerefMut for Page<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and nobody else has a reference to the page.
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
