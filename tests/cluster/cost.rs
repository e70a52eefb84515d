//! The costs of a cluster: the CPU time that a page takes in a worker, compared with one crawl without a cluster and
//! with several such crawls at once, and the bytes that a page takes in each stream.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::Value;
use tests::background::Background;
use tests::cluster::{Brokers, Shape, Team, Town};
use tests::crawl::lines;
use tests::programs::beside;

use super::Test;

/// The tests.
pub const TESTS: &[Test] =
    &[("a_page_of_a_worker_takes_few_bytes_of_the_log", a_page_of_a_worker_takes_few_bytes_of_the_log)];

/// The largest number of bytes that a page may take in the stream of commits.
const MOST_BYTES: f64 = 400.0;
/// The number of times that both crawls run, in turn. The lowest CPU time counts, because other programs on the machine
/// only add to it.
const ROUNDS: usize = 3;

/// Runs a command to its end, which must be a good one. Returns the CPU time that it took.
fn timed(command: &Command) -> anyhow::Result<Duration> {
    let mut shell = Command::new("bash");
    shell
        .args(["-c", "\"$@\"; code=$?; times; exit $code", "bash"])
        .arg(command.get_program())
        .args(command.get_args());
    let output = shell.stdin(Stdio::null()).output()?;
    let code = output.status.code();
    ensure!(code == Some(0), "{command:?} ended with {code:?}: {}", String::from_utf8_lossy(&output.stderr));
    // The last line has the user and system time of the command; the line before it has those of the shell. Example of
    // a line: 0m1.234s 0m0.123s
    let told = String::from_utf8_lossy(&output.stdout);
    let seconds = |time: &str| -> Option<f64> {
        let (minutes, seconds) = time.strip_suffix('s')?.split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    let last = told.lines().last().with_context(|| format!("no times: {told}"))?;
    let cpu: Option<f64> = last.split(' ').map(seconds).sum();
    Ok(Duration::from_secs_f64(cpu.with_context(|| format!("no times: {last}"))?))
}

/// Joins the chunks of a body that was sent with `Transfer-Encoding: chunked`: each chunk follows a line with its
/// length.
fn joined(chunked: &[u8]) -> Vec<u8> {
    let (mut body, mut left) = (Vec::new(), chunked);
    while let Some(end) = left.windows(2).position(|two| two == b"\r\n") {
        let length = std::str::from_utf8(&left[..end]).ok().and_then(|hex| usize::from_str_radix(hex.trim(), 16).ok());
        let Some(length) = length.filter(|length| *length > 0 && end + 2 + length <= left.len()) else { break };
        body.extend_from_slice(&left[end + 2..end + 2 + length]);
        left = left.get(end + 4 + length..).unwrap_or_default();
    }
    body
}

/// The number of bytes and of messages of each stream, according to the monitor of the first broker.
fn streams(brokers: &Brokers) -> anyhow::Result<BTreeMap<String, (u64, u64)>> {
    let monitor = brokers.monitor();
    let monitor = monitor.split(',').next().and_then(|url| url.strip_prefix("http://")).context("a monitor")?;
    let reply = tests::client::get(monitor.parse()?, "localhost", "/jsz?streams=true", "")?;
    let is_chunked = reply.header("transfer-encoding") == Some("chunked");
    let told: Value = serde_json::from_slice(&if is_chunked { joined(&reply.body) } else { reply.body })?;
    let all = told["account_details"].as_array().into_iter().flatten();
    let all = all.flat_map(|account| account["stream_detail"].as_array().into_iter().flatten());
    let stream = |stream: &Value| {
        let count = |what: &str| stream["state"][what].as_u64().unwrap_or(0);
        Some((stream["name"].as_str()?.to_owned(), (count("bytes"), count("messages"))))
    };
    Ok(all.filter_map(stream).collect())
}

fn a_page_of_a_worker_takes_few_bytes_of_the_log() -> anyhow::Result<()> {
    let pages = std::env::var("CLUSTER_PAGES").map_or(Ok(30), |pages| pages.parse())?;
    let workers: usize = std::env::var("CLUSTER_WORKERS").map_or(Ok(1), |workers| workers.parse())?;
    // Each worker has as many hosts, however many workers there are.
    let shape = Shape { originals: 50 * workers, mirrors: 18 * workers, pages };
    let brokers = Brokers::start("always")?;
    let base = tempfile::tempdir()?;
    let program = beside("crawler-under-test")?;
    let mut least = [f64::MAX; 3];
    for round in 0..ROUNDS {
        let town = Town::new(shape);
        let server = Background::start(|listener| Arc::clone(&town).run(listener))?;
        let folder = base.path().join(format!("round-{round}"));
        let (delay, lease) = (Duration::from_millis(20), Duration::from_secs(30));
        let team = Team { name: format!("cost{round}"), workers, delay, lease, base: folder.clone() };
        team.create(&brokers, &shape, &server.connect_to())?;

        let crawl = |dir: &Path, seeds: &Path, scope: &str| {
            let mut crawl = Command::new(&program);
            crawl.arg("crawl").arg("--dir").arg(dir).arg("--seeds").arg(seeds).args(["--scope", scope]);
            crawl.args(["--allow-private", "--address-delay", "0ms", "--delay", "20ms", "--progress", "none"]);
            crawl.arg("--connect-to").arg(server.connect_to());
            timed(&crawl)
        };
        let alone = folder.join("alone");
        let cpu = crawl(&alone, &folder.join("seeds.txt"), "any")?;
        let written = lines(&alone, "pages.jsonl")?.len() as f64;
        least[0] = least[0].min(cpu.as_secs_f64() / written);

        // The same hosts, crawled by as many processes that do not know each other. Each has its part of the web, with
        // the mirrors of its hosts. What they need more than one crawl is the price of several processes on one
        // machine, and not of the cluster.
        if workers > 1 {
            let apart = |number: usize| -> anyhow::Result<(Duration, usize)> {
                let (dir, seeds) = (folder.join(format!("apart-{number}")), folder.join(format!("part-{number}.txt")));
                let own = (0..shape.hosts()).filter(|host| host % shape.originals % workers == number);
                std::fs::write(&seeds, own.map(|host| format!("http://{}/\n", Shape::name(host))).collect::<String>())?;
                let cpu = crawl(&dir, &seeds, "host")?;
                Ok((cpu, lines(&dir, "pages.jsonl")?.len()))
            };
            let ended: Vec<anyhow::Result<(Duration, usize)>> = std::thread::scope(|scope| {
                let running: Vec<_> = (0..workers)
                    .map(|number| {
                        scope.spawn({
                            let apart = &apart;
                            move || apart(number)
                        })
                    })
                    .collect();
                running.into_iter().map(|crawl| crawl.join().expect("the thread of the crawl ends")).collect()
            });
            let ended: Vec<(Duration, usize)> = ended.into_iter().collect::<anyhow::Result<_>>()?;
            let cpu: Duration = ended.iter().map(|(cpu, _)| *cpu).sum();
            let written: usize = ended.iter().map(|(_, written)| written).sum();
            least[2] = least[2].min(cpu.as_secs_f64() / written as f64);
        }

        let started = std::time::Instant::now();
        let run = |number: usize| {
            let mut worker = brokers.command(&program, &["worker"], &team.name);
            worker.arg("--dir").arg(team.dir(number)).args(["--progress", "none"]);
            timed(&worker)
        };
        let ended: Vec<anyhow::Result<Duration>> = std::thread::scope(|scope| {
            let running: Vec<_> = (0..workers).map(|number| scope.spawn(move || run(number))).collect();
            running.into_iter().map(|worker| worker.join().expect("the worker's thread ends")).collect()
        });
        let (mut cpu, mut written) = (Duration::ZERO, 0.0);
        for (number, ended) in ended.into_iter().enumerate() {
            cpu += ended?;
            written += lines(&team.dir(number), "pages.jsonl")?.len() as f64;
        }
        least[1] = least[1].min(cpu.as_secs_f64() / written);
        println!("{workers} workers: {:.0} pages a second", written / started.elapsed().as_secs_f64());

        let streams = streams(&brokers)?;
        for what in ["commits", "pages", "links"] {
            let name = format!("CRAWL-{}-{what}", team.name);
            let (bytes, messages) = *streams.get(&name).with_context(|| format!("no stream {name}: {streams:?}"))?;
            let of_page = bytes as f64 / written;
            println!("{what}: {of_page:.0} bytes a page, {messages} messages, {written} pages");
            ensure!(what != "commits" || of_page <= MOST_BYTES, "{of_page:.0} bytes a page in the log of commits");
        }
    }
    let [alone, worker, apart] = least.map(|seconds| seconds * 1e6);
    println!(
        "CPU a page: {worker:.0} us of {workers} workers, {alone:.0} us alone: {:.3} times as much",
        worker / alone
    );
    if workers > 1 {
        println!("{workers} crawls apart: {apart:.0} us, so the workers take {:.3} times as much", worker / apart);
    }
    Ok(())
}
