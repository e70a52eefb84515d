//! The allocator of the program. (The program `crawl` of the tests includes this file, so that it needs the same
//! memory.)

use std::ffi::{c_int, c_long};

/// Pages, links and fetches are many small values that one thread makes and another drops. This allocator is good at
/// that. Its huge pages are off: with them, a crawl would take half as much memory again, and save no time. Version 2
/// of it gives free memory back sooner than version 3. Both cost the same time, and on hostile webs a crawl needs more
/// memory with version 3 (`harm -- memory`).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// `mi_option_purge_delay` of version 2 (`mimalloc.h`): the milliseconds after which free memory is given back.
const PURGE_DELAY: c_int = 15;
/// `mi_option_purge_extend_delay`: the milliseconds by which this time moves when more memory is freed.
const PURGE_EXTEND_DELAY: c_int = 25;

unsafe extern "C" {
    /// Sets an option that the environment does not set.
    safe fn mi_option_set_default(option: c_int, value: c_long);
    #[cfg(test)]
    safe fn mi_option_get(option: c_int) -> c_long;
}

/// Makes the allocator give the memory of large values back to the system a millisecond after they were dropped.
///
/// By itself it would do so 10 ms after the last of them was dropped. If large pages come one after the other, that
/// time never comes, and a crawl holds 25 MB that it does not need. If the memory were given back at once, a page of 40
/// KB would take a tenth more CPU time. To be called before there are threads.
pub fn give_back_soon() {
    mi_option_set_default(PURGE_DELAY, 1);
    mi_option_set_default(PURGE_EXTEND_DELAY, 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a version of the allocator that numbers its options in another way.
    #[test]
    fn the_options_are_the_delays_of_ten_milliseconds_and_of_one() {
        let delays = || [PURGE_DELAY, PURGE_EXTEND_DELAY].map(mi_option_get);
        assert_eq!(delays(), [10, 1]);
        give_back_soon();
        assert_eq!(delays(), [1, 0]);
    }
}
