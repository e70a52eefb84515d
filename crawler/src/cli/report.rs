//! `crawler report`: the summary of a crawl.

use std::process::ExitCode;

use serde_json::json;

use super::Dir;
use crate::crawl::CrawlDir;

/// Arguments of `crawler report`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    dir: Dir,
    /// One JSON object on stdout
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let dir = CrawlDir::existing(&args.dir.dir)?;
    let (stats, reason) = dir.stats()?;
    let mut report = serde_json::to_value(&stats)?;
    report["elapsed_seconds"] = json!(stats.elapsed_ms as f64 / 1000.0);
    report["pages_per_second"] = json!(stats.pages_per_second());
    // A crawl that was killed has no reason of its own.
    report["stop_reason"] = json!(reason.map_or("interrupted", |reason| reason.name()));
    for unknown in ["estimated_unique_lost", "estimated_unique_lost_low", "estimated_unique_lost_high"] {
        report[unknown] = json!(null);
    }
    if args.json {
        println!("{report:#}");
    } else {
        for (name, value) in report.as_object().into_iter().flatten() {
            println!("{name:28} {value}");
        }
    }
    Ok(ExitCode::SUCCESS)
}
