//! Parts that the commands share: rows on stdout, exit codes, arguments.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::say::say;
use crate::corpus::output::replaced;

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Numbers separated by tabs, a line each
    Tsv,
    /// Three little-endian 64-bit words each, nothing else
    Binary,
}

/// Writes rows to stdout. False if the reader of stdout is gone, which is no error.
pub fn write(rows: impl Iterator<Item = [u64; 3]>, format: Format) -> io::Result<bool> {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let all = || {
        for [a, b, c] in rows {
            match format {
                Format::Tsv => writeln!(out, "{a}\t{b}\t{c}")?,
                Format::Binary => [a, b, c].iter().try_for_each(|word| out.write_all(&word.to_le_bytes()))?,
            }
        }
        out.flush()
    };
    unless_closed(all())
}

/// Turns a closed stdout from an error into `false`.
pub fn unless_closed(result: io::Result<()>) -> io::Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error),
    }
}

/// A wrong command line that is found out late. The program ends as with [`wrong_usage`].
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WrongUsage(pub String);

/// A number with the name of the things: `1 edge`, `2 edges`.
pub fn count(n: u64, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

/// Says on stderr what is wrong with the command line or the configuration.
pub fn wrong_usage(what: &impl std::fmt::Display) -> ExitCode {
    say!("dedup-stage: {what}");
    ExitCode::from(2)
}

/// If an output would replace an input, says so on stderr. Returns the exit code in this case.
pub fn refuse_replacing<'a>(output: Option<&Path>, inputs: impl IntoIterator<Item = &'a Path>) -> Option<ExitCode> {
    let input = output.and_then(|output| replaced(output, inputs))?;
    Some(wrong_usage(&format_args!("{} is both read and written", input.display())))
}

/// If an input does not exist, says so on stderr. Returns the exit code in this case. A command asks this before it
/// makes its outputs.
pub fn refuse_absent<'a>(inputs: impl IntoIterator<Item = &'a PathBuf>) -> Option<ExitCode> {
    let is_absent = |input: &&PathBuf| {
        let found = if input.as_os_str() == "-" { return false } else { input.metadata() };
        found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    };
    let input = inputs.into_iter().find(is_absent)?;
    Some(wrong_usage(&format_args!("{}: there is no such file", input.display())))
}

/// Parses a number of threads on the command line.
pub fn threads(text: &str) -> Result<usize, String> {
    let threads = text.parse().ok().filter(|threads| (1..=MOST_THREADS).contains(threads));
    threads.ok_or_else(|| format!("not a number of threads, which is 1 to {MOST_THREADS}"))
}

/// The most threads: more than any machine has cores. Operating systems refuse to start very many.
const MOST_THREADS: usize = 1_024;

/// The number of cores that may be used.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Parses a number of bytes on the command line, with or without a unit.
pub fn size(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..digits].parse().map_err(|_| "not a size, such as 12GiB".to_string())?;
    let unit = match text[digits..].trim() {
        "" | "B" => 1.0,
        "KiB" | "K" => 1024.0,
        "MiB" | "M" => 1024.0 * 1024.0,
        "GiB" | "G" => 1024.0 * 1024.0 * 1024.0,
        "TiB" | "T" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        "kB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        unit => return Err(format!("unknown unit {unit:?}; there are B, KiB, MiB, GiB, TiB, kB, MB, GB, TB")),
    };
    Ok((number * unit) as u64)
}
