//! The head of the report: the result of the crawl in a few numbers, and the curve of distinct contents.

use frontier::rules::Totals;

use super::super::Summary;
use super::super::curve::Curve;
use super::super::html::put;
use super::super::learned::Learned;
use super::super::svg::{Line, Lines};
use super::super::tally::Tally;
use super::freshness::{fresh, visited};
use super::{Table, count, share};
use crate::estimate::Lost;
use crate::units;

/// The key figures.
pub fn figures(out: &mut String, summary: &Summary, tally: &Tally) {
    let verdicts = &tally.verdicts;
    let mut figure = |class: &str, name: &str, value: String, meaning: String| {
        put!(
            out,
            "<div class=\"{class}\"><dt>{name}</dt><dd class=\"value\">{value}</dd><dd class=\"meaning\">{meaning}</dd></div>\n"
        );
    };
    let judged = verdicts.judged();
    figure(
        "",
        "Pages fetched",
        units::count(verdicts.pages()),
        "answers to requests for pages, redirects included".into(),
    );
    figure(
        "is-unique",
        "Unique",
        units::count(verdicts.unique),
        format!(
            "pages that say something new: {} of the {} compared",
            units::share(verdicts.unique, judged),
            units::count(judged)
        ),
    );
    figure(
        "is-near",
        "Near-duplicates",
        units::count(verdicts.near),
        format!("pages that say what an earlier page said: {}", units::share(verdicts.near, judged)),
    );
    figure(
        "is-exact",
        "Exact duplicates",
        units::count(verdicts.exact),
        format!("pages with the very bytes of an earlier one: {}", units::share(verdicts.exact, judged)),
    );
    if verdicts.unchanged > 0 {
        figure(
            "",
            "Unchanged",
            units::count(verdicts.unchanged),
            "pages that say what they said at the last visit".into(),
        );
    }
    figure(
        "",
        "Not compared",
        units::count(verdicts.unjudged),
        "redirects, error pages, pages without text, files that are no pages".into(),
    );
    figure("", "Failed", units::count(verdicts.failed), "URLs given up without an answer".into());
    figure(
        "",
        "Links kept out",
        units::count(tally.links_dropped),
        match summary.held {
            Some(held) => format!(
                "new links of duplicates that were not followed at once; {} still held",
                units::counted(held, "URL")
            ),
            None => "new links of duplicates that were not followed at once".into(),
        },
    );
    let spent = units::share(tally.duplicate_bytes, tally.bytes);
    figure("", "Bytes", units::bytes(tally.bytes), format!("of decoded bodies; {spent} of them in duplicates"));
    let rules = summary.learned.as_ref().map(Learned::totals).unwrap_or_default();
    if rules.proven + rules.withdrawn > 0 {
        let (value, meaning) = stopped(&rules);
        figure("", "URLs stopped by rules", value, meaning);
    }
    if let Some(lost) = &summary.lost {
        let (value, meaning) = missed(lost);
        figure("", "Unique pages missed", value, meaning);
    }
    if let Some(harvest) = tally.harvest() {
        let (value, meaning) = harvested(harvest);
        figure("", "Harvest rate", value, meaning);
    }
    if let Some(round) = &summary.round {
        let (value, meaning) = visited(round);
        figure("", "Visited again", value, meaning);
    }
    if let Some(freshness) = &summary.freshness {
        let (value, meaning) = fresh(freshness);
        figure("", "Fresh", value, meaning);
    }
    if let Some(seen) = summary.urls_seen {
        figure("", "URLs met", units::count(seen), "distinct URLs, by the form in which they are compared".into());
    }
    if let Some(queued) = summary.frontier {
        figure("", "Still queued", units::count(queued), "URLs that the frontier still holds".into());
    }
    if let Some(elapsed) = summary.elapsed_ms.filter(|elapsed| *elapsed > 0) {
        let rate = verdicts.pages() as f64 * 1000.0 / elapsed as f64;
        figure("", "Time", units::duration(elapsed), format!("spent crawling; {} pages a second", units::rate(rate)));
    }
}

