//! Hosts that harm others, against the program itself: no host starves, nothing grows without bound, and a local fault
//! is reported as local. `cargo run --release -p tests --bin harm` runs these tests in full size.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use tests::crowd::run::{Ran, crawl, crawl_and, report, slow_hosts};
use tests::crowd::{Crowd, seeds};

const SECOND: Duration = Duration::from_secs(1);

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_crawl"))
}

const POLITE: [&str; 6] = ["--delay", "200ms", "--delay-factor", "0", "--address-delay", "0ms"];

fn harmful() -> impl Iterator<Item = String> {
    [("drip", 8), ("fill", 2), ("heads", 3), ("stutter", 3)].into_iter().flat_map(|(kind, count)| seeds(kind, count))
}

/// Crawls three healthy hosts beside others, with few slots and little memory. Returns the result and the report.
fn beside(others: impl IntoIterator<Item = String>) -> anyhow::Result<(Ran, Value)> {
    let (crowd, dir) = (Crowd::start(200)?, tempfile::tempdir()?);
    let few = ["--concurrency", "8", "--body-budget", "16MiB", "--scope", "host", "--attempts", "2"];
    let all = others.into_iter().chain(seeds("well", 3));
    let ran = crawl(program(), &crowd, dir.path(), &[&POLITE[..], &few].concat(), all, 20 * SECOND)?;
    Ok((ran, report(program(), dir.path())?))
}

/// Catches a crawl in which the slots, or the memory for bodies, belong to the hosts that hold them longest.
#[test]
fn healthy_hosts_keep_their_pace_beside_hosts_that_hold_slots() -> anyhow::Result<()> {
    let (alone, among) = std::thread::scope(|scope| {
        let alone = scope.spawn(|| beside([]));
        let among = beside(harmful());
        (alone.join().expect("no panic"), among)
    });
    let ((alone, nobody), (among, told)) = (alone?, among?);
    let rate = |ran: &Ran| ran.rate("well", 10 * SECOND, 19 * SECOND);
    println!("{:.1} pages a second; alone {:.1}", rate(&among), rate(&alone));
    assert!(rate(&alone) > 5.0, "{}", alone.said);
    assert!(rate(&among) >= 0.9 * rate(&alone), "{:.1} pages a second; alone {:.1}", rate(&among), rate(&alone));
    let reasons: Vec<_> = harmful().filter_map(|seed| among.reason(seed.split('/').nth(2)?)).collect();
    // How many answers are given up by now depends on the machine. Each reason must name the trouble.
    for reason in reasons {
        let named = ["slow: ", "the answer came too slowly", "timeout: the body", "too_large: body longer"];
        assert!(named.iter().any(|name| reason.starts_with(name)), "{reason}");
    }
    assert_eq!(slow_hosts(&nobody).len(), 0, "{nobody}");
    let slow = slow_hosts(&told);
    assert!(slow.len() >= 8, "half of them are named by now: {slow:?}");
    assert!(slow.iter().all(|(host, why)| !host.starts_with("well") && ["slow", "timeout", "no_room"].contains(why)));
    Ok(())
}

