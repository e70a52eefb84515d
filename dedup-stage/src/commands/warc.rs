//! `dedup-stage warc`: unique records kept as they are, exact duplicates turned into revisit records, near-duplicates
//! kept, marked or dropped. The work is in [`crate::filter`].

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context as _;

use super::progress::Bar;
use super::rows::{refuse_absent, wrong_usage};
use super::run::{Judging, Remembering, say_compared_in_part};
use super::say::say;
use crate::filter::{Filter, OnNear, Tally, Unit, prepare, units};
use crate::pipeline::{Limits, NextItem, ordered};
use crate::signature;
use crate::stage::Preparer;
use crate::warc::{RecordId, now, warcinfo_member};

/// Arguments of `dedup-stage warc`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// WARC files, gzip, zstd or plain, in order; - for stdin
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    /// WARC file to write, one gzip member a record; - for stdout
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// What happens to near-duplicates
    #[arg(long, value_enum, default_value_t, env = "DEDUP_STAGE_NEAR")]
    near: OnNear,
    /// File for the verdicts, a JSON line for each page [default: stdout, unless the records go there]
    #[arg(long, value_name = "FILE", env = "DEDUP_STAGE_VERDICTS")]
    verdicts: Option<PathBuf>,
    #[command(flatten)]
    memory: Remembering,
    #[command(flatten)]
    judging: Judging,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let settings = match args.judging.settings() {
        Ok(settings) => settings,
        Err(error) => return Ok(wrong_usage(&error)),
    };
    for input in args.inputs.iter().filter(|input| !is_std(input)) {
        if same_file(input, &args.output) {
            return Ok(wrong_usage(&format_args!("{} is both read and written", input.display())));
        }
    }
    if let Some(wrong) = refuse_absent(args.inputs.iter().chain(&settings.dedup.known)) {
        return Ok(wrong);
    }
    let verdicts: Option<Box<dyn Write>> = match &args.verdicts {
        Some(path) if !is_std(path) => Some(Box::new(create(path)?)),
        Some(_) if is_std(&args.output) => return Ok(wrong_usage(&"records and verdicts cannot both go to stdout")),
        None if is_std(&args.output) => None,
        _ => Some(Box::new(BufWriter::new(io::stdout().lock()))),
    };
    let output: Box<dyn Write> =
        if is_std(&args.output) { Box::new(BufWriter::new(io::stdout())) } else { Box::new(create(&args.output)?) };

    let stage = args.memory.open(&settings)?;
    let known = Arc::clone(stage.known());
    let limits = Limits::new(settings.dedup.threads);
    let (keys, searcher) = (stage.keys().clone(), stage.searcher(limits.threads));
    let read = Arc::new(AtomicU64::new(0));
    let bar = Bar::of_bytes(&args.inputs);
    let source = pieces(args.inputs.clone(), Arc::clone(&read));
    let (mut results, _) = ordered(limits, source, move || {
        let mut preparer = Preparer::new(keys.clone()).searching(searcher.clone());
        move |unit| prepare(unit, &mut preparer)
    });
    let mut filter = Filter::new(stage, args.near, output, verdicts, &warcinfo(&args.output)?)?;
    while let NextItem::Item(judgeable) = results.wait() {
        filter.take(judgeable, |complaint| bar.0.suspend(|| say!("dedup-stage: {complaint}")))?;
        bar.0.set_position(read.load(Ordering::Relaxed));
    }
    drop(bar);
    let tally = filter.finish()?;
    say_compared_in_part(&known);
    say!("{}", summary(&tally, read.load(Ordering::Relaxed)));
    Ok(if tally.broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn summary(tally: &Tally, read: u64) -> String {
    let Tally { records, pages, exact, near, unchanged, revisits, dropped, bytes, .. } = tally;
    format!(
        "{records} records, {pages} pages: {exact} exact, {unchanged} unchanged ({revisits} now revisit records), {near} near; \
         {dropped} records dropped; {read} bytes in, {bytes} bytes out"
    )
}

/// The units of all files, in order.
fn pieces(inputs: Vec<PathBuf>, read: Arc<AtomicU64>) -> impl Iterator<Item = Unit> + Send {
    inputs.into_iter().flat_map(move |path| {
        let name = path.display().to_string();
        let input: Box<dyn Read + Send> = if is_std(&path) {
            Box::new(io::stdin())
        } else {
            match File::open(&path) {
                Ok(file) => Box::new(file),
                Err(error) => Box::new(Failing(Some(error))),
            }
        };
        let counted = Counted { input, read: Arc::clone(&read) };
        let input: Box<dyn BufRead + Send> = Box::new(BufReader::with_capacity(256 << 10, counted));
        units(name, input)
    })
}

/// The input of a file that could not be opened. Its first read fails, so that this error is reported as read errors
/// are.
struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

struct Counted<R> {
    input: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.input.read(out)?;
        self.read.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

fn is_std(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn create(path: &Path) -> anyhow::Result<BufWriter<File>> {
    let file = File::create(path).with_context(|| path.display().to_string())?;
    Ok(BufWriter::with_capacity(1 << 20, file))
}

fn warcinfo(output: &Path) -> anyhow::Result<Vec<u8>> {
    let name = if is_std(output) { "".into() } else { output.file_name().unwrap_or_default().to_string_lossy() };
    let software = concat!("dedup-stage/", env!("CARGO_PKG_VERSION"));
    let description = format!("duplicates of earlier records reduced; fingerprints of recipe {}", signature::RECIPE);
    let facts = [("software", software), ("format", "WARC File Format 1.1"), ("description", &description)];
    Ok(warcinfo_member(RecordId::random()?, now(), &name, &facts))
}
