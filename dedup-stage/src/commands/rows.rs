//! What the commands on fingerprint files share: progress on stderr, rows on stdout, exit codes.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

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

/// A bar on stderr that fills as shares of the work are done.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    share: Mutex<f64>,
}

impl Progress {
    const STEPS: u64 = 1000;

    /// An empty bar; it is not drawn where stderr is no terminal.
    pub fn new(what: &'static str) -> Self {
        let bar = ProgressBar::new(Self::STEPS).with_message(what);
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent:>3} % {elapsed}, {eta} to go") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, share: Mutex::new(0.0) }
    }

    /// Adds a share of the work.
    pub fn add(&self, share: f64) {
        if let Ok(mut sum) = self.share.lock() {
            *sum += share;
            self.bar.set_position((*sum * Self::STEPS as f64) as u64);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Says on stderr what is wrong with how the command was called.
pub fn wrong_usage(what: std::fmt::Arguments<'_>) -> ExitCode {
    eprintln!("dedup-stage: {what}");
    ExitCode::from(2)
}

/// The cores that may be used.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
