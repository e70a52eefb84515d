//! The `dedup-stage` program as a program of this package, so that cargo builds it before the integration tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    dedup_stage::commands::main()
}
