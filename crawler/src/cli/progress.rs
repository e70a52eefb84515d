//! Progress for people, on stderr: three calm lines on a terminal; otherwise one line at intervals, which scripts can
//! parse.

use std::io::IsTerminal;

use config::Progress;
use frontier::Millis;
use frontier::rules::Totals;

use crate::clock::rfc3339;
use crate::engine::{Observer, Snapshot, Stats};
use crate::estimate::Lost;
use crate::rate::Recent;
use crate::report::html::put;
use crate::terminal::say::say;
use crate::terminal::screen::{self, Line};
use crate::units;

/// The time between two lines, if stderr is no terminal.
const LINE_INTERVAL: Millis = 10_000;

/// Shows the progress of a crawl.
#[derive(Debug)]
pub struct Terminal {
    how: How,
    recent: Recent,
}

#[derive(Debug)]
enum How {
    /// Lines that are drawn again in place. Numbers are bold if `color`.
    Lines {
        color: bool,
    },
    /// One line at intervals. There is no line before the first interval has passed.
    Plain {
        last: Option<Millis>,
    },
    Nothing,
}

impl Terminal {
    /// The display that the settings ask for.
    pub fn new(progress: Progress, quiet: bool) -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        let how = match progress {
            _ if quiet => How::Nothing,
            Progress::None => How::Nothing,
            Progress::Auto if std::io::stderr().is_terminal() && !dumb => How::Lines { color: !set("NO_COLOR") },
            Progress::Auto | Progress::Plain => How::Plain { last: None },
        };
        Self { how, recent: Recent::default() }
    }

    /// Removes the display from the screen.
    pub fn finish(&mut self) {
        if matches!(self.how, How::Lines { .. }) {
            screen::clear();
        }
        self.how = How::Nothing;
    }
}

impl Observer for Terminal {
    fn tick(&mut self, snapshot: &Snapshot<'_>) {
        let rate = self.recent.rate(snapshot.now, snapshot.stats.pages);
        match &mut self.how {
            How::Nothing => {}
            How::Lines { color } => {
                let (rows, columns) = screen::size();
                let mut lines = lines(snapshot, rate, columns, *color);
                lines.truncate(rows.saturating_sub(1).max(1));
                screen::draw(&lines);
            }
            How::Plain { last } => {
                let since = *last.get_or_insert(snapshot.now);
                if snapshot.now >= since + LINE_INTERVAL || snapshot.stopped.is_some() {
                    *last = Some(snapshot.now);
                    say!("{}", plain(snapshot, rate));
                }
            }
        }
    }
}

