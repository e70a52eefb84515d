//! `pipe-bars`: what `dedup-stage run` promises, measured on the built program. Each subcommand prints its figures and ends
//! with code 1 where a promise is broken.
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
    /// Pages a second through the pipe beside the library's own rate, and the time to one answer
    Throughput(throughput::Arguments),
    /// Growth of resident memory over many small pages
    Memory(memory::Arguments),
    /// Lines, readers and writers that misbehave
    Abuse {
        /// How long a reader stops reading.
        #[arg(long, default_value = "60s")]
        stall: config::Duration,
    },
    /// Kill -9 at random moments, the caller repeating from its last flush
    Kill {
        /// Kills.
        #[arg(long, default_value_t = 50)]
        kills: u64,
        /// Pages of the synthetic web.
        #[arg(long, default_value_t = 3000)]
        web: usize,
        /// Small pages after them.
        #[arg(long, default_value_t = 12_000)]
        small: u64,
        /// Pages between two flushes.
        #[arg(long, default_value_t = 4500)]
        flush: usize,
        /// Decides when the kills fall.
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
    /// Far more than fits into the pipes.
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
