//! `harm`: measures how much hosts that harm others slow down the others, and how much memory they can make a crawl
//! use. It also tests a crawl of more hosts than open files are allowed, and a crawl that is suspended.
//!
//! Each crawl is a process of its own, against a server on loopback that logs all requests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use clap::{Parser, Subcommand};
use tests::crowd::run::{Ran, crawl, crawl_and, report, slow_hosts};
use tests::crowd::{Crowd, seeds};
use tests::programs::beside;

/// Crawl hosts that harm others.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    what: What,
    /// The crawler [default: `crawl` of this package, built like this program]
    #[arg(long, global = true)]
    program: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// The rate of 12 healthy hosts alone, and beside hosts that hold slots and memory, that answer each page late, or
    /// whose domain has subdomains without end at the same address.
    Slots {
        /// The seconds that are measured, after the first 20 s.
        #[arg(long, default_value_t = 20)]
        seconds: u64,
    },
    /// The peak of resident memory in crawls of more pages than memory can hold, in total, and beside the seen-set and
    /// the indexes (as the crawl says at its end).
    Memory {
        /// The seconds of each crawl.
        #[arg(long, default_value_t = 20)]
        seconds: u64,
        /// The only attack to run.
        #[arg(long)]
        only: Option<String>,
    },
    /// More hosts than files: a crawl under `ulimit -n` 256 (soft) and 1,024 (hard).
    Files {
        /// The number of hosts, with two pages each.
        #[arg(long, default_value_t = 10_000)]
        hosts: usize,
        /// The longest time of the crawl, in seconds.
        #[arg(long, default_value_t = 900)]
        seconds: u64,
    },
    /// A crawl that is suspended (SIGSTOP) and continued.
    Suspend {
        /// The seconds for which it is suspended.
        #[arg(long, default_value_t = 90)]
        seconds: u64,
    },
}

/// A description, the kind of hosts, the number of hosts, and more flags.
type Attack = (&'static str, &'static str, usize, &'static [&'static str]);

const ATTACKS: &[Attack] = &[
    ("10,000 links under a base of 1.9 KB, 64 hosts", "base", 64, &[]),
    ("subdomains without end, 9,000 a page", "wild", 1, &[]),
    ("8 MiB of distinct words, 8 hosts", "words", 8, &[]),
    ("20 sitemaps of 50 MB a host, 4 hosts", "maps", 4, &["--sitemaps"]),
    ("64 sitemaps of 50 MB at once, 64 hosts", "atlas", 64, &["--sitemaps"]),
    ("feeds of 8 MB, 16 hosts", "feed", 16, &[]),
    ("a million links on a page, 8 hosts", "million", 8, &[]),
    ("100,000 hosts with 10 pages each", "many", 1, &[]),
    ("10,000 links with long anchors, 64 hosts", "anchors", 64, &[]),
    ("10,000 ports a page, 64 hosts", "ports", 64, &[]),
    ("5,000 names of parameters a page, 64 hosts", "queries", 64, &[]),
    ("2,000 links of 800 folders, 64 hosts", "deep", 64, &[]),
    ("10,000 short links in 210 KB, 64 hosts", "brief", 64, &[]),
    ("pages of 2 MiB, 2,000 hosts", "heavy", 2_000, &[]),
    ("subdomains without end, 64 domains", "wild", 64, &[]),
    ("redirects to subdomains without end, 64 domains", "hops", 64, &[]),
    ("sitemaps that name 50,000 hosts each, 64 domains", "named", 64, &["--sitemaps"]),
    ("9,000 other languages and a canonical URL, 64 domains", "canonical", 64, &[]),
    ("8 MiB of words of one letter, 64 hosts", "letters", 64, &[]),
    ("8 MiB of blocks of one letter, 64 hosts", "blocks", 64, &[]),
    ("a title of 4 MiB, 10,000 titles of links, 64 hosts", "titles", 64, &[]),
    ("10,000 images with long texts, 64 hosts", "media", 64, &[]),
    ("PDF files with titles of 7 MB and 10,000 links, 64 hosts", "pdf", 64, &[]),
    ("JSON feeds with one URL of 8 MB, 64 hosts", "json", 64, &[]),
    ("statements of 8 MB about use, 64 hosts", "rights", 64, &["--purpose", "train"]),
    ("Markdown whose links do not end, 64 hosts", "marks", 64, &[]),
];

/// The time before the measurement, in which the crawl learns which hosts are healthy.
const WARM: Duration = Duration::from_secs(20);

