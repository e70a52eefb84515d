//! The `crawler` binary.

use std::process::ExitCode;

/// Pages, links and fetches are many small values that one thread makes and another drops, which this allocator is good at;
/// without huge pages, which would keep half as much again in memory and save no time. Version 2 of it gives memory back after
/// 10 ms; version 3 keeps it for a second, in which a hostile web makes a crawl grow by half.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // A process that reads one PDF file, and was started by the crawler.
    #[cfg(feature = "pdf")]
    if let Some(code) = crawler::pdf::child_main() {
        return code;
    }
    crawler::cli::main()
}
