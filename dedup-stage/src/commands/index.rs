//! `dedup-stage index`: the sorted, compressed tables of a fingerprint file, as a file.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;

use super::progress::Progress;
use super::rows;
use crate::hamming::frozen::{self, Plan};
use crate::hamming::{Design, Fingerprints};
use crate::signature;

/// Arguments of `dedup-stage index`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Fingerprint file: raw little-endian 64-bit words
    file: PathBuf,
    /// Index file to be written
    #[arg(long, short, value_name = "INDEX")]
    output: PathBuf,
    /// Largest Hamming distance that will be searched
    #[arg(long, short, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u32).range(..=64))]
    distance: u32,
    /// Design of the tables (see `dedup-stage plan`) [default: halves up to distance 3; above, four flipped quarters, or three flipped
    /// thirds for millions]
    #[arg(long, value_name = "NAME")]
    design: Option<String>,
    /// Recipe of the fingerprints
    #[arg(long, value_name = "NAME", default_value = signature::RECIPE)]
    recipe: String,
    /// Threads [default: one for each core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let k = args.distance;
    let fingerprints = Fingerprints::open(&args.file)?;
    let design = match &args.design {
        None => Design::for_size(k, fingerprints.len() as u64),
        Some(name) => match Design::named(name, k) {
            Some(design) => design,
            None => return Ok(rows::wrong_usage(&format_args!("no design {name:?} for distance {k}"))),
        },
    };
    let start = Instant::now();
    let plan = Plan {
        design,
        recipe: args.recipe,
        with_rows: true,
        threads: args.threads.unwrap_or_else(rows::cores),
        part: Plan::PART,
    };
    let progress = Progress::new("index", fingerprints.len(), "fingerprints");
    let bytes = write(&args.output, &fingerprints, &plan, &|share| progress.add(share))?;
    drop(progress);
    let (n, seconds) = (fingerprints.len(), start.elapsed().as_secs_f64());
    let each = bytes as f64 / n.max(1) as f64;
    eprintln!("indexed {n} fingerprints by {}: {bytes} bytes, {each:.2} each, in {seconds:.1} s", plan.design.name);
    Ok(ExitCode::SUCCESS)
}

/// Writes beside the file that is to be, and gives it its name when it is whole and on disk.
fn write(path: &Path, fingerprints: &[u64], plan: &Plan, done: &(dyn Fn(f64) + Sync)) -> anyhow::Result<u64> {
    let mut name = path.file_name().context("the output has no file name")?.to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let result = (|| {
        let file = File::create(&part)?;
        let mut out = BufWriter::with_capacity(1 << 20, &file);
        let bytes = frozen::build(fingerprints, plan, &mut out, done)?;
        drop(out);
        file.sync_all()?;
        fs::rename(&part, path)?;
        anyhow::Ok(bytes)
    })();
    if result.is_err() {
        // The error that matters is the first one.
        let _ = fs::remove_file(&part);
    }
    result.with_context(|| format!("writing {}", path.display()))
}
