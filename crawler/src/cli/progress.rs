//! Progress for people: one line on stderr, redrawn on a terminal, repeated at intervals elsewhere.

use std::io::IsTerminal;

use config::Progress;
use frontier::Millis;
use indicatif::{ProgressBar, ProgressStyle};

use crate::engine::{Observer, Snapshot};

/// Between two lines where stderr is no terminal.
const LINE_INTERVAL: Millis = 10_000;

/// Shows the progress of a crawl.
#[derive(Debug)]
pub struct Terminal {
    bar: Option<ProgressBar>,
    lines: bool,
    last_line: Millis,
    /// Pages and time of earlier ticks, for the rate of the last seconds.
    recent: std::collections::VecDeque<(Millis, u64)>,
}

impl Terminal {
    /// A display as the settings want it.
    pub fn new(progress: Progress, quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = (progress == Progress::Auto && terminal && !quiet).then(|| {
            let bar = ProgressBar::new_spinner();
            bar.set_style(
                ProgressStyle::with_template("{spinner} {wide_msg}")
                    .unwrap_or_else(|_| ProgressStyle::default_spinner()),
            );
            bar
        });
        let lines = bar.is_none() && progress != Progress::None && !quiet;
        Self { bar, lines, last_line: 0, recent: std::collections::VecDeque::new() }
    }

    /// Leaves nothing on the screen.
    pub fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn rate(&mut self, now: Millis, pages: u64) -> f64 {
        self.recent.push_back((now, pages));
        while self.recent.len() > 1 && self.recent[0].0 + 5_000 < now {
            self.recent.pop_front();
        }
        let (since, before) = self.recent[0];
        if now > since { (pages - before) as f64 * 1000.0 / (now - since) as f64 } else { 0.0 }
    }
}

impl Observer for Terminal {
    fn tick(&mut self, snapshot: &Snapshot<'_>) {
        let rate = self.rate(snapshot.now, snapshot.stats.pages);
        if self.bar.is_none() && (!self.lines || snapshot.now < self.last_line + LINE_INTERVAL) {
            return;
        }
        let Snapshot { stats, counts, .. } = snapshot;
        let line = format!(
            "{} pages · {} unique · {} exact · {} near · {} links kept out · {:.1} pages/s · {} queued · {} hosts waiting, {} fetching, {} backing off · {} s",
            stats.pages,
            stats.unique,
            stats.exact,
            stats.near,
            stats.links_dropped,
            rate,
            counts.queued,
            counts.hosts_waiting,
            counts.hosts_fetching,
            counts.hosts_backing_off,
            stats.elapsed_ms / 1000
        );
        match &self.bar {
            Some(bar) => {
                bar.set_message(line);
                bar.tick();
            }
            None => {
                eprintln!("{line}");
                self.last_line = snapshot.now;
            }
        }
    }
}
