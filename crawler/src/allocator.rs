//! The allocator of the program. (The program `crawl` of the tests includes this file, so that it needs the same
//! memory.)

use std::ffi::{c_int, c_long};

/// Pages, links and fetches are many small values that one thread makes and another drops. This allocator is good at
/// that. Its huge pages are off: with them, a crawl would take half as much memory again, and save no time. Version 2
/// of it gives free memory back sooner than version 3. Both cost the same time, and on hostile webs a crawl needs more
/// memory with version 3 (`harm -- memory`).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// `mi_option_purge_delay` of version 2 (`mimalloc.h`).
const PURGE_DELAY: c_int = 15;

unsafe extern "C" {
    /// Sets an option that the environment does not set.
    safe fn mi_option_set_default(option: c_int, value: c_long);
    #[cfg(test)]
    safe fn mi_option_get(option: c_int) -> c_long;
}

/// Makes the allocator give the memory of large values back to the system when they are dropped. Otherwise it would do
/// so 10 ms after the last of them was dropped. If large pages come one after the other, that time never comes, and a
/// crawl holds 70 MB that it does not need. With a delay of one millisecond that does not grow, a page of documentation
/// would cost 8 % less CPU time, but the worst hostile webs would take 217 MiB in place of 190 (`harm -- memory`). To
/// be called before there are threads.
pub fn give_back_at_once() {
    mi_option_set_default(PURGE_DELAY, 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a version of the allocator that numbers its options in another way.
    #[test]
    fn the_option_is_the_delay_of_ten_milliseconds() {
        assert_eq!(mi_option_get(PURGE_DELAY), 10);
        give_back_at_once();
        assert_eq!(mi_option_get(PURGE_DELAY), 0);
    }
}
