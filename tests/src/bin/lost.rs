//! `lost`: checks whether the estimate of the contents that `drop` lost is right, on a web of real pages in memory.
//!
//! `cargo run --release -p tests --bin lost -- [WEB] --runs 100 [--pages N] [--rescue 0%]`
//!
//! For each run, it prints the pages fetched, the contents found, the URLs held back, the contents lost among these,
//! the estimate with its interval, and whether the interval covers the truth. At the end, it prints the number of runs
//! whose interval covers the truth, the number of runs with an estimate, the median of the URLs held back, and the
//! median width of the interval in percent of the pages fetched.

use std::collections::BTreeSet;
use std::sync::Arc;

use clap::Parser;
use crawler::clock::Clock;
use crawler::crawl::CrawlDir;
use crawler::demo::web::Truth;
use crawler::engine::{self, Nobody};
use dedup_stage::store::{Double, Session};
use frontier::rules::stored;
use tests::choosing::{WebKind, WorldFetch, median};
use tests::crawl::{lines, settings, text};

/// Crawl with `drop`, and compare the estimate with the truth.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// The web to crawl.
    #[arg(value_enum, default_value_t = WebKind::Real)]
    web: WebKind,
    /// The number of runs, each with a seed of its own.
    #[arg(long, default_value_t = 100)]
    runs: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    first: u64,
    /// The mode: `drop`, or another one if only the rules are of interest.
    #[arg(long, default_value = "drop")]
    mode: String,
    /// The number of pages of a synthetic web; 0 for the number at which its bar applies. With 500 pages of `copies`,
    /// some 20 URLs are held back.
    #[arg(long, default_value_t = 0)]
    pages: usize,
    /// The share of the fetched pages that rescue may cost; "0%" releases nothing.
    #[arg(long, default_value = "5%")]
    rescue: String,
    /// Print the rules of each run.
    #[arg(long)]
    rules: bool,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let (mut covered, mut widths, mut helds, mut runs) = (0, Vec::new(), Vec::new(), 0);
    for seed in arguments.first..arguments.first + arguments.runs {
        let Some(world) = arguments.web.make(seed, arguments.pages)? else { return Ok(()) };
        let settings = settings(&[("dedup.on-duplicate", &arguments.mode), ("dedup.rescue", &arguments.rescue)])?;
        let clock = Clock::at(1_700_000_000_000);
        let fetch = WorldFetch::new(Arc::clone(&world), clock.clone());
        let dir = tempfile::tempdir()?;
        let (_keep, control) = crossbeam_channel::unbounded();
        let seeds = world.seeds().iter().map(|seed| seed.parse()).collect::<Result<_, _>>()?;
        let store = Double::default();
        let parts = CrawlDir::with_session(dir.path(), Session::new(Box::new(store.clone())))?;
        let (_, stats) = engine::run(parts.start(&settings, seeds, clock, control)?, fetch.clone(), &mut Nobody)?;
        let session = Session::new(Box::new(store));
        let found = fetch.contents();
        let (mut held, mut urls) = (BTreeSet::new(), 0);
        for line in lines(dir.path(), "skipped.jsonl")? {
            if !matches!(text(&line, "reason"), "duplicate_source" | "rule" | "mirror" | "trap" | "budget") {
                continue;
            }
            urls += 1;
            if let Truth::Content(content) = world.shows(&text(&line, "url").parse()?) {
                held.insert(content);
            }
        }
        let lost = held.difference(&found).count() as f64;
        print!(
            "seed {seed}: {} fetched, {} contents, {urls} held back, {lost} contents lost among them; ",
            stats.pages,
            found.len()
        );
        runs += 1;
        helds.push(f64::from(urls));
        match engine::lost(&session)? {
            Some(told) => {
                let right = told.low <= lost && lost <= told.high;
                covered += u32::from(right);
                widths.push((told.high - told.low) / stats.pages as f64 * 100.0);
                println!("estimate {:.0} ({:.0} to {:.0}), {right}", told.estimate, told.low, told.high);
            }
            None => println!("no estimate"),
        }
        if arguments.rules {
            for rule in stored(&session)? {
                println!(
                    "  {:9} {:?} proof {}:{} trials {}:{} stopped {}  {rule}",
                    rule.kind(),
                    rule.status,
                    rule.proof.agreed,
                    rule.proof.differed,
                    rule.trials.agreed,
                    rule.trials.differed,
                    rule.stopped
                );
            }
        }
    }
    let (told, held, width) = (widths.len(), median(helds), median(widths));
    println!(
        "{covered} of {runs} cover, {told} with an estimate; {held} URLs held back, width {width:.1} % of the pages fetched (medians)"
    );
    Ok(())
}
