//! Shows two crawls of one web beside each other. `crawler demo` ends with this: once with the gate off, once with the
//! gate on.

use std::io;

use super::html::{Text, put};
use super::line::Word;
use super::shell::Shell;
use super::svg::{Line, Lines};
use super::view::{self, Table};
use super::{Report, SCRIPT, STYLE};
use crate::units;

/// One of the two crawls.
#[derive(Clone, Debug)]
pub struct Side<'a> {
    /// Its name, such as `gate off`.
    pub name: &'a str,
    /// Its report.
    pub report: &'a Report,
    /// If the truth is known: the number of fetches after which each content was found, ascending.
    pub found_at: Option<Vec<u64>>,
}

impl Side<'_> {
    /// The number of distinct contents: the true number if it is known, otherwise by the verdicts.
    fn contents(&self) -> u64 {
        self.found_at.as_ref().map_or(self.report.tally.verdicts.unique, |found| found.len() as u64)
    }

    fn pages(&self) -> u64 {
        self.report.tally.verdicts.pages()
    }

    fn line<'a>(&'a self, class: &'a str) -> Line<'a> {
        let points = match &self.found_at {
            Some(found) => {
                let step = found.len().div_ceil(400).max(1);
                let found_points = found.iter().enumerate().map(|(at, fetched)| (*fetched as f64, at as f64 + 1.0));
                let last = (self.pages().max(found.last().copied().unwrap_or(0)) as f64, found.len() as f64);
                [(0.0, 0.0)].into_iter().chain(found_points.step_by(step)).chain([last]).collect()
            }
            None => self.report.tally.curve.points().map(|point| (point.pages as f64, point.unique as f64)).collect(),
        };
        Line { label: self.name, class, points }
    }
}

/// A document that shows two crawls of one web beside each other, and then each of them. `off` comes first.
pub fn compare(title: &str, off: &Side<'_>, on: &Side<'_>) -> io::Result<String> {
    let mut out = String::with_capacity(1 << 20);
    put!(out, "<a class=\"skip\" href=\"#main\">Skip to the report</a>\n<header><h1>{}</h1>\n", Text(title));
    put!(out, "<p class=\"lead\">{}</p>\n</header>\n<main id=\"main\">\n", Text(&lead(off, on)));
    view::section(
        &mut out,
        "curve",
        "Distinct contents against pages fetched",
        "The same web, the same number of fetches allowed. The higher line found more for the same effort; the dashed line is a \
         crawler that never fetches a copy.",
    );
    let description = format!(
        "{}: {} contents in {} fetches. {}: {} contents in {} fetches.",
        off.name,
        units::count(off.contents()),
        units::count(off.pages()),
        on.name,
        units::count(on.contents()),
        units::count(on.pages())
    );
    let chart = Lines {
        title: "Distinct contents against pages fetched",
        description: &description,
        x: "pages fetched",
        y: "distinct contents",
        diagonal: Some("every page new"),
        lines: vec![off.line("off"), on.line("on")],
    };
    put!(out, "<figure>{}<figcaption>{}</figcaption></figure>\n", chart.svg(), Text(&description));
    view::end(&mut out);
    table(&mut out, off, on);
    for (id, side) in [("off", off), ("on", on)] {
        let about = "Verdicts by host, and the largest clusters of duplicates.";
        view::section(&mut out, id, &format!("The crawl with {}", side.name), about);
        hosts(&mut out, side);
        let lines = side.report.pages.at(side
            .report
            .tally
            .clusters
            .largest(8)
            .iter()
            .filter_map(|cluster| cluster.members.first().copied()))?;
        let caption = "A duplicate of each of the largest clusters";
        view::pages(&mut out, Some(&format!("{id}-duplicates")), caption, &lines, &|_| None);
        view::end(&mut out);
    }
    put!(
        out,
        "</main>\n<footer><p>Written by crawler {}. This file loads nothing and sends nothing.</p></footer>",
        env!("CARGO_PKG_VERSION")
    );
    Ok(Shell { title, style: STYLE, script: SCRIPT, connect: "'none'", body: &out }.html())
}

fn lead(off: &Side<'_>, on: &Side<'_>) -> String {
    let more = on.contents() as f64 / off.contents().max(1) as f64;
    let duplicates = |side: &Side<'_>| side.report.tally.verdicts.duplicates();
    format!(
        "With {}, {} brought {} distinct contents; with {}, {} brought {}: {more:.2} times as many. Duplicates fetched: {} and {}.",
        off.name,
        units::counted(off.pages(), "fetch").replace("fetchs", "fetches"),
        units::count(off.contents()),
        on.name,
        units::counted(on.pages(), "fetch").replace("fetchs", "fetches"),
        units::count(on.contents()),
        units::count(duplicates(off)),
        units::count(duplicates(on)),
    )
}

fn table(out: &mut String, off: &Side<'_>, on: &Side<'_>) {
    view::section(out, "numbers", "In numbers", "Both crawls had the same settings but for the gate.");
    let mut rows = String::new();
    let mut row = |name: &str, meaning: &str, value: &dyn Fn(&Side<'_>) -> String| {
        put!(rows, "<tr><th scope=\"row\">{name}<br><span class=\"note\">{meaning}</span></th>");
        put!(rows, "<td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n", value(off), value(on));
    };
    let known = off.found_at.is_some();
    row("Pages fetched", "answers to requests for pages, redirects included", &|side| units::count(side.pages()));
    row(
        "Distinct contents",
        if known { "as the web that served them knows" } else { "pages judged unique" },
        &|side| units::count(side.contents()),
    );
    row("Distinct contents per 100 fetches", "what a fetch is worth", &|side| {
        format!("{:.1}", 100.0 * side.contents() as f64 / side.pages().max(1) as f64)
    });
    for word in [Word::Near, Word::Exact] {
        let meaning =
            if word == Word::Near { "say what an earlier page said" } else { "have the bytes of an earlier page" };
        row(&format!("Fetched {} duplicates", word.name()), meaning, &|side| {
            let verdicts = &side.report.tally.verdicts;
            units::count(if word == Word::Near { verdicts.near } else { verdicts.exact })
        });
    }
    row("Links kept out", "new links of duplicates, kept from the frontier", &|side| {
        units::count(side.report.tally.links_dropped)
    });
    row("Bytes", "of decoded bodies", &|side| units::bytes(side.report.tally.bytes));
    row("Bytes in duplicates", "spent on what was known", &|side| units::bytes(side.report.tally.duplicate_bytes));
    row("Ended", "done: nothing was left to fetch", &|side| {
        side.report.summary.stop_reason.as_deref().unwrap_or("–").replace('_', " ")
    });
    row("Time", "spent crawling, waiting for slow hosts included", &|side| {
        side.report.summary.elapsed_ms.map_or("–".into(), units::duration)
    });
    Table {
        id: None,
        caption: "The two crawls",
        heads: &["", &format!("#{}", off.name), &format!("#{}", on.name)],
        rows,
    }
    .put(out);
    view::end(out);
}

fn hosts(out: &mut String, side: &Side<'_>) {
    // Ids must not repeat, and a comparison needs no search among its hosts.
    let mut table = String::new();
    view::hosts(&mut table, &side.report.tally, 20);
    out.push_str(
        &table
            .replace("hosts-table", &format!("hosts-{}", side.name.replace(|c: char| !c.is_ascii_alphanumeric(), "-"))),
    );
}
