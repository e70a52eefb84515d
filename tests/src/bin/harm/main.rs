//! `harm`: what hosts that harm others cost the others, and how much memory they can make a crawl take (issue 17, bars 1 and 3).
//!
//! Every crawl is a process of its own, against a server on loopback whose log is the judge.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::{Parser, Subcommand};
use tests::crowd::run::{Ran, crawl};
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
    /// The rate of 12 healthy hosts alone, and beside hosts that hold slots and memory.
    Slots {
        /// Seconds that are measured, after 20 s.
        #[arg(long, default_value_t = 20)]
        seconds: u64,
    },
    /// Most resident memory of crawls of pages that are more than memory can hold.
    Memory {
        /// Seconds of each crawl.
        #[arg(long, default_value_t = 20)]
        seconds: u64,
        /// Only this attack.
        #[arg(long)]
        only: Option<String>,
    },
}

/// Kinds of hosts, how many of them, and further flags.
type Attack = (&'static str, &'static str, usize, &'static [&'static str]);

const ATTACKS: &[Attack] = &[
    ("10,000 links under a base of 1.9 KB, 64 hosts", "base", 64, &[]),
    ("9,000 subdomains a page", "wild", 1, &[]),
    ("8 MiB of distinct words, 8 hosts", "words", 8, &[]),
    ("20 sitemaps of 50 MB a host, 4 hosts", "maps", 4, &["--sitemaps"]),
    ("a million links on a page, 8 hosts", "million", 8, &[]),
    ("100,000 hosts with 10 pages each", "many", 1, &[]),
    ("10,000 links with long anchors, 64 hosts", "anchors", 64, &[]),
    ("10,000 ports a page, 64 hosts", "ports", 64, &[]),
    ("5,000 names of parameters a page, 64 hosts", "queries", 64, &[]),
    ("2,000 links of 800 folders, 64 hosts", "deep", 64, &[]),
];

/// Hosts that are known to be well, before they are measured.
const WARM: Duration = Duration::from_secs(20);

fn main() -> anyhow::Result<ExitCode> {
    let Arguments { what, program } = Arguments::parse();
    let program = program.map_or_else(|| beside("crawl"), Ok)?;
    let dir = tempfile::tempdir()?;
    let well = match what {
        What::Slots { seconds } => slots(&program, dir.path(), Duration::from_secs(seconds))?,
        What::Memory { seconds, only } => memory(&program, dir.path(), Duration::from_secs(seconds), only.as_deref())?,
    };
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn slots(program: &Path, dir: &Path, span: Duration) -> anyhow::Result<bool> {
    let crowd = Crowd::start(1_000)?;
    let flags = ["--delay", "200ms", "--delay-factor", "0", "--address-delay", "0ms", "--scope", "host"];
    let bad = [("drip", 128), ("fill", 8), ("heads", 64), ("stutter", 64)];
    let harmful = || bad.into_iter().flat_map(|(kind, count)| seeds(kind, count));
    let alone = crawl(Command::new(program), &crowd, &dir.join("alone"), &flags, seeds("well", 12), WARM + span)?;
    // Those that harm come first.
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
    let hosts = harmful().map(|seed| seed.trim_end_matches('/').replace("http://", ""));
    let (named, unnamed): (Vec<_>, Vec<_>) = hosts.map(|host| among.reason(&host)).partition(Option::is_some);
    println!(
        "{} of {} harmful hosts are named so far; first: {:?}",
        named.len(),
        named.len() + unnamed.len(),
        named.first()
    );
    Ok(share >= 95.0)
}

fn memory(program: &Path, dir: &Path, span: Duration, only: Option<&str>) -> anyhow::Result<bool> {
    let crowd = Crowd::start(50)?;
    let mut well = true;
    println!("{:>9} {:>9} {:>9}  attack", "peak MiB", "requests", "healthy");
    for &(name, kind, count, more) in ATTACKS.iter().filter(|attack| only.is_none_or(|only| only == attack.1)) {
        let fast = ["--delay", "100ms", "--delay-factor", "0", "--address-delay", "0ms", "--scope", "any"];
        let flags = [&fast[..], more].concat();
        let all = seeds(kind, count).chain(seeds("well", 4));
        let ran = crawl(Command::new(program), &crowd, &dir.join(kind), &flags, all, span)?;
        let healthy = ran.pages.iter().filter(|page| page["url"].as_str().is_some_and(|url| url.contains("//well-")));
        let healthy = healthy.count();
        println!("{:>9} {:>9} {healthy:>9}  {name}", ran.peak >> 10, ran.log.len());
        well &= ran.peak > 0 && ran.peak <= 200 << 10 && ran.status.code().is_some();
        if ran.status.code().is_none() {
            println!("{}", ran.said);
        }
        std::fs::remove_dir_all(dir.join(kind))?;
    }
    Ok(well)
}