/// Catches a crawl that reports the limit of its own open files as a fault of the hosts.
#[test]
fn more_hosts_than_files_are_crawled_to_the_last_page() -> anyhow::Result<()> {
    let (crowd, dir) = (Crowd::start(2)?, tempfile::tempdir()?);
    let mut limited = Command::new("sh");
    limited.args(["-c", r#"ulimit -Sn 64; ulimit -Hn 256; exec "$0" "$@""#]).arg(program().get_program());
    let flags = [&POLITE[..], &["--scope", "host"]].concat();
    let ran = crawl(limited, &crowd, dir.path(), &flags, seeds("well", 600), 60 * SECOND)?;
    assert_eq!(ran.status.code(), Some(0), "{}", ran.said);
    assert_eq!((ran.pages.len(), ran.skipped.len()), (1_200, 0));
    assert!(ran.pages.iter().all(|page| page["status"] == 200));
    Ok(())
}

/// Catches a crawl in which a few good answers between two slow ones give a host the slots that are kept for others.
#[test]
fn hosts_that_hold_a_slot_now_and_then_cost_healthy_ones_nothing_for_long() -> anyhow::Result<()> {
    let (crowd, dir) = (Crowd::start(300)?, tempfile::tempdir()?);
    let flags = [&POLITE[..], &["--scope", "host", "--concurrency", "8", "--attempts", "2"]].concat();
    let all = seeds("turn", 16).chain(seeds("well", 3));
    let ran = crawl(program(), &crowd, dir.path(), &flags, all, 42 * SECOND)?;
    // The crawl loses some slots before it knows these hosts.
    let rate = ran.rate("well", 30 * SECOND, 41 * SECOND);
    println!("{rate:.1} pages a second; 15 at most");
    assert!(rate >= 12.0, "{rate:.1} pages a second; {}", ran.said);
    Ok(())
}

/// Catches a crawl in which hosts that answer each page late, and never so late that they lose a slot, hold nearly all
/// slots.
#[test]
fn hosts_that_answer_late_leave_slots_for_hosts_that_answer_at_once() -> anyhow::Result<()> {
    let (crowd, dir) = (Crowd::start(300)?, tempfile::tempdir()?);
    let flags = [&POLITE[..], &["--scope", "host", "--concurrency", "8"]].concat();
    let all = seeds("steady", 30).chain(seeds("well", 3));
    let ran = crawl(program(), &crowd, dir.path(), &flags, all, 30 * SECOND)?;
    let (rate, late) = (ran.rate("well", 10 * SECOND, 29 * SECOND), ran.rate("steady", 10 * SECOND, 29 * SECOND));
    println!("{rate:.1} pages a second, 15 at most; of the late hosts {late:.1}");
    assert!(rate >= 12.0 && late >= 1.5, "{rate:.1} pages a second; of the late hosts {late:.1}; {}", ran.said);
    Ok(())
}

/// Catches an address whose turns nearly all go to the subdomains of one domain.
#[test]
fn domains_at_an_address_take_turns() -> anyhow::Result<()> {
    let (crowd, dir) = (Crowd::start(300)?, tempfile::tempdir()?);
    let flags = ["--delay", "600ms", "--delay-factor", "0", "--address-delay", "200ms", "--scope", "any"];
    let all = seeds("wild", 1).chain(seeds("well", 3));
    let ran = crawl(program(), &crowd, dir.path(), &flags, all, 30 * SECOND)?;
    // The address has five turns a second, and there are four domains.
    let rate = ran.rate("well", 10 * SECOND, 29 * SECOND);
    let wild = ran.log.iter().filter(|asked| asked.host.ends_with("wild-0.test")).count();
    println!("{rate:.1} pages a second, 3.75 at most, beside {wild} requests to the domain without end");
    assert!(rate >= 3.0 && wild >= 15, "{rate:.1} pages a second, {wild} requests to the other domain; {}", ran.said);
    Ok(())
}

/// Catches hosts that sleep for ever because one domain always has further hosts that were never asked, and a state
/// that grows with every host that the domain names.
#[test]
fn a_domain_with_subdomains_without_end_leaves_others_their_pace() -> anyhow::Result<()> {
    let (crowd, dir) = (Crowd::start(400)?, tempfile::tempdir()?);
    // The domain has a quarter of the slots, and so a bounded part of the processor.
    let flags = [&POLITE[..], &["--scope", "any", "--concurrency", "8", "--robots", "ignore"]].concat();
    // Three pages of it name more hosts than memory holds.
    let ran = crawl(program(), &crowd, dir.path(), &flags, seeds("wild", 1).chain(seeds("well", 3)), 30 * SECOND)?;
    // A busy machine has time for fewer.
    let rate = ran.rate("well", 15 * SECOND, 29 * SECOND);
    let hosts = ran.log.iter().filter(|asked| asked.host.ends_with("wild-0.test")).count();
    println!("{rate:.1} pages a second, 15 at most, beside {hosts} requests to the domain");
    assert!(hosts > 100 && rate >= 4.0, "{rate:.1} pages a second; {}", ran.said);
    let told = report(program(), dir.path())?;
    assert!(told["hosts_left"].as_u64() > Some(9_000) && told["complete"] == false, "{told:#}");
    Ok(())
}

/// Catches a crawl that ends in the middle of its work, without a message, because the system gives it no memory.
#[test]
fn too_low_a_limit_of_addresses_is_named() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    // With the least, the allocator has no memory before the program can look at the limit.
    for limit in ["65536", "131072", "600000"] {
        let mut limited = Command::new("sh");
        limited.args(["-c", &format!(r#"ulimit -v {limit}; exec "$0" "$@""#)]).arg(program().get_program());
        let ended = limited.arg("crawl").arg("--dir").arg(dir.path().join("crawl")).arg("http://a.test/").output()?;
        let said = String::from_utf8(ended.stderr)?;
        assert_eq!(ended.status.code(), Some(1), "{limit}: {said}");
        assert!(said.contains("ulimit -v") && said.lines().count() == 1, "{limit}: {said}");
    }
    Ok(())
}

/// Catches memory that grows with what a page says.
#[test]
fn pages_that_are_more_than_memory_holds_cost_no_more_than_their_bound() -> anyhow::Result<()> {
    // All attacks in full size are a command of their own (`harm -- memory`): some need minutes to show their cost.
    for (kind, count) in [("words", 4), ("million", 2), ("pdf", 8), ("json", 8), ("rights", 24), ("marks", 2)] {
        let (crowd, dir) = (Crowd::start(2)?, tempfile::tempdir()?);
        let flags = [&POLITE[..], &["--scope", "any", "--purpose", "train"]].concat();
        let ran = crawl(program(), &crowd, dir.path(), &flags, seeds(kind, count), 5 * SECOND)?;
        println!("{kind}: {} MiB after {} requests", ran.peak >> 10, ran.log.len());
        assert!(ran.log.len() > count, "{kind}: {}", ran.said);
        assert!(ran.peak > 0 && ran.peak <= 200 << 10, "{kind}: {} MiB", ran.peak >> 10);
    }
    Ok(())
}

/// Catches a crawl that catches up on the time for which it was suspended.
#[test]
fn a_suspended_crawl_is_as_polite_as_before() -> anyhow::Result<()> {
    let (crowd, dir) = (Crowd::start(15)?, tempfile::tempdir()?);
    let signal = |name: &str, pid: u32| Command::new("kill").args([name, &pid.to_string()]).status();
    let mut stopped = None;
    let flags = [&POLITE[..], &["--scope", "host"]].concat();
    let ran = crawl_and(program(), &crowd, dir.path(), &flags, seeds("well", 3), 60 * SECOND, |child| {
        anyhow::ensure!(crowd.wait_for(15, 20 * SECOND), "too few requests");
        anyhow::ensure!(signal("-STOP", child.id())?.success());
        let began = Instant::now();
        std::thread::sleep(3 * SECOND);
        // The time is taken before the signal is sent: on a busy machine, the crawl may continue before `kill` has
        // ended.
        stopped = Some((began, Instant::now()));
        anyhow::ensure!(signal("-CONT", child.id())?.success());
        Ok(())
    })?;
    let (began, ended) = stopped.expect("it was suspended");
    assert_eq!((ran.status.code(), ran.pages.len()), (Some(0), 45), "{}", ran.said);
    let mut last = BTreeMap::new();
    for asked in &ran.log {
        if let Some(before) = last.insert(asked.host.as_str(), asked.at) {
            assert!(asked.at - before >= Duration::from_millis(200), "{asked:?}");
        }
    }
    // Requests that were sent before may be read a little later.
    let grace = SECOND;
    let during = ran.log.iter().filter(|asked| asked.at > began + grace && asked.at < ended).count();
    assert_eq!(during, 0, "a suspended process asks for nothing");
    Ok(())
}
