//! The `crawler` program under a name of its own, so that cargo builds it for the tests that kill it. It can write down
//! what it made durable: see [`fsync`].

mod fsync;

use std::process::ExitCode;

fn main() -> ExitCode {
    crawler::cli::main()
}
