//! The sections of the report, as HTML. Every number has its unit, and a sentence that says what it means.

mod clusters;
mod figures;
mod freshness;
mod notes;
mod pages;
mod rules;
mod search;
mod skipped;
mod spread;
mod troubles;

pub use clusters::{clusters, twins};
pub use figures::{curve, figures, harvested, key, missed, stopped};
pub use freshness::{fresh, visited};
pub use notes::{ABOUT_NOTES, notes};
pub use pages::pages;
pub use rules::rules;
pub use search::search;
pub use skipped::{errors, skipped};
pub use spread::{depths, health, hosts, likeness, relevance, statuses};
pub use troubles::troubles;

use super::html::{Text, put};
use super::line::Word;
use super::svg;
use super::tally::Verdicts;
use crate::units;

/// The sentence about the table of rules.
pub const ABOUT_RULES: &str = "What the crawl learned of URLs from verdicts. A rule is proven by pairs of pages, a trap by pages that \
     brought nothing, before anything is stopped; afterwards some of what it stops is fetched all the same, and a rule that fails \
     such trials is withdrawn. A budget is what copies may cost a host or one of its folders.";

/// Opens a section with its heading and a sentence about it.
pub fn section(out: &mut String, id: &str, heading: &str, about: &str) {
    put!(out, "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{}</h2>\n<p>{about}</p>\n", Text(heading));
}

/// Closes a section.
pub fn end(out: &mut String) {
    out.push_str("</section>\n");
}

/// A table in a box that scrolls sideways if the window is narrow. A column has numbers if its head begins with `#`.
pub struct Table<'a> {
    /// The id of the table, for a search field. A table with an id can be sorted, too.
    pub id: Option<&'a str>,
    /// The caption of the table.
    pub caption: &'a str,
    /// The heads of its columns.
    pub heads: &'a [&'a str],
    /// Its rows: `<tr>…</tr>`.
    pub rows: String,
}

impl Table<'_> {
    /// Appends the table.
    pub fn put(&self, out: &mut String) {
        if let Some(id) = self.id {
            put!(
                out,
                "<p class=\"search\" hidden><label>Show only rows with <input type=\"search\" aria-controls=\"{id}\" \
                 data-status=\"{id}-status\"></label> <span id=\"{id}-status\" role=\"status\"></span></p>\n"
            );
        }
        // A box that scrolls must be reachable by keyboard.
        put!(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">", Text(self.caption));
        match self.id {
            Some(id) => put!(out, "<table id=\"{id}\" class=\"sortable\">"),
            None => out.push_str("<table>"),
        }
        put!(out, "<caption>{}</caption><thead><tr>", Text(self.caption));
        for head in self.heads {
            match head.strip_prefix('#') {
                Some(head) => put!(out, "<th scope=\"col\" class=\"n\">{}</th>", Text(head)),
                None => put!(out, "<th scope=\"col\">{}</th>", Text(head)),
            }
        }
        put!(out, "</tr></thead>\n<tbody>{}</tbody></table></div>\n", self.rows);
    }
}

/// A cell with a count. The column is sorted by the count.
pub fn count(n: u64) -> String {
    format!("<td class=\"n\" data-sort=\"{n}\">{}</td>", units::count(n))
}

/// A cell with a share.
pub fn share(part: u64, whole: u64) -> String {
    let sort = part as f64 / whole.max(1) as f64;
    format!("<td class=\"n\" data-sort=\"{sort:.5}\">{}</td>", units::share(part, whole))
}

/// A cell with a size.
pub fn bytes(n: u64) -> String {
    format!("<td class=\"n\" data-sort=\"{n}\">{}</td>", units::bytes(n))
}

/// A verdict with its sign, which has a colour and a shape.
pub fn verdict(word: Word, failed: bool) -> String {
    let name = if failed { "failed" } else { word.name() };
    format!("<span class=\"verdict {name}\">{name}</span>")
}

/// A bar of the verdicts of some pages.
pub fn bar(verdicts: &Verdicts) -> String {
    let Verdicts { unique, near, exact, unchanged, unjudged, failed } = *verdicts;
    let parts = [
        ("unique", unique),
        ("near", near),
        ("exact", exact),
        ("unchanged", unchanged),
        ("unjudged", unjudged),
        ("failed", failed),
    ];
    svg::parts(&parts, parts.iter().map(|(_, count)| count).sum())
}
