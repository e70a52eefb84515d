//! `dedup-stage experiment`: experiments of the papers on the user's own text.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use super::rows;
use crate::evaluate::edits::{COPIES, Collection, Row};

/// Arguments of `dedup-stage experiment`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, clap::Subcommand)]
enum Experiment {
    /// The multi-fingerprint paper's: randomly edited copies of texts of 4 KB, found by simhashes of 32 bits
    RandomEdits {
        /// A folder of prose; its .txt files are read, those of its folders too
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Numbers of queries: 5 are the paper's, 200 say more
        #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [5, 200])]
        queries: Vec<usize>,
        /// Texts at most
        #[arg(long, value_name = "N", default_value_t = 20_000)]
        texts: usize,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let Experiment::RandomEdits { folder, queries, texts, json } = args.experiment;
    let mut files = Vec::new();
    walk(&folder, &mut files).with_context(|| format!("cannot read {}", folder.display()))?;
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
    eprintln!("{} texts", collection.len());
    let results: Vec<(usize, Vec<Row>)> = queries.iter().map(|n| (*n, collection.run(*n))).collect();
    let text = if json { serde_json::to_string_pretty(&results)? + "\n" } else { table(&results) };
    rows::listened(io::stdout().write_all(text.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
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
