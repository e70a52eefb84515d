//! `dedup-stage signatures`: the signatures of many documents, as a file. The work is in [`crate::corpus::build`].

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use super::progress::Documents;
use super::rows;
use super::say::say;
use crate::corpus::Error;
use crate::corpus::build::{SigningOptions, Tally, Watch, build, splits, written_meanwhile};
use crate::corpus::input::{Expanded, Fields, Format, expand};
use crate::corpus::output::place;
use crate::page::Reader;

/// Arguments of `dedup-stage signatures`.
///
/// Reads documents and writes a signature file, which `pairs`, `search`, `cluster` and `--known` read. For each
/// document it has SHA-256, fingerprint, sketch, id, number of words, and URL and date if the document has them. If a
/// run is interrupted, its parts are kept beside the output, and the same command goes on from there. Records that
/// cannot be read are named on stderr and counted. Then the exit code is 1, and the file has the other records.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files, or folders of files; - for stdin
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    /// Signature file to be written
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Format of the files [default: by their names]
    #[arg(long, value_enum)]
    format: Option<Format>,
    #[command(flatten)]
    fields: Fields,
    /// Memory for rows before they are sorted and written
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = rows::size)]
    memory: u64,
    /// Threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = rows::threads)]
    threads: Option<usize>,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if args.output.as_os_str() == "-" {
        return Ok(rows::wrong_usage(&"a signature file cannot be written to stdout; name a file"));
    }
    if args.inputs.iter().filter(|input| input.as_os_str() == "-").count() > 1 {
        return Ok(rows::wrong_usage(&"stdin (-) is named more than once, and can be read once only"));
    }
    let Expanded { files, unknown, links, unread, repeated, .. } = expand(&args.inputs, args.format, &args.output);
    if let Some(wrong) = rows::refuse_replacing(Some(&args.output), files.iter().map(PathBuf::as_path)) {
        return Ok(wrong);
    }
    let read = args.inputs.iter().chain(&files).map(PathBuf::as_path);
    if let Some(input) = written_meanwhile(&args.output, read) {
        let (input, output) = (input.display(), args.output.display());
        return Ok(rows::wrong_usage(&format_args!("{input} lies where {output} is made; name another output")));
    }
    let splits = match splits(&files, args.format) {
        Ok(splits) => splits,
        Err(what) => return Ok(rows::wrong_usage(&what)),
    };
    for (folder, error) in &unread {
        say!("{}: {error}", folder.display());
    }
    if let Some(first) = repeated.first() {
        let (first, are) = (first.display(), if repeated.len() == 1 { "is" } else { "are" });
        let files = rows::count(repeated.len() as u64, "file");
        say!("{files} {are} named more than once, {first} the first; each is read once");
    }
    if let Some(first) = unknown.first() {
        let (files, first) = (rows::count(unknown.len() as u64, "file"), first.display());
        say!("left out {files} with a name that does not tell the format, {first} the first; see --format");
    }
    if let Some(first) = links.first() {
        let (links, first) = (rows::count(links.len() as u64, "link"), first.display());
        say!("left out {links} to folders, {first} the first; name a folder to have it read");
    }
    #[cfg(not(feature = "arrow"))]
    if let Some(split) = splits.iter().find(|split| matches!(split.format, Format::Parquet | Format::Arrow)) {
        let error = crate::corpus::input::without_arrow(split.format.name());
        return Ok(rows::wrong_usage(&format_args!("{}: {error}", split.name())));
    }
    if splits.is_empty() && unread.is_empty() {
        return Ok(rows::wrong_usage(&"there is no file to read"));
    }
    let threads = args.threads.unwrap_or_else(rows::cores).max(1);
    let options = SigningOptions { fields: args.fields, threads, memory: args.memory as usize };
    // What cannot be written at the end is refused before hours of work.
    place(&args.output).map_err(Error::io(&args.output))?;
    let start = Instant::now();
    let said = Said(Documents::new(splits.len()));
    let tally = build(&splits, &options, &args.output, &said)?;
    drop(said);
    if tally.documents == 0 && tally.bad > 0 {
        say!("no document could be read, so {} is not written", args.output.display());
        return Ok(ExitCode::FAILURE);
    }
    let (seconds, bytes) = (start.elapsed().as_secs_f64(), std::fs::metadata(&args.output)?.len());
    say!(
        "signed {}, {} with a fingerprint; passed over {}, {} bad; {bytes} bytes in {seconds:.1} s",
        rows::count(tally.documents, "document"),
        tally.judged,
        rows::count(tally.passed_over, "record"),
        tally.bad
    );
    if tally.cut > 0 {
        let documents = rows::count(tally.cut, "document");
        let (text, html) = (Reader::MAX_TEXT >> 20, Reader::MAX_BODY >> 20);
        say!("{documents} too long for a fingerprint: more than {text} MiB of text, or {html} MiB of HTML");
    }
    if tally.unread_dates > 0 {
        let documents = rows::count(tally.unread_dates, "document");
        say!("{documents} with a date that cannot be read; they have none");
    }
    let missing = missing(&options.fields, &tally);
    for (flag, name) in &missing {
        say!("dedup-stage: no document has a value in the field {name:?} ({flag})");
    }
    Ok(if tally.bad == 0 && unread.is_empty() && missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The flags of fields that were named and that no document has, and the names of these fields.
fn missing(fields: &Fields, tally: &Tally) -> Vec<(&'static str, String)> {
    let Some(seen) = &tally.seen else { return Vec::new() };
    let (given, usual) = (fields, Fields::default());
    let all = [
        ("--id-field", &given.id, usual.id, seen.id),
        ("--text-field", &given.text, usual.text, seen.text),
        ("--url-field", &given.url, usual.url, seen.url),
        ("--date-field", &given.date, usual.date, seen.date),
    ];
    all.into_iter()
        .filter(|(_, name, usual, seen)| *name != usual && !seen)
        .map(|(flag, name, ..)| (flag, name.clone()))
        .collect()
}

/// Shows progress and messages on stderr.
struct Said(Documents);

impl Watch for Said {
    fn documents(&self, n: u64) {
        self.0.read(n);
    }

    fn split(&self, name: &str, tally: &Tally, again: bool) {
        if !again {
            self.0.read(tally.documents);
            self.0.say(&format!("{name}: done before, {}", rows::count(tally.documents, "document")));
        }
        for bad in &tally.named {
            self.0.say(&format!("{name}: {}: {}", bad.place, bad.what));
        }
        let more = tally.bad - tally.named.len() as u64;
        if more > 0 {
            self.0.say(&format!("{name}: and {more} more that cannot be read"));
        }
        self.0.split();
    }

    fn merged(&self, n: u64) {
        self.0.merged(n);
    }
}
