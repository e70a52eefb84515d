//! `dedup-stage pairs`: all pairs within a distance in one fingerprint file.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use super::progress::Progress;
use super::rows::{self, Format};
use crate::hamming::Fingerprints;
use crate::hamming::pairs::{Listed, near, rotate, rows as rows_of};

/// Arguments of `dedup-stage pairs`.
///
/// Writes `row<TAB>row<TAB>distance`, the lower row first, sorted. A row whose value occurred before is linked to the first row with that
/// value, and only first rows are linked to other values.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Fingerprint file: raw little-endian 64-bit words
    file: PathBuf,
    /// Hamming distance
    #[arg(long, short, value_name = "K", value_parser = clap::value_parser!(u32).range(..=64))]
    distance: u32,
    /// How pairs are found
    #[arg(long, value_enum, default_value_t = Method::Tables)]
    method: Method,
    /// Every pair of rows, also among equal values
    #[arg(long)]
    all: bool,
    /// How rows are written
    #[arg(long, value_enum, default_value_t = Format::Tsv)]
    format: Format,
    /// Threads [default: one for each core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

/// How pairs are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Method {
    /// By tables: every pair
    Tables,
    /// Rotate, sort, compare neighbours: most pairs; the share that was found is reported
    Rotate,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let fingerprints = Fingerprints::open(&args.file)?;
    let threads = args.threads.unwrap_or_else(rows::cores);
    let start = Instant::now();
    let found = {
        let progress = Progress::new("pairs", fingerprints.len(), "rows");
        match args.method {
            Method::Tables => near(&fingerprints, args.distance, threads, &|share| progress.add(share)),
            Method::Rotate => rotate(&fingerprints, args.distance, &|share| progress.add(share)),
        }
    };
    let pairs = rows_of(&fingerprints, &found, if args.all { Listed::All } else { Listed::First });
    let seconds = start.elapsed().as_secs_f64();
    let words = pairs.iter().map(|pair| [pair.first, pair.second, u64::from(pair.distance)]);
    if !rows::write(words, args.format)? {
        return Ok(ExitCode::SUCCESS);
    }
    let n = fingerprints.len();
    eprintln!("searched {n} against {n}: {} pairs in {seconds:.3} s", pairs.len());
    if args.method == Method::Rotate {
        let progress = Progress::new("all pairs, to compare with", fingerprints.len(), "rows");
        let exact = near(&fingerprints, args.distance, threads, &|share| progress.add(share));
        drop(progress);
        let recall = found.pairs.len() as f64 / exact.pairs.len().max(1) as f64;
        eprintln!(
            "rotating found {} of {} pairs of different fingerprints: recall {:.4}",
            found.pairs.len(),
            exact.pairs.len(),
            if exact.pairs.is_empty() { 1.0 } else { recall },
        );
    }
    Ok(ExitCode::SUCCESS)
}
