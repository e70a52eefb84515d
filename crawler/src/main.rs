//! The `crawler` binary.

use std::process::ExitCode;

/// Pages, links and fetches are many small values that one thread makes and another drops, which this allocator is good at.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    crawler::cli::main()
}
