//! `pipe-bars`: checks the promises of `dedup-stage run` with the built program. Each subcommand prints its
//! measurements, and ends with code 1 if a promise is broken.
//!
//! `cargo run --release -p tests --bin pipe-bars -- throughput`

mod memory;
mod throughput;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tests::pipe::abuse::{self, AbuseResult};
use tests::pipe::kill::{self, KillPlan};

/// Measures `dedup-stage run`.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    bar: Bar,
}

#[derive(Debug, Subcommand)]
enum Bar {
    /// The pages per second through the pipe, compared with the rate of the library, and the time to one answer
    Throughput(throughput::Arguments),
    /// The growth of resident memory over many small pages
    Memory(memory::Arguments),
    /// Lines, readers and writers that misbehave
    Abuse {
        /// The time for which a reader stops reading.
        #[arg(long, default_value = "60s")]
        stall: config::Duration,
    },
    /// SIGKILL at random times; the caller repeats from its last flush
    Kill {
        /// The number of kills.
        #[arg(long, default_value_t = 50)]
        kills: u64,
        /// The number of pages of the synthetic web.
        #[arg(long, default_value_t = 3000)]
        web: usize,
        /// The number of small pages after them.
        #[arg(long, default_value_t = 12_000)]
        small: u64,
        /// The number of pages between two flushes.
        #[arg(long, default_value_t = 4500)]
        flush: usize,
        /// The seed for the times of the kills.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
}

fn main() -> anyhow::Result<ExitCode> {
    let kept = match Arguments::parse().bar {
        Bar::Throughput(arguments) => throughput::run(&arguments)?,
        Bar::Memory(arguments) => memory::run(&arguments)?,
        Bar::Abuse { stall } => misbehave(stall.to_std()),
        Bar::Kill { kills, web, small, flush, seed } => {
            kill::run(KillPlan { kills, web, small, flush, seed }, |line| println!("{line}"))?
        }
    };
    println!("{}", if kept { "kept" } else { "BROKEN" });
    Ok(if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn misbehave(stall: std::time::Duration) -> bool {
    /// The number of lines, which are far more than fit into the pipes.
    const LINES: u64 = 400_000;
    let cases: [(&str, &dyn Fn() -> AbuseResult); 8] = [
        ("lines of 100 MiB", &abuse::overlong),
        ("a reader that stops reading", &|| abuse::stalled_reader(stall, LINES)),
        ("a writer that stops in a line", &abuse::stopped_writer),
        ("a closed output", &abuse::closed_output),
        ("an input closed in a line", &abuse::cut_input),
        ("SIGTERM", &abuse::terminated),
        ("SIGTERM twice while nobody reads", &|| abuse::terminated_twice(LINES)),
        ("a second process on one state", &abuse::locked),
    ];
    let mut kept = true;
    for (name, case) in cases {
        let told = case();
        kept &= told.is_ok();
        println!("{name}: {}", told.unwrap_or_else(|error| format!("FAILED: {error:#}")));
    }
    kept
}
