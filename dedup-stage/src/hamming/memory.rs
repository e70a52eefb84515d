//! Hints to the machine about memory: which address will be read soon, and which ranges should have huge pages. They
//! never change a result.

/// The bytes of a huge page. Smaller ranges get no hint.
pub const HUGE_PAGE: usize = 2 << 20;

/// Starts to load the cache lines that hold `value`. A read that waits for main memory takes some hundred times longer
/// than a read that was announced while others were under way.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    prefetch_at(std::ptr::from_ref(value));
}

/// Like [`prefetch`], for the bytes at an address, whether or not there is a value yet.
#[inline(always)]
pub fn prefetch_at<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..size_of::<T>().div_ceil(64) {
        let address = address.cast::<i8>().wrapping_add(64 * line);
        // SAFETY: a prefetch reads nothing, whatever the address is. SSE is part of x86-64.
        unsafe { std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Like [`prefetch`], for one element of a slice, or for the place behind the slice where it would lie.
#[inline(always)]
pub fn prefetch_in<T>(values: &[T], i: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        let address = values.as_ptr().wrapping_add(i).cast();
        // SAFETY: a prefetch reads nothing, whatever the address is. SSE is part of x86-64.
        unsafe { std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, i);
}

/// Asks the system to back a range with huge pages. Then a random read may miss the data caches, but hardly ever the
/// TLB.
pub fn prefer_huge_pages<T>(range: &mut [T]) {
    #[cfg(target_os = "linux")]
    {
        let start = range.as_mut_ptr().addr().next_multiple_of(4096);
        let end = range.as_ptr_range().end.addr() & !4095;
        if start + HUGE_PAGE <= end {
            let address = range.as_mut_ptr().with_addr(start).cast();
            // SAFETY: the pages lie within `range`, and the advice does not change their content.
            unsafe { libc::madvise(address, end - start, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (range, HUGE_PAGE);
}

/// An empty vector with room for `n` elements in huge pages.
pub fn in_huge_pages<T>(n: usize) -> Vec<T> {
    let mut elements = Vec::with_capacity(n);
    prefer_huge_pages(elements.spare_capacity_mut());
    elements
}

/// `n` zeros in huge pages. They take no memory before they are touched.
#[cfg(feature = "tools")]
pub fn zeros(n: usize) -> Vec<u64> {
    let mut words = vec![0; n];
    prefer_huge_pages(&mut words);
    words
}
