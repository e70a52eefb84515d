//! `dedup-stage search`: all pairs (query, stored) within a distance, or of near-duplicates.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use super::pairs::AnyFormat;
use super::progress::Progress;
use super::rows;
use super::say::say;
use super::signed::{self, Looking};
use crate::hamming::frozen::{Frozen, Load};
use crate::hamming::search::{search, search_frozen};
use crate::hamming::{Design, Fingerprints};
use crate::signature;

/// Arguments of `dedup-stage search`.
///
/// Raw fingerprints give `query_row<TAB>stored_row<TAB>distance`, sorted. The outputs for several splits of the stored
/// file, merged in their order with `sort -n -m -s`, are equal to the output for the whole file.
///
/// Signature files on both sides give the near-duplicates, by the second look of the crawl: JSON Lines
/// {"query","stored","distance","resemblance"}, sorted by the places of the documents in their inputs.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Stored fingerprints: a raw file, an index file made by `dedup-stage index`, or a signature file
    #[arg(long, value_name = "F")]
    stored: PathBuf,
    /// Query fingerprints: a raw file; or a signature file, if the stored one is
    #[arg(long, value_name = "Q")]
    queries: PathBuf,
    #[command(flatten)]
    looking: Looking,
    /// Design of the tables that hold the queries (see `dedup-stage plan`) [default: two bitmaps, then the standard
    /// design]
    #[arg(long, value_name = "NAME")]
    design: Option<String>,
    /// First stored row of a split
    #[arg(long, value_name = "ROW", default_value_t = 0)]
    from: u64,
    /// Number of stored rows of a split [default: all that follow]
    #[arg(long, value_name = "N")]
    rows: Option<u64>,
    /// How rows are written [default: tsv, for signature files jsonl]
    #[arg(long, value_enum)]
    format: Option<AnyFormat>,
    /// Signature files: file that pairs are written to [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Recipe of the queries' fingerprints; an index file of another recipe is refused [default: that of this program]
    #[arg(long, value_name = "NAME")]
    recipe: Option<String>,
    /// Map an index file instead of reading it into memory
    #[arg(long)]
    map: bool,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if let Some(wrong) = rows::refuse_absent([&args.stored, &args.queries]) {
        return Ok(wrong);
    }
    if Frozen::is_index(&args.stored)? || !signed::are_signatures(&[&args.stored, &args.queries])? {
        return of_fingerprints(&args);
    }
    let format = match AnyFormat::of_table(args.format) {
        Ok(_) if args.design.is_some() || args.from > 0 || args.rows.is_some() || args.map || args.recipe.is_some() => {
            return Ok(rows::wrong_usage(&"--design, --from, --rows, --map and --recipe are for raw fingerprints"));
        }
        Ok(format) => format,
        Err(what) => return Ok(rows::wrong_usage(&what)),
    };
    if let Some(wrong) = rows::refuse_replacing(args.output.as_deref(), [&*args.queries, &*args.stored]) {
        return Ok(wrong);
    }
    let start = Instant::now();
    let files = signed::open(&[&args.queries, &args.stored])?;
    let (queries, stored) = (&files[0], &files[1]);
    let names = ["query", "stored"];
    let pairs = signed::write_edges(queries, Some(stored), names, &args.looking, (format, args.output.as_deref()))?;
    let seconds = start.elapsed().as_secs_f64();
    let pairs = rows::count(pairs, "pair");
    say!("searched {} against {}: {pairs} in {seconds:.3} s", queries.rows(), stored.rows());
    Ok(ExitCode::SUCCESS)
}

fn of_fingerprints(args: &Args) -> anyhow::Result<ExitCode> {
    let (k, format) = match (args.looking.of_raw(), AnyFormat::of_rows(args.format)) {
        (Ok(_), Ok(_)) if args.output.is_some() => return Ok(rows::wrong_usage(&"--output is for signature files")),
        (Ok(distance), Ok(format)) => (distance, format),
        (Err(what), _) | (_, Err(what)) => return Ok(rows::wrong_usage(&what)),
    };
    let design = match &args.design {
        None => None,
        Some(name) => match Design::named(name, k) {
            Some(design) => Some(design),
            None => {
                let known: Vec<String> = Design::all(k).into_iter().map(|design| design.name).collect();
                let known = known.join(", ");
                return Ok(rows::wrong_usage(&format_args!("no design {name:?} for distance {k}; there are {known}")));
            }
        },
    };
    let threads = args.looking.threads();
    signed::refuse_documents(&args.queries)?;
    let queries = Fingerprints::open(&args.queries)?;
    let end = args.rows.map_or(u64::MAX, |n| args.from.saturating_add(n));
    let (hits, stored, seconds) = if Frozen::is_index(&args.stored)? {
        let load = if args.map { Load::Map } else { Load::Read };
        let index = Frozen::open(&args.stored, args.recipe.as_deref().unwrap_or(signature::RECIPE), load)?;
        if index.design().distance < k {
            let built = index.design().distance;
            return Ok(rows::wrong_usage(&format_args!("the index was built for distance {built}, not {k}")));
        }
        let start = Instant::now();
        let progress = Progress::new("search", queries.len(), "queries");
        let mut hits = search_frozen(&index, &queries, k, threads, &|share| progress.add(share));
        hits.retain(|hit| (args.from..end).contains(&hit.stored));
        (hits, end.min(index.rows()).saturating_sub(args.from), start.elapsed())
    } else {
        signed::refuse_documents(&args.stored)?;
        let stored = Fingerprints::open(&args.stored)?;
        let from = args.from.min(stored.len() as u64);
        let stored = &stored[from as usize..end.clamp(from, stored.len() as u64) as usize];
        let start = Instant::now();
        let progress = Progress::new("search", stored.len(), "stored rows");
        let hits = search(stored, from, &queries, k, design, threads, &|share| progress.add(share));
        (hits, stored.len() as u64, start.elapsed())
    };
    if rows::write(hits.iter().map(|hit| [hit.query, hit.stored, u64::from(hit.distance)]), format)? {
        let (queries, pairs, seconds) = (queries.len(), hits.len() as u64, seconds.as_secs_f64());
        say!("searched {queries} against {stored}: {} in {seconds:.3} s", rows::count(pairs, "pair"));
    }
    Ok(ExitCode::SUCCESS)
}