/// The estimated loss, and what it means.
pub fn missed(lost: &Lost) -> (String, String) {
    let [estimate, low, high] = [lost.estimate, lost.low, lost.high].map(|pages| units::count(pages.round() as u64));
    let meaning = format!(
        "among what was held back and behind it, estimated from a random sample; 95 % interval {low} to {high}"
    );
    (format!("≈ {estimate}"), meaning)
}

/// The number of URLs that rules stopped, and what it means.
pub fn stopped(rules: &Totals) -> (String, String) {
    let all = units::counted(rules.proven + rules.withdrawn, "rule");
    let withdrawn = units::count(rules.withdrawn);
    let meaning = format!("so far, by {all} learned and proven, {withdrawn} withdrawn; some were fetched later");
    (units::count(rules.stopped), meaning)
}

/// The harvest rate, and what it means.
pub fn harvested(harvest: f64) -> (String, String) {
    (format!("{:.0} %", 100.0 * harvest), "mean relevance of the pages fetched to what the crawl is about".into())
}

/// The meanings of the colours.
pub fn key() -> &'static str {
    concat!(
        "<ul class=\"key\">",
        "<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"unique\" width=\"10\" height=\"10\"/></svg>unique</li>",
        "<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"near\" width=\"10\" height=\"10\"/></svg>near-duplicate</li>",
        "<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"exact\" width=\"10\" height=\"10\"/></svg>exact duplicate</li>",
        "<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"unchanged\" width=\"10\" height=\"10\"/></svg>unchanged</li>\
         <li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"unjudged\" width=\"10\" height=\"10\"/></svg>not compared</li>",
        "<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"failed\" width=\"10\" height=\"10\"/></svg>failed</li>",
        "</ul>"
    )
}

/// The curve of distinct contents by pages fetched, beside the diagonal; and some of its points as a table.
pub fn curve(out: &mut String, curve: &Curve) {
    let points = || curve.points().map(|point| (point.pages as f64, point));
    let line = |label, class, of: fn(&super::super::curve::Point) -> u64| Line {
        label,
        class,
        points: points().map(|(x, point)| (x, of(&point) as f64)).collect(),
    };
    let last = curve.points().last().unwrap_or_default();
    let description = format!(
        "After {} fetched, {} distinct contents were found, {} were near-duplicates and {} exact duplicates.",
        units::counted(last.pages, "page"),
        units::count(last.unique),
        units::count(last.near),
        units::count(last.exact)
    );
    let chart = Lines {
        title: "Distinct contents against pages fetched",
        description: &description,
        x: "pages fetched",
        y: "pages",
        diagonal: Some("every page new"),
        lines: vec![
            line("distinct contents", "unique", |point| point.unique),
            line("near-duplicates", "near", |point| point.near),
            line("exact duplicates", "exact", |point| point.exact),
        ],
    };
    put!(out, "<figure>{}<figcaption>{description}</figcaption></figure>\n", chart.svg());
    let all: Vec<_> = curve.points().collect();
    let mut rows = String::new();
    for tenth in 1..=10 {
        let at = (all.len() - 1) * tenth / 10;
        let point = all[at];
        if tenth > 1 && at == (all.len() - 1) * (tenth - 1) / 10 {
            continue;
        }
        put!(rows, "<tr>{}{}", count(point.pages), count(point.unique));
        put!(rows, "{}{}{}</tr>", share(point.unique, point.pages), count(point.near), count(point.exact));
    }
    out.push_str("<details><summary>The same as a table</summary>");
    Table {
        id: None,
        caption: "The crawl at ten moments",
        heads: &["#pages fetched", "#distinct contents", "#share of pages", "#near-duplicates", "#exact duplicates"],
        rows,
    }
    .put(out);
    out.push_str("</details>\n");
}
