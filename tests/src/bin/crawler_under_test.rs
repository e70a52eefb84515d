//! The `crawler` program as a binary of this package, so that its integration tests find it built.

use std::process::ExitCode;

fn main() -> ExitCode {
    // A process that reads one PDF file, and was started by the crawler.
    crawler::pdf::child_main().unwrap_or_else(crawler::cli::main)
}
