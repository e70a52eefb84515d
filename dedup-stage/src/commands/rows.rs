//! What the commands on fingerprint files share: rows on stdout, exit codes.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Numbers separated by tabs, a line each
    Tsv,
    /// Three little-endian 64-bit words each, nothing else
    Binary,
}

/// Writes rows to stdout; false if nobody listens any more, which is no error.
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
    listened(all())
}

/// Takes a closed stdout for what it is.
pub fn listened(result: io::Result<()>) -> io::Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error),
    }
}

/// Says on stderr what is wrong with the command line or the configuration.
pub fn wrong_usage(what: &impl std::fmt::Display) -> ExitCode {
    eprintln!("dedup-stage: {what}");
    ExitCode::from(2)
}

/// The cores that may be used.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
