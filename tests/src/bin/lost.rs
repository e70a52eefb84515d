//! `lost`: whether the estimate of what `drop` lost is right, on a web of real pages in memory.
//!
//! `cargo run --release -p tests --bin lost -- --runs 100`
//!
//! For each run: pages fetched, contents found and truly lost among the URLs held back, the estimate with its interval, and whether
//! it covers the truth; at the end the share that does, the median width in percent of the pages fetched, and the rules.

use std::collections::BTreeSet;
use std::sync::Arc;

use clap::Parser;
use crawler::clock::Clock;
use crawler::crawl::CrawlDir;
use crawler::demo::web::Shown;
use crawler::engine::{self, Nobody};
use dedup_stage::store::{Double, Session};
use frontier::rules::stored;
use tests::choosing::{WebKind, WorldFetch, median};
use tests::crawl::{lines, settings, text};

/// Crawl with `drop`, and compare the estimate with the truth.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Which web.
    #[arg(value_enum, default_value_t = WebKind::Real)]
    web: WebKind,
    /// Runs, each with a seed of its own.
    #[arg(long, default_value_t = 100)]
    runs: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    first: u64,
    /// `drop`, or another mode (then only the rules are of interest).
    #[arg(long, default_value = "drop")]
    mode: String,
    /// Print the rules of each run.
    #[arg(long)]
    rules: bool,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let (mut covered, mut widths, mut runs) = (0, Vec::new(), 0);
    for seed in arguments.first..arguments.first + arguments.runs {
        let Some(world) = arguments.web.make(seed, 0)? else { return Ok(()) };
        let settings = settings(&[("dedup.on-duplicate", &arguments.mode)])?;
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
        let mut held = BTreeSet::new();
        for line in lines(dir.path(), "skipped.jsonl")? {
            if matches!(text(&line, "reason"), "duplicate_source" | "rule" | "mirror" | "trap")
                && let Shown::Content(content) = world.shows(&text(&line, "url").parse()?)
            {
                held.insert(content);
            }
        }
        let lost = held.difference(&found).count() as f64;
        print!("seed {seed}: {} fetched, {} contents, {lost} lost among those held back; ", stats.pages, found.len());
        runs += 1;
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
                    "  {:9} {:?} proof {}:{} audits {}:{} stopped {}  {rule}",
                    rule.kind(),
                    rule.status,
                    rule.proof.agreed,
                    rule.proof.differed,
                    rule.audits.agreed,
                    rule.audits.differed,
                    rule.stopped
                );
            }
        }
    }
    println!("{covered} of {runs} cover; median width {:.1} % of the pages fetched", median(widths));
    Ok(())
}
