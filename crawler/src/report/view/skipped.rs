//! URLs that were not fetched, with the reasons; and failures.

use std::io;

use frontier::SkipReason;

use super::super::html::{Web, WebLink, put};
use super::super::line::SkipLine;
use super::super::source::Lines;
use super::super::tally::{Skips, Tally, by_count};
use super::{Table, count};
use crate::units;

/// URLs that were not fetched, by reason, with examples.
pub fn skipped(out: &mut String, tally: &Tally, lines: &Lines) -> io::Result<()> {
    let reasons = by_count(&tally.skips, |skips| skips.count);
    if reasons.is_empty() {
        out.push_str("<p class=\"note\">Nothing was kept out.</p>\n");
        return Ok(());
    }
    let mut rows = String::new();
    for (name, skips) in &reasons {
        let known = SkipReason::ALL.into_iter().find(|reason| reason.name() == **name);
        put!(
            rows,
            "<tr><th scope=\"row\"><code>{}</code></th><td>{}</td>",
            Web(name),
            known.map_or("", SkipReason::explanation)
        );
        put!(rows, "{}{}</tr>\n", count(skips.count), count(skips.hosts.len() as u64));
    }
    let heads = &["reason", "meaning", "#URLs", "#hosts"];
    Table { id: None, caption: "URLs not fetched, by reason", heads, rows }.put(out);
    for (name, skips) in reasons {
        put!(out, "<details><summary>{}: by host, and examples</summary>", Web(name));
        examples(out, skips, lines)?;
        out.push_str("</details>\n");
    }
    Ok(())
}

fn examples(out: &mut String, skips: &Skips, lines: &Lines) -> io::Result<()> {
    let (head, names) = skips.names();
    let mut rows = String::new();
    for (name, n) in names.into_iter().take(10) {
        put!(rows, "<tr><th scope=\"row\">{}</th>{}</tr>", Web(name), count(n));
    }
    Table { id: None, caption: &format!("Most by {head}"), heads: &[head, "#URLs"], rows }.put(out);
    out.push_str("<ul>");
    for line in lines.at(skips.sample.items())? {
        let Ok(skip) = serde_json::from_slice::<SkipLine<'_>>(&line) else { continue };
        put!(out, "<li>{}", WebLink(&skip.url));
        if let Some(source) = skip.source.as_deref().filter(|source| !source.is_empty()) {
            put!(out, " <span class=\"note\">first found on {}</span>", Web(source));
        }
        out.push_str("</li>");
    }
    out.push_str("</ul>");
    Ok(())
}

/// Failures, by kind.
pub fn errors(out: &mut String, tally: &Tally) {
    if tally.errors.is_empty() {
        out.push_str("<p class=\"note\">Every URL that was asked for was answered.</p>\n");
        return;
    }
    let mut rows = String::new();
    for (kind, errors) in by_count(&tally.errors, |errors| errors.count) {
        let (url, said) = &errors.example;
        put!(rows, "<tr><th scope=\"row\">{}</th>{}", Web(kind), count(errors.count));
        put!(rows, "<td>{}<br><span class=\"note\">{}</span></td></tr>", WebLink(url), Web(said));
    }
    let caption =
        format!("{} by kind", units::counted(tally.errors.values().map(|errors| errors.count).sum(), "error"));
    Table { id: None, caption: &caption, heads: &["kind", "#URLs", "for example"], rows }.put(out);
}
