//! The distributions of pages over hosts, depths, statuses, distances and relevance, and of fingerprints over their
//! values.

use super::super::health::Health;
use super::super::html::{Text, Web, put};
use super::super::svg::{self, Bar};
use super::super::tally::{Host, Tally, Verdicts, by_count};
use super::{Table, bar, bytes, count, key, share};
use crate::units;

/// At most this many hosts are shown.
const HOSTS: usize = 500;

/// The hosts with the most pages.
pub fn hosts(out: &mut String, tally: &Tally, most: usize) {
    let most = most.min(HOSTS);
    let mut hosts: Vec<(&str, &Host)> = tally.hosts.iter().map(|(name, host)| (&**name, host)).collect();
    let known = hosts.len();
    let by_pages = |(name, host): &(&str, &Host)| {
        (std::cmp::Reverse(host.verdicts.pages() + host.verdicts.failed), name.to_string())
    };
    if known > most {
        hosts.select_nth_unstable_by_key(most, by_pages);
        hosts.truncate(most);
    }
    hosts.sort_unstable_by_key(by_pages);
    out.push_str(key());
    let mut rows = String::new();
    for (name, host) in hosts {
        let Verdicts { unique, near, exact, unjudged, failed, .. } = host.verdicts;
        put!(
            rows,
            "<tr><th scope=\"row\">{}</th>{}<td>{}</td>",
            Web(name),
            count(host.verdicts.pages()),
            bar(&host.verdicts)
        );
        put!(rows, "{}{}{}{}", count(unique), count(near), count(exact), share(near + exact, host.verdicts.judged()));
        put!(rows, "{}{}{}{}</tr>\n", count(unjudged), count(failed), count(host.links_dropped), bytes(host.bytes));
    }
    let caption = if known > most {
        format!("The {} with the most pages, of {}", units::counted(most as u64, "host"), units::count(known as u64))
    } else {
        format!("All {}", units::counted(known as u64, "host"))
    };
    Table {
        id: Some("hosts-table"),
        caption: &caption,
        heads: &[
            "host",
            "#pages",
            "verdicts",
            "#unique",
            "#near",
            "#exact",
            "#duplicate share",
            "#not compared",
            "#failed",
            "#links kept out",
            "#bytes",
        ],
        rows,
    }
    .put(out);
}

/// Verdicts by depth.
pub fn depths(out: &mut String, tally: &Tally) {
    out.push_str(key());
    let mut rows = String::new();
    for (depth, verdicts) in tally.depths.iter().enumerate() {
        let or_more = if depth == Tally::DEEPEST { " or more" } else { "" };
        let Verdicts { unique, near, exact, unjudged, failed, .. } = *verdicts;
        put!(rows, "<tr><th scope=\"row\">{depth}{or_more}</th>{}<td>{}</td>", count(verdicts.pages()), bar(verdicts));
        put!(rows, "{}{}{}", count(unique), count(near), count(exact));
        put!(rows, "{}{}{}</tr>\n", share(near + exact, verdicts.judged()), count(unjudged), count(failed));
    }
    Table {
        id: None,
        caption: "Pages by depth: links from a seed",
        heads: &[
            "depth",
            "#pages",
            "verdicts",
            "#unique",
            "#near",
            "#exact",
            "#duplicate share",
            "#not compared",
            "#failed",
        ],
        rows,
    }
    .put(out);
}

/// Status codes, media types and languages, side by side.
pub fn statuses(out: &mut String, tally: &Tally) {
    out.push_str("<div class=\"two\"><div>");
    let answers = tally.verdicts.pages();
    let mut rows = String::new();
    for (status, n) in &tally.statuses {
        let meaning = http::StatusCode::from_u16(*status).ok().and_then(|status| status.canonical_reason());
        put!(
            rows,
            "<tr><th scope=\"row\">{status}</th><td>{}</td>{}{}</tr>",
            meaning.unwrap_or("not registered"),
            count(*n),
            share(*n, answers)
        );
    }
    Table { id: None, caption: "HTTP status codes", heads: &["status", "meaning", "#pages", "#share"], rows }.put(out);
    out.push_str("</div><div>");
    for (caption, head, map) in [("Media types", "type", &tally.types), ("Languages", "tag", &tally.languages)] {
        let mut rows = String::new();
        for (name, n) in by_count(map, |n| **n).into_iter().take(12) {
            put!(rows, "<tr><th scope=\"row\">{}</th>{}{}</tr>", Web(name), count(*n), share(*n, answers));
        }
        if !rows.is_empty() {
            Table { id: None, caption, heads: &[head, "#pages", "#share"], rows }.put(out);
        }
    }
    out.push_str("</div></div>\n");
}

