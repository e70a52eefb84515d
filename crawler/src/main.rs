//! The `crawler` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    crawler::cli::main()
}
