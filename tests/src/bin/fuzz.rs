//! `fuzz`: runs an endless number of inputs on everything that reads bytes from strangers.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use tests::fuzz::{Bounds, TARGETS, corpus, run};
use xxhash_rust::xxh3::xxh3_64;

/// Run the seeded fuzzer, and print the number of inputs that were run.
///
/// An input that makes a target panic is written to DIR. Put it into tests/fuzz-seeds/TARGET with the repair; every
/// later run and `cargo test` begin with it.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// The targets to run: robots, url, sitemap, html, charset, warc, protocol, tokens. By default, all of them.
    targets: Vec<String>,
    /// The time for each target.
    #[arg(long, default_value = "10m")]
    time: config::Duration,
    /// The largest number of executions of each target.
    #[arg(long, default_value_t = u64::MAX)]
    executions: u64,
    /// The seed of the random numbers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The folder for findings.
    #[arg(long, value_name = "DIR", default_value = "target/fuzz-findings")]
    findings: PathBuf,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    if let Some(unknown) = arguments.targets.iter().find(|name| TARGETS.iter().all(|target| target.name != **name)) {
        eprintln!("no target {unknown:?}; there are {:?}", TARGETS.map(|target| target.name));
        return Ok(ExitCode::from(2));
    }
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz-seeds");
    let mut found = false;
    for target in TARGETS {
        if !arguments.targets.is_empty() && !arguments.targets.iter().any(|name| name == target.name) {
            continue;
        }
        let bounds = Bounds { executions: arguments.executions, time: arguments.time.to_std() };
        let outcome = run(&target, corpus(&target, &seeds), arguments.seed, bounds);
        println!(
            "{}: {} executions, {} behaviours, slowest {:?}, {} findings (seed {})",
            target.name,
            outcome.executions,
            outcome.behaviours,
            outcome.slowest,
            outcome.findings.len(),
            arguments.seed,
        );
        for finding in &outcome.findings {
            std::fs::create_dir_all(&arguments.findings)?;
            let path = arguments.findings.join(format!("{}-{:016x}", target.name, xxh3_64(finding)));
            std::fs::write(&path, finding)?;
            eprintln!("{}", path.display());
            found = true;
        }
    }
    Ok(if found { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
