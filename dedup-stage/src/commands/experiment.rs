//! `dedup-stage experiment`: experiments of papers, on the user's own text or with the user's own requirements.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use super::rows;
use super::say::say;
use crate::evaluate::edits::{COPIES, Collection, Row};
use crate::evaluate::polynomial::{self, Choice, FilterNeeds, choices};

/// Arguments of `dedup-stage experiment`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, clap::Subcommand)]
enum Experiment {
    /// The experiment of the multi-fingerprint paper: randomly edited copies of texts of 4 KB, found by simhashes of 32
    /// bits
    RandomEdits {
        /// A folder of prose. Its .txt files are read, also those in its subfolders
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Numbers of queries. The paper has 5; 200 give a surer result
        #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [5, 200])]
        queries: Vec<usize>,
        /// Largest number of texts
        #[arg(long, value_name = "N", default_value_t = 20_000)]
        texts: usize,
        /// Write JSON
        #[arg(long)]
        json: bool,
    },
    /// The choice of features (Broder 2000): how many minima, how many features, how many equal
    Filter {
        /// Resemblance up to which documents must be kept apart
        #[arg(long, value_name = "R", default_value_t = 0.77, value_parser = resemblance)]
        reject: f64,
        /// Resemblance from which documents must be found
        #[arg(long, value_name = "R", default_value_t = 0.975, value_parser = resemblance)]
        accept: f64,
        /// Largest probability of a mistake, in either case
        #[arg(long, value_name = "P", default_value_t = 0.0108, value_parser = resemblance)]
        error: f64,
        /// Write a picture: probability of acceptance against resemblance
        #[arg(long, value_name = "OUT.svg")]
        plot: Option<PathBuf>,
        /// Write JSON
        #[arg(long)]
        json: bool,
    },
}

fn resemblance(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| "not a number in 0..1".into())
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let text = match args.experiment {
        Experiment::RandomEdits { folder, queries, texts, json } => random_edits(&folder, &queries, texts, json)?,
        Experiment::Filter { reject, accept, error, plot, json } => {
            filter(&FilterNeeds { reject, accept, error }, plot.as_deref(), json)?
        }
    };
    rows::unless_closed(io::stdout().write_all(text.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

fn random_edits(folder: &Path, queries: &[usize], texts: usize, json: bool) -> anyhow::Result<String> {
    let mut files = Vec::new();
    walk(folder, &mut files).with_context(|| format!("cannot read {}", folder.display()))?;
    files.sort();
    let mut collection = Collection::default();
    for file in files {
        if collection.len() >= texts {
            break;
        }
        let prose = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        collection.add(&String::from_utf8_lossy(&prose));
    }
    anyhow::ensure!(!collection.is_empty(), "no .txt file of 4 KB or more in {}", folder.display());
    say!("{} texts", collection.len());
    let results: Vec<(usize, Vec<Row>)> = queries.iter().map(|n| (*n, collection.run(*n))).collect();
    Ok(if json { serde_json::to_string_pretty(&results)? + "\n" } else { table(&results) })
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "txt") {
            files.push(path);
        }
    }
    Ok(())
}

fn table(results: &[(usize, Vec<Row>)]) -> String {
    let mut text = String::new();
    for (queries, rows) in results {
        let _ = writeln!(text, "{queries} queries with {COPIES} edited copies each");
        let _ = writeln!(text, "shingle  lexicons  distance  precision  recall       F  paper's F");
        for row in rows {
            let paper = match (row.shingle, row.lexicons) {
                (1, 1) => "0.6117",
                (2, 1) => "0.7469",
                (2, 5) => "0.8805",
                _ => "",
            };
            let Row { shingle, lexicons, distance, precision, recall, f } = row;
            let _ = writeln!(
                text,
                "{shingle:7}  {lexicons:8}  {distance:8}  {precision:9.4}  {recall:6.4}  {f:6.4}  {paper:>9}"
            );
        }
    }
    text
}

fn filter(wish: &FilterNeeds, plot: Option<&Path>, json: bool) -> anyhow::Result<String> {
    let (found, paper) = (choices(wish), Choice::of_the_paper(wish));
    if let Some(path) = plot {
        std::fs::write(path, polynomial::plot(&found, &paper))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    if json {
        let all = serde_json::json!({ "wish": wish, "paper": paper, "choices": found });
        return Ok(serde_json::to_string_pretty(&all)? + "\n");
    }
    let mut text = format!(
        "P(k, s, r): the probability that documents of resemblance r have enough equal features of s, of k minima each\n\
         kept apart up to {}, found from {}, but for {} of either\n\n\
         {:>5} {:>5} {:>6} {:>7} {:>6} {:>15} {:>10} {:>10} {:>8} {:>8} {:>8}\n",
        wish.reject,
        wish.accept,
        wish.error,
        "k",
        "s",
        "equal",
        "minima",
        "bytes",
        "super-features",
        "accepted",
        "missed",
        "r at .01",
        "r at .5",
        "r at .99"
    );
    let mut row = |choice: &Choice, mark: &str| {
        let Choice { each, groups, equal, minima, bytes, super_features, false_positive, false_negative, quantiles } =
            choice;
        let [low, middle, high] = quantiles;
        let _ = writeln!(
            text,
            "{each:>5} {groups:>5} {equal:>6} {minima:>7} {bytes:>6} {super_features:>15} {false_positive:>10.2e} \
             {false_negative:>10.2e} {low:>8.3} {middle:>8.3} {high:>8.3}{mark}"
        );
    };
    row(&paper, "  the paper's");
    found.iter().take(20).for_each(|choice| row(choice, if *choice == paper { "  the paper's" } else { "" }));
    if found.is_empty() {
        text.push_str("nothing else grants the wish\n");
    }
    text.push_str("\n    r");
    let curves: Vec<&Choice> = std::iter::once(&paper).chain(found.iter().take(5)).collect();
    for choice in &curves {
        let _ = write!(text, " {:>14}", format!("({}, {}, {})", choice.each, choice.groups, choice.equal));
    }
    for step in 10..=40 {
        let r = f64::from(step) / 40.0;
        let _ = write!(text, "\n{r:5.3}");
        for choice in &curves {
            let _ = write!(text, " {:>14.2e}", choice.accepts(r));
        }
    }
    text.push('\n');
    Ok(text)
}