/// The resemblance of near-duplicates to their twins.
pub fn likeness(out: &mut String, tally: &Tally) {
    let near = tally.verdicts.near;
    if near == 0 {
        out.push_str("<p class=\"note\">No page was judged a near-duplicate.</p>\n");
        return;
    }
    let last = tally.distances.iter().rposition(|n| *n > 0).unwrap_or(0).max(3);
    let distances =
        histogram(&tally.distances[..=last], near, |distance| (distance.to_string(), format!("distance {distance}")));
    let describe = |what: &str| format!("{} by {what}.", units::counted(near, "near-duplicate"));
    put!(
        out,
        "<div class=\"two\"><figure>{}<figcaption>Bits in which the fingerprints of a page and its twin differ, of 64.</figcaption></figure>\n",
        svg::bars("Hamming distances", &describe("Hamming distance"), "Hamming distance, bits", "near", &distances)
    );
    put!(
        out,
        "<figure>{}<figcaption>Estimated share of word sequences that a page has in common with its twin: 1 = the same text.</figcaption></figure></div>\n",
        svg::bars(
            "Resemblance",
            &describe("resemblance"),
            "resemblance, 0 to 1",
            "near",
            &twentieths(&tally.resemblances, near)
        )
    );
}

/// Relevance of the pages of a focused crawl.
pub fn relevance(out: &mut String, tally: &Tally) {
    let pages = tally.relevances.iter().sum::<u64>();
    put!(
        out,
        "<figure>{}<figcaption>Pages by how well their words fit the topic.</figcaption></figure>\n",
        svg::bars(
            "Relevance",
            &format!("{} by relevance to the topic.", units::counted(pages, "page")),
            "relevance, 0 to 1",
            "unique",
            &twentieths(&tally.relevances, pages)
        )
    );
}

fn twentieths(counts: &[u64; 20], whole: u64) -> Vec<Bar> {
    histogram(counts, whole, |at| {
        let (low, high) = (at as f64 / 20.0, (at + 1) as f64 / 20.0);
        (if at % 4 == 0 { format!("{low:.1}") } else { String::new() }, format!("{low:.2} to {high:.2}"))
    })
}

fn histogram(counts: &[u64], whole: u64, name: impl Fn(usize) -> (String, String)) -> Vec<Bar> {
    let bars = counts.iter().enumerate().map(|(at, &n)| {
        let (label, hint) = name(at);
        Bar {
            label,
            value: n as f64,
            hint: format!("{hint}: {} ({})", units::counted(n, "page"), units::share(n, whole)),
        }
    });
    bars.collect()
}

/// Whether the fingerprints are uniform.
pub fn health(out: &mut String, health: &Health) {
    if health.distinct < 2 {
        out.push_str("<p class=\"note\">Fewer than two fingerprints: nothing to look at.</p>\n");
        return;
    }
    put!(
        out,
        "<p>{} fingerprints, {} of them distinct. The fullest of 128 buckets holds {:.1} times an even share, and the most \
         biased bit is off one half by {:.1} percentage points (a small crawl is never even).</p>\n",
        units::count(health.fingerprints),
        units::count(health.distinct),
        health.fullest(),
        100.0 * health.bias()
    );
    let pairs = health.distinct - 1;
    let last = health.first_difference.iter().rposition(|n| *n > 0).unwrap_or(0);
    let first: Vec<_> = health.first_difference[..=last]
        .iter()
        .enumerate()
        .map(|(bit, &n)| Bar {
            label: if bit % 8 == 0 { bit.to_string() } else { String::new() },
            value: n as f64,
            hint: format!("bit {bit}: {} ({})", units::counted(n, "pair"), units::share(n, pairs)),
        })
        .collect();
    let expected = (health.distinct as f64).log2();
    put!(
        out,
        "<div class=\"two\"><figure>{}<figcaption>Neighbours in sorted order by the first bit in which they differ. Uniform fingerprints as many \
         as these peak near bit {expected:.0}; a second hump further right is near-duplicates.</figcaption></figure>\n",
        svg::bars(
            "First difference of neighbours",
            "Pairs of neighbouring fingerprints.",
            "leading bits in common",
            "unique",
            &first
        )
    );
    let buckets: Vec<_> = health
        .buckets
        .iter()
        .enumerate()
        .map(|(at, &n)| Bar {
            label: if at % 16 == 0 { at.to_string() } else { String::new() },
            value: n as f64,
            hint: format!("bucket {at}: {}", units::counted(n, "fingerprint")),
        })
        .collect();
    put!(
        out,
        "<figure>{}<figcaption>Fingerprints by their seven leading bits. Even heights are good: tables of the index are then \
         equally deep everywhere.</figcaption></figure></div>\n",
        svg::bars("Buckets", "Fingerprints in 128 buckets.", "seven leading bits, as a number", "unique", &buckets)
    );
    if !health.hot.is_empty() {
        let mut rows = String::new();
        for (value, times) in &health.hot {
            put!(
                rows,
                "<tr><th scope=\"row\"><code>{}</code></th>{}</tr>",
                Text(&format!("{value:016x}")),
                count(*times)
            );
        }
        Table { id: None, caption: "Fingerprints that occur most", heads: &["fingerprint", "#pages"], rows }.put(out);
    }
}
