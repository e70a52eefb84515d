//! The `crawler` binary.

mod allocator;

use std::process::ExitCode;

fn main() -> ExitCode {
    allocator::give_back();
    // The crawler starts this program again to read one PDF file.
    #[cfg(feature = "pdf")]
    if let Some(code) = crawler::pdf::child_main() {
        return code;
    }
    crawler::cli::main()
}
