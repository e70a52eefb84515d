//! Ends the program with a message and exit code 1 if the system gives it no memory (`ulimit -v`, a full container).
//! Without this, the standard library would abort: with a signal, and with a message that names no cause. What the
//! crawl has committed is on disk, so it can be continued.

use std::alloc::{GlobalAlloc, Layout};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{process, thread};

/// An allocator that ends the program instead of returning no memory.
pub struct OrExit<A>(pub A);

// SAFETY: each call is passed on to `A` unchanged, and each address of `A` is passed back unchanged. Where `A` has no
// memory, the function does not return. (An allocator can only be given in this way: the trait is unsafe.)
unsafe impl<A: GlobalAlloc> GlobalAlloc for OrExit<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of the same function.
        given(unsafe { self.0.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { self.0.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { self.0.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { self.0.dealloc(memory, layout) }
    }
}

fn given(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        refused(bytes);
    }
    memory
}

/// Tells that the system gives no memory, and ends the program. Takes no memory itself.
#[cold]
fn refused(bytes: usize) -> ! {
    static IS_TOLD: AtomicBool = AtomicBool::new(false);
    if IS_TOLD.swap(true, Ordering::Relaxed) {
        // Another thread is about to tell it, and ends the program.
        thread::sleep(Duration::from_secs(1));
    } else {
        let cause = "memory is used up, or a limit is too low (ulimit -v)";
        let _ = writeln!(std::io::stderr(), "crawler: the system gives no memory for {bytes} bytes: {cause}");
    }
    process::exit(1)
}