/// A number and what it counts.
type Segment = (String, &'static str);

/// The lines of the display. In each line the most important part comes first. Parts that do not fit are left out.
fn lines(snapshot: &Snapshot<'_>, rate: f64, columns: usize, color: bool) -> Vec<Line> {
    let Snapshot { stats, counts, .. } = snapshot;
    let judged = stats.unique + stats.near + stats.exact;
    let number = units::count;
    let mut rows: [Vec<Segment>; 3] = [
        vec![
            (number(stats.pages), "pages"),
            (units::rate(rate), "pages/s now"),
            (units::duration(stats.elapsed_ms / 1000 * 1000), ""),
            (units::rate(stats.pages_per_second()), "overall"),
            (units::bytes(stats.bytes), ""),
            (number(stats.failed), "failed"),
        ],
        vec![
            (number(stats.unique), "unique"),
            (number(stats.exact), "exact"),
            (number(stats.near), "near"),
            (number(stats.links_dropped), "links kept out"),
            (units::share(stats.exact + stats.near, judged), "duplicates"),
        ],
        vec![
            (number(counts.queued), "queued"),
            (number(counts.hosts_fetching), "hosts fetching"),
            (number(counts.hosts_waiting), "waiting"),
            (number(counts.hosts_backing_off), "in back-off"),
            (number(counts.seen), "URLs met"),
        ],
    ];
    if let Some(lost) = &snapshot.lost {
        rows[1].push((format!("≈ {}", lost.short()), "unique lost"));
    }
    let rules = totals(snapshot);
    if rules.stopped > 0 {
        rows[1].insert(4, (number(rules.stopped), "stopped by rules"));
    }
    if let Some(harvest) = snapshot.harvest {
        rows[1].insert(1, (format!("{:.0} %", 100.0 * harvest), "on topic"));
    }
    // The last columns stay empty, because a terminal echoes ^C there.
    rows.into_iter().map(|row| pack(&row, columns.saturating_sub(3), color)).filter(|line| line.width > 0).collect()
}

fn pack(row: &[Segment], columns: usize, color: bool) -> Line {
    let mut line = Line::default();
    for (value, label) in row {
        let gap = if line.width == 0 { 0 } else { 3 };
        let width = value.chars().count() + if label.is_empty() { 0 } else { 1 + label.chars().count() };
        if line.width + gap + width > columns {
            continue;
        }
        if gap > 0 {
            line.text.push_str(" · ");
        }
        match color {
            true => line.text.extend(["\x1b[1m", value, "\x1b[0m"]),
            false => line.text.push_str(value),
        }
        if !label.is_empty() {
            line.text.extend([" ", label]);
        }
        line.width += gap + width;
    }
    line
}

pub fn totals(snapshot: &Snapshot<'_>) -> Totals {
    snapshot.frontier.rules().map(|rules| Totals::of(rules.iter())).unwrap_or_default()
}

/// The line for logs and scripts: the word `progress`, then `key=value` pairs.
fn plain(snapshot: &Snapshot<'_>, rate: f64) -> String {
    let Snapshot { stats, counts, now, lost, harvest, .. } = *snapshot;
    let Stats { pages, unique, exact, near, unchanged, unjudged, failed, links_dropped, bytes, .. } = stats;
    let mut line = format!(
        "progress time={} elapsed_seconds={:.1} pages={pages} unique={unique} exact={exact} near={near} \
         unchanged={unchanged} unjudged={unjudged} failed={failed} links_dropped={links_dropped} bytes={bytes} pages_per_second={rate:.1} \
         pages_per_second_overall={:.1} queued={} urls_seen={} hosts_fetching={} hosts_waiting={} hosts_backing_off={}",
        rfc3339(now),
        stats.elapsed_ms as f64 / 1000.0,
        stats.pages_per_second(),
        counts.queued,
        counts.seen,
        counts.hosts_fetching,
        counts.hosts_waiting,
        counts.hosts_backing_off
    );
    let Totals { proven, withdrawn, stopped } = totals(snapshot);
    if proven + withdrawn > 0 {
        put!(line, " rules={proven} rules_withdrawn={withdrawn} stopped_by_rules={stopped}");
    }
    if let Some(Lost { estimate, low, high }) = lost {
        put!(
            line,
            " estimated_unique_lost={estimate:.1} estimated_unique_lost_low={low:.1} estimated_unique_lost_high={high:.1}"
        );
    }
    if let Some(harvest) = harvest {
        put!(line, " harvest_rate={harvest:.3}");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Vec<Segment> {
        vec![("1,234".into(), "pages"), ("12.3".into(), "pages/s now"), ("4 min".into(), ""), ("48 MiB".into(), "")]
    }

    #[test]
    fn a_narrow_window_shows_what_matters_most_and_never_more_than_fits() {
        assert_eq!(pack(&row(), 80, false).text, "1,234 pages · 12.3 pages/s now · 4 min · 48 MiB");
        assert_eq!(pack(&row(), 21, false).text, "1,234 pages · 4 min");
        assert_eq!(pack(&row(), 3, false), Line::default());
        for columns in 0..90 {
            let line = pack(&row(), columns, true);
            assert!(line.width <= columns);
            assert_eq!(line.width, console::measure_text_width(&line.text), "{}", line.text);
        }
    }

    #[test]
    fn without_color_there_is_no_escape_sequence() {
        assert!(!pack(&row(), 80, false).text.contains('\x1b'));
    }
}
