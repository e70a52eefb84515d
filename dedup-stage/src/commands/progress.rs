//! Shows the progress of long commands on stderr, if it is a terminal: how much is done, how fast, and how long it will
//! take. The display disappears at the end, also if the program is interrupted.

use std::fmt::Write;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::say::say;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

/// A bar that fills as shares of the work are done.
#[derive(Debug)]
pub struct Progress {
    bar: Bar,
    share: Mutex<f64>,
    all: u64,
}

impl Progress {
    /// An empty bar for `all` things. `unit` is their name in the plural.
    pub fn new(what: &'static str, all: usize, unit: &'static str) -> Self {
        let all = all as u64;
        let template =
            format!("{what} {{wide_bar}} {{percent:>3}} % of {{human_len}} {unit}, {{rate}}/s, {{eta}} left");
        let rate = |state: &ProgressState, out: &mut dyn Write| {
            // If the terminal is gone, this cannot be shown.
            let _ = write!(out, "{}", indicatif::HumanCount(state.per_sec() as u64));
        };
        let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = Bar::new(ProgressBar::new(all).with_style(style.with_key("rate", rate)));
        Self { bar, share: Mutex::new(0.0), all }
    }

    /// Adds a share of the work. The sum of all shares is 1.
    pub fn add(&self, share: f64) {
        if let Ok(mut sum) = self.share.lock() {
            *sum += share;
            self.bar.0.set_position((*sum * self.all as f64) as u64);
        }
    }
}

/// A line that counts documents, whose number is not known beforehand, and then rows as they are merged.
#[derive(Debug)]
pub struct Documents(Bar, AtomicU64, u64);

impl Documents {
    /// A line for this many input files, of which none is read yet.
    pub fn new(splits: usize) -> Self {
        let template = "{spinner} {human_pos} documents, {per_sec}, {msg}";
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
        let bar = Bar::new(ProgressBar::new_spinner().with_style(style));
        bar.0.set_message(format!("0 of {splits} files"));
        Self(bar, AtomicU64::new(0), splits as u64)
    }

    /// Counts documents.
    pub fn read(&self, n: u64) {
        self.0.0.inc(n);
    }

    /// Counts a file that is done. After the last file, the line counts rows.
    pub fn split(&self) {
        let done = self.1.fetch_add(1, Ordering::Relaxed) + 1;
        self.0.0.set_message(format!("{done} of {} files", self.2));
        if done == self.2 {
            self.0.0.set_position(0);
            self.0.0.set_message("merging");
        }
    }

    /// Counts merged rows.
    pub fn merged(&self, n: u64) {
        self.0.0.inc(n);
    }

    /// Prints a message above the line.
    pub fn say(&self, what: &str) {
        self.0.0.suspend(|| say!("dedup-stage: {what}"));
    }
}

/// A bar on the terminal.
#[derive(Debug)]
pub struct Bar(pub ProgressBar, Option<Handle>);

impl Bar {
    /// Shows `bar`, until it is dropped or the program is interrupted.
    fn new(bar: ProgressBar) -> Self {
        if bar.is_hidden() {
            return Self(bar, None);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        let signals = Signals::new([SIGINT, SIGTERM]).ok();
        let handle = signals.map(|mut signals| {
            let (handle, bar) = (signals.handle(), bar.clone());
            std::thread::spawn(move || {
                if let Some(signal) = signals.forever().next() {
                    bar.finish_and_clear();
                    super::interrupted::end(signal);
                }
            });
            handle
        });
        Self(bar, handle)
    }

    /// A bar for the bytes of `files`. If their sizes are not known, it only shows how much was read, and how fast.
    pub fn of_bytes(files: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        let sizes = files.into_iter().map(|path| match std::fs::metadata(path.as_ref())? {
            file if file.is_file() => Ok(file.len()),
            _ => Err(io::ErrorKind::Other.into()),
        });
        let sizes: io::Result<Vec<u64>> = sizes.collect();
        let (bar, template) = match sizes {
            Ok(sizes) => (
                ProgressBar::new(sizes.iter().sum()),
                "{wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
            ),
            Err(_) => (ProgressBar::new_spinner(), "{spinner} {bytes}, {bytes_per_sec}"),
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        Self::new(bar.with_style(style))
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
        if let Some(handle) = &self.1 {
            handle.close();
        }
    }
}
