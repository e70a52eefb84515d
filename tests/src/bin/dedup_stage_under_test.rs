//! The `dedup-stage` program as a binary of this package, so that its integration tests find it built.

use std::process::ExitCode;

fn main() -> ExitCode {
    dedup_stage::commands::main()
}
