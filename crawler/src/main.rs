//! The `crawler` binary.

use std::process::ExitCode;

/// Pages, links and fetches are many small values that one thread makes and another drops. This allocator is good at
/// that. Its huge pages are off: with them, a crawl would take half as much memory again, and save no time. Version 2
/// of it gives free memory back after 10 ms, version 3 after a second. Both cost the same time, and on hostile webs a
/// crawl needs more memory with version 3 (`harm -- memory`).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // The crawler starts this program again to read one PDF file.
    #[cfg(feature = "pdf")]
    if let Some(code) = crawler::pdf::child_main() {
        return code;
    }
    crawler::cli::main()
}
