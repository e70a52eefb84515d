//! The `crawler` program under a name of its own, so that cargo builds it for the tests that kill it.

use std::process::ExitCode;

fn main() -> ExitCode {
    crawler::cli::main()
}
