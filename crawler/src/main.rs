//! The `crawler` binary.

use std::process::ExitCode;

/// Pages, links and fetches are many small values that one thread makes and another drops, which this allocator is good at;
/// without huge pages, which would keep half as much again in memory and save no time. Version 2 of it gives free memory back after
/// 10 ms, version 3 after a second. Both cost the same time, and hostile webs make a crawl larger with version 3
/// (`harm -- memory`).
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
