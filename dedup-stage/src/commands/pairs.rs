//! `dedup-stage pairs`: all near-duplicates in one file, or between two.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::progress::Progress;
use super::rows::{self, Format};
use super::say::say;
use super::signed::{self, Looking};
use super::table::TableFormat;
use crate::corpus::Signatures;
use crate::corpus::join::{Edge, EdgeWriter, Nodes, SharedWriter, Sink, join};
use crate::corpus::output::write;
use crate::hamming::Fingerprints;
use crate::hamming::pairs::{Listed, near, rotate, rows as rows_of};
use crate::hamming::search::search;

/// Arguments of `dedup-stage pairs`.
///
/// Signature files give the near-duplicates, by the second look of the crawl: JSON Lines
/// {"a","b","distance","resemblance"}, with the ids of the earlier and the later document. Documents with the same
/// signature are linked to the first of them, and only the first is linked to others. With two files, each document of
/// the first file that has a near-duplicate in the second is named: the first document of a signature with all its
/// near-duplicates, the other documents of the signature with the nearest one. Of the documents of the second file with
/// the same signature, only the first is named. The same file twice is as one file.
///
/// Files of raw fingerprints give `row<TAB>row<TAB>distance`, sorted, with the lower row first. With two files, these
/// are the row in the first file and the row in the second. A row whose value occurred before is linked to the first
/// row with that value, and only first rows are linked to other values.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Signature file, or raw little-endian 64-bit fingerprints
    file: PathBuf,
    /// Another such file. Each pair has one side in each file
    other: Option<PathBuf>,
    #[command(flatten)]
    looking: Looking,
    /// How pairs of raw fingerprints are found
    #[arg(long, value_enum, default_value_t = Method::Tables)]
    method: Method,
    /// Raw fingerprints: every pair of rows, also among equal values
    #[arg(long)]
    all: bool,
    /// How pairs are written [default: jsonl for signature files, tsv for raw ones]
    #[arg(long, value_enum)]
    format: Option<AnyFormat>,
    /// File that pairs are written to [default: stdout]
    #[arg(long, short, value_name = "FILE", conflicts_with = "edges")]
    output: Option<PathBuf>,
    /// Signature files: file of edges to be written, for `dedup-stage cluster --edges`. Edges are not held in memory
    #[arg(long, value_name = "FILE")]
    edges: Option<PathBuf>,
}

/// How pairs are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Method {
    /// By tables: every pair
    Tables,
    /// Rotate, sort, compare neighbours: most pairs; the share that was found is reported
    Rotate,
}

/// How pairs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum AnyFormat {
    /// A JSON object on each line
    Jsonl,
    /// Cells separated by tabs
    Tsv,
    /// Raw fingerprints only: three little-endian 64-bit words each, nothing else
    Binary,
    /// Signature files only: Parquet; needs --output
    Parquet,
    /// Signature files only: Arrow IPC; needs --output
    Arrow,
}

impl AnyFormat {
    /// The same format for tables of signature files. Errors if there is no such format.
    pub fn of_table(format: Option<Self>) -> Result<Option<TableFormat>, &'static str> {
        Ok(match format {
            None => None,
            Some(Self::Jsonl) => Some(TableFormat::Jsonl),
            Some(Self::Tsv) => Some(TableFormat::Tsv),
            Some(Self::Parquet) => Some(TableFormat::Parquet),
            Some(Self::Arrow) => Some(TableFormat::Arrow),
            Some(Self::Binary) => return Err("--format binary is for raw fingerprints; see --edges"),
        })
    }

    /// The same format for rows of raw fingerprints. Errors if there is no such format.
    pub fn of_rows(format: Option<Self>) -> Result<Format, &'static str> {
        match format {
            None | Some(Self::Tsv) => Ok(Format::Tsv),
            Some(Self::Binary) => Ok(Format::Binary),
            Some(_) => Err("raw fingerprints are written as tsv or binary"),
        }
    }
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let files: Vec<&PathBuf> = std::iter::once(&args.file).chain(&args.other).collect();
    if let Some(wrong) = rows::refuse_absent(files.iter().copied()) {
        return Ok(wrong);
    }
    if signed::are_signatures(&files)? { of_signatures(&args, &files) } else { of_fingerprints(&args) }
}

fn of_signatures(args: &Args, paths: &[&PathBuf]) -> anyhow::Result<ExitCode> {
    let format = match AnyFormat::of_table(args.format) {
        Ok(_) if args.method == Method::Rotate || args.all => {
            return Ok(rows::wrong_usage(&"--method and --all are for raw fingerprints"));
        }
        Ok(format) => format,
        Err(what) => return Ok(rows::wrong_usage(&what)),
    };
    let output = args.output.as_deref().or(args.edges.as_deref());
    if let Some(wrong) = rows::refuse_replacing(output, paths.iter().map(|path| path.as_path())) {
        return Ok(wrong);
    }
    let start = Instant::now();
    // A file is compared with itself as one file is: a block of a large set, for example.
    let paths = if signed::repeated(paths).is_some() { &paths[..1] } else { paths };
    let files = signed::open(paths)?;
    let (a, b) = (&files[0], files.get(1));
    let pairs = match &args.edges {
        Some(edges) => {
            let named = paths.iter().zip(&files).map(|(path, file)| (path.as_path(), file));
            write_edges(edges, &Nodes::of(named), a, b, &args.looking)?
        }
        None => signed::write_edges(a, b, ["a", "b"], &args.looking, (format, args.output.as_deref()))?,
    };
    let (n, stored, seconds) = (a.rows(), b.unwrap_or(a).rows(), start.elapsed().as_secs_f64());
    say!("searched {n} against {stored}: {} in {seconds:.3} s", rows::count(pairs, "pair"));
    Ok(ExitCode::SUCCESS)
}

