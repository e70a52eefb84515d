//! Pages by name: all pages of a small crawl, or a uniform sample of a large one.

use super::super::html::{Text, Web, WebLink, put};
use super::super::line::PageLine;
use super::{Table, bytes, count, verdict};

/// A table of the pages with these lines. `link` gives the place at which more is said about a page, if there is such a
/// place.
pub fn pages(
    out: &mut String,
    id: Option<&str>,
    caption: &str,
    lines: &[Vec<u8>],
    link: &dyn Fn(usize) -> Option<String>,
) {
    let focused = lines.iter().any(|line| PageLine::parse(line).is_some_and(|page| page.relevance.is_some()));
    let mut rows = String::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(page) = PageLine::parse(line) else { continue };
        put!(rows, "<tr><td>{}", WebLink(&page.url));
        if let Some(title) = page.title.as_deref() {
            put!(rows, "<br><span class=\"note\">{}</span>", Web(title));
        }
        for (what, text) in [("of", &page.duplicate_of), ("redirects to", &page.redirect_to), ("error:", &page.error)] {
            if let Some(text) = text.as_deref() {
                put!(rows, "<br><span class=\"note\">{what} {}</span>", Web(text));
            }
        }
        put!(rows, "</td><td>{}</td>", verdict(page.verdict, page.status.is_none()));
        match page.distance {
            Some(distance) => rows.push_str(&count(distance.into())),
            None => rows.push_str("<td class=\"n\" data-sort=\"-1\"></td>"),
        }
        match page.status {
            Some(status) => put!(rows, "<td class=\"n\" data-sort=\"{status}\">{status}</td>"),
            None => rows.push_str("<td class=\"n\" data-sort=\"0\"></td>"),
        }
        put!(rows, "{}{}{}{}", count(page.depth.into()), count(page.words), bytes(page.bytes), count(page.links));
        rows.push_str(&count(page.links_dropped));
        if focused {
            match page.relevance {
                Some(relevance) => put!(rows, "<td class=\"n\" data-sort=\"{relevance}\">{relevance:.2}</td>"),
                None => rows.push_str("<td class=\"n\" data-sort=\"-1\"></td>"),
            }
        }
        if let Some(link) = link(at) {
            put!(
                rows,
                "<td class=\"more\"><a href=\"{}\">details<span class=\"visually-hidden\"> of {}</span></a></td>",
                Text(&link),
                Web(&page.url)
            );
        }
        rows.push_str("</tr>\n");
    }
    let mut heads = vec![
        "page",
        "verdict",
        "#distance, bits",
        "#status",
        "#depth",
        "#words",
        "#bytes",
        "#links",
        "#links kept out",
    ];
    if focused {
        heads.push("#relevance");
    }
    if link(0).is_some() {
        heads.push("more");
    }
    Table { id, caption, heads: &heads, rows }.put(out);
}
