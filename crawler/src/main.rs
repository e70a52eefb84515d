//! The `crawler` binary.

mod allocator;

use std::process::ExitCode;

fn main() -> ExitCode {
    allocator::give_back_at_once();
    // The crawler starts this program again to read one PDF file.
    #[cfg(feature = "pdf")]
    if let Some(code) = crawler::pdf::child_main() {
        return code;
    }
    allocator::keep_while_small();
    crawler::cli::main()
}
