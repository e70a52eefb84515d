//! `politeness`: checks the politeness of crawls with the log of the servers.
//!
//! There are two crawls of 200 hosts on three addresses, with Crawl-delays from 50 ms to 2 s. Each is killed and
//! resumed several times. The rate of the first crawl is limited by the delays of the hosts, and that of the second by
//! the delay (`floor`) of the addresses.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use tests::polite::{Course, Judgement, Town, follow};
use tests::programs::beside;

/// Crawl hosts that record all requests, and print what they recorded.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// The number of requests of the first crawl; the second makes a fifth of them.
    #[arg(long, default_value_t = 10_000)]
    requests: usize,
    /// The number of times that each crawl is killed.
    #[arg(long, default_value_t = 3)]
    restarts: usize,
    /// The crawler [default: `crawl` of this package, built like this program]
    #[arg(long)]
    program: Option<PathBuf>,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let program = arguments.program.map_or_else(|| beside("crawl"), Ok)?;
    let town = Town {
        hosts: 200,
        addresses: 3,
        shortest: Duration::from_millis(50),
        longest: Duration::from_secs(2),
        busy: 10,
    };
    let limit = Duration::from_secs(300);
    let Arguments { requests, restarts, .. } = arguments;
    let base = tempfile::tempdir()?;

    println!("{} hosts on {} addresses, delays {:?} to {:?}", town.hosts, town.addresses, town.shortest, town.longest);
    let course = Course { program, floor: Duration::from_millis(1), requests, restarts, limit };
    println!("\nfloor of an address {:?}: the delays of the hosts decide", course.floor);
    let own = follow(&course, town, &base.path().join("own"))?;
    let own_share = own.made as f64 / own.allowed as f64;
    print(&own);
    println!("{} requests of {} that the delays allow: {:.1} %", own.made, own.allowed, 100.0 * own_share);

    let course = Course { floor: Duration::from_millis(50), requests: requests / 5, ..course };
    println!("\nfloor of an address {:?}: the addresses decide", course.floor);
    let shared = follow(&course, town, &base.path().join("shared"))?;
    let (made, allowed) = (shared.made_to_addresses, shared.allowed_to_addresses);
    let shared_share = made as f64 / allowed as f64;
    print(&shared);
    println!("{made} requests of {allowed} that the floor allows: {:.1} %", 100.0 * shared_share);
    let most = (1.0 / course.floor.as_secs_f64()).ceil() as usize + 1;
    println!("{} requests to one address within a second, at most; the floor allows {most}", shared.busiest_second);

    // If the addresses limit the rate, a host also has to wait for its turn. So only the first crawl can be checked for
    // late retries.
    let punctual = own.latest_retry < Duration::from_secs(1);
    let polite = is_polite(&own) && is_polite(&shared) && punctual && shared.busiest_second <= most;
    let fast = own_share >= 0.95 && shared_share >= 0.95;
    println!(
        "\n{}, {}",
        if polite { "polite" } else { "NOT POLITE" },
        if fast { "and as fast as that" } else { "SLOW" }
    );
    Ok(if polite && fast { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn is_polite(judgement: &Judgement) -> bool {
    let Judgement { overlapping, early, forbidden, early_retries, retries, .. } = *judgement;
    overlapping + early + forbidden + early_retries == 0 && retries > 0
}

fn print(judgement: &Judgement) {
    let Judgement { requests, overlapping, early, forbidden, retries, early_retries, .. } = judgement;
    println!("{requests} requests");
    println!("{overlapping} while another to their host was open");
    println!("{early} before the delay was over; the shortest wait was {:?} longer", judgement.smallest_excess);
    println!("{forbidden} that robots.txt forbids");
    println!(
        "{early_retries} of {retries} before Retry-After was over; the latest {:?} after it",
        judgement.latest_retry
    );
}
