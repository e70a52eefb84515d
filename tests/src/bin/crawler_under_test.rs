//! The `crawler` program as a program of this package, so that cargo builds it before the integration tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    // The crawler starts itself as a child process that reads one PDF file.
    crawler::pdf::child_main().unwrap_or_else(crawler::cli::main)
}
