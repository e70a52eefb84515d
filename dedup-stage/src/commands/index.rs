//! `dedup-stage index`: the sorted, compressed tables of a fingerprint file, as a file.

use std::io::BufWriter;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use super::progress::Progress;
use super::rows;
use super::say::say;
use crate::corpus::output::write;
use crate::corpus::{Known, Signatures};
use crate::hamming::frozen::{self, IndexSpec};
use crate::hamming::{Design, Fingerprints};
use crate::signature;

/// Arguments of `dedup-stage index`.
///
/// The index of a signature file is written beside it, as FILE.dK. Nobody has to run this: the first use of `--known
/// FILE` builds the index, too.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Fingerprint file: raw little-endian 64-bit words; or a signature file
    file: PathBuf,
    /// Index file to be written; for raw fingerprints only
    #[arg(long, short, value_name = "INDEX")]
    output: Option<PathBuf>,
    /// Largest Hamming distance that will be searched [default: 3; for a signature file that of the crawl, 7]
    #[arg(long, short, value_name = "K", value_parser = clap::value_parser!(u32).range(..=64))]
    distance: Option<u32>,
    /// Design of the tables (see `dedup-stage plan`) [default: halves up to distance 3; above, four flipped quarters,
    /// or three flipped thirds for millions]
    #[arg(long, value_name = "NAME")]
    design: Option<String>,
    /// Recipe of the fingerprints
    #[arg(long, value_name = "NAME", default_value = signature::RECIPE)]
    recipe: String,
    /// Threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = rows::threads)]
    threads: Option<usize>,
}

/// The usual distance of an index of raw fingerprints, as in the paper.
const RAW_DISTANCE: u32 = 3;

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let (start, threads) = (Instant::now(), args.threads.unwrap_or_else(rows::cores));
    if let Some(wrong) = rows::refuse_absent([&args.file]) {
        return Ok(wrong);
    }
    if Signatures::is_signatures(&args.file)? {
        if args.output.is_some() || args.design.is_some() {
            return Ok(rows::wrong_usage(
                &"the index of a signature file has its place and its design; leave --output and --design",
            ));
        }
        let k = args.distance.unwrap_or(signature::DISTANCE);
        let n = Signatures::open(&args.file)?.fingerprints().len();
        let progress = Progress::new("index", n, "fingerprints");
        let bytes = Known::build_index(&args.file, k, threads, &|share| progress.add(share))?;
        drop(progress);
        say(n, &Known::index_path(&args.file, k).display().to_string(), bytes, start);
        return Ok(ExitCode::SUCCESS);
    }
    let k = args.distance.unwrap_or(RAW_DISTANCE);
    let Some(output) = &args.output else { return Ok(rows::wrong_usage(&"say --output INDEX")) };
    if let Some(wrong) = rows::refuse_replacing(Some(output), [args.file.as_path()]) {
        return Ok(wrong);
    }
    let fingerprints = Fingerprints::open(&args.file)?;
    let design = match &args.design {
        None => Design::for_size(k, fingerprints.len() as u64),
        Some(name) => match Design::named(name, k) {
            Some(design) => design,
            None => return Ok(rows::wrong_usage(&format_args!("no design {name:?} for distance {k}"))),
        },
    };
    let spec = IndexSpec { design, recipe: args.recipe, with_rows: true, threads, part: IndexSpec::PART };
    let progress = Progress::new("index", fingerprints.len(), "fingerprints");
    let bytes = write(output, |file| {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        frozen::build(&fingerprints[..], &spec, &mut out, &|share| progress.add(share))
    })?;
    drop(progress);
    say(fingerprints.len(), &spec.design.name, bytes, start);
    Ok(ExitCode::SUCCESS)
}

fn say(n: usize, by: &str, bytes: u64, start: Instant) {
    let (each, seconds) = (bytes as f64 / n.max(1) as f64, start.elapsed().as_secs_f64());
    say!("indexed {n} fingerprints by {by}: {bytes} bytes, {each:.2} each, in {seconds:.1} s");
}
