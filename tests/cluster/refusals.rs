//! Brokers that cannot do what an operator wants: the message says in plain English what is wrong, where, and what to
//! do. What the brokers themselves say stands in brackets after that.

use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::ensure;
use tests::cluster::{Brokers, Lone};
use tests::programs::beside;

use super::Test;

/// The tests.
pub const TESTS: &[Test] = &[
    ("what_brokers_refuse_is_said_in_plain_english", what_brokers_refuse_is_said_in_plain_english),
    ("that_too_few_brokers_run_is_said_in_plain_english", that_too_few_brokers_run_is_said_in_plain_english),
];

/// The longest time for a message. A broker that says nothing has 5 s for an answer.
const LIMIT: Duration = Duration::from_secs(20);
/// The arguments that make a crawl.
const CREATE: &[&str] = &["create", "--contact", "me@example.org", "http://a.test/"];

/// Runs a command, and checks that it fails with words that a user understands.
fn fails(words: &[&str], address: &str, monitor: &str, expected: &[&str]) -> anyhow::Result<()> {
    let begin = Instant::now();
    let mut command = Command::new(beside("crawler-under-test")?);
    command.arg("cluster").args(words).args(["--cluster", address]).stdin(Stdio::null());
    match monitor {
        "" => command.arg("--unsafe-sync"),
        monitor => command.args(["--monitor", monitor]),
    };
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    println!("{words:?} {address}: {}", said.trim_end());
    ensure!(output.status.code() == Some(1), "{words:?} {address}: {}: {said}", output.status);
    // The address is shown without its user.
    let place = address.rsplit('@').next().unwrap_or(address).trim_start_matches("nats://");
    for part in expected.iter().chain([&place]) {
        ensure!(said.contains(part), "{words:?}: {part:?} is not in {said}");
    }
    ensure!(!said.contains(":secret@") && begin.elapsed() < LIMIT, "{:?}: {said}", begin.elapsed());
    Ok(())
}

fn what_brokers_refuse_is_said_in_plain_english() -> anyhow::Result<()> {
    let nobody = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?;
    fails(&["status"], &format!("nats://{nobody}"), "", &["no broker answers (connection refused)"])?;
    fails(&["status"], "nats://a b", "", &["no address of brokers: give nats://HOST:PORT"])?;

    let off = Lone::start("")?;
    for words in [&["status"][..], &["pause"], &["export"], CREATE] {
        fails(words, &off.address(""), "", &["JetStream is off", "`jetstream` block", "["])?;
    }
    let monitor = off.monitor();
    fails(&["status"], &monitor, "", &["no address of brokers"])?;
    let output = Command::new(beside("crawler-under-test")?)
        .args(["cluster", "status", "--cluster", &off.address(""), "--monitor", &monitor])
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(said.contains(&monitor) && said.contains("has not started JetStream: put a `jetstream` block"), "{said}");

    let guarded = Lone::start(
        "jetstream { store_dir: STORE, sync_interval: always }\nauthorization { users = [\n\
         { user: me, password: secret }\n\
         { user: low, password: secret, permissions: { publish: foo, subscribe: \"_INBOX.>\" } }\n] }",
    )?;
    let monitor = guarded.monitor();
    fails(&["status"], &guarded.address(""), &monitor, &["let only users in", "--creds FILE"])?;
    fails(&["status"], &guarded.address("me:wrong@"), &monitor, &["do not know this user", "check the user"])?;
    fails(&["status"], &guarded.address("low:secret@"), &monitor, &["do not allow this user", "named crawl"])?;
    let create = [CREATE, &["--replicas", "3"]].concat();
    fails(&create, &guarded.address("me:secret@"), &monitor, &["lower --replicas", "stream CRAWL-crawl-links"])?;

    let small = Lone::start("jetstream { store_dir: STORE, sync_interval: always, max_file_store: 4000 }")?;
    let seeds: Vec<String> = (0..200).map(|host| format!("http://h{host}.test/")).collect();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let create = [CREATE, &["--replicas", "1"], &seeds].concat();
    let made = Command::new(beside("crawler-under-test")?)
        .arg("cluster")
        .args(&create)
        .args(["--cluster", &small.address(""), "--monitor", &small.monitor()])
        .output()?;
    ensure!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let add = ["add-seeds", "http://b.test/"];
    fails(&add, &small.address(""), &small.monitor(), &["no more room for the crawl", "`max_file_store`"])
}

fn that_too_few_brokers_run_is_said_in_plain_english() -> anyhow::Result<()> {
    let mut brokers = Brokers::start("always")?;
    let name = "few";
    let made = brokers.command(beside("crawler-under-test")?, &[&["cluster"], CREATE].concat(), name).output()?;
    ensure!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    brokers.kill(0)?;
    brokers.kill(1)?;
    for words in [&["status"][..], &["pause"], &["report"], &["export"]] {
        let killed = Instant::now();
        loop {
            let begin = Instant::now();
            let all = [&["cluster"], words].concat();
            let output = brokers.command(beside("crawler-under-test")?, &all, name).output()?;
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            println!("{words:?}: {:?} {}", output.status.code(), said.trim_end());
            // A broker that led the others still tells what it has, until it notices that they are gone.
            if output.status.success() && killed.elapsed() < LIMIT {
                continue;
            }
            let is_plain = said.contains("ore than half") && said.contains("named few at nats://");
            ensure!(output.status.code() == Some(1) && is_plain && begin.elapsed() < LIMIT, "{words:?}: {said}");
            break;
        }
    }
    Ok(())
}