/// Writes a file of edges as they are found.
fn write_edges(
    path: &Path,
    nodes: &Nodes,
    a: &Signatures,
    b: Option<&Signatures>,
    looking: &Looking,
) -> anyhow::Result<u64> {
    let progress = Progress::new("pairs", a.rows() as usize, "documents");
    // Nodes of the second file follow those of the first.
    let second = if b.is_some() { a.rows() } else { 0 };
    let (mut pairs, mut uncompared) = (0, 0);
    write(path, |file| {
        let writer = SharedWriter::new(EdgeWriter::new(file, nodes, looking.criterion())?);
        let file = EdgesInFile { writer, second, pairs: AtomicU64::new(0), uncompared: AtomicU64::new(0) };
        join(a, b, looking.criterion(), looking.effort(), &file, &|share| progress.add(share));
        (pairs, uncompared) = (file.pairs.into_inner(), file.uncompared.into_inner());
        file.writer.into_inner()?.finish()
    })?;
    drop(progress);
    signed::say_uncompared(uncompared);
    Ok(pairs)
}

/// Writes the edges of a join to a file.
struct EdgesInFile<'a> {
    writer: SharedWriter<EdgeWriter<'a>>,
    /// The node of the first row of the second file.
    second: u64,
    pairs: AtomicU64,
    uncompared: AtomicU64,
}

impl Sink for EdgesInFile<'_> {
    fn take(&self, edges: &mut Vec<Edge>) {
        self.pairs.fetch_add(edges.len() as u64, Ordering::Relaxed);
        edges.iter_mut().for_each(|edge| edge.b += self.second);
        self.writer.write(edges, EdgeWriter::push);
    }

    fn uncompared(&self, pairs: u64) {
        self.uncompared.fetch_add(pairs, Ordering::Relaxed);
    }
}

fn of_fingerprints(args: &Args) -> anyhow::Result<ExitCode> {
    let (distance, format) = match (args.looking.of_raw(), AnyFormat::of_rows(args.format)) {
        (Ok(_), Ok(_)) if args.edges.is_some() || args.output.is_some() => {
            return Ok(rows::wrong_usage(&"--edges and --output are for signature files"));
        }
        (Ok(distance), Ok(format)) => (distance, format),
        (Err(what), _) | (_, Err(what)) => return Ok(rows::wrong_usage(&what)),
    };
    let threads = args.looking.threads();
    std::iter::once(&args.file).chain(&args.other).try_for_each(|path| signed::refuse_documents(path))?;
    let fingerprints = Fingerprints::open(&args.file)?;
    let n = fingerprints.len();
    if let Some(other) = &args.other {
        let other = Fingerprints::open(other)?;
        let start = Instant::now();
        let progress = Progress::new("pairs", other.len(), "rows");
        let hits = search(&other, 0, &fingerprints, distance, None, threads, &|share| progress.add(share));
        drop(progress);
        if rows::write(hits.iter().map(|hit| [hit.query, hit.stored, u64::from(hit.distance)]), format)? {
            let (m, pairs, seconds) = (other.len(), hits.len() as u64, start.elapsed().as_secs_f64());
            say!("searched {n} against {m}: {} in {seconds:.3} s", rows::count(pairs, "pair"));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let start = Instant::now();
    let found = {
        let progress = Progress::new("pairs", fingerprints.len(), "rows");
        match args.method {
            Method::Tables => near(&fingerprints, distance, threads, &|share| progress.add(share)),
            Method::Rotate => rotate(&fingerprints, distance, &|share| progress.add(share)),
        }
    };
    let pairs = rows_of(&fingerprints, &found, if args.all { Listed::All } else { Listed::First });
    let seconds = start.elapsed().as_secs_f64();
    let words = pairs.iter().map(|pair| [pair.first, pair.second, u64::from(pair.distance)]);
    if !rows::write(words, format)? {
        return Ok(ExitCode::SUCCESS);
    }
    say!("searched {n} against {n}: {} in {seconds:.3} s", rows::count(pairs.len() as u64, "pair"));
    if args.method == Method::Rotate {
        let progress = Progress::new("all pairs, to compare with", fingerprints.len(), "rows");
        let exact = near(&fingerprints, distance, threads, &|share| progress.add(share));
        drop(progress);
        let recall = found.pairs.len() as f64 / exact.pairs.len().max(1) as f64;
        say!(
            "rotating found {} of {} pairs of different fingerprints: recall {:.4}",
            found.pairs.len(),
            exact.pairs.len(),
            if exact.pairs.is_empty() { 1.0 } else { recall },
        );
    }
    Ok(ExitCode::SUCCESS)
}
