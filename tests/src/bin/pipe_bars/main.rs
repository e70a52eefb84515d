//! `pipe-bars`: what `dedup-stage run` promises, measured on the built program. Each subcommand prints its figures and ends
//! with code 1 where a promise is broken.
//!
//! `cargo run --release -p tests --bin pipe-bars -- throughput`

mod abuse;
mod fuzz;
mod kill;
mod memory;
mod throughput;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Measures `dedup-stage run`.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    bar: Bar,
}

#[derive(Debug, Subcommand)]
enum Bar {
    /// Pages a second through the pipe beside the library's own rate, and the time to one answer
    Throughput(throughput::Arguments),
    /// Growth of resident memory over many small pages
    Memory(memory::Arguments),
    /// Lines, readers and writers that misbehave
    Abuse(abuse::Arguments),
    /// Kill -9 at random moments, the caller repeating from its last flush
    Kill(kill::Arguments),
    /// Random lines for a while, in this process
    Fuzz(fuzz::Arguments),
}

fn main() -> anyhow::Result<ExitCode> {
    let kept = match Arguments::parse().bar {
        Bar::Throughput(arguments) => throughput::run(&arguments)?,
        Bar::Memory(arguments) => memory::run(&arguments)?,
        Bar::Abuse(arguments) => abuse::run(&arguments)?,
        Bar::Kill(arguments) => kill::run(&arguments)?,
        Bar::Fuzz(arguments) => fuzz::run(&arguments)?,
    };
    println!("{}", if kept { "kept" } else { "BROKEN" });
    Ok(if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
