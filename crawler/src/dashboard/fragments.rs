//! The parts of the live page. They are drawn here as HTML, and the browser puts them into place. The report uses the
//! same functions, so text from the web is escaped in the same way in both.

use std::collections::HashMap;
use std::io;

use crate::outcome;
use crate::report::curve::Point;
use crate::report::html::{Text, Web, put};
use crate::report::line::host;
use crate::report::source::Lines;
use crate::report::svg::{self, Line};
use crate::report::tally::{Host, by_count};
use crate::report::view::{self, Table};
use crate::sink::PagesJsonl;
use crate::units;

use super::shared::{Now, Shared, lock};

/// The parts that are drawn at every turn.
pub const LIGHT: [&str; 4] = ["state", "figures", "curve", "speed"];
/// The parts that cost more, and are drawn less often.
pub const HEAVY: [&str; 8] =
    ["troubles-now", "brought", "hosts-now", "answers", "recent", "clusters-now", "held", "rules-now"];

/// In place of a chart without points.
const NOTHING_COMPARED: &str = "<p class=\"note\">No two pages have been compared yet.</p>";

/// Draws the parts with the ids `names`.
pub fn draw(shared: &Shared, names: &[&'static str]) -> HashMap<&'static str, String> {
    let now = shared.now();
    let parts = names.iter().map(|name| {
        let mut out = String::new();
        let drawn = match (*name, &now) {
            ("state", now) => {
                state(&mut out, shared, now.as_ref());
                Ok(())
            }
            ("figures", Some(now)) => {
                figures(&mut out, shared, now);
                Ok(())
            }
            ("curve" | "brought", _) if lock(&shared.read).tally.verdicts.judged() <= 1 => {
                out.push_str(NOTHING_COMPARED);
                Ok(())
            }
            ("curve", _) => {
                view::curve(&mut out, &lock(&shared.read).tally.curve);
                Ok(())
            }
            ("speed", _) => {
                speed(&mut out, shared);
                Ok(())
            }
            ("troubles-now", Some(now)) => {
                let (troubles, worst) = outcome::faults(&now.stats);
                view::troubles(&mut out, &troubles, &worst);
                Ok(())
            }
            ("answers", _) => {
                answers(&mut out, shared);
                Ok(())
            }
            ("brought", _) => {
                brought(&mut out, shared);
                Ok(())
            }
            ("hosts-now", Some(now)) => {
                hosts(&mut out, shared, now);
                Ok(())
            }
            ("clusters-now", _) => clusters(&mut out, shared),
            ("held", Some(now)) => {
                held(&mut out, now);
                Ok(())
            }
            ("rules-now", _) => {
                rules(&mut out, shared);
                Ok(())
            }
            ("recent", _) => recent(&mut out, shared),
            _ => Ok(()),
        };
        if let Err(error) = drawn {
            put!(out, "<p class=\"note\">Cannot be shown now: {}</p>", Text(&error.to_string()));
        }
        (*name, out)
    });
    parts.collect()
}

/// The state of the crawl: a word for people and for the script, and a sentence.
fn state(out: &mut String, shared: &Shared, now: Option<&Now>) {
    let end = |now: &Now| now.stopped.map(|reason| outcome::ending(&now.stats, reason.name(), now.lost));
    let end = now.and_then(end);
    let (class, word, meaning) = match now {
        None => ("starting", "Starting", "Nothing has been asked for yet."),
        Some(Now { stopped: Some(_), .. }) => ("ended", "Ended", end.as_deref().unwrap_or_default()),
        Some(Now { trouble: true, .. }) => (
            "paused",
            "Paused",
            "Trouble on this machine: no files, memory or network. The crawl tries again by itself.",
        ),
        Some(_) if shared.is_finished() => ("ended", "Ended", ""),
        Some(_) if shared.is_paused() => ("paused", "Paused", "Nothing new is asked for until the crawl is resumed."),
        Some(_) => ("running", "Running", "This page keeps itself up to date."),
    };
    put!(out, "<span class=\"pill {class}\" data-state=\"{class}\">{word}</span> {meaning}");
}

fn figures(out: &mut String, shared: &Shared, now: &Now) {
    let Now { stats, counts, in_flight, rate, lost, rules, .. } = now;
    let judged = stats.unique + stats.near + stats.exact;
    let mut figure = |class: &str, name: &str, value: String, meaning: String| {
        put!(
            out,
            "<div class=\"{class}\"><dt>{name}</dt><dd class=\"value\">{value}</dd><dd class=\"meaning\">{meaning}</dd></div>\n"
        );
    };
    let of = |n: u64| units::share(n, judged);
    let meaning = format!("answers, redirects included; {} gave none", units::counted(stats.failed, "URL"));
    figure("", "Pages fetched", units::count(stats.pages), meaning);
    let meaning = format!("say something new: {} of those compared", of(stats.unique));
    figure("is-unique", "Unique", units::count(stats.unique), meaning);
    let meaning = format!("say what an earlier page said: {}", of(stats.near));
    figure("is-near", "Near-duplicates", units::count(stats.near), meaning);
    let meaning = format!("have the bytes of an earlier page: {}", of(stats.exact));
    figure("is-exact", "Exact duplicates", units::count(stats.exact), meaning);
    let overall = format!("in the last seconds; {} overall", units::rate(stats.pages_per_second()));
    figure("", "Pages a second", units::rate(*rate), overall);
    figure("", "Time", units::duration(stats.elapsed_ms / 1000 * 1000), "spent crawling".into());
    let meaning = "links of duplicates kept from the frontier";
    figure("", "Links kept out", units::count(stats.links_dropped), meaning.into());
    if rules.proven + rules.withdrawn > 0 {
        let (value, meaning) = view::stopped(rules);
        figure("", "URLs stopped by rules", value, meaning);
    }
    if let Some(lost) = lost {
        let (value, meaning) = view::missed(lost);
        figure("", "Unique pages missed", value, meaning);
    }
    if let Some(harvest) = lock(&shared.read).tally.harvest() {
        let (value, meaning) = view::harvested(harvest);
        figure("", "Harvest rate", value, meaning);
    }
    if let Some(round) = &stats.round {
        let (value, meaning) = view::visited(round);
        figure("", "Visited again", value, meaning);
    }
    if let Some(freshness) = &stats.freshness {
        let (value, meaning) = view::fresh(freshness);
        figure("", "Fresh", value, meaning);
    }
    let meaning = format!("URLs to be fetched, of {} met", units::count(counts.seen));
    figure("", "Queued", units::count(counts.queued), meaning);
    let hosts = format!(
        "of {} asked right now, in {}; {} wait for their delay, {} back off",
        units::count(counts.hosts),
        units::counted(*in_flight as u64, "job"),
        units::count(counts.hosts_waiting),
        units::count(counts.hosts_backing_off),
    );
    figure("", "Hosts fetching", units::count(counts.hosts_fetching), hosts);
    let received = format!("of decoded bodies; {} as received", units::bytes(stats.wire_bytes));
    figure("", "Bytes", units::bytes(stats.bytes), received);
}

/// The pages a second over the run.
fn speed(out: &mut String, shared: &Shared) {
    let speed = shared.speed();
    let minutes = speed.rates().last().is_some_and(|(until, _)| until >= 600_000);
    let unit = if minutes { 60_000.0 } else { 1_000.0 };
    let points: Vec<_> = speed.rates().map(|(until, rate)| (until as f64 / unit, rate)).collect();
    let most = points.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let Some((_, last)) = points.last().filter(|_| most > 0.0) else {
        out.push_str("<p class=\"note\">No page has come yet.</p>");
        return;
    };
    let description = format!("At most {}, and {} at the end.", units::rate(most), units::rate(*last));
    let chart = svg::Lines {
        title: "Pages a second",
        description: &description,
        x: if minutes { "minutes spent crawling" } else { "seconds spent crawling" },
        y: "pages a second",
        diagonal: None,
        lines: vec![Line { label: "pages", class: "unique", points }],
    };
    put!(out, "<figure>{}<figcaption>{description}</figcaption></figure>", chart.svg());
}

/// The answers by status, media type and language, and the URLs that were given up without one.
fn answers(out: &mut String, shared: &Shared) {
    let read = lock(&shared.read);
    if read.tally.statuses.is_empty() && read.tally.errors.is_empty() {
        out.push_str("<p class=\"note\">No server has answered yet.</p>");
        return;
    }
    view::statuses(out, &read.tally);
    view::errors(out, &read.tally);
}

/// The shares of the verdicts among the pages between two points of the curve.
fn brought(out: &mut String, shared: &Shared) {
    let points: Vec<_> = lock(&shared.read).tally.curve.points().collect();
    let window = points.len().div_ceil(40).max(1);
    let share = |of: fn(&Point) -> u64| {
        let pairs = points.iter().zip(points.iter().skip(window)).step_by(window);
        pairs
            .filter(|(before, after)| after.pages > before.pages)
            .map(|(before, after)| {
                let part = (of(after) - of(before)) as f64 / (after.pages - before.pages) as f64;
                (after.pages as f64, 100.0 * part)
            })
            .collect::<Vec<_>>()
    };
    let line = |label, class, of| Line { label, class, points: share(of) };
    let chart = svg::Lines {
        title: "What fetches bring",
        description: "Shares of unique pages, near-duplicates and exact duplicates among the pages fetched at that time.",
        x: "pages fetched",
        y: "% of pages",
        diagonal: None,
        lines: vec![
            line("unique", "unique", |point| point.unique),
            line("near-duplicates", "near", |point| point.near),
            line("exact duplicates", "exact", |point| point.exact),
        ],
    };
    put!(
        out,
        "<figure>{}<figcaption>Of the pages fetched at that time, how many were of which kind. The rest was not \
         compared.</figcaption></figure>",
        chart.svg()
    );
}

fn hosts(out: &mut String, shared: &Shared, now: &Now) {
    let rows = shared.hosts();
    let read = lock(&shared.read);
    let mut cells = String::new();
    for row in &rows {
        let found = read.tally.hosts.get(host(&row.name)).copied().unwrap_or_default();
        let Host { verdicts, links_dropped, .. } = found;
        put!(cells, "<tr><th scope=\"row\">{}</th><td>{}", Web(&row.name), row.state.0);
        if let Some(until) = row.state.1.filter(|until| *until > now.time) {
            put!(cells, ", {} more", units::duration(until - now.time));
        }
        put!(cells, "</td><td class=\"n\" data-sort=\"{}\">{}</td>", row.delay, units::duration(row.delay));
        put!(cells, "{}{}", view::count(row.queued), view::count(verdicts.pages()));
        put!(cells, "{}<td>{}</td>", view::share(verdicts.duplicates(), verdicts.judged()), view::bar(&verdicts));
        put!(cells, "{}{}</tr>\n", view::count(links_dropped), view::count(verdicts.failed));
    }
    let caption = format!(
        "{} with the longest queues, of {}",
        units::counted(rows.len() as u64, "host"),
        units::count(now.counts.hosts)
    );
    let heads = &[
        "host",
        "what it does",
        "#delay",
        "#queued URLs",
        "#pages",
        "#duplicate share",
        "verdicts",
        "#links kept out",
        "#failed",
    ];
    Table { id: None, caption: &caption, heads, rows: cells }.put(out);
    view::notes(out, &shared.learned().hosts, 100);
}

fn clusters(out: &mut String, shared: &Shared) -> io::Result<()> {
    if lock(&shared.read).tally.verdicts.duplicates() == 0 {
        out.push_str("<p class=\"note\">No page repeats another one.</p>");
        return Ok(());
    }
    let pages = Lines::open(&shared.dir, PagesJsonl::NAME, None)?;
    view::clusters(out, None, &lock(&shared.read).tally.clusters, &pages, 10)
}

/// The number of URLs that are not to be fetched now, by reason. `skipped.jsonl` cannot give this: it is written when a
/// run ends.
fn held(out: &mut String, now: &Now) {
    let counted = frontier::SkipReason::ALL.into_iter().map(|reason| (reason, now.counts.states.skipped_for(reason)));
    let mut rows = String::new();
    for (reason, urls) in by_count(counted.filter(|(_, urls)| *urls > 0), |urls| *urls) {
        put!(rows, "<tr><th scope=\"row\"><code>{}</code></th>", reason.name());
        put!(rows, "<td>{}</td>{}</tr>\n", reason.explanation(), view::count(urls));
    }
    if rows.is_empty() {
        out.push_str("<p class=\"note\">Nothing is kept out.</p>");
        return;
    }
    let heads = &["reason", "meaning", "#URLs"];
    Table { id: None, caption: "URLs that are not to be fetched, as it stands", heads, rows }.put(out);
}

/// The learned rules, with their evidence.
fn rules(out: &mut String, shared: &Shared) {
    view::rules(out, None, &shared.learned(), 100);
}

fn recent(out: &mut String, shared: &Shared) -> io::Result<()> {
    let offsets: Vec<_> = lock(&shared.read).recent.iter().rev().copied().collect();
    if offsets.is_empty() {
        out.push_str("<p class=\"note\">No page has been fetched yet.</p>");
        return Ok(());
    }
    let pages = Lines::open(&shared.dir, PagesJsonl::NAME, None)?;
    let lines = pages.at(offsets.iter().copied())?;
    let link = |at: usize| offsets.get(at).map(|offset| format!("page?at={offset}"));
    view::pages(out, None, "The last pages, newest first", &lines, &link);
    Ok(())
}
