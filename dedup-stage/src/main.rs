//! The `dedup-stage` binary: the judgement of pages as a filter for any crawler, and the tools around it.

use std::process::ExitCode;

fn main() -> ExitCode {
    dedup_stage::commands::main()
}
