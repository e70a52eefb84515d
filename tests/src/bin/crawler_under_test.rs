//! The `crawler` program as a program of this package, so that cargo builds it before the integration tests.

// The tests measure what a page costs, so it has the allocator of `crawler`.
#[path = "../../../crawler/src/allocator.rs"]
mod allocator;

use std::process::ExitCode;

fn main() -> ExitCode {
    allocator::give_back_at_once();
    // The crawler starts itself as a child process that reads one PDF file.
    crawler::pdf::child_main().unwrap_or_else(|| {
        allocator::keep_while_small();
        crawler::cli::main()
    })
}
