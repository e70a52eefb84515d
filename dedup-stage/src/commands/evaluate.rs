//! `dedup-stage evaluate`: precision and recall of every signature scheme on labelled pairs.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use super::progress::{Bar, Progress};
use super::rows;
use super::say::say;
use crate::evaluate::schemes::Scheme;
use crate::evaluate::schemes::lexicon::Lexicon;
use crate::evaluate::{Effort, Evaluation, HeldOut, Measure, evaluate, plot, read_pairs, table};

/// Arguments of `dedup-stage evaluate`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Labelled pairs, JSON Lines: {"text_a","text_b","label"} or {"html_a","html_b","label"}; optional "url_a",
    /// "url_b", "weight" (how many pairs of the population this one stands for), "cluster" (pairs that depend on one
    /// another), "cluster_b" (the cluster of the second document, if it is another one); '-' for stdin
    #[arg(value_name = "PAIRS.jsonl")]
    pairs: PathBuf,
    /// Schemes, separated by commas [default: all]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    scheme: Vec<Scheme>,
    /// Labels from this on are near-duplicates
    #[arg(long, value_name = "NUMBER", default_value_t = 1.0)]
    label_threshold: f64,
    /// Document frequencies for IDF weights and I-Match [default: those of the pairs]
    #[arg(long, value_name = "LEXICON")]
    lexicon: Option<PathBuf>,
    /// Bootstrap samples for the intervals of F1
    #[arg(long, value_name = "N", default_value_t = 200)]
    resamples: u32,
    /// Also cross-validate: F1 on each of N folds at the threshold that is best on the others. Each cluster is in one
    /// fold
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    folds: Option<u32>,
    /// Also measure by site, language, length and distance, at each scheme's best threshold
    #[arg(long)]
    strata: bool,
    /// Write JSON: one object for each scheme and threshold
    #[arg(long)]
    json: bool,
    /// Write a picture: precision against recall, F1 against the threshold
    #[arg(long, value_name = "OUT.svg")]
    plot: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if let Some(wrong) = rows::refuse_absent(std::iter::once(&args.pairs).chain(&args.lexicon)) {
        return Ok(wrong);
    }
    let name = args.pairs.display();
    let input: Box<dyn BufRead> = if args.pairs.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(&args.pairs).with_context(|| format!("cannot open {name}"))?))
    };
    let reading = Bar::of_bytes([&args.pairs]);
    let pairs = read_pairs(reading.0.wrap_read(input), args.label_threshold).with_context(|| name.to_string())?;
    drop(reading);
    let lexicon = match &args.lexicon {
        Some(path) => {
            let mut file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
            Lexicon::read(&mut file).with_context(|| path.display().to_string())?
        }
        None => {
            let mut lexicon = Lexicon::default();
            pairs.documents.iter().for_each(|document| lexicon.add(&document.words));
            lexicon
        }
    };
    let schemes = if args.scheme.is_empty() { Scheme::all() } else { args.scheme };
    let progress = Progress::new("evaluate", pairs.pairs.len() * schemes.len(), "comparisons");
    let effort = Effort { resamples: args.resamples, folds: args.folds.unwrap_or(0) };
    let share = 1.0 / schemes.len() as f64;
    let reports = evaluate(&pairs, &schemes, &lexicon, effort, || progress.add(share));
    drop(progress);
    if let Some(path) = &args.plot {
        std::fs::write(path, plot(&reports)).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let near = pairs.pairs.iter().filter(|pair| pair.near).count();
    say!("evaluated {} schemes on {} pairs, {near} of them near-duplicates", schemes.len(), pairs.pairs.len());
    if pairs.fractional > 0 && args.label_threshold >= 1.0 {
        say!(
            "{} labels lie between 0 and 1 and count as different; --label-threshold sets another limit",
            pairs.fractional
        );
    }
    let text = if args.json { json(&reports, args.strata)? } else { table(&reports, args.strata) };
    rows::unless_closed(io::stdout().write_all(text.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

/// A row of the JSON output.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum Row<'r> {
    Measure(&'r Measure),
    HeldOut(&'r HeldOut),
}

/// The reports as JSON: the measures at each threshold on all pairs; with `strata` also those of strata and both
/// halves; with folds also the result of the cross-validation.
fn json(reports: &[Evaluation], strata: bool) -> serde_json::Result<String> {
    let rows: Vec<Row<'_>> = reports
        .iter()
        .flat_map(|report| {
            let parts = report.halves.iter().chain(&report.strata).filter(move |_| strata);
            let measures = report.measures.iter().chain(parts).map(Row::Measure);
            measures.chain(report.held_out.iter().map(Row::HeldOut))
        })
        .collect();
    Ok(serde_json::to_string_pretty(&rows)? + "\n")
}
