//! The allocator of the program, and when it gives memory back to the system. (The program `crawl` of the tests
//! includes this file, so that it needs the same memory.)

#[path = "no_memory.rs"]
mod no_memory;

use std::ffi::{c_int, c_long};
use std::thread;
use std::time::Duration;

/// Pages, links and fetches are many small values that one thread makes and another drops. This allocator is good at
/// that. Its huge pages are off: with them, a crawl would take half as much memory again, and save no time. Version 2
/// of it gives free memory back sooner than version 3. Both cost the same time, and on hostile webs a crawl needs more
/// memory with version 3 (`harm -- memory`).
#[global_allocator]
static ALLOCATOR: no_memory::OrExit<mimalloc::MiMalloc> = no_memory::OrExit(mimalloc::MiMalloc);

/// `mi_option_purge_delay` of version 2 (`mimalloc.h`): the number of milliseconds after which the allocator gives free
/// memory back.
const PURGE_DELAY: c_int = 15;
/// `mi_option_purge_extend_delay`: the number of milliseconds by which each further free memory puts that off.
const PURGE_EXTEND_DELAY: c_int = 25;

/// The delay while the program is small, in milliseconds. (This is the allocator's own.)
const DELAY: c_long = 10;
/// The program counts as large from this many bytes on.
const LARGE: u64 = 48 << 20;
/// The program counts as large until it has fewer bytes than this.
const SMALL: u64 = 44 << 20;
/// The time between two looks at the size of the program. In that time, a crawl frees a few MiB.
const LOOK: Duration = Duration::from_millis(20);

unsafe extern "C" {
    /// Sets an option that the environment does not set. It is a store of one word, also while other threads read it.
    safe fn mi_option_set_default(option: c_int, value: c_long);
    #[cfg(test)]
    safe fn mi_option_get(option: c_int) -> c_long;
}

/// Makes the allocator give free memory back at once. To be called before there are threads.
pub fn give_back_at_once() {
    mi_option_set_default(PURGE_EXTEND_DELAY, 0);
    mi_option_set_default(PURGE_DELAY, 0);
}

/// Makes the allocator keep free memory for a moment while the program is small. To be called once, after
/// [`give_back_at_once`], but not in a child process whose memory is limited: it starts a thread.
///
/// While the program is small, free memory is given back after 10 ms. Most of it is used again before, and need not be
/// taken from the system anew: a crawl of the synthetic web takes 4 % less processor time than if all
/// were given back at once. On hostile webs, where large pages come one after the other, a crawl would then hold 30 to
/// 90 MiB that it does not need. So as soon as the program is large, free memory is given back at once. Where the size
/// of the program is not known, this always holds.
pub fn keep_while_small() {
    if resident().is_some() {
        // Without this thread, memory is given back at once.
        let _ = thread::Builder::new().name("memory".into()).stack_size(64 << 10).spawn(watch);
    }
}

/// Looks at the size of the program again and again.
fn watch() {
    let mut is_large = true;
    while let Some(bytes) = resident() {
        is_large = bytes >= if is_large { SMALL } else { LARGE };
        mi_option_set_default(PURGE_DELAY, if is_large { 0 } else { DELAY });
        thread::sleep(LOOK);
    }
    mi_option_set_default(PURGE_DELAY, 0);
}

/// The bytes of memory that the program has (`proc_pid_status(5)`). `None` on systems that do not tell.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a version of the allocator that numbers its options in another way.
    #[test]
    fn the_options_are_the_delay_of_ten_milliseconds_and_its_extension() {
        assert_eq!([PURGE_DELAY, PURGE_EXTEND_DELAY].map(|option| mi_option_get(option)), [DELAY, 1]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_program_has_some_memory() {
        let before = resident().unwrap();
        let more = std::hint::black_box(vec![1u8; 64 << 20]);
        assert!(before > 1 << 20 && resident().unwrap() >= before + (60 << 20), "{before}");
        drop(more);
    }
}