fn main() -> anyhow::Result<ExitCode> {
    let Arguments { what, program } = Arguments::parse();
    let program = program.map_or_else(|| beside("crawl"), Ok)?;
    let dir = tempfile::tempdir()?;
    let well = match what {
        What::Slots { seconds } => slots(&program, dir.path(), Duration::from_secs(seconds))?,
        What::Memory { seconds, only } => memory(&program, dir.path(), Duration::from_secs(seconds), only.as_deref())?,
        What::Files { hosts, seconds } => files(&program, dir.path(), hosts, Duration::from_secs(seconds))?,
        What::Suspend { seconds } => suspend(&program, dir.path(), Duration::from_secs(seconds))?,
    };
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn slots(program: &Path, dir: &Path, span: Duration) -> anyhow::Result<bool> {
    let crowd = Crowd::start(1_000)?;
    let flags = ["--delay", "200ms", "--delay-factor", "0", "--address-delay", "0ms", "--scope", "host"];
    let bad = [("drip", 128), ("fill", 8), ("heads", 64), ("stutter", 64)];
    let harmful = || bad.into_iter().flat_map(|(kind, count)| seeds(kind, count));
    let alone = crawl(Command::new(program), &crowd, &dir.join("alone"), &flags, seeds("well", 12), WARM + span)?;
    // The harmful hosts come first.
    let all = harmful().chain(seeds("well", 12));
    let among = crawl(Command::new(program), &crowd, &dir.join("among"), &flags, all, WARM + span)?;
    let rate = |ran: &Ran| ran.rate("well", WARM, WARM + span);
    let early = |ran: &Ran| ran.rate("well", Duration::ZERO, WARM);
    let share = 100.0 * rate(&among) / rate(&alone);
    println!(
        "pages a second of 12 healthy hosts, beside 264 that harm: {:.1}; alone: {:.1}",
        rate(&among),
        rate(&alone)
    );
    println!("in the first 20 s: {:.1}; alone: {:.1}", early(&among), early(&alone));
    println!("share after 20 s: {share:.1} %, peak {} MiB, {:?}", among.peak >> 10, among.status.code());
    let report = report(Command::new(program), &dir.join("among"))?;
    let slow = slow_hosts(&report);
    let mut all_named = true;
    for (kind, count) in bad {
        let hosts: Vec<_> = (0..count).map(|n| format!("{kind}-{n}.test")).collect();
        let named = hosts.iter().filter(|host| slow.contains_key(host.as_str())).count();
        let given_up = hosts.iter().filter(|host| among.reason(host).is_some()).count();
        println!("{kind}: {named} of {count} hosts are named with their reason, {given_up} URLs are given up");
        // Hosts that stutter keep the lowest rate that an answer must have while slots are free.
        all_named &= named == count || kind == "stutter";
    }
    let healthy = slow.keys().filter(|host| host.starts_with("well")).count();
    println!("{healthy} of 12 healthy hosts are named");
    let late = seeds("steady", 200).chain(seeds("well", 12));
    let late = rate(&crawl(Command::new(program), &crowd, &dir.join("late"), &flags, late, WARM + span)?);
    let late_share = 100.0 * late / rate(&alone);
    println!("beside 200 hosts that answer each page after 2.7 s: {late:.1} ({late_share:.1} %)");
    // The 12 hosts ask for six pages a second, and the address has ten turns.
    let flags = ["--delay", "2s", "--delay-factor", "0", "--address-delay", "100ms", "--scope", "any"];
    let all = seeds("wild", 1).chain(seeds("well", 12));
    let shared = rate(&crawl(Command::new(program), &crowd, &dir.join("shared"), &flags, all, WARM + span)?);
    let all = crawl(Command::new(program), &crowd, &dir.join("shared alone"), &flags, seeds("well", 12), WARM + span)?;
    let shared_share = 100.0 * shared / rate(&all);
    println!(
        "at one address with ten turns a second, beside subdomains without end: {shared:.1} ({shared_share:.1} %)"
    );
    Ok(share >= 95.0 && late_share >= 90.0 && shared_share >= 80.0 && all_named && healthy == 0)
}

fn memory(program: &Path, dir: &Path, span: Duration, only: Option<&str>) -> anyhow::Result<bool> {
    let crowd = Crowd::start(50)?;
    let mut well = true;
    println!("{:>9} {:>9} {:>9} {:>9} {:>9}  attack", "peak MiB", "URLs met", "beside", "requests", "healthy");
    for &(name, kind, count, more) in ATTACKS.iter().filter(|attack| only.is_none_or(|only| only == attack.1)) {
        let fast = ["--delay", "100ms", "--delay-factor", "0", "--address-delay", "0ms", "--scope", "any"];
        let flags = [&fast[..], more].concat();
        let all = seeds(kind, count).chain(seeds("well", 4));
        let ran = crawl(Command::new(program), &crowd, &dir.join(kind), &flags, all, span)?;
        let healthy = ran.pages.iter().filter(|page| page["url"].as_str().is_some_and(|url| url.contains("//well-")));
        let healthy = healthy.count();
        let report = report(Command::new(program), &dir.join(kind))?;
        let met = report["urls_seen"].as_u64().unwrap_or_default();
        // Programs from before these figures say nothing, so nothing is taken off.
        let grows = |part: &str| report["memory"][part].as_u64().unwrap_or_default();
        let beside = ran.peak.saturating_sub(["seen_set", "judge", "state_index"].map(grows).iter().sum::<u64>() >> 10);
        let (peak, left, requests) = (ran.peak >> 10, beside >> 10, ran.log.len());
        println!("{peak:>9} {met:>9} {left:>9} {requests:>9} {healthy:>9}  {name}");
        if ran.peak == 0 {
            println!("the peak is not known: only the program `crawl` of this package tells it");
        }
        well &= ran.peak > 0 && beside <= 200 << 10 && ran.status.code().is_some();
        if ran.status.code().is_none() {
            println!("{}", ran.said);
        }
        std::fs::remove_dir_all(dir.join(kind))?;
    }
    Ok(well)
}

fn files(program: &Path, dir: &Path, hosts: usize, time: Duration) -> anyhow::Result<bool> {
    let crowd = Crowd::start(2)?;
    let mut limited = Command::new("sh");
    limited.args(["-c", r#"ulimit -Sn 256; ulimit -Hn 1024; exec "$0" "$@""#]).arg(program);
    let flags = ["--delay", "200ms", "--delay-factor", "0", "--address-delay", "0ms", "--scope", "host"];
    let began = Instant::now();
    let ran = crawl(limited, &crowd, dir, &flags, seeds("well", hosts), time)?;
    let good = ran.pages.iter().filter(|page| page["status"] == 200).count();
    println!(
        "{good} of {} pages in {:.0} s, {} URLs not fetched, {:?}, peak {} MiB",
        2 * hosts,
        began.elapsed().as_secs_f64(),
        ran.skipped.len(),
        ran.status.code(),
        ran.peak >> 10
    );
    Ok(good == 2 * hosts && ran.skipped.is_empty() && ran.status.success())
}

fn suspend(program: &Path, dir: &Path, span: Duration) -> anyhow::Result<bool> {
    const DELAY: Duration = Duration::from_millis(200);
    let (crowd, mut stopped) = (Crowd::start(60)?, None);
    let flags = ["--delay", "200ms", "--delay-factor", "0", "--address-delay", "0ms", "--scope", "host"];
    let signal = |name: &str, pid: u32| Command::new("kill").args([name, &pid.to_string()]).status();
    let (time, began) = (span + Duration::from_secs(120), Instant::now());
    let ran = crawl_and(Command::new(program), &crowd, dir, &flags, seeds("well", 3), time, |child| {
        anyhow::ensure!(crowd.wait_for(60, Duration::from_secs(60)), "too few requests");
        anyhow::ensure!(signal("-STOP", child.id())?.success());
        let since = Instant::now();
        std::thread::sleep(span);
        // This comes before the signal is sent, because on a busy machine the crawl may continue before `kill` has
        // ended.
        stopped = Some((since, Instant::now()));
        anyhow::ensure!(signal("-CONT", child.id())?.success());
        Ok(())
    })?;
    let whole = began.elapsed();
    let Some((since, until)) = stopped else { anyhow::bail!("it was never suspended") };
    let (mut last, mut shortest) = (BTreeMap::new(), Duration::MAX);
    for asked in &ran.log {
        if let Some(before) = last.insert(asked.host.as_str(), asked.at) {
            shortest = shortest.min(asked.at - before);
        }
    }
    // Requests that were sent before the signal may be read a little later.
    let sent = since + Duration::from_secs(1);
    let during = ran.log.iter().filter(|asked| asked.at > sent && asked.at < until).count();
    let elapsed = report(Command::new(program), dir)?["elapsed_seconds"].as_f64().unwrap_or_default();
    println!(
        "{} of 180 pages, {:?}; {during} requests meanwhile; shortest gap {} ms; {elapsed:.1} s by its own clock, {:.1} s by ours",
        ran.pages.len(),
        ran.status.code(),
        shortest.as_millis(),
        whole.as_secs_f64()
    );
    Ok(ran.pages.len() == 180 && ran.status.success() && during == 0 && shortest >= DELAY)
}
